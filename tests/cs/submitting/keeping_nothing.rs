//! Submissions whose resources the caller keeps alive, and what is used again of the last submission.

use std::sync::Arc;

use crate::spy::Spy;
use crate::support::{
    chip, chips, device, host_memory, job_time,
    jobs::{context, impatient_gpu, load, patient_gpu, store, wait_for},
    queue,
};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{BoListMode, CommandList, HangReport, Keep, Queue, QueueOptions, Submission, SubmitError, Target},
    heaps::DeviceMemory,
    uapi::{Argument as _, BoList, Cs, GemClose},
    vamgr::GpuVa,
    winsys::{Device, Errno, Event, Ip, Observer, ResidencySet},
};
use parking_lot::Mutex;

/// A device with a queue, and memory that lists write.
struct Rig {
    device: Device,
    queue: Queue,
    memory: DeviceMemory,
}

impl Rig {
    fn new(name: &str, ip: Ip) -> Self {
        Self::on(device(name), ip)
    }

    fn on(device: Device, ip: Ip) -> Self {
        let (queue, memory) = (queue(&device, ip, 0), host_memory(&device, 4096));
        Self { device, queue, memory }
    }

    fn at(&self, dword: u64) -> GpuVa {
        self.memory.address().checked_add(4 * dword).unwrap()
    }

    fn store(&self, dword: u64, value: u32) -> CommandList {
        store(&self.device, self.queue.target(), self.at(dword), value)
    }

    fn finish(&self) {
        assert!(self.queue.last().wait(job_time()).unwrap());
    }
}

fn keeping_nothing<'a>(lists: &'a [&'a CommandList], sets: &'a [&'a ResidencySet]) -> Submission<'a> {
    Submission { lists, sets, keep: Keep::Nothing, ..Submission::default() }
}

fn submit(queue: &Queue, lists: &[&CommandList], sets: &[&ResidencySet]) -> Result<u64, SubmitError> {
    queue.submit(&keeping_nothing(lists, sets)).map(|fence| fence.sequence())
}

#[test]
fn lists_run_in_each_order_on_every_chip() {
    for name in chips() {
        for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
            let rig = Rig::new(name, ip);
            let set = ResidencySet::new();
            set.add(rig.memory.binding());
            let lists: Vec<_> = (0..3).map(|at| rig.store(0, at)).collect();
            let [a, b, c] = [&lists[0], &lists[1], &lists[2]];
            let orders = [vec![a, b, c], vec![a, b, c], vec![c, b], vec![c], vec![c, c, a], vec![b, c, a, b]];
            for (order, number) in orders.iter().zip(1..) {
                assert_eq!(submit(&rig.queue, order, &[&set]).unwrap(), number, "{name} {ip}");
                rig.finish();
                let last = lists.iter().position(|list| std::ptr::eq(list, *order.last().unwrap())).unwrap();
                assert_eq!(load(&rig.memory, 0) as usize, last, "{name} {ip} {number}");
            }
        }
    }
}

/// The same list runs again with others chained to it, with other sets, and among other lists: nothing of the last submission is
/// told to the kernel instead.
#[test]
fn a_submission_that_differs_from_the_last_one_is_listed_anew() {
    let kernel = Spy::on(SimKernel::open(chip("navi21")));
    let rig = Rig::on(Device::new(Arc::clone(&kernel)).unwrap(), Ip::Compute);
    let [list, other] = [rig.store(0, 1), rig.store(1, 2)];
    let (set, later) = (ResidencySet::new(), ResidencySet::new());
    let extra = host_memory(&rig.device, 4096);
    set.add(rig.memory.binding());
    later.add(rig.memory.binding());
    let counts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&counts);
    kernel.layer().watch(move |call| {
        if call.is::<Cs>() {
            seen.lock().push(call.bos().len());
        }
    });
    let runs = |lists: &[&CommandList], sets: &[&ResidencySet], expected: [u32; 2], bos: usize, what: &str| {
        for _ in 0..2 {
            for at in [0, 4] {
                rig.memory.mapping().unwrap().store_u32(at, 0).unwrap();
            }
            submit(&rig.queue, lists, sets).unwrap();
            rig.finish();
            assert_eq!([0, 4].map(|at| load(&rig.memory, at)), expected, "{what}");
            assert_eq!(std::mem::take(&mut *counts.lock()), [bos + 1], "{what}, and the preamble");
        }
    };
    runs(&[&list], &[&set], [1, 0], 2, "one list");
    runs(&[&list, &other], &[&set], [1, 2], 3, "another one behind it");
    runs(&[&list], &[&set], [1, 0], 2, "one list again");
    list.chain(&other).unwrap();
    runs(&[&list], &[&set], [1, 2], 3, "another one chained to it");
    list.unchain().unwrap();
    runs(&[&list], &[&later], [1, 0], 2, "another set of the same members");
    set.add(extra.binding());
    runs(&[&list], &[&set], [1, 0], 3, "another member");
    runs(&[&list], &[&later, &set], [1, 0], 3, "two sets");
    set.remove(extra.binding());
    runs(&[&list], &[&later, &set], [1, 0], 2, "a member less");
    kernel.layer().look_away();
}

/// The kernel's list has a BO whose handle was closed, and the kernel gives a handle that is free to the next BO.
#[test]
fn a_kept_bo_list_is_not_used_for_memory_that_was_allocated_since() {
    let device = device("navi21");
    let kept = QueueOptions { bo_list_mode: BoListMode::Kept, ..QueueOptions::default() };
    let queue = Queue::with_options(&context(&device), Ip::Compute, 0, kept).unwrap();
    let target = host_memory(&device, 4096);
    let list = store(&device, queue.target(), target.address(), 1);
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        let submit = |memory: &DeviceMemory| {
            let submission = Submission { lists: &[&list], memory: &[&target, memory], keep, ..Submission::default() };
            assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
        };
        let memory = host_memory(&device, 4096);
        let handle = memory.bo().handle();
        (0..3).for_each(|_| submit(&memory));
        drop(memory);
        let other = host_memory(&device, 4096);
        assert_ne!(other.bo().handle(), handle, "{keep:?}: the kernel's list has the first one");
        submit(&other);
        let third = host_memory(&device, 4096);
        assert_eq!(third.bo().handle(), handle, "{keep:?}: and lets go of it when other memory is listed");
        queue.forget_memory();
    }
}

/// The kernel's list of a submission that is being made is given up when the submission has been made.
#[test]
fn a_kept_bo_list_is_forgotten_while_a_submission_uses_it() {
    let kernel = Spy::on(SimKernel::open(chip("navi21")));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let kept = QueueOptions { bo_list_mode: BoListMode::Kept, ..QueueOptions::default() };
    let queue = Queue::with_options(&context(&device), Ip::Compute, 0, kept).unwrap();
    let memory = host_memory(&device, 4096);
    let list = store(&device, queue.target(), memory.address(), 1);
    let submit = || queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() }).unwrap();
    (0..2).for_each(|_| drop(submit()));
    let destroyed = Arc::new(Mutex::new(0));
    let (count, forgetting) = (Arc::clone(&destroyed), queue.clone());
    kernel.layer().watch(move |call| {
        if call.is::<Cs>() {
            assert_eq!(*count.lock(), 0, "the submission needs it");
            forgetting.forget_memory();
        } else if call.is::<BoList>() {
            *count.lock() += 1;
        }
    });
    submit();
    kernel.layer().look_away();
    assert_eq!(*destroyed.lock(), 1);
    assert!(queue.wait_idle(job_time()).unwrap());
}

/// Stores the BO counts of submissions.
#[derive(Clone, Debug, Default)]
struct BoCounts(Arc<Mutex<Vec<usize>>>);

impl Observer for BoCounts {
    fn observe(&self, event: &Event) {
        if let Event::Submitted { bos, .. } = event {
            self.0.lock().push(*bos);
        }
    }
}

#[test]
fn an_observer_sees_each_submission_that_keeps_nothing() {
    let counts = BoCounts::default();
    let kernel = SimKernel::open(chip("navi21"));
    let rig = Rig::on(Device::with_observer(kernel, counts.clone()).unwrap(), Ip::Compute);
    let (list, set) = (rig.store(0, 1), ResidencySet::new());
    set.add(rig.memory.binding());
    for _ in 0..3 {
        submit(&rig.queue, &[&list], &[&set]).unwrap();
    }
    assert_eq!(*counts.0.lock(), [3; 3], "the memory, the list's IB and the preamble");
}

/// Another thread removes a member and frees it during the call: it is closed only when the kernel has its own reference.
#[test]
fn a_member_that_is_freed_during_a_submission_is_open_until_the_kernel_has_it() {
    let kernel = Spy::on(SimKernel::open(chip("navi21")));
    let rig = Rig::on(Device::new(Arc::clone(&kernel)).unwrap(), Ip::Compute);
    let (list, set) = (rig.store(0, 5), ResidencySet::new());
    let member = host_memory(&rig.device, 4096);
    set.add(rig.memory.binding());
    set.add(member.binding());
    let (lists, sets) = ([&list], [&set]);
    let submission = keeping_nothing(&lists, &sets);
    rig.queue.submit(&submission).unwrap();
    let freed = Mutex::new(Some(member));
    let (members, calls) = (set.clone(), Arc::new(Mutex::new(Vec::new())));
    let counted = Arc::clone(&calls);
    kernel.layer().watch(move |seen| {
        if seen.is::<Cs>() {
            counted.lock().push(seen.bos().len());
            if let Some(member) = freed.lock().take() {
                members.remove(member.binding());
            }
        } else if seen.is::<GemClose>() {
            counted.lock().push(0);
        }
    });
    assert_eq!(rig.queue.submit(&submission).unwrap().sequence(), 2);
    kernel.layer().look_away();
    assert_eq!(*calls.lock(), [4, 0], "submitted with the member, which is closed afterwards");
    rig.finish();
    assert_eq!(load(&rig.memory, 0), 5);
}

#[test]
fn a_refusal_is_an_error_unless_memory_is_short() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let rig = Rig::on(Device::new(Arc::clone(&kernel)).unwrap(), Ip::Compute);
    let list = rig.store(0, 1);
    for expected in 1..=2 {
        assert_eq!(submit(&rig.queue, &[&list], &[]).unwrap(), expected);
    }
    kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::EINVAL);
    assert!(matches!(submit(&rig.queue, &[&list], &[]).unwrap_err(), SubmitError::Winsys(_)));
    kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ENOMEM);
    assert_eq!(submit(&rig.queue, &[&list], &[]).unwrap(), 3, "tried again");
    kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ENODEV);
    assert!(submit(&rig.queue, &[&list], &[]).unwrap_err().loss().is_some());
}

#[test]
fn submissions_that_keep_nothing_count_as_in_flight_and_retire_what_others_keep() {
    let rig = Rig::on(Device::new(patient_gpu("navi21").open()).unwrap(), Ip::Compute);
    let kept = rig.store(1, 1);
    let bindings = [rig.memory.binding().clone()];
    let whole = Submission { lists: &[&kept], memory: &bindings, ..Submission::default() };
    rig.queue.submit(&whole).unwrap();
    rig.finish();
    let again = rig.queue.submit(&whole).unwrap();
    let gate = wait_for(&rig.device, rig.queue.target(), rig.at(0), 1);
    while !again.is_signalled() {}
    rig.queue.submit(&keeping_nothing(&[&gate], &[])).unwrap();
    let Target::Pm4(target) = rig.queue.target() else { panic!("a compute ring") };
    assert!(kept.record_again(target).is_ok(), "the queue let go of it");
    let other = rig.store(1, 1);
    rig.queue.submit(&Submission { lists: &[&other], memory: &bindings, ..Submission::default() }).unwrap();
    rig.queue.submit(&keeping_nothing(&[&gate], &[])).unwrap();
    assert_eq!((rig.queue.in_flight(), rig.queue.last().sequence()), (3, 5));
    rig.memory.mapping().unwrap().store_u32(0, 1).unwrap();
    rig.finish();
    assert_eq!(rig.queue.in_flight(), 0);
}

#[test]
fn a_hang_report_does_not_blame_a_later_submission_for_one_that_keeps_nothing() {
    let rig = Rig::on(Device::new(impatient_gpu("navi21").open()).unwrap(), Ip::Compute);
    let gate = wait_for(&rig.device, rig.queue.target(), rig.at(0), 1);
    let later = rig.store(1, 1);
    rig.queue.submit(&keeping_nothing(&[&gate], &[])).unwrap();
    let bindings = [rig.memory.binding().clone()];
    rig.queue.submit(&Submission { lists: &[&later], memory: &bindings, ..Submission::default() }).unwrap();
    let lists = |report: &HangReport| report.queues.iter().filter(|queue| queue.excerpt.is_some()).count();
    assert_eq!(lists(&HangReport::new(&rig.device).with_queue(&rig.queue, None)), 0);
    assert!(rig.queue.last().wait(job_time()).is_err(), "the GPU gives it up");
    assert_eq!(rig.queue.in_flight(), 0, "all have ended");
    assert_eq!(lists(&HangReport::new(&rig.device).with_queue(&rig.queue, None)), 0);
}
