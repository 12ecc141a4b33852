//! Resources of submissions live for as long as they run, are dropped under no lock that others need, and queues wait for
//! them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use crate::spy::{Seen, Spy};
use crate::support::{
    Watch, chip, host_memory, job_time,
    jobs::{context, impatient_gpu, load, patient_gpu, store, wait_for},
    queue,
};
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{
        self, CommandList, Fence, IbPlacement, IbPool, Keep, Marker, NotOneIb, Preambles, Queue, Stream, Submission,
        SyncPoint, Target, pm4,
    },
    heaps::{Backing, DeviceMemory, SparseBind, SparseRange},
    uapi::{Argument, Cs, GemClose, GemCreateFlags, GemDomain, GemVa, VaFlags, VaOperation, WaitCs},
    vamgr::{GpuVa, VaRequest},
    winsys::{
        Binding, Blame, Bo, BoRequest, Deadline, Device, GfxLevel, Ip, LossReason, Mapping, ResidencySet, Syncobj,
        WaitFor,
    },
};
use parking_lot::Mutex;

/// Waits for what another thread brings about.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "never: {what}");
        thread::yield_now();
    }
}

/// A list of a pool that stores a dword.
fn pooled_store(pool: &IbPool, target: Target, at: GpuVa, value: u32) -> CommandList {
    let Target::Pm4(target) = target else { panic!("no PM4 ring") };
    let mut stream = pool.stream(target, 64).unwrap();
    pm4::Target::store(&mut stream, at, value).unwrap();
    stream.finish().unwrap()
}

fn submit(queue: &Queue, lists: &[&CommandList], memory: &DeviceMemory) -> Fence {
    let bindings = [memory.binding().clone()];
    queue.submit(&Submission { lists, memory: &bindings, ..Submission::default() }).unwrap()
}

/// Linux tries to stop a hung job alone, and then what is queued behind it runs: its IBs must not be written again before.
#[test]
fn what_runs_behind_a_stopped_job_keeps_its_ibs() {
    for ip in [Ip::Gfx, Ip::Compute] {
        let gpu = impatient_gpu("navi21");
        let device = Device::new(gpu.open()).unwrap();
        let queue = queue(&device, ip, 0);
        let memory = host_memory(&device, 4096);
        let pool = IbPool::new(&device, IbPlacement::System, 1 << 20).unwrap();
        let at = |index: u64| memory.address().checked_add(4 * index).unwrap();
        let used = host_memory(&device, 4096);
        let binding = Watch::of(used.binding());
        let held = gpu.hold_ring(ip, 0);
        gpu.hang_next_job_in_a_shader(ip, 0);
        let first = submit(&queue, &[&store(&device, queue.target(), at(0), 1)], &memory);
        let list = pooled_store(&pool, queue.target(), at(1), 1);
        let ib = list.ibs().next().unwrap().0;
        let bindings = [memory.binding(), used.binding()].map(Clone::clone);
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let second = queue.submit(&submission).unwrap();
        drop((list, used, bindings));
        drop(held);
        // The first runs, and the second is kept from starting before the first is given up.
        until("the first job runs", || load(&memory, 0) == 1);
        let held = gpu.hold_ring(ip, 0);
        until("the first job is stopped", || first.outcome().is_err());
        let loss = first.outcome().unwrap_err().loss().unwrap();
        assert_eq!((loss.reason, loss.blame), (LossReason::Hung, Blame::Guilty), "{ip}");
        assert_eq!(queue.in_flight(), 1, "{ip}: the second is still to run");
        assert_eq!((pool.idle_dwords(), binding.is_bound()), (0, true), "{ip}");
        let overwritten = pooled_store(&pool, queue.target(), at(2), 1);
        assert_ne!(overwritten.ibs().next().unwrap().0, ib, "{ip}");
        drop(held);
        assert!(second.wait(job_time()).unwrap());
        assert_eq!([1, 2].map(|index| load(&memory, 4 * index)), [1, 0], "{ip}");
        assert_eq!((queue.in_flight(), binding.is_bound()), (0, false), "{ip}");
        assert!(pool.idle_dwords() > 0, "{ip}");
        queue.check().unwrap();
        assert!(first.is_signalled(), "the ring wrote its number all the same");
    }
}

/// The same where the queue is broken: its error comes before the end of what ran when the work was lost.
#[test]
fn a_lost_queue_lets_go_of_what_it_used_when_the_kernel_reports_it_idle() {
    let gpu = impatient_gpu("navi21");
    let device = Device::new(gpu.open()).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let used = host_memory(&device, 4096);
    let binding = Watch::of(used.binding());
    let list = wait_for(&device, queue.target(), used.address(), 1);
    let fences = [(); 3].map(|()| submit(&queue, &[&list], &used));
    drop(used);
    for fence in &fences {
        assert!(fence.wait(job_time()).unwrap_err().loss().is_some());
    }
    until("what was lost is given back", || queue.in_flight() == 0);
    assert!(!binding.is_bound());
}

/// As the loss is reported, one job may still run: the kernel answers for the queue, not for the job.
#[test]
fn a_loss_that_is_reported_early_ends_nothing() {
    let gpu = patient_gpu("navi21");
    let kernel = Arc::new(amdgpu_layers::FaultInjector::new(gpu.open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let queue = queue(&device, Ip::Gfx, 0);
    let (gate, pool) = (host_memory(&device, 4096), IbPool::new(&device, IbPlacement::System, 1 << 20).unwrap());
    let held = gpu.hold_ring(Ip::Gfx, 0);
    let fence = submit(&queue, &[&pooled_store(&pool, queue.target(), gate.address(), 1)], &gate);
    kernel.fail_nth_ioctl(WaitCs::REQUEST, 0, amdgpu_winsys::winsys::Errno::ETIME);
    assert!(fence.wait(job_time()).unwrap_err().loss().is_some());
    assert_eq!((queue.in_flight(), pool.idle_dwords()), (1, 0));
    drop(held);
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!((queue.in_flight(), load(&gate, 0)), (0, 1));
    assert!(pool.idle_dwords() > 0);
}

/// Two halves of a meeting: one thread comes to a place and stays there until the other lets it go.
struct Gate {
    arrived: mpsc::Sender<()>,
    go: Mutex<mpsc::Receiver<()>>,
    armed: AtomicBool,
}

impl Gate {
    fn new() -> (Arc<Self>, mpsc::Receiver<()>, mpsc::Sender<()>) {
        let ((arrived, arrivals), (go, gone)) = (mpsc::channel(), mpsc::channel());
        (Arc::new(Self { arrived, go: Mutex::new(gone), armed: AtomicBool::new(false) }), arrivals, go)
    }

    /// Blocks the first caller after it was armed.
    fn pass(&self) {
        if self.armed.swap(false, Ordering::SeqCst) {
            self.arrived.send(()).unwrap();
            let _ = self.go.lock().recv_timeout(Duration::from_mins(1));
        }
    }
}

fn is_unbinding(call: &Seen) -> bool {
    call.is::<GemVa>() && call.argument[2] == VaOperation::Unmap as u32
}

fn is_closing(call: &Seen) -> bool {
    call.is::<GemClose>()
}

/// Row 102, W-30: while one thread lets go of what a submission used, which the kernel makes take long, others submit to
/// the same queue, ask it, and wait for it.
#[test]
fn letting_go_of_what_a_submission_used_keeps_nobody_else_waiting() {
    type Retire = fn(&Queue, &CommandList, &DeviceMemory);
    let ways: [Retire; 3] = [
        |queue, _, _| assert!(queue.in_flight() <= 1),
        |queue, _, _| assert!(queue.wait_idle(job_time()).unwrap()),
        |queue, list, memory| drop(submit(queue, &[list], memory)),
    ];
    for is_stopped in [is_unbinding, is_closing] {
        for retire in ways {
            let kernel = Spy::on(SimDevice::new(chip("navi21"), SimOptions::default()).open());
            let device = Device::new(Arc::clone(&kernel)).unwrap();
            let (queue, memory) = (queue(&device, Ip::Compute, 0), host_memory(&device, 4096));
            let list = store(&device, queue.target(), memory.address(), 1);
            let (gate, arrivals, go) = Gate::new();
            let guard = Arc::clone(&gate);
            kernel.layer().watch(move |call| {
                if is_stopped(call) {
                    guard.pass();
                }
            });
            let used = host_memory(&device, 4096);
            let fence = submit(&queue, &[&list], &used);
            drop(used);
            until("the job is done", || fence.is_signalled());
            gate.armed.store(true, Ordering::SeqCst);
            let (done, others) = mpsc::channel();
            thread::scope(|scope| {
                scope.spawn(|| retire(&queue, &list, &memory));
                arrivals.recv_timeout(Duration::from_secs(20)).expect("something is let go of");
                scope.spawn(|| {
                    let _in_flight = queue.in_flight();
                    let fence = submit(&queue, &[&list], &memory);
                    let outcome = fence.wait(job_time());
                    let last = queue.last().sequence();
                    done.send((outcome, last)).unwrap();
                });
                let outcome = others.recv_timeout(Duration::from_secs(20));
                go.send(()).unwrap();
                let (waited, last) = outcome.expect("another thread was kept waiting");
                assert!(waited.unwrap() && last >= 2);
            });
        }
    }
}

/// The same for a sparse range: the memory that a change replaces is let go of without the lock.
#[test]
fn replacing_what_a_sparse_range_holds_keeps_nobody_else_waiting() {
    let kernel = Spy::on(SimDevice::new(chip("navi21"), SimOptions::default()).open());
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let range = SparseRange::new(&device, VaRequest::new(1 << 20)).unwrap();
    let bind = |memory: &DeviceMemory| {
        let backing = Some(Backing { memory: memory.binding().clone(), offset: 0 });
        range.bind(&[SparseBind { offset: 0, len: 4096, backing }]).unwrap();
    };
    bind(&host_memory(&device, 4096));
    let (gate, arrivals, go) = Gate::new();
    let guard = Arc::clone(&gate);
    kernel.layer().watch(move |call| {
        if is_closing(call) {
            guard.pass();
        }
    });
    let next = host_memory(&device, 4096);
    gate.armed.store(true, Ordering::SeqCst);
    let (done, others) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| bind(&next));
        arrivals.recv_timeout(Duration::from_secs(20)).expect("the first memory goes");
        scope.spawn(|| done.send(range.bound_bytes()).unwrap());
        let outcome = others.recv_timeout(Duration::from_secs(20));
        go.send(()).unwrap();
        assert_eq!(outcome.expect("another thread was kept waiting"), 4096);
    });
}

#[test]
fn a_submission_keeps_its_preambles_until_it_is_done() {
    let gpu = patient_gpu("navi21");
    let device = Device::new(gpu.open()).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let pool = IbPool::new(&device, IbPlacement::System, 1 << 20).unwrap();
    let mark = |index: u64| pooled_store(&pool, queue.target(), memory.address().checked_add(4 * index).unwrap(), 1);
    let preambles = Preambles::new().with_initial(mark(0), mark(1)).unwrap();
    let preambles = preambles.with_further(mark(2)).unwrap().with_postamble(mark(3)).unwrap();
    let list = store(&device, queue.target(), memory.address().checked_add(16).unwrap(), 1);
    let bindings = [memory.binding().clone()];
    let held = gpu.hold_ring(Ip::Compute, 0);
    let submission =
        Submission { lists: &[&list], preambles: Some(&preambles), memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).unwrap();
    drop(preambles);
    assert_eq!(pool.idle_dwords(), 0, "all of them are the submission's");
    // What is recorded meanwhile does not run in their place.
    let _others: Vec<_> = (0..4).map(|_| mark(9)).collect();
    drop(held);
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!([0, 1, 2, 3, 4, 9].map(|index| load(&memory, 4 * index)), [0, 1, 0, 1, 1, 0]);
    assert_eq!(queue.in_flight(), 0);
    assert!(pool.idle_dwords() > 0, "and come back");
}

#[test]
fn preambles_of_another_ring_are_refused() {
    let device = crate::support::device("navi21");
    let (compute, memory) = (queue(&device, Ip::Compute, 0), host_memory(&device, 4096));
    let recorded = queue(&device, Ip::Gfx, 0).target();
    let foreign = || store(&device, recorded, memory.address(), 1);
    let list = store(&device, compute.target(), memory.address(), 1);
    let wrong = cs::SubmitError::WrongQueue { recorded, queue: compute.target() };
    for preambles in [
        Preambles::new().with_initial(foreign(), foreign()),
        Preambles::new().with_further(foreign()),
        Preambles::new().with_postamble(foreign()),
    ] {
        let preambles = preambles.unwrap();
        let submission = Submission { lists: &[&list], preambles: Some(&preambles), ..Submission::default() };
        assert_eq!(compute.submit(&submission).unwrap_err(), wrong);
    }
    let mixed = Preambles::new().with_further(list).unwrap().with_postamble(foreign()).unwrap_err();
    assert_eq!(mixed, NotOneIb::OtherRing { target: recorded, others: compute.target() });
}

/// The ring is held until the dropped queue asks for its last submission.
#[test]
fn dropping_a_queue_waits_for_what_was_submitted_to_it() {
    let gpu = patient_gpu("navi21");
    let kernel = Spy::on(gpu.open());
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let memory = host_memory(&device, 4096);
    let queue = Queue::new(&context(&device), Ip::Gfx, 0).unwrap();
    let list = store(&device, queue.target(), memory.address(), 1);
    let held = Mutex::new(Some(gpu.hold_ring(Ip::Gfx, 0)));
    kernel.layer().watch(move |call| {
        if call.is::<WaitCs>() {
            held.lock().take();
        }
    });
    let fence = submit(&queue, &[&list], &memory);
    assert!(!fence.is_signalled());
    drop(queue);
    assert_eq!((load(&memory, 0), fence.is_signalled()), (1, true));
    assert!(fence.wait(Deadline::POLL).unwrap());
}

/// A choice of `Keep`, and a submission of a pooled list that has run, of which the queue has not yet taken notice.
struct Kept {
    queue: Queue,
    pool: IbPool,
    list: CommandList,
    binding: Watch,
    member: Watch,
}

impl Kept {
    fn new(keep: Keep) -> Self {
        let device = Device::new(SimDevice::new(chip("navi21"), SimOptions::default()).open()).unwrap();
        let queue = queue(&device, Ip::Compute, 0);
        let (memory, member) = (host_memory(&device, 4096), host_memory(&device, 4096));
        let pool = IbPool::new(&device, IbPlacement::System, 1 << 20).unwrap();
        let list = pooled_store(&pool, queue.target(), memory.address(), 1);
        let (set, done) = (ResidencySet::new(), Syncobj::new(&device, false).unwrap());
        assert!(set.add(member.binding()));
        let (binding, weak) = (Watch::of(memory.binding()), Watch::of(member.binding()));
        let (bindings, lists) = ([memory.binding().clone()], [&list]);
        let (sets, signals) = ([&set], [SyncPoint::binary(&done)]);
        let submission = Submission {
            lists: &lists,
            memory: &bindings,
            sets: &sets,
            signals: &signals,
            keep,
            ..Submission::default()
        };
        let fence = queue.submit(&submission).unwrap();
        drop((bindings, memory, set, member));
        assert!(done.wait(job_time()).unwrap());
        until("the number is written", || fence.is_signalled());
        Self { queue, pool, list, binding, member: weak }
    }

    /// Memory, members of sets, and lists that are alive.
    fn alive(&self) -> (bool, bool) {
        (self.binding.is_bound(), self.member.is_bound())
    }
}

#[test]
fn a_driver_that_waits_for_its_own_sync_object_gets_everything_back_by_retiring() {
    let kept = Kept::new(Keep::Everything);
    assert_eq!(kept.alive(), (true, true), "the queue has not looked yet");
    kept.queue.retire();
    assert_eq!(kept.alive(), (false, false));
    drop(kept.list);
    assert!(kept.pool.idle_dwords() > 0);
}

#[test]
fn a_submission_keeps_what_it_was_told_to_keep() {
    let Kept { list, pool, queue, .. } = Kept::new(Keep::Everything);
    drop(list);
    assert_eq!(pool.idle_dwords(), 0);
    drop(queue);

    let kept = Kept::new(Keep::Lists);
    assert_eq!(kept.alive(), (false, false), "memory is the caller's");
    let list = kept.list.record_again(pm4::Target::compute(GfxLevel::Gfx10_3)).unwrap_err();
    kept.queue.retire();
    assert!(list.record_again(pm4::Target::compute(GfxLevel::Gfx10_3)).is_ok());

    let kept = Kept::new(Keep::Nothing);
    assert_eq!(kept.alive(), (false, false));
    assert!(kept.list.record_again(pm4::Target::compute(GfxLevel::Gfx10_3)).is_ok(), "without a look at the queue");
    assert_eq!(kept.queue.in_flight(), 0);
}

/// Memory that is dropped while a job that does not keep it runs stays until the job is done, by the kernel's references.
#[test]
fn what_a_submission_does_not_keep_is_still_there_for_the_gpu() {
    for keep in [Keep::Lists, Keep::Nothing] {
        let gpu = patient_gpu("navi21");
        let device = Device::new(gpu.open()).unwrap();
        let (queue, gate) = (queue(&device, Ip::Compute, 0), host_memory(&device, 4096));
        let flags = GemCreateFlags::CPU_ACCESS_REQUIRED;
        let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags };
        let (bo, lease) = (Bo::create(&device, request).unwrap(), device.addresses().allocate(VaRequest::new(4096)));
        let memory = Binding::new(&bo, lease.unwrap(), VaFlags::READABLE | VaFlags::WRITEABLE).unwrap();
        let at = memory.address();
        let binding = Watch::of(&memory);
        let mut stream = Stream::new(&device, pm4::Target::compute(device.info().gfx_level), 64).unwrap();
        stream.push(&pm4::WaitRegMem::new(gate.address(), pm4::Compare::Equal, 1)).unwrap();
        stream.push(&pm4::EndOfPipe::fence(at, 7)).unwrap();
        let list = stream.finish().unwrap();
        let bindings = [gate.binding(), &memory].map(Clone::clone);
        let submission = Submission { lists: &[&list], memory: &bindings, keep, ..Submission::default() };
        let fence = queue.submit(&submission).unwrap();
        drop((bindings, memory, list));
        assert!(!binding.is_bound(), "{keep:?}: user space has let go of it");
        gate.mapping().unwrap().store_u32(0, 1).unwrap();
        assert!(fence.wait(job_time()).unwrap(), "{keep:?}");
        assert_eq!(Mapping::new(&bo).unwrap().load_u32(0).unwrap(), 7, "{keep:?}");
        queue.check().unwrap();
        assert_eq!(device.page_fault().unwrap(), None, "{keep:?}");
    }
}

#[test]
fn a_queue_that_waits_for_points_retires() {
    let device = crate::support::device("navi21");
    let (queue, memory) = (queue(&device, Ip::Gfx, 0), host_memory(&device, 4096));
    let (list, done) = (store(&device, queue.target(), memory.address(), 1), Syncobj::new(&device, false).unwrap());
    let binding = Watch::of(memory.binding());
    let (bindings, signals) = ([memory.binding().clone()], [SyncPoint::binary(&done)]);
    let submission = Submission { lists: &[&list], memory: &bindings, signals: &signals, ..Submission::default() };
    let fence = queue.submit(&submission).unwrap();
    drop((bindings, memory));
    until("the number is written", || fence.is_signalled());
    assert!(binding.is_bound());
    assert_eq!(queue.wait_points(&[(&done, 0)], WaitFor::All, job_time()).unwrap(), Some(0));
    assert!(!binding.is_bound());
}

/// The kernel waits inside a submission for sync objects that nothing was submitted for; others go on meanwhile. Here it
/// stays in that call until they are done.
#[test]
fn a_submission_that_waits_for_a_sync_object_holds_up_no_other_one() {
    let kernel = Spy::on(SimDevice::new(chip("navi21"), SimOptions::default()).open());
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let (queue, memory) = (queue(&device, Ip::Compute, 0), host_memory(&device, 4096));
    let at = |index: u64| memory.address().checked_add(4 * index).unwrap();
    let lists = [0, 1, 2].map(|index| store(&device, queue.target(), at(index), 1));
    let (late, done) = (Syncobj::new(&device, true).unwrap(), Syncobj::new(&device, false).unwrap());
    let bindings = [memory.binding().clone()];
    let (gate, arrivals, go) = Gate::new();
    let guard = Arc::clone(&gate);
    kernel.layer().watch(move |call| {
        if call.is::<Cs>() {
            guard.pass();
        }
    });
    gate.armed.store(true, Ordering::SeqCst);
    let (finished, others) = mpsc::channel();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let waits = [SyncPoint::binary(&late)];
            let submission =
                Submission { lists: &[&lists[0]], memory: &bindings, waits: &waits, ..Submission::default() };
            queue.submit(&submission)
        });
        arrivals.recv_timeout(Duration::from_secs(20)).expect("the first submission");
        scope.spawn(|| {
            let signals = [SyncPoint::binary(&done)];
            for list in [&lists[1], &lists[2]] {
                let submission =
                    Submission { lists: &[list], memory: &bindings, signals: &signals, ..Submission::default() };
                assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
            }
            let nothing = Submission { signals: &signals, ..Submission::default() };
            assert!(queue.submit(&nothing).unwrap().wait(job_time()).unwrap());
            finished.send([0, 1, 2].map(|index| load(&memory, 4 * index))).unwrap();
        });
        let outcome = others.recv_timeout(Duration::from_secs(20));
        go.send(()).unwrap();
        assert_eq!(outcome.expect("another thread was kept waiting"), [0, 1, 1]);
        assert!(waiter.join().unwrap().unwrap().wait(job_time()).unwrap());
    });
    assert_eq!((load(&memory, 0), queue.in_flight()), (1, 0));
}

/// A queue whose last job does not end is dropped all the same, and what it used is the kernel's.
#[test]
fn dropping_a_queue_that_hangs_ends() {
    let gpu = patient_gpu("navi21");
    let device = Device::new(gpu.open()).unwrap();
    let (queue, memory, used) =
        (queue(&device, Ip::Compute, 0), host_memory(&device, 4096), host_memory(&device, 4096));
    let list = store(&device, queue.target(), memory.address(), 1);
    let binding = Watch::of(used.binding());
    let held = gpu.hold_ring(Ip::Compute, 0);
    let bindings = [memory.binding(), used.binding()].map(Clone::clone);
    drop(queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap());
    drop((used, bindings));
    // The ring is held until the drop has ended.
    drop(queue);
    assert!(!binding.is_bound());
    let list = list.record_again(pm4::Target::compute(GfxLevel::Gfx10_3)).unwrap_err();
    drop(held);
    until("the job runs", || load(&memory, 0) == 1);
    drop(list);
}
