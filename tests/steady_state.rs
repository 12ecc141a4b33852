//! Cost of recording and submitting once they are warm: no heap allocation, one ioctl.

mod support;

use std::sync::Arc;

use amdgpu_layers::{Counter, Forward, Layer as _};
use amdgpu_sim::SimKernel;
use amdgpu_test_support::allocations::{self, Counting, Inside};
use amdgpu_winsys::{
    cs::{BoListMode, CommandList, Preambles, Queue, QueueOptions, Stream, Submission, SyncPoint, pm4},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, TableOptions},
    winsys::{Binding, Context, Device, Ip, Priority, ResidencySet, Syncobj},
};
use support::{chip, job_time};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Counted = Forward<Forward<SimKernel, Counter>, Inside>;

fn counted() -> (Arc<Counted>, Device) {
    let kernel = Arc::new(Inside.over(Counter::default().over(SimKernel::open(chip("navi21")))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

/// Returns the number of requests so far.
fn ioctls(kernel: &Counted) -> u64 {
    kernel.inner().layer().ioctls()
}

#[test]
fn recording_a_packet_allocates_nothing() {
    let (kernel, device) = counted();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let memory = manager.allocate(&AllocateInfo::new(5, 4096)).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    let mut stream = Stream::new(&device, target, 4096).unwrap();
    let before = (allocations::count(), ioctls(&kernel));
    for value in 0..100_u32 {
        stream.push(&pm4::EndOfPipe::fence(memory.address(), value)).unwrap();
        stream.push(&pm4::Nop::Skip(&[0; 5])).unwrap();
    }
    assert_eq!((allocations::count(), ioctls(&kernel)), before);
    assert!(stream.len() > 1000);
}

/// A new list takes three allocations at its end, one that is recorded again two at most, and starting over none, with a
/// hundred kept memories that are named ten times each. One is the room of the list itself, which is given back at once.
#[test]
fn recording_again_allocates_nothing_and_finishing_hardly_anything() {
    let (kernel, device) = counted();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let memories: Vec<_> = (0..100).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()).collect();
    let target = pm4::Target::gfx(device.info().gfx_level);
    let record = |stream: &mut Stream<pm4::Target>, memories: &[DeviceMemory]| {
        let before = (allocations::count(), ioctls(&kernel));
        for _ in 0..10 {
            for memory in memories {
                stream.keep(memory.binding());
            }
        }
        stream.push(&pm4::Nop::Skip(&[0; 5])).unwrap();
        (allocations::count() - before.0, ioctls(&kernel) - before.1)
    };
    let counting = |work: &mut dyn FnMut()| {
        let before = allocations::count();
        work();
        allocations::count() - before
    };
    let mut stream = Stream::new(&device, target, 4096).unwrap();
    record(&mut stream, &[]);
    let mut list = None;
    let mut stream = Some(stream);
    let finishing = counting(&mut || list = Some(stream.take().unwrap().finish().unwrap()));
    assert!(finishing <= 3, "{finishing} for a new list");
    for round in 0..5 {
        let again = counting(&mut || stream = Some(list.take().unwrap().record_again(target).unwrap()));
        assert_eq!(again, 0, "round {round}");
        let recording = record(stream.as_mut().unwrap(), &memories);
        assert!(round == 0 || recording == (0, 0), "round {round}: {recording:?}");
        let finishing = counting(&mut || list = Some(stream.take().unwrap().finish().unwrap()));
        assert!(round == 0 || finishing <= 2, "round {round}: {finishing}");
    }
}

/// A compute ring whose lists do nothing, and ten memories.
struct Steady {
    kernel: Arc<Counted>,
    device: Device,
    list: CommandList,
    memories: Vec<Binding>,
}

impl Steady {
    fn new() -> Self {
        let (kernel, device) = counted();
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let memories = (0..10).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap().binding().clone());
        let memories = memories.collect();
        let mut stream = Stream::new(&device, pm4::Target::compute(device.info().gfx_level), 64).unwrap();
        stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
        Self { kernel, list: stream.finish().unwrap(), device, memories }
    }

    fn queue(&self, ring: u32, bo_list_mode: BoListMode) -> Queue {
        let context = Context::new(&self.device, Priority::Normal).unwrap();
        Queue::with_options(&context, Ip::Compute, ring, QueueOptions { bo_list_mode, ..QueueOptions::default() })
            .unwrap()
    }

    /// Returns the cost of a submission once the queue is warm: allocations and ioctls.
    fn cost(&self, queue: &Queue, submission: &Submission<'_>) -> Vec<(u64, u64)> {
        let counts = || (allocations::count(), ioctls(&self.kernel));
        let submit = || {
            let before = counts();
            let fence = queue.submit(submission).unwrap();
            let after = counts();
            assert!(fence.wait(job_time()).unwrap());
            (after.0 - before.0, after.1 - before.1)
        };
        (0..40).map(|_| submit()).skip(20).collect()
    }
}

/// A set is listed anew only when it has changed; how many members it has does not matter otherwise.
#[test]
fn an_unchanged_resident_set_costs_a_submission_nothing() {
    let (kernel, device) = counted();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let memories: Vec<_> = (0..1000).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()).collect();
    let (device_wide, others) = (ResidencySet::new(), ResidencySet::new());
    memories[..900].iter().for_each(|memory| assert!(device_wide.add(memory.binding())));
    memories[900..999].iter().for_each(|memory| assert!(others.add(memory.binding())));
    let context = Context::new(&device, Priority::Normal).unwrap();
    let queue = Queue::new(&context, Ip::Gfx, 0).unwrap();
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64).unwrap();
    stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
    let list = stream.finish().unwrap();
    let (lists, sets) = ([&list], [&device_wide, &others]);
    let submission = Submission { lists: &lists, sets: &sets, ..Submission::default() };
    let submit = || {
        let before = (allocations::count(), ioctls(&kernel));
        let fence = queue.submit(&submission).unwrap();
        let after = (allocations::count(), ioctls(&kernel));
        assert!(fence.wait(job_time()).unwrap());
        (after.0 - before.0, after.1 - before.1)
    };
    for _ in 0..3 {
        submit();
    }
    (0..20).for_each(|_| assert_eq!(submit(), (0, 1), "(allocations, ioctls)"));
    // A new member is listed, in the same single ioctl; after that all is as before.
    assert!(others.add(memories[999].binding()));
    let (allocations, ioctls) = submit();
    assert!(allocations > 0, "a changed set is copied once");
    assert_eq!(ioctls, 1);
    submit();
    (0..20).for_each(|_| assert_eq!(submit(), (0, 1), "(allocations, ioctls)"));
}

#[test]
fn a_steady_submission_is_one_ioctl_and_allocates_nothing() {
    let steady = Steady::new();
    let (done, timeline) = (Syncobj::new(&steady.device, true).unwrap(), Syncobj::new(&steady.device, false).unwrap());
    timeline.signal_point(1).unwrap();
    let signals = [SyncPoint::binary(&done)];
    let waits = [SyncPoint::binary(&done), SyncPoint::timeline(&timeline, 1)];
    let set = ResidencySet::new();
    for binding in &steady.memories[5..] {
        assert!(set.add(binding));
    }
    let around = || steady.list.clone();
    let preambles = Preambles::new().with_initial(around(), around()).unwrap();
    let preambles = preambles.with_further(around()).unwrap().with_postamble(around()).unwrap();
    let other = steady.queue(1, BoListMode::Inline);
    let earlier = other.submit(&Submission { lists: &[&steady.list], ..Submission::default() }).unwrap();
    for bo_list_mode in [BoListMode::Inline, BoListMode::Kept] {
        let submission = Submission {
            lists: &[&steady.list, &steady.list],
            preambles: Some(&preambles),
            memory: &&steady.memories[..5],
            sets: &[&set],
            waits: &waits,
            signals: &signals,
            after: &[&earlier],
            after_start: &[&earlier],
            ..Submission::default()
        };
        let queue = steady.queue(0, bo_list_mode);
        assert_eq!(steady.cost(&queue, &submission), [(0, 1); 20], "{bo_list_mode:?}: (allocations, ioctls)");
    }
}

/// A signal with nothing to run costs no turn of the GPU either.
#[test]
fn an_empty_submission_is_one_ioctl_and_allocates_nothing() {
    let steady = Steady::new();
    let queue = steady.queue(0, BoListMode::Inline);
    let done = Syncobj::new(&steady.device, false).unwrap();
    let submission = Submission { signals: &[SyncPoint::binary(&done)], ..Submission::default() };
    assert_eq!(steady.cost(&queue, &submission), [(0, 1); 20]);
}
