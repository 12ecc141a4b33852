//! Host memory that ends in the middle of an operation: the operation answers an error, nothing is left behind, and the next
//! attempt works. An allocation that cannot fail but by ending the process would end this one.
#![expect(unsafe_code, reason = "an allocator that fails")]

#[path = "../support/mod.rs"]
mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ptr::null_mut,
    sync::Arc,
};

use amdgpu_layers::{Answered, Counter, Forward, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    VkResult,
    cs::{
        BoListMode, CommandList, Error, IbPlacement, IbPool, Keep, Preambles, Queue, QueueOptions, Stream, Submission,
        SyncPoint, pm4,
    },
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, TableOptions},
    winsys::{Binding, Context, Device, Error as WinsysError, Ip, Priority, ResidencySet, Syncobj, Until, WaitFor},
};
use support::{chip, job_time};

thread_local! {
    /// Allocations of this thread outside the kernel until one fails.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
    /// `true` if this thread is inside the kernel, whose allocations are its own affair.
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
}

struct Failing;

/// Returns `true` if the allocation is the one that fails.
fn fails() -> bool {
    if IN_KERNEL.get() {
        return false;
    }
    let left = LEFT.get();
    LEFT.set(left.and_then(|left| left.checked_sub(1)));
    left == Some(0)
}

// SAFETY: every call is passed on to the system's allocator unchanged, or answers that there is no memory.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails() {
            return null_mut();
        }
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Runs `work` while allocation number `n` of it fails. Returns `None` in place of its result if it makes fewer.
fn failing<T>(n: u64, work: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(Some(n));
    let result = work();
    LEFT.take().is_none().then_some(result)
}

/// Marks the time that a thread spends inside of the kernel.
struct Inside;

impl Inside {
    fn during<T>(call: impl FnOnce() -> T) -> T {
        IN_KERNEL.set(true);
        let result = call();
        IN_KERNEL.set(false);
        result
    }
}

impl Layer for Inside {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        Self::during(|| call.forward())
    }

    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        Self::during(|| call.forward())
    }

    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        Self::during(|| call.forward())
    }

    fn reserve<'c>(&self, call: Reserve<'c>) -> Reserved<'c> {
        Self::during(|| call.forward())
    }
}

type Kernel = Forward<Forward<SimKernel, Counter>, Inside>;

struct Bench {
    gpu: SimDevice,
    kernel: Arc<Kernel>,
    device: Device,
    memories: Vec<DeviceMemory>,
}

impl Bench {
    fn new() -> Self {
        let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
        let kernel = Arc::new(Inside.over(Counter::default().over(gpu.open())));
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let memories = (0..40).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()).collect();
        Self { gpu, kernel, device, memories }
    }

    fn target(&self) -> pm4::Target {
        pm4::Target::compute(self.device.info().gfx_level)
    }

    fn list(&self, keeps: &[DeviceMemory]) -> CommandList {
        let mut stream = Stream::new(&self.device, self.target(), 64).unwrap();
        for memory in keeps {
            stream.keep(memory.binding());
        }
        stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
        stream.finish().unwrap()
    }

    fn queue(&self, bo_list_mode: BoListMode) -> Queue {
        let context = Context::new(&self.device, Priority::Normal).unwrap();
        let options = QueueOptions { bo_list_mode, ..QueueOptions::default() };
        Queue::with_options(&context, Ip::Compute, 0, options).unwrap()
    }

    fn requests(&self) -> u64 {
        self.kernel.inner().layer().ioctls()
    }

    fn handles(&self) -> Vec<usize> {
        self.memories.iter().map(|memory| memory.binding().handle_count()).collect()
    }
}

#[track_caller]
fn is_no_host_memory<T>(outcome: Result<T, Error>) {
    let error = outcome.map(drop).expect_err("an allocation has failed");
    assert!(matches!(error, Error::Winsys(WinsysError::HostMemory { .. })), "{error}");
    assert_eq!(error.vk_result(), VkResult::OutOfHostMemory);
}

/// Each allocation of a queue's first submission and of its second fails once; the kernel is then not asked.
fn every_allocation_of_a_submission_can_fail(bench: &Bench, submission: &Submission<'_>, mode: BoListMode) -> u64 {
    let mut fired = 0;
    for n in 0.. {
        let queue = bench.queue(mode);
        let (handles, requests) = (bench.handles(), bench.requests());
        let Some(outcome) = failing(n, || queue.submit(submission)) else {
            assert!(queue.wait_idle(job_time()).unwrap());
            break;
        };
        if let Ok(fence) = outcome {
            // Only what makes later submissions cheap was left out.
            assert!(fence.wait(job_time()).unwrap());
            continue;
        }
        is_no_host_memory(outcome);
        assert_eq!(bench.requests(), requests, "{n}: the kernel was asked");
        assert_eq!((bench.handles(), queue.in_flight()), (handles.clone(), 0), "{n}");
        fired += 1;
        // What failed is as if it had not been, and the second one grows what is left to grow.
        for n in 0.. {
            match failing(n, || queue.submit(submission)) {
                Some(Err(error)) => is_no_host_memory::<()>(Err(error)),
                Some(Ok(fence)) => assert!(fence.wait(job_time()).unwrap()),
                None => break,
            }
        }
        assert!(queue.submit(submission).unwrap().wait(job_time()).unwrap());
        queue.forget_memory();
        assert_eq!((bench.handles(), queue.in_flight()), (handles, 0), "{n}");
    }
    fired
}

#[test]
fn a_submission_without_host_memory_is_refused_before_the_kernel_is_asked() {
    let bench = Bench::new();
    let lists = [bench.list(&bench.memories[..10]), bench.list(&bench.memories[5..20])];
    let (signalled, timeline) =
        (Syncobj::new(&bench.device, true).unwrap(), Syncobj::new(&bench.device, false).unwrap());
    timeline.signal_point(1).unwrap();
    let waits = [SyncPoint::binary(&signalled), SyncPoint::timeline(&timeline, 1)];
    let done = Syncobj::new(&bench.device, false).unwrap();
    let signals = [SyncPoint::binary(&done)];
    let (set, other) = (ResidencySet::new(), ResidencySet::new());
    bench.memories[20..30].iter().for_each(|memory| assert!(set.add(memory.binding())));
    bench.memories[25..35].iter().for_each(|memory| assert!(other.add(memory.binding())));
    // A set is copied once after each change, which is not fallible: here it was.
    let _copies = (set.snapshot(), other.snapshot());
    let preambles = Preambles::new().with_initial(lists[0].clone(), lists[1].clone()).unwrap();
    let preambles = preambles.with_postamble(lists[0].clone()).unwrap();
    let earlier = bench.queue(BoListMode::Inline).submit(&Submission { lists: &[&lists[0]], ..Default::default() });
    let earlier = earlier.unwrap();
    let plain = Submission { lists: &[&lists[0]], ..Submission::default() };
    let whole = Submission {
        lists: &[&lists[0], &lists[1]],
        preambles: Some(&preambles),
        memory: &bench.memories,
        sets: &[&set, &other],
        waits: &waits,
        signals: &signals,
        after: &[&earlier],
        after_start: &[&earlier],
        ..Submission::default()
    };
    assert!(every_allocation_of_a_submission_can_fail(&bench, &plain, BoListMode::Inline) > 5);
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        for mode in [BoListMode::Inline, BoListMode::Kept] {
            let fired = every_allocation_of_a_submission_can_fail(&bench, &Submission { keep, ..whole }, mode);
            assert!(fired > 12, "{keep:?} {mode:?}: {fired}");
        }
    }
}

#[test]
fn chained_lists_lists_with_sets_and_submissions_of_many_calls_are_no_exception() {
    let bench = Bench::new();
    let (first, second) = (bench.list(&[]), bench.list(&bench.memories[..2]));
    first.chain(&second).unwrap();
    let set = ResidencySet::new();
    assert!(set.add(bench.memories[3].binding()));
    let _copy = set.snapshot();
    let mut stream = Stream::new(&bench.device, bench.target(), 64).unwrap();
    stream.keep_set(&set);
    let with_set = stream.finish().unwrap();
    let many = vec![&second; 500];
    for lists in [&[&first][..], &[&with_set], &many] {
        let submission = Submission { lists, ..Submission::default() };
        // A submission of several calls is refused as a whole, because all is listed before the first.
        assert!(every_allocation_of_a_submission_can_fail(&bench, &submission, BoListMode::Inline) > 5);
    }
}

/// The places of running submissions are made before the kernel is asked, so those of a queue that nothing has ended yet grow.
#[test]
fn a_queue_with_many_running_submissions_grows_or_refuses() {
    let bench = Bench::new();
    let list = bench.list(&bench.memories[..3]);
    let queue = bench.queue(BoListMode::Inline);
    let submission = Submission { lists: &[&list], ..Submission::default() };
    let (mut taken, mut refused) = (0, 0);
    let held = bench.gpu.hold_all_rings();
    for _ in 0..10 {
        for n in 0.. {
            match failing(n, || queue.submit(&submission)) {
                Some(Ok(_)) => taken += 1,
                Some(outcome) => {
                    is_no_host_memory(outcome);
                    refused += 1;
                }
                None => {
                    taken += 1;
                    break;
                }
            }
        }
    }
    assert_eq!(queue.in_flight(), taken);
    drop(held);
    assert!(queue.wait_idle(job_time()).unwrap());
    assert!(refused > 5 && queue.in_flight() == 0, "{refused}");
    let handles = bench.handles();
    drop(queue);
    assert_eq!(bench.handles(), handles);
}

/// Without host memory a stream that keeps memory is poisoned, and heals.
#[test]
fn keeping_memory_without_host_memory_poisons_the_stream() {
    let bench = Bench::new();
    let set = ResidencySet::new();
    let mut fired = 0;
    for n in 0.. {
        let mut stream = Stream::new(&bench.device, bench.target(), 64).unwrap();
        let handles = bench.handles();
        let keep = |stream: &mut Stream<pm4::Target>| {
            bench.memories.iter().for_each(|memory| stream.keep(memory.binding()));
            stream.keep_set(&set);
        };
        if failing(n, || keep(&mut stream)).is_none() {
            stream.finish().unwrap();
            break;
        }
        fired += 1;
        is_no_host_memory(stream.status());
        // What is recorded now goes nowhere, without an allocation.
        assert!(failing(0, || *stream.room() = [1; 1024]).is_none());
        stream.clear();
        assert_eq!(bench.handles(), handles, "{n}");
        keep(&mut stream);
        stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
        assert_eq!(stream.finish().unwrap().len() % 8, 0);
    }
    assert!(fired > 5, "{fired}");
}

/// Growing into memory of a pool, and closing: the list itself is the one allocation that cannot fail.
#[test]
fn growing_and_closing_a_stream_of_a_pool_fail_cleanly() {
    let bench = Bench::new();
    let pool = IbPool::new(&bench.device, IbPlacement::of(bench.device.info(), 0), 1 << 20);
    let record = || -> Result<Stream<pm4::Target>, Error> {
        let mut stream = pool.stream(bench.target(), 1000)?;
        for _ in 0..5000 {
            stream.push(&pm4::Nop::Skip(&[0; 7]))?;
        }
        bench.memories.iter().for_each(|memory| stream.keep(memory.binding()));
        stream.status()?;
        Ok(stream)
    };
    // A stream that is not finished frees the IB that it was writing, so the pool is filled again each time.
    let fill = || drop(record().unwrap().finish().unwrap());
    let bos = bench.gpu.census().bos;
    fill();
    assert!(pool.idle_dwords() > 40_000);
    let mut fired = 0;
    for n in 0.. {
        let Some(outcome) = failing(n, record) else { break };
        is_no_host_memory(outcome);
        fired += 1;
        fill();
    }
    assert!(fired > 5, "{fired}");
    fill();
    let whole = |fails_at| {
        let stream = record().unwrap();
        failing(fails_at, || stream.finish())
    };
    let calls = count(|| drop(record().unwrap().finish())) - count(|| drop(record().unwrap()));
    assert!(calls >= 1);
    for n in 0..calls - 1 {
        fill();
        is_no_host_memory(whole(n).expect("an allocation"));
    }
    pool.trim();
    assert_eq!(bench.gpu.census().bos, bos, "nothing is left of it");
}

/// Returns the number of allocations of `work`.
fn count(work: impl FnOnce()) -> u64 {
    LEFT.set(Some(u64::MAX));
    work();
    u64::MAX - LEFT.take().expect("so many never are")
}

#[test]
fn a_wait_for_many_sync_objects_is_refused() {
    let bench = Bench::new();
    let syncobjs: Vec<_> = (0..40).map(|_| Syncobj::new(&bench.device, true).unwrap()).collect();
    let points: Vec<_> = syncobjs.iter().map(|syncobj| (syncobj, 0)).collect();
    let wait = || Syncobj::wait_points(&points, WaitFor::All, Until::Signalled, job_time());
    let mut fired = 0;
    while let Some(outcome) = failing(fired, wait) {
        assert_eq!(outcome.unwrap_err().vk_result(), VkResult::OutOfHostMemory);
        fired += 1;
    }
    assert!(fired > 0);
    assert!(wait().is_ok());
}

/// The fewest that an allocation of memory can be: two counted objects.
#[test]
fn an_allocation_has_two_parts_that_are_not_fallible() {
    let bench = Bench::new();
    let manager = MemoryManager::new(&bench.device, &TableOptions::default()).unwrap();
    let warm: Vec<_> = (0..100).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()).collect();
    drop(warm);
    let allocations = count(|| drop(manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()));
    assert_eq!(allocations, 2);
    let binding: &Binding = bench.memories[0].binding();
    assert_eq!(binding.handle_count(), 1);
}
