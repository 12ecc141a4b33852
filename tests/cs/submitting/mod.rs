//! The requests that a queue makes for a submission: calls, chunks, retries and sync objects. Features 87 to 90, 95 to
//! 102.

mod keeping_nothing;
mod reentrant;

use std::{
    os::fd::AsFd,
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
    thread,
    time::Duration,
};

use crate::support::{
    chip, device, host_memory, job_time,
    jobs::{context, load, patient_gpu, poke, store, wait_for},
    queue,
};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{
        self, BoListMode, CommandList, Fence, Preambles, Queue, QueueOptions, RetryPolicy, Stream, Submission,
        SyncPoint,
    },
    heaps::{DeviceMemory, VkResult},
    uapi::{Argument, BoList, Cs},
    winsys::{Deadline, Device, Errno, Error, Feature, Ip, ResidencySet, Syncobj, Until, WaitFor},
};
use nix::{
    fcntl::{FcntlArg, FdFlag, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

type Injected = Arc<FaultInjector<SimKernel>>;

fn injected() -> (Injected, Device) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

fn queue_with(device: &Device, ip: Ip, options: QueueOptions) -> Queue {
    Queue::with_options(&context(device), ip, 0, options).unwrap()
}

/// Lists that do nothing.
fn idle_lists(queue: &Queue, count: usize) -> Vec<CommandList> {
    let amdgpu_winsys::cs::Target::Pm4(target) = queue.target() else { panic!("no PM4 ring") };
    let device = queue.context().device();
    (0..count).map(|_| Stream::new(device, target, 1).unwrap().finish().unwrap()).collect()
}

/// A queue, and a list that runs until the first dword of the memory is 1.
struct Gated {
    queue: Queue,
    gate: DeviceMemory,
    list: CommandList,
}

impl Gated {
    fn new(device: &Device, ip: Ip) -> Self {
        let queue = queue(device, ip, 0);
        let gate = host_memory(device, 4096);
        let list = wait_for(device, queue.target(), gate.address(), 1);
        Self { queue, gate, list }
    }

    fn submit(&self, more: Submission<'_>) -> Fence {
        let bindings = [self.gate.binding().clone()];
        self.queue.submit(&Submission { lists: &[&self.list], memory: &bindings, ..more }).unwrap()
    }

    fn open(&self) {
        poke(&self.gate, 0, 1);
    }
}

/// Row 89.
#[test]
fn preambles_run_around_each_call_and_depend_on_what_is_waited_for() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let mark = |index: u64| store(&device, queue.target(), memory.address().checked_add(4 * index).unwrap(), 1);
    let [flush, plain, further, after] = [0, 1, 2, 3].map(mark);
    let preambles = Preambles::new().with_initial(flush, plain).unwrap();
    let preambles = preambles.with_further(further).unwrap().with_postamble(after).unwrap();
    let ready = Syncobj::new(&device, true).unwrap();
    let bindings = [memory.binding().clone()];
    let ran = || {
        let marks = [0, 1, 2, 3].map(|index| load(&memory, 4 * index));
        memory.mapping().unwrap().write(0, &[0; 16]).unwrap();
        marks
    };
    // The kernel takes 125 IBs for a compute ring, of which two go around.
    let lists = idle_lists(&queue, 247);
    let lists: Vec<_> = lists.iter().collect();
    let mut calls = 0;
    for (count, waits, expected) in [
        (1, false, [0, 1, 0, 1]),
        (1, true, [1, 0, 0, 1]),
        (123, false, [0, 1, 0, 1]),
        (124, false, [0, 1, 1, 1]),
        (247, true, [1, 0, 1, 1]),
    ] {
        let waited = [SyncPoint::binary(&ready)];
        let submission = Submission {
            lists: &lists[..count],
            preambles: Some(&preambles),
            memory: &bindings,
            waits: if waits { &waited } else { &[] },
            ..Submission::default()
        };
        let fence = queue.submit(&submission).unwrap();
        calls += (count as u64).div_ceil(123);
        assert!(fence.wait(job_time()).unwrap());
        assert_eq!((fence.sequence(), ran()), (calls, expected), "{count} lists, waits: {waits}");
    }
}

/// Row 88. W-30: RADV searches its list for each BO that it adds.
#[test]
fn a_bo_is_listed_once_however_often_it_is_named() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Compute, 0);
    let [memory, other] = [(); 2].map(|()| host_memory(&device, 4096));
    let list = store(&device, queue.target(), memory.address(), 1);
    // More entries than the kernel takes, if they were listed.
    let bindings = vec![memory.binding().clone(); amdgpu_winsys::uapi::BO_LIST_MAX_ENTRIES as usize + 1];
    let (one, two) = (ResidencySet::new(), ResidencySet::new());
    for binding in [memory.binding(), other.binding()] {
        assert!(one.add(binding) && two.add(binding));
    }
    let sets = [&one, &two];
    for sets in [&sets[..0], &sets, &sets] {
        let submission = Submission { lists: &[&list, &list], memory: &bindings, sets, ..Submission::default() };
        assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
    }
    assert_eq!(load(&memory, 0), 1);
}

/// Row 87: a list that the kernel keeps, which then neither copies nor looks anything up.
#[test]
fn a_kept_list_is_made_when_it_is_worth_it_and_given_up_when_it_changes() {
    let (kernel, device) = injected();
    let queue =
        queue_with(&device, Ip::Compute, QueueOptions { bo_list_mode: BoListMode::Kept, ..QueueOptions::default() });
    let memory: Vec<_> = (0..10).map(|_| host_memory(&device, 4096)).collect();
    let set = ResidencySet::new();
    for memory in &memory {
        assert!(set.add(memory.binding()));
    }
    let list = store(&device, queue.target(), memory[0].address(), 1);
    let submission = Submission { lists: &[&list], sets: &[&set], ..Submission::default() };
    let ioctls = |submission: &Submission<'_>| {
        let before = kernel.calls();
        let fence = queue.submit(submission).unwrap();
        let calls = kernel.calls() - before;
        assert!(fence.wait(job_time()).unwrap());
        calls
    };
    assert_eq!([(); 4].map(|()| ioctls(&submission)), [1, 2, 1, 1], "CS; with CREATE; CS");
    set.remove(memory[9].binding());
    assert_eq!([(); 3].map(|()| ioctls(&submission)), [2, 2, 1], "with DESTROY; with CREATE; CS");
    let beside = [memory[9].binding().clone()];
    let more = Submission { memory: &beside, ..submission };
    assert_eq!([(); 3].map(|()| ioctls(&more)), [2, 2, 1]);
    let before = kernel.calls();
    queue.forget_memory();
    assert_eq!(kernel.calls() - before, 1, "DESTROY");
    // A kernel that makes no list is given the entries.
    kernel.fail_every_ioctl(BoList::REQUEST, Errno::ENOMEM);
    assert_eq!([(); 2].map(|()| ioctls(&more)), [1, 2]);
}

/// Row 102. W-30: RADV holds the lock that allocating and freeing need while it tries again.
#[test]
fn a_submission_that_waits_for_memory_keeps_nobody_else_waiting() {
    let (kernel, device) = injected();
    let retry = RetryPolicy { total: Duration::from_mins(1), pause: Duration::from_millis(1) };
    let queue = queue_with(&device, Ip::Gfx, QueueOptions { retry, ..QueueOptions::default() });
    let gate = host_memory(&device, 4096);
    let list = wait_for(&device, queue.target(), gate.address(), 1);
    let bindings = [gate.binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let first = queue.submit(&submission).unwrap();
    kernel.fail_every_ioctl(Cs::REQUEST, Errno::ENOMEM);
    thread::scope(|scope| {
        let second = scope.spawn(|| queue.submit(&submission));
        while !kernel.has_fired() {
            thread::yield_now();
        }
        // It tries again and again. Meanwhile others use the queue, and the device.
        poke(&gate, 0, 1);
        assert!(first.wait(job_time()).unwrap());
        assert_eq!(queue.in_flight(), 0);
        drop(host_memory(&device, 4096));
        kernel.stop();
        assert!(second.join().unwrap().unwrap().wait(job_time()).unwrap());
    });
}

/// W-26: RADV makes a lost device of a submission that found no memory.
#[test]
fn out_of_memory_is_tried_again_and_then_an_error_that_can_be_got_over() {
    let (kernel, device) = injected();
    let impatient = QueueOptions { retry: RetryPolicy::NONE, ..QueueOptions::default() };
    for (options, outcome) in [(QueueOptions::default(), Ok(())), (impatient, Err(()))] {
        let queue = queue_with(&device, Ip::Compute, options);
        let memory = host_memory(&device, 4096);
        let list = store(&device, queue.target(), memory.address(), 1);
        let bindings = [memory.binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ENOMEM);
        let result = queue.submit(&submission);
        assert_eq!(result.as_ref().map(drop).map_err(drop), outcome);
        if let Err(error) = result {
            assert_eq!(error, cs::SubmitError::Winsys(Error::OutOfMemory { request: "AMDGPU_CS", bos: 3 }));
            assert_eq!((error.loss(), error.vk_result()), (None, VkResult::OutOfDeviceMemory));
        }
        let fence = queue.submit(&submission).unwrap();
        assert!(fence.wait(job_time()).unwrap(), "the queue is as good as before");
    }
}

/// W-22: RADV leaks the list of BOs. W-38: libdrm uses up what is waited for.
#[test]
fn a_refused_submission_changes_nothing_and_keeps_nothing() {
    let (kernel, device) = injected();
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let list = store(&device, queue.target(), memory.address(), 1);
    let (ready, done) = (Syncobj::new(&device, true).unwrap(), Syncobj::new(&device, false).unwrap());
    let set = ResidencySet::new();
    set.add(memory.binding());
    let bindings = [memory.binding().clone()];
    let submission = Submission {
        lists: &[&list],
        memory: &bindings,
        sets: &[&set],
        waits: &[SyncPoint::binary(&ready)],
        signals: &[SyncPoint::binary(&done)],
        ..Submission::default()
    };
    drop(set.snapshot());
    let before = (memory.binding().handle_count(), kernel.inner().census());
    for errno in [Errno::EINVAL, Errno::ENOENT, Errno::ENOSPC, Errno::ENODEV] {
        kernel.fail_nth_ioctl(Cs::REQUEST, 0, errno);
        let error = queue.submit(&submission).unwrap_err();
        assert_eq!(error.loss().is_some(), errno == Errno::ENODEV, "{error}");
        assert_eq!((memory.binding().handle_count(), kernel.inner().census()), before);
        assert!(ready.wait(Deadline::POLL).unwrap() && !done.wait(Deadline::POLL).unwrap());
    }
    let fence = queue.submit(&submission).unwrap();
    assert_eq!(fence.sequence(), 1, "no number was used");
    assert!(done.wait(job_time()).unwrap() && fence.wait(job_time()).unwrap());
}

/// Row 100.
#[test]
fn an_empty_submission_signals_when_what_was_submitted_before_is_done() {
    let device = Device::new(patient_gpu("navi21").open()).unwrap();
    let gated = Gated::new(&device, Ip::Gfx);
    let [idle, binary, timeline] = [(); 3].map(|()| Syncobj::new(&device, false).unwrap());
    let signal = |points: &[SyncPoint<'_>]| {
        gated.queue.submit(&Submission { signals: points, ..Submission::default() }).unwrap()
    };
    let fence = signal(&[SyncPoint::binary(&idle)]);
    assert!(idle.wait(Deadline::POLL).unwrap() && fence.is_signalled(), "nothing was submitted before");
    let running = gated.submit(Submission::default());
    let fence = signal(&[SyncPoint::binary(&binary), SyncPoint::timeline(&timeline, 7)]);
    assert_eq!(fence.sequence(), running.sequence());
    assert!(!binary.wait(Deadline::POLL).unwrap() && !timeline.wait_point(7, Deadline::POLL).unwrap());
    gated.open();
    assert!(binary.wait(job_time()).unwrap() && timeline.wait_point(7, job_time()).unwrap());
    assert!(gated.queue.wait_idle(job_time()).unwrap() && fence.is_signalled());
    signal(&[SyncPoint::timeline(&timeline, 9)]);
    assert_eq!(timeline.query().unwrap(), 9);
}

/// Row 100, the other half: what comes later does not overtake what an empty submission waits for.
#[test]
fn an_empty_submission_that_waits_keeps_its_place() {
    let device = Device::new(patient_gpu("navi21").open()).unwrap();
    let gated = Gated::new(&device, Ip::Compute);
    let other = queue(&device, Ip::Gfx, 0);
    let memory = host_memory(&device, 4096);
    let (ready, done) = (Syncobj::new(&device, false).unwrap(), Syncobj::new(&device, false).unwrap());
    gated.submit(Submission { signals: &[SyncPoint::binary(&ready)], ..Submission::default() });
    let waits = [SyncPoint::binary(&ready)];
    let signals = [SyncPoint::binary(&done)];
    let empty = other.submit(&Submission { waits: &waits, signals: &signals, ..Submission::default() }).unwrap();
    let list = store(&device, other.target(), memory.address(), 3);
    let bindings = [memory.binding().clone()];
    let later = other.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
    assert_eq!((empty.sequence(), later.sequence()), (1, 2));
    assert!(!done.wait(Deadline::POLL).unwrap() && !later.wait(Deadline::POLL).unwrap());
    assert_eq!(load(&memory, 0), 0);
    gated.open();
    assert!(later.wait(job_time()).unwrap() && done.wait(Deadline::POLL).unwrap());
    assert_eq!(load(&memory, 0), 3);
}

/// Row 96. W-43: asking the kernel whether a BO is idle can take a millisecond.
#[test]
fn a_finished_submission_is_known_without_a_call() {
    let (kernel, device) = injected();
    let queue = queue(&device, Ip::Sdma, 0);
    let memory = host_memory(&device, 4096);
    let list = store(&device, queue.target(), memory.address(), 1);
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fences = [(); 3].map(|()| queue.submit(&submission).unwrap());
    assert!(fences[2].wait(job_time()).unwrap());
    let before = kernel.calls();
    let [one, two, three] = &fences;
    assert!(one.is_signalled() && two.wait(Deadline::POLL).unwrap() && queue.wait_idle(Deadline::POLL).unwrap());
    for condition in [WaitFor::All, WaitFor::Any] {
        assert_eq!(Fence::wait_many(&[one, two, three], condition, Deadline::NEVER).unwrap(), Some(0));
    }
    assert_eq!((queue.in_flight(), kernel.calls()), (0, before));
}

/// Row 99.
#[test]
fn any_or_all_of_several_fences_are_waited_for() {
    let device = Device::new(patient_gpu("navi21").open()).unwrap();
    let gated = [Ip::Gfx, Ip::Compute, Ip::Sdma].map(|ip| Gated::new(&device, ip));
    let fences = [&gated[0], &gated[1], &gated[2]].map(|gated| gated.submit(Submission::default()));
    let all: Vec<_> = fences.iter().collect();
    for condition in [WaitFor::All, WaitFor::Any] {
        assert_eq!(Fence::wait_many(&all, condition, Deadline::POLL).unwrap(), None);
        assert_eq!(Fence::wait_many(&[], condition, Deadline::POLL).unwrap(), Some(0));
    }
    gated[1].open();
    assert_eq!(Fence::wait_many(&all, WaitFor::Any, Deadline::after(Duration::MAX)).unwrap(), Some(1));
    assert!(fences[1].wait(job_time()).unwrap());
    assert_eq!(Fence::wait_many(&all, WaitFor::Any, Deadline::POLL).unwrap(), Some(1), "which one is still known");
    assert_eq!(Fence::wait_many(&all, WaitFor::All, Deadline::POLL).unwrap(), None);
    gated[0].open();
    gated[2].open();
    assert_eq!(Fence::wait_many(&all, WaitFor::All, job_time()).unwrap(), Some(0));
    let foreign = Gated::new(&crate::support::device("navi21"), Ip::Gfx);
    foreign.open();
    let foreign = foreign.submit(Submission::default());
    let error = Fence::wait_many(&[&fences[0], &foreign], WaitFor::All, Deadline::POLL).unwrap_err();
    assert_eq!(error, Error::ForeignDevice { what: "fence" });
}

/// Rows 97 and 99: points of several sync objects, binary and timeline, submitted for and signalled.
#[test]
fn any_or_all_of_several_points_are_waited_for() {
    let device = Device::new(patient_gpu("navi21").open()).unwrap();
    let gated = Gated::new(&device, Ip::Gfx);
    let [binary, timeline] = [(); 2].map(|()| Syncobj::new(&device, false).unwrap());
    let points = [(&binary, 0), (&timeline, 5)];
    let poll = |condition, until| Syncobj::wait_points(&points, condition, until, Deadline::POLL).unwrap();
    assert_eq!(poll(WaitFor::Any, Until::Submitted), None);
    gated.submit(Submission { signals: &[SyncPoint::timeline(&timeline, 5)], ..Submission::default() });
    assert_eq!(poll(WaitFor::Any, Until::Submitted), Some(1));
    assert_eq!(poll(WaitFor::Any, Until::Signalled), None);
    assert_eq!(poll(WaitFor::All, Until::Submitted), None);
    assert_eq!((timeline.query().unwrap(), timeline.last_submitted().unwrap()), (0, 5));
    binary.signal().unwrap();
    assert_eq!(poll(WaitFor::All, Until::Submitted), Some(0));
    assert_eq!(poll(WaitFor::Any, Until::Signalled), Some(0));
    gated.open();
    assert_eq!(Syncobj::wait_points(&points, WaitFor::All, Until::Signalled, job_time()).unwrap(), Some(0));
    assert_eq!(timeline.query().unwrap(), 5);
}

/// Row 97.
#[test]
fn a_fence_goes_round_by_sync_object_and_by_sync_file() {
    let device = Device::new(patient_gpu("navi21").open()).unwrap();
    let gated = Gated::new(&device, Ip::Compute);
    let fence = gated.submit(Submission::default());
    let shared = fence.to_syncobj().unwrap();
    let copied = Syncobj::new(&device, false).unwrap();
    assert_eq!(copied.export_sync_file().unwrap_err().errno(), Some(Errno::EINVAL), "nothing to export yet");
    copied.import_sync_file(fence.to_sync_file().unwrap()).unwrap();
    let again = Syncobj::new(&device, false).unwrap();
    again.import_sync_file(shared.export_sync_file().unwrap()).unwrap();
    let all = [&shared, &copied, &again];
    assert!(all.iter().all(|syncobj| !syncobj.wait(Deadline::POLL).unwrap()));
    gated.open();
    assert!(Syncobj::wait_many(&all, WaitFor::All, job_time()).unwrap());
    let error = again.import_sync_file(std::io::stdin().as_fd()).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::EINVAL), "{error}");
}

#[test]
fn a_fence_is_a_descriptor_that_becomes_readable() {
    let device = Device::new(patient_gpu("navi21").open()).unwrap();
    let gated = Gated::new(&device, Ip::Gfx);
    let fence = gated.submit(Submission::default());
    let pollable = fence.to_pollable().unwrap();
    let is_readable = |timeout: PollTimeout| {
        let mut fds = [PollFd::new(pollable.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, timeout).unwrap() == 1
    };
    assert!(!is_readable(PollTimeout::ZERO) && !fence.is_signalled());
    // It is no child's, and whoever reads it does not wait.
    let flags = [FcntlArg::F_GETFD, FcntlArg::F_GETFL].map(|what| fcntl(pollable.as_fd(), what).unwrap());
    assert!(flags[0] & FdFlag::FD_CLOEXEC.bits() != 0 && flags[1] & OFlag::O_NONBLOCK.bits() != 0);
    gated.open();
    assert!(is_readable(PollTimeout::try_from(Duration::from_secs(20)).unwrap()));
    assert!(is_readable(PollTimeout::ZERO), "and stays so");
    assert!(pollable.fence().wait(job_time()).unwrap());
    let late = fence.to_pollable().unwrap();
    let mut fds = [PollFd::new(late.as_fd(), PollFlags::POLLIN)];
    assert_eq!(poll(&mut fds, PollTimeout::ZERO).unwrap(), 1, "at once when it is done already");
}

/// A dependency on the start alone: the first job ends only because the second runs beside it.
#[test]
fn a_submission_can_wait_for_the_start_of_another() {
    let device = Device::new(patient_gpu("navi21").open()).unwrap();
    let gated = Gated::new(&device, Ip::Gfx);
    let first = gated.submit(Submission::default());
    let other = queue(&device, Ip::Compute, 0);
    let opens = store(&device, other.target(), gated.gate.address(), 1);
    let bindings = [gated.gate.binding().clone()];
    let second = Submission { lists: &[&opens], memory: &bindings, after_start: &[&first], ..Submission::default() };
    let second = other.submit(&second).unwrap();
    assert!(second.wait(job_time()).unwrap() && first.wait(job_time()).unwrap());
}

#[test]
fn old_drivers_are_not_asked_for_what_they_do_not_have() {
    let options = SimOptions { drm_minor: 27, ..SimOptions::default() };
    let device = Device::new(SimDevice::new(chip("vega10"), options).open()).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let lists = idle_lists(&queue, 1);
    let lists = [&lists[0]];
    let done = Syncobj::new(&device, false).unwrap();
    let binary = Submission { lists: &lists, signals: &[SyncPoint::binary(&done)], ..Submission::default() };
    let fence = queue.submit(&binary).unwrap();
    assert!(fence.wait(job_time()).unwrap() && done.wait(job_time()).unwrap());
    for (submission, feature) in [
        (Submission { signals: &[SyncPoint::timeline(&done, 1)], ..binary }, Feature::SubmittedTimelines),
        (Submission { after_start: &[&fence], ..binary }, Feature::StartDependencies),
    ] {
        let error = queue.submit(&submission).unwrap_err();
        assert_eq!(error, cs::SubmitError::Winsys(Error::Unsupported { feature }));
        assert_eq!(error.vk_result(), VkResult::FeatureNotPresent);
    }
}

#[test]
fn a_fence_of_another_device_is_refused() {
    let (home, abroad) = (device("navi21"), device("navi21"));
    let queue = queue(&home, Ip::Compute, 0);
    let foreign = Gated::new(&abroad, Ip::Gfx);
    foreign.open();
    let fence = foreign.submit(Submission::default());
    let lists = idle_lists(&queue, 1);
    let submission = Submission { lists: &[&lists[0]], ..Submission::default() };
    for submission in [
        Submission { after: &[&fence], ..submission },
        Submission { after_start: &[&fence], ..submission },
        Submission { lists: &[], after: &[&fence], ..submission },
    ] {
        let error = queue.submit(&submission).unwrap_err();
        assert_eq!(error, cs::SubmitError::Winsys(Error::ForeignDevice { what: "fence" }));
    }
    let abroad = Syncobj::new(&abroad, false).unwrap();
    let signals = [SyncPoint::binary(&abroad)];
    let error = queue.submit(&Submission { signals: &signals, ..Submission::default() }).unwrap_err();
    assert_eq!(error, cs::SubmitError::Winsys(Error::ForeignDevice { what: "sync object" }));
}

/// Several threads on one queue: nothing is lost, nothing is numbered twice.
#[test]
fn threads_share_a_queue() {
    const THREADS: usize = 4;
    const EACH: usize = 25;
    let device = device("navi21");
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let list = store(&device, queue.target(), memory.address(), 1);
    let bindings = [memory.binding().clone()];
    let failed = AtomicBool::new(false);
    let mut numbers: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
                    let submit = || {
                        let fence = queue.submit(&submission).unwrap();
                        failed.fetch_or(!fence.wait(job_time()).unwrap(), Ordering::Relaxed);
                        fence.sequence()
                    };
                    (0..EACH).map(|_| submit()).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=(THREADS * EACH) as u64).collect::<Vec<_>>());
    assert!(!failed.into_inner());
}
