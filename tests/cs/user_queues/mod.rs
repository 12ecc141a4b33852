//! User queues: the same results as queues of the kernel, and no ioctl for a submission.

mod strict;

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use amdgpu_layers::{Counter, FaultInjector, Layer};
use amdgpu_sim::{KernelRelease, SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{CommandList, Keep, Submission, Target, UserQueue, UserQueueError},
    heaps::DeviceMemory,
    uapi::{Argument, GemVaTimeline, Userq, VaFlags},
    vamgr::{GpuVa, VaError, VaRequest},
    winsys::{
        Deadline, Device, Errno, Error as WinsysError, Event, Feature, Ip, Observer, OutOfRange, Reservation, Syncobj,
        UserRing,
    },
};

use crate::support::{
    chip, ends, host_memory, job_time,
    jobs::{load, poke, store, wait_for},
    queue,
};

const ENGINES: [Ip; 3] = [Ip::Gfx, Ip::Compute, Ip::Sdma];

fn newer() -> SimOptions {
    SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) }
}

fn gpu() -> SimDevice {
    SimDevice::new(chip("navi31"), newer())
}

fn at(memory: &DeviceMemory, offset: u64) -> GpuVa {
    memory.address().checked_add(offset).unwrap()
}

#[test]
fn a_user_queue_computes_what_a_queue_of_the_kernel_does() {
    let gpu = gpu();
    let device = Device::new(gpu.open()).unwrap();
    for ip in ENGINES {
        let memory = host_memory(&device, 4096);
        let (kernels, own) = (queue(&device, ip, 0), UserQueue::new(&device, ip).unwrap());
        assert_eq!(kernels.target(), own.target());
        let lists: Vec<_> =
            (0..8).map(|index| store(&device, own.target(), at(&memory, 4 * index), 100 + index as u32)).collect();
        let lists: Vec<_> = lists.iter().collect();
        let used = [memory.binding().clone()];
        let results = || (0..8).map(|index| load(&memory, 4 * index)).collect::<Vec<_>>();

        let fence = kernels.submit(&Submission { lists: &lists, memory: &used, ..Submission::default() }).unwrap();
        assert!(fence.wait(job_time()).unwrap());
        let wanted = results();
        for index in 0..8 {
            poke(&memory, 4 * index, 0);
        }

        assert!(own.wait_for_bindings(job_time()).unwrap());
        let fence = own.submit(&lists, &[&used]).unwrap();
        assert!(fence.wait(job_time()).unwrap() && fence.is_signalled());
        assert_eq!(results(), wanted, "{ip}");
    }
    assert_eq!(gpu.complaints(), [""; 0]);
}

#[test]
fn submitting_and_waiting_are_no_ioctls() {
    let kernel = Arc::new(Counter::default().over(gpu().open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    for ip in ENGINES {
        let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, ip).unwrap());
        let list = store(&device, own.target(), at(&memory, 0), 5);
        assert!(own.wait_for_bindings(job_time()).unwrap());
        let before = kernel.layer().ioctls();
        // So many that the ring goes round.
        for _ in 0..2000 {
            let fence = own.submit(&[&list], &[memory.binding()]).unwrap();
            assert!(fence.wait(job_time()).unwrap());
        }
        assert_eq!(own.in_flight(), 0);
        assert_eq!(kernel.layer().ioctls(), before, "{ip}");
        assert_eq!(load(&memory, 0), 5);
    }
}

#[test]
fn page_tables_are_waited_for_once_after_each_change_and_by_each_queue() {
    let injector = Arc::new(FaultInjector::new(gpu().open()));
    let kernel = Arc::new(Counter::default().over(Arc::clone(&injector)));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let [first, second] = [Ip::Gfx, Ip::Sdma].map(|ip| UserQueue::new(&device, ip).unwrap());
    let asked = |queue: &UserQueue| {
        let before = kernel.layer().of(GemVaTimeline::REQUEST);
        let outcome = queue.wait_for_bindings(job_time());
        (kernel.layer().of(GemVaTimeline::REQUEST) - before, outcome)
    };
    // The second queue came with memory that is new to the first one.
    assert_eq!([asked(&first), asked(&first), asked(&second)], [(1, Ok(true)), (0, Ok(true)), (0, Ok(true))]);
    let memory = host_memory(&device, 4096);
    assert_eq!([asked(&first), asked(&first)], [(1, Ok(true)), (0, Ok(true))], "a new binding");
    assert_eq!([asked(&second), asked(&second)], [(1, Ok(true)), (0, Ok(true))], "the other queue asks for itself");
    let lease = device.addresses().allocate(VaRequest::new(64 << 10)).unwrap();
    let range = Reservation::new(&device, lease).map_err(|(_lease, error)| error).unwrap();
    assert_eq!([asked(&first), asked(&first)], [(1, Ok(true)), (0, Ok(true))], "a reservation");
    range.bind(0, 4096, memory.binding().bo(), 0, VaFlags::READABLE).unwrap();
    assert_eq!([asked(&first), asked(&first)], [(1, Ok(true)), (0, Ok(true))], "a piece");
    range.unbind(0, 4096).unwrap();
    injector.fail_every_ioctl(GemVaTimeline::REQUEST, Errno::ENOMEM);
    assert!(matches!(asked(&first), (1, Err(UserQueueError::Winsys(WinsysError::Kernel(_))))));
    injector.stop();
    assert_eq!([asked(&first), asked(&first)], [(1, Ok(true)), (0, Ok(true))], "what was refused is asked again");
}

#[test]
fn a_queue_that_keeps_nothing_holds_neither_lists_nor_memory() {
    let device = Device::new(gpu().open()).unwrap();
    let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, Ip::Gfx).unwrap());
    let binding = memory.binding().clone();
    let held = binding.handle_count();
    let list = wait_for(&device, own.target(), at(&memory, 0), 1);
    assert!(own.wait_for_bindings(job_time()).unwrap());
    let kept = [Keep::Nothing, Keep::Lists, Keep::Everything].map(|keep| {
        own.submit_keeping(&[&list], &[&binding], keep).unwrap();
        binding.handle_count() - held
    });
    assert_eq!((kept, own.in_flight()), ([0, 0, 1], 3), "the last submission alone holds memory");
    let other = Device::new(gpu().open()).unwrap();
    let foreign = host_memory(&other, 4096);
    let error = own.submit_keeping(&[&list], &[foreign.binding()], Keep::Nothing).unwrap_err();
    assert_eq!(error, UserQueueError::Winsys(WinsysError::ForeignDevice { what: "memory" }));
    poke(&memory, 0, 1);
    own.submit_keeping(&[&list], &[], Keep::Nothing).unwrap().wait(job_time()).unwrap();
    assert_eq!(own.in_flight(), 0);
    let Target::Pm4(target) = own.target() else { panic!("packets of graphics") };
    assert!(list.record_again(target).is_ok(), "nothing else has it");
}

#[test]
fn sync_objects_signal_when_the_queue_is_done() {
    let device = Device::new(gpu().open()).unwrap();
    for ip in ENGINES {
        let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, ip).unwrap());
        let wait = wait_for(&device, own.target(), at(&memory, 0), 1);
        assert!(own.wait_for_bindings(job_time()).unwrap());
        let fence = own.submit(&[&wait], &[memory.binding()]).unwrap();
        let done = Syncobj::new(&device, false).unwrap();
        own.signal(&[&done]).unwrap();
        assert!(!done.wait(Deadline::POLL).unwrap() && !fence.is_signalled() && own.in_flight() == 1);
        poke(&memory, 0, 1);
        assert!(done.wait(job_time()).unwrap() && fence.wait(job_time()).unwrap(), "{ip}");
        // A queue of the kernel waits for it as for any other.
        let target = own.target();
        let after = store(&device, target, at(&memory, 4), 7);
        let waits = [amdgpu_winsys::cs::SyncPoint::binary(&done)];
        let submission =
            Submission { lists: &[&after], memory: memory.binding(), waits: &waits, ..Submission::default() };
        assert!(queue(&device, ip, 0).submit(&submission).unwrap().wait(job_time()).unwrap());
        assert_eq!(load(&memory, 4), 7);
    }
}

#[test]
fn what_a_submission_uses_lives_until_it_has_ended_and_not_longer() {
    let gpu = gpu();
    let device = Device::new(gpu.open()).unwrap();
    let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, Ip::Gfx).unwrap());
    let list = wait_for(&device, own.target(), at(&memory, 0), 1);
    assert!(own.wait_for_bindings(job_time()).unwrap());
    let binding = memory.binding().clone();
    let fence = own.submit(&[&list], &[&binding]).unwrap();
    let held = binding.handle_count();
    poke(&memory, 0, 1);
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!(own.in_flight(), 0);
    assert_eq!(binding.handle_count(), held - 1);
    drop((list, fence, own, memory, binding, device));
    assert_eq!((gpu.census().files, gpu.census().bos), (0, 0));
}

/// Submits to a user queue when memory is freed.
#[derive(Debug, Default)]
struct SubmitsWhenFreed {
    queue: OnceLock<(UserQueue, CommandList)>,
    submitted: AtomicU64,
}

impl Observer for SubmitsWhenFreed {
    fn observe(&self, event: &Event) {
        if let (Event::BoClosed { .. }, Some((queue, list))) = (event, self.queue.get()) {
            queue.submit(&[list], &[]).unwrap();
            self.submitted.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_observer_submits_to_a_user_queue_that_frees_memory() {
    ends(|| {
        let observer = Arc::new(SubmitsWhenFreed::default());
        let device = Device::with_observer(gpu().open(), Arc::clone(&observer)).unwrap();
        let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, Ip::Compute).unwrap());
        let used = [(); 2].map(|()| host_memory(&device, 4096));
        let [list, other] = [1, 2].map(|value| store(&device, own.target(), at(&memory, 0), value));
        assert!(own.wait_for_bindings(job_time()).unwrap());
        let _ = observer.queue.set((own.clone(), other));
        for (round, used) in (1..).zip(used) {
            let fence = own.submit(&[&list], &[&used, &memory]).unwrap();
            drop(used);
            assert!(fence.wait(job_time()).unwrap());
            // The first one is freed by a submission, the second one by the question how many there are.
            if round == 1 {
                assert!(own.submit(&[&list], &[]).unwrap().wait(job_time()).unwrap());
            } else {
                own.in_flight();
            }
            assert_eq!(observer.submitted.load(Ordering::Relaxed), round);
        }
    });
}

#[test]
fn kernels_and_chips_without_user_queues_are_told_apart() {
    let without = [
        ("navi31", SimOptions::default()),
        ("navi31", SimOptions::of_kernel(KernelRelease::V6_17)),
        ("navi21", newer()),
    ];
    for (name, options) in without {
        let kernel = Arc::new(Counter::default().over(SimDevice::new(chip(name), options).open()));
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        assert_eq!(UserRing::is_supported(&device, Ip::Gfx), Ok(false));
        let error = UserQueue::new(&device, Ip::Gfx).unwrap_err();
        assert_eq!(error, UserQueueError::Winsys(WinsysError::Unsupported { feature: Feature::UserQueues }));
        assert_eq!(kernel.layer().of(Userq::REQUEST), 0, "nothing was asked");
    }
}

#[test]
fn more_ibs_than_the_ring_has_room_for_are_refused() {
    let device = Device::new(gpu().open()).unwrap();
    let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, Ip::Gfx).unwrap());
    let list = store(&device, own.target(), at(&memory, 0), 5);
    let lists = vec![&list; 10_000];
    assert!(matches!(own.submit(&lists, &[]), Err(UserQueueError::RingFull { .. })));
    let other = UserQueue::new(&device, Ip::Sdma).unwrap();
    assert!(matches!(other.submit(&[&list], &[]), Err(UserQueueError::WrongQueue { .. })));
    assert_eq!((own.in_flight(), other.in_flight()), (0, 0));
}

/// A submission that waits for room in the ring holds up others like it, and nothing else of the queue.
#[test]
fn a_submission_that_waits_for_room_keeps_no_fence_from_answering() {
    let device = Device::new(gpu().open()).unwrap();
    let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, Ip::Gfx).unwrap());
    let (wait, list) =
        (wait_for(&device, own.target(), at(&memory, 0), 1), store(&device, own.target(), at(&memory, 4), 5));
    assert!(own.wait_for_bindings(job_time()).unwrap());
    let first = own.submit(&[&wait], &[memory.binding()]).unwrap();
    // A call is four dwords and an end no more than 24: these fill half of the ring and a bit, so that two of them do not fit.
    let many = vec![&list; 9 * (64 << 10) / 4 / 4 / 16];
    own.submit(&many, &[]).unwrap();
    let started = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            started.store(true, std::sync::atomic::Ordering::SeqCst);
            own.submit(&many, &[]).unwrap()
        });
        while !started.load(std::sync::atomic::Ordering::SeqCst) {
            std::thread::yield_now();
        }
        // Long after it began to wait, and long before it gives up.
        let before = std::time::Instant::now();
        for _ in 0..50 {
            assert!(!first.is_signalled() && own.in_flight() == 2 && !second.is_finished());
            assert!(own.wait_for_bindings(job_time()).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(before.elapsed() < std::time::Duration::from_secs(8), "the submission gave up meanwhile");
        poke(&memory, 0, 1);
        assert!(second.join().unwrap().wait(job_time()).unwrap() && first.is_signalled());
    });
    assert_eq!((own.in_flight(), load(&memory, 4)), (0, 5));
}

/// Returns a GPU whose kernel can be told to refuse requests, and its device.
fn refusing() -> (SimDevice, Arc<FaultInjector<SimKernel>>, Device) {
    let gpu = gpu();
    let injector = Arc::new(FaultInjector::new(gpu.open()));
    let device = Device::new(Arc::clone(&injector)).unwrap();
    (gpu, injector, device)
}

#[test]
fn memory_of_a_queue_that_the_kernel_did_not_free_is_never_given_to_others() {
    for ip in ENGINES {
        let (gpu, injector, device) = refusing();
        let ring = UserRing::new(&device, ip).unwrap();
        let used = ring.number_address();
        let (leased, bos) = (device.addresses().leased_bytes(), gpu.census().bos);
        injector.fail_every_ioctl(Userq::REQUEST, Errno::ENOMEM);
        drop(ring);
        injector.stop();
        assert_eq!(device.addresses().leased_bytes(), leased, "{ip}");
        assert_eq!(gpu.census().bos, bos, "{ip}");
        let taken = device.addresses().allocate(VaRequest::new(4096).at(used));
        assert!(matches!(taken, Err(VaError::Taken { .. })), "{ip}: {taken:?}");
        drop(device);
        assert_eq!(gpu.census().files, 1, "the queue lives as long as the file");
    }
}

#[test]
fn unfinished_work_of_a_queue_that_the_kernel_did_not_free_keeps_its_memory() {
    let (gpu, injector, device) = refusing();
    let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, Ip::Gfx).unwrap());
    let (finished, binding) = (host_memory(&device, 4096), memory.binding().clone());
    let list = wait_for(&device, own.target(), at(&memory, 0), 1);
    assert!(own.wait_for_bindings(job_time()).unwrap());
    assert!(own.submit(&[], &[finished.binding()]).unwrap().wait(job_time()).unwrap());
    own.submit(&[&list], &[&binding]).unwrap();
    injector.fail_every_ioctl(Userq::REQUEST, Errno::ENOMEM);
    drop(own);
    injector.stop();
    assert_eq!(finished.binding().handle_count(), 2, "its CPU mapping has the other one: its submission has ended");
    let bos = gpu.census().bos;
    drop((memory, list));
    assert_eq!((binding.handle_count(), gpu.census().bos), (2, bos), "the engine still polls it");
    assert_eq!(gpu.complaints(), [""; 0]);
}

#[test]
fn more_dwords_than_a_ring_holds_are_not_pushed() {
    let device = Device::new(gpu().open()).unwrap();
    let mut ring = UserRing::new(&device, Ip::Compute).unwrap();
    ring.push(&[0xffff_1000; 100]).unwrap();
    let room = ring.dwords();
    for many in [room + 1, room + 50, 2 * room] {
        let error = ring.push(&vec![0xffff_1000; many]).unwrap_err();
        let (offset, len, size) = (400, 4 * many as u64, 4 * room as u64);
        assert!(
            matches!(error, WinsysError::OutOfRange(OutOfRange { offset: o, len: l, size: s, .. }) if (o, l, s) == (offset, len, size))
        );
        assert_eq!(ring.pushed(), 100, "nothing was written");
    }
    ring.push(&vec![0xffff_1000; room]).unwrap();
    assert_eq!(ring.pushed(), 100 + room as u64);
}
