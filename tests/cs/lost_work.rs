//! Work that is lost, and who is told what: feature 103, W-25 and W-26.

use std::{fmt, sync::Arc};

use crate::support::{
    Watch, chip, host_memory, job_time,
    jobs::{context, impatient_gpu, load, patient_gpu, poke, store},
};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel};
use amdgpu_winsys::{
    cs::{
        self, Breadcrumbs, Excerpt, Fence, HangReport, IbPrinter, Marker, Progress, Queue, Stream, Submission,
        SyncPoint, Target, pm4,
    },
    heaps::{DeviceMemory, VkResult},
    uapi::{Argument, Cs},
    winsys::{Blame, Context, Deadline, Device, Errno, Error, Ip, Loss, LossReason, Syncobj, VaLookup, VaMap, WaitFor},
};

const IPS: [Ip; 3] = [Ip::Gfx, Ip::Compute, Ip::Sdma];

/// A queue of a context, and memory that it works in.
struct Rig {
    device: Device,
    queue: Queue,
    memory: DeviceMemory,
}

impl Rig {
    fn new(gpu: &SimDevice, ip: Ip) -> Self {
        Self::of(&Device::new(gpu.open()).unwrap(), ip)
    }

    fn of(device: &Device, ip: Ip) -> Self {
        let queue = Queue::new(&context(device), ip, 0).unwrap();
        Self { device: device.clone(), queue, memory: host_memory(device, 4096) }
    }

    /// Another context of the same device.
    fn another(&self, ip: Ip) -> Self {
        Self::of(&self.device, ip)
    }

    fn context(&self) -> &Context {
        self.queue.context()
    }

    /// A job that says that it has started, and goes on when the dword behind is 1.
    fn start(&self, more: Submission<'_>) -> Result<Fence, cs::SubmitError> {
        let at = self.memory.address();
        let lists = [
            store(&self.device, self.queue.target(), at, 1),
            crate::support::jobs::wait_for(&self.device, self.queue.target(), at.checked_add(4).unwrap(), 1),
        ];
        let bindings = [self.memory.binding().clone()];
        self.queue.submit(&Submission { lists: &[&lists[0], &lists[1]], memory: &bindings, ..more })
    }

    /// As before, and it has started.
    fn running(&self) -> Fence {
        let fence = self.start(Submission::default()).unwrap();
        while load(&self.memory, 0) != 1 {
            std::thread::yield_now();
        }
        fence
    }

    /// A job that does next to nothing.
    fn run(&self, more: Submission<'_>) -> cs::Result<bool> {
        let list = store(&self.device, self.queue.target(), self.memory.address().checked_add(8).unwrap(), 1);
        let bindings = [self.memory.binding().clone()];
        let fence = self.queue.submit(&Submission { lists: &[&list], memory: &bindings, ..more })?;
        Ok(fence.wait(job_time())?)
    }
}

fn loss(error: &cs::Error) -> Loss {
    assert_eq!(error.vk_result(), VkResult::DeviceLost, "{error}");
    error.loss().unwrap_or_else(|| panic!("no loss: {error}"))
}

fn told(outcome: Result<impl fmt::Debug, impl Into<cs::Error>>) -> (LossReason, Blame) {
    let loss = loss(&outcome.map_err(Into::into).unwrap_err());
    (loss.reason, loss.blame)
}

#[test]
fn the_guilty_are_told_so_by_waits_submissions_and_checks() {
    for ip in IPS {
        let rig = Rig::new(&impatient_gpu("navi21"), ip);
        rig.queue.check().unwrap();
        let fence = rig.start(Submission::default()).unwrap();
        let guilty = (LossReason::Hung, Blame::Guilty);
        assert_eq!(told(fence.wait(job_time())), guilty, "{ip}");
        assert!(!fence.is_signalled());
        assert_eq!(told(rig.run(Submission::default())), guilty);
        assert_eq!(told(rig.queue.check()), guilty);
        assert_eq!(told(Fence::wait_many(&[&fence], WaitFor::Any, Deadline::POLL)), guilty);
        assert_eq!(told(fence.to_syncobj()), guilty);
        assert_eq!(told(rig.queue.wait_idle(job_time())), guilty);
        let error = rig.queue.check().unwrap_err().to_string();
        assert!(error.contains("a job hung, this context is guilty"), "{error}");
        // Only the context is lost.
        let fresh = rig.another(ip);
        assert!(fresh.run(Submission::default()).unwrap());
        fresh.queue.check().unwrap();
    }
}

/// W-26: RADV blames victims, and gives them up.
#[test]
fn victims_are_not_blamed_and_those_who_lost_nothing_go_on() {
    let gpu = patient_gpu("navi21");
    let victim = Rig::new(&gpu, Ip::Gfx);
    let (idle, elsewhere) = (victim.another(Ip::Gfx), Rig::new(&gpu, Ip::Compute));
    let own_other = Queue::new(victim.context(), Ip::Compute, 0).unwrap();
    let fence = victim.running();
    gpu.reset();
    let innocent = (LossReason::Reset, Blame::Innocent);
    assert_eq!(told(fence.wait(job_time())), innocent);
    assert_eq!(told(victim.queue.check()), innocent);
    assert_eq!(told(victim.run(Submission::default())), innocent);
    own_other.check().unwrap();
    for rig in [idle, elsewhere] {
        rig.queue.check().unwrap();
        assert!(rig.run(Submission::default()).unwrap());
    }
}

#[test]
fn lost_vram_ends_every_context_and_is_told_apart() {
    let gpu = patient_gpu("navi21");
    let (idle, busy) = (Rig::new(&gpu, Ip::Gfx), Rig::new(&gpu, Ip::Compute));
    let fence = busy.running();
    gpu.reset_and_lose_vram();
    for outcome in [
        fence.wait(job_time()).map_err(cs::Error::from),
        idle.run(Submission::default()),
        idle.queue.check().map(|()| true).map_err(cs::Error::from),
        busy.run(Submission::default()),
    ] {
        let loss = loss(&outcome.unwrap_err());
        assert!(loss.vram_lost);
        assert_eq!((loss.reason, loss.blame), (LossReason::VramLost, Blame::Innocent));
    }
    assert!(idle.another(Ip::Gfx).run(Submission::default()).unwrap());
}

#[test]
fn a_gpu_that_was_removed_is_told_apart() {
    let gpu = patient_gpu("navi21");
    let rig = Rig::new(&gpu, Ip::Gfx);
    let fence = rig.running();
    let list = store(&rig.device, rig.queue.target(), rig.memory.address(), 1);
    gpu.unplug();
    let gone = (LossReason::Unplugged, Blame::Unknown);
    assert_eq!(told(rig.queue.submit(&Submission { lists: &[&list], ..Submission::default() })), gone);
    assert_eq!(told(fence.wait(job_time())), gone);
    assert_eq!(told(rig.queue.check()), gone);
    let error = cs::Error::from(Syncobj::new(&rig.device, false).unwrap_err());
    assert_eq!(loss(&error).reason, LossReason::Unplugged, "whatever the request");
    // It runs nothing any more: what was submitted is let go of, although no answer says so.
    assert_eq!(rig.queue.in_flight(), 0);
}

/// W-25: RADV reports the five seconds that a submission waits for another as a GPU hang of its own.
#[test]
fn a_submission_that_came_too_early_is_no_loss() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let rig = Rig::of(&Device::new(Arc::clone(&kernel)).unwrap(), Ip::Gfx);
    let never = Syncobj::new(&rig.device, false).unwrap();
    let waits = [SyncPoint::binary(&never)];
    // What the kernel answers after five seconds.
    kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ETIME);
    let error = rig.run(Submission { waits: &waits, ..Submission::default() }).unwrap_err();
    assert_eq!(error, cs::SubmitError::Winsys(Error::NotSubmitted { request: "AMDGPU_CS" }).into());
    assert_eq!((error.loss(), error.vk_result()), (None, VkResult::Unknown));
    assert!(rig.run(Submission::default()).unwrap(), "nothing is lost");
    // The same errno with nothing to wait for.
    kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ETIME);
    assert_eq!(told(rig.run(Submission::default())).0, LossReason::Hung);
}

/// W-25, the other way round: a context that really lost its work is not taken for one that came too early.
#[test]
fn a_loss_is_a_loss_whatever_else_was_waited_for() {
    let gpu = patient_gpu("navi21");
    let rig = Rig::new(&gpu, Ip::Gfx);
    let fence = rig.running();
    gpu.reset();
    assert_eq!(told(fence.wait(job_time())).0, LossReason::Reset);
    let ready = Syncobj::new(&rig.device, true).unwrap();
    let submission = Submission { waits: &[SyncPoint::binary(&ready)], after: &[&fence], ..Submission::default() };
    assert_eq!(told(rig.run(submission)), (LossReason::Reset, Blame::Innocent));
}

#[test]
fn a_dependency_that_was_lost_is_no_loss_of_ones_own() {
    let gpu = impatient_gpu("navi21");
    let culprit = Rig::new(&gpu, Ip::Compute);
    let fence = culprit.start(Submission::default()).unwrap();
    assert_eq!(told(fence.wait(job_time())), (LossReason::Hung, Blame::Guilty));
    let other = culprit.another(Ip::Gfx);
    let context = other.context().id();
    for submission in [
        Submission { after: &[&fence], ..Submission::default() },
        Submission { after_start: &[&fence], ..Submission::default() },
    ] {
        let error = other.run(submission).unwrap_err();
        // A job whose ring is reset alone ends with ETIME since Linux 6.17.
        let lost = Error::DependencyLost { request: "AMDGPU_CS", context, errno: Errno::ETIME };
        assert_eq!((error.loss(), error), (None, cs::SubmitError::Winsys(lost).into()));
    }
    assert!(other.run(Submission::default()).unwrap());
}

/// W-26: RADV's waits succeed after a hang, because a lost job signals what it was to signal.
#[test]
fn a_wait_for_a_sync_object_tells_of_the_loss_behind_it() {
    let rig = Rig::new(&impatient_gpu("navi21"), Ip::Compute);
    let done = Syncobj::new(&rig.device, false).unwrap();
    rig.start(Submission { signals: &[SyncPoint::timeline(&done, 4)], ..Submission::default() }).unwrap();
    assert!(done.wait_point(4, job_time()).unwrap(), "the kernel says so");
    let outcome = rig.queue.wait_points(&[(&done, 4)], WaitFor::All, job_time());
    assert_eq!(told(outcome), (LossReason::Hung, Blame::Guilty));
    let fine = rig.another(Ip::Compute);
    assert_eq!(fine.queue.wait_points(&[(&done, 4)], WaitFor::Any, job_time()).unwrap(), Some(0));
}

#[test]
fn what_lost_work_used_is_given_back() {
    let gpu = impatient_gpu("navi21");
    let rig = Rig::new(&gpu, Ip::Gfx);
    let used = host_memory(&rig.device, 4096);
    let binding = Watch::of(used.binding());
    let list = crate::support::jobs::wait_for(&rig.device, rig.queue.target(), used.address(), 1);
    let bindings = [used.binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fences = [rig.queue.submit(&submission), rig.queue.submit(&submission)];
    drop((used, bindings));
    assert!(binding.is_bound());
    let [first, _behind] = fences;
    assert_eq!(told(first.unwrap().wait(job_time())), (LossReason::Hung, Blame::Guilty));
    // What was queued behind ends a moment later.
    while rig.queue.in_flight() > 0 {
        std::thread::yield_now();
    }
    assert!(!binding.is_bound());
}

/// A stream with marks: 1 is done, 2 hangs.
fn marked(rig: &Rig, crumbs: &Breadcrumbs) -> amdgpu_winsys::cs::CommandList {
    fn record<L: Marker>(rig: &Rig, language: L, crumbs: &Breadcrumbs) -> amdgpu_winsys::cs::CommandList {
        let mut stream = Stream::new(&rig.device, language, 256).unwrap();
        let at = |index: u64| rig.memory.address().checked_add(4 * index).unwrap();
        crumbs.begin(&mut stream, 0xc0de_0001).unwrap();
        for index in 0..40 {
            L::store(&mut stream, at(index), 7).unwrap();
        }
        crumbs.end(&mut stream, 0xc0de_0001).unwrap();
        crumbs.begin(&mut stream, 0xc0de_0002).unwrap();
        L::wait_for(&mut stream, at(100), 1).unwrap();
        crumbs.end(&mut stream, 0xc0de_0002).unwrap();
        stream.finish().unwrap()
    }
    match rig.queue.target() {
        Target::Pm4(target) => record(rig, target, crumbs),
        Target::Sdma(version) => record(rig, version, crumbs),
    }
}

#[test]
fn a_hang_report_shows_the_last_mark_and_the_commands_around_it() {
    for (name, ip) in [("navi21", Ip::Gfx), ("polaris10", Ip::Gfx), ("navi31", Ip::Compute), ("navi21", Ip::Sdma)] {
        let rig = Rig::new(&impatient_gpu(name), ip);
        let crumbs = Breadcrumbs::new(&rig.device).unwrap();
        let before = store(&rig.device, rig.queue.target(), rig.memory.address(), 1);
        let (list, bindings) = (marked(&rig, &crumbs), [rig.memory.binding().clone(), crumbs.binding().clone()]);
        let submit = |list| {
            rig.queue
                .submit(&Submission { lists: &[&before, list], memory: &bindings, ..Submission::default() })
                .unwrap()
        };
        assert!(submit(&before).wait(job_time()).unwrap());
        let fence = submit(&list);
        submit(&list);
        assert_eq!(told(fence.wait(job_time())), (LossReason::Hung, Blame::Guilty));
        let report = HangReport::new(&rig.device).with_queue(&rig.queue, Some(&crumbs));
        let [trace] = &report.queues[..] else { panic!("{report}") };
        assert_eq!((trace.done, trace.ip, trace.ring), (1, ip, 0), "{name}");
        assert_eq!(trace.progress, Some(Progress { begun: 0xc0de_0002, done: 0xc0de_0001 }), "{name} {ip}");
        assert_eq!(crumbs.progress(), trace.progress.unwrap());
        assert_eq!(loss(&trace.state.clone().unwrap_err().into()).blame, Blame::Guilty);
        let excerpt = trace.excerpt.as_ref().unwrap();
        let ib = list.dwords().next().unwrap();
        assert_eq!((excerpt.sequence, excerpt.ib), (2, list.ibs().next().unwrap().0));
        let (first, mark) = (excerpt.first, excerpt.last_mark.unwrap());
        assert_eq!(excerpt.dwords, ib[first..first + excerpt.dwords.len()]);
        assert!(first > 0 && ib[mark..mark + 8].contains(&0xc0de_0002), "{name} {ip}: {report}");
        let text = report.to_string();
        let stopped = text.find("->").map(|at| &text[at..]).unwrap();
        assert!(stopped.contains("c0de0002") && text.contains("stopped in submission 2, 1 of"), "{text}");
        assert!(text.contains(if ip == Ip::Sdma { "POLL_REGMEM" } else { "WAIT_REG_MEM" }), "{text}");
    }
}

/// A foreign disassembler.
struct Count;

impl IbPrinter for Count {
    fn print(&self, excerpt: &Excerpt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} dwords, printed elsewhere", excerpt.dwords.len())
    }
}

#[test]
fn a_hang_report_without_marks_shows_where_the_submission_begins() {
    let gpu = patient_gpu("navi21");
    let rig = Rig::new(&gpu, Ip::Gfx);
    let fence = rig.running();
    // It hangs, but the kernel has not given it up yet.
    let report = HangReport::new(&rig.device).with_queue(&rig.queue, None);
    let trace = &report.queues[0];
    assert_eq!((trace.done, trace.submitted, trace.state.clone(), trace.progress), (0, 1, Ok(()), None));
    let excerpt = trace.excerpt.as_ref().unwrap();
    assert_eq!((excerpt.first, excerpt.last_mark), (0, None));
    let text = report.printed_by(&Count).to_string();
    assert!(text.ends_with(" dwords, printed elsewhere\n") && text.starts_with("no page fault\n"), "{text}");
    poke(&rig.memory, 4, 1);
    assert!(fence.wait(job_time()).unwrap());
    let report = HangReport::new(&rig.device).with_queue(&rig.queue, None);
    assert!(report.to_string().ends_with("all 1 submissions done\n"), "{report}");
}

#[test]
fn a_hang_report_names_the_object_that_a_fault_hit() {
    let map = VaMap::new(64);
    let device = Device::with_observer(impatient_gpu("navi21").open(), map.clone()).unwrap();
    let rig = Rig::of(&device, Ip::Gfx);
    let freed = host_memory(&device, 4096);
    map.name(freed.bo().handle(), "used after it was freed");
    let at = freed.address();
    drop(freed);
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64).unwrap();
    stream.push(&pm4::IndirectBuffer::call(at, 64)).unwrap();
    let list = stream.finish().unwrap();
    let fence = rig.queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
    assert_eq!(told(fence.wait(job_time())), (LossReason::Hung, Blame::Guilty));
    let report = HangReport::new(&device).with_queue(&rig.queue, None);
    assert_eq!(report.fault.unwrap().page, at);
    let explained = report.explained.as_ref().unwrap();
    assert!(matches!(explained.finding, VaLookup::Freed { .. }), "{report}");
    let text = report.to_string();
    assert!(text.contains("\"used after it was freed\"") && text.contains("INDIRECT_BUFFER"), "{text}");
}
