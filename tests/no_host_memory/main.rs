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
use amdgpu_sim::{KernelRelease, SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    VkResult,
    cs::{
        BoListMode, CommandList, Error, IbPlacement, IbPool, Keep, Preambles, Queue, QueueOptions, Stream, Submission,
        SyncPoint, UserQueue, pm4,
    },
    heaps::{AllocateInfo, DeviceMemory, MemoryError, MemoryManager, MemoryPropertyFlags, TableOptions},
    uapi::{GemCreateFlags, GemDomain},
    winsys::{
        Binding, Bo, BoRequest, Context, Device, Error as WinsysError, Ip, Priority, ResidencySet, Resident, Syncobj,
        Until, WaitFor,
    },
};
use support::{chip, job_time};

thread_local! {
    /// Allocations of this thread outside the kernel until one fails.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
    /// `true` if this thread is inside the kernel, whose allocations are its own affair.
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
    /// Allocations that this thread can still have outside the kernel at a time: one that ends makes room for another.
    static ROOM: Cell<Option<u64>> = const { Cell::new(None) };
    /// Allocations of this thread outside the kernel that have not ended.
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

struct Failing;

/// Returns `true` if the allocation is the one that fails.
fn fails() -> bool {
    if IN_KERNEL.get() {
        return false;
    }
    let left = LEFT.get();
    LEFT.set(left.and_then(|left| left.checked_sub(1)));
    if left == Some(0) || ROOM.get() == Some(0) {
        return true;
    }
    ROOM.set(ROOM.get().map(|room| room - 1));
    LIVE.set(LIVE.get() + 1);
    false
}

/// Notes the end of an allocation.
fn ended() {
    if !IN_KERNEL.get() {
        ROOM.set(ROOM.get().map(|room| room + 1));
        LIVE.set(LIVE.get() - 1);
    }
}

/// Runs `work` with room for `room` allocations at a time.
fn with_room<T>(room: u64, work: impl FnOnce() -> T) -> T {
    ROOM.set(Some(room));
    let result = work();
    ROOM.set(None);
    result
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
        ended();
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
        Self::of(SimDevice::new(chip("navi21"), SimOptions::default()))
    }

    fn of(gpu: SimDevice) -> Self {
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
    // A set is copied once after each change. The copy has its room before it, of which `failing` knows nothing.
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

/// Growing into memory of a pool, and closing.
#[test]
fn growing_and_closing_a_stream_of_a_pool_fail_cleanly() {
    let bench = Bench::new();
    let pool = IbPool::new(&bench.device, IbPlacement::of(bench.device.info(), 0), 1 << 20).unwrap();
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
    // The last one is the list, which has its room before it.
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

/// What an operation is refused with when there is no host memory.
trait Refusal: std::fmt::Debug {
    fn result(&self) -> VkResult;
}

impl Refusal for WinsysError {
    fn result(&self) -> VkResult {
        self.vk_result()
    }
}

impl Refusal for MemoryError {
    fn result(&self) -> VkResult {
        self.vk_result()
    }
}

impl Refusal for Error {
    fn result(&self) -> VkResult {
        self.vk_result()
    }
}

/// Does something with room for no allocation, for one, for two, and so on until it works: each time before it is refused, and
/// leaves nothing behind, neither in the kernel nor, once its containers have grown, in the process. Returns the number of refusals.
#[track_caller]
fn is_refused_without_room<T, E: Refusal>(what: &str, bench: &Bench, work: impl Fn() -> Result<T, E>) -> u64 {
    let sweep = |is_warm: bool| {
        for room in 0.. {
            let (census, live) = (bench.gpu.census(), LIVE.get());
            match with_room(room, &work) {
                Ok(done) => {
                    drop(done);
                    return room;
                }
                Err(error) => assert_eq!(error.result(), VkResult::OutOfHostMemory, "{what}, {room}: {error:?}"),
            }
            assert_eq!(bench.gpu.census(), census, "{what}, {room}: the kernel still has something");
            assert!(!is_warm || LIVE.get() == live, "{what}, {room}: {} left in the process", LIVE.get() - live);
        }
        unreachable!()
    };
    let cold = sweep(false);
    let warm = sweep(true);
    assert!(warm <= cold, "{what}: {warm} {cold}");
    cold
}

#[test]
fn memory_is_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let manager = MemoryManager::new(&bench.device, &TableOptions::default()).unwrap();
    for memory_type in 0..manager.properties().types().len() as u32 {
        let name = format!("memory type {memory_type}");
        let is_mapped =
            manager.properties().types()[memory_type as usize].properties.contains(MemoryPropertyFlags::HOST_VISIBLE);
        let refused = is_refused_without_room(&name, &bench, || {
            let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
            if is_mapped {
                memory.map()?.store_u32(0, 1)?;
            }
            Ok::<_, MemoryError>(memory)
        });
        assert!(refused >= 2, "{name}: {refused}: the BO and the binding are objects");
    }
    let flags = GemCreateFlags::empty();
    let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags };
    assert!(is_refused_without_room("a BO", &bench, || Bo::create(&bench.device, request)) >= 2);
}

#[test]
fn shared_memory_is_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let flags = GemCreateFlags::empty();
    let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags };
    // The descriptor is the kernel's, and a handle is listed as shared until its BO ends: each attempt has a new one.
    let made = || Bo::create(&bench.device, request).unwrap();
    for room in 0.. {
        let (census, bo) = (bench.gpu.census(), made());
        let outcome = with_room(room, || bo.export());
        let is_done = outcome.as_ref().map(drop).map_err(Refusal::result);
        drop((outcome, bo));
        assert_eq!(bench.gpu.census(), census, "{room}");
        if is_done == Ok(()) {
            assert!(room >= 3, "{room}: the shared handle, its place in the BO, and the list");
            break;
        }
        assert_eq!(is_done, Err(VkResult::OutOfHostMemory), "{room}");
    }
    let bo = made();
    let dma_buf = bo.export().unwrap();
    assert!(is_refused_without_room("an import of what is here", &bench, || Bo::import(&bench.device, &dma_buf)) >= 2);
    drop(bo);
    let imported = is_refused_without_room("an import", &bench, || Bo::import(&bench.device, &dma_buf));
    assert!(imported >= 4, "{imported}");
}

#[test]
fn objects_of_submission_are_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let device = &bench.device;
    assert!(is_refused_without_room("a context", &bench, || Context::new(device, Priority::Normal)) >= 1);
    let context = Context::new(device, Priority::Normal).unwrap();
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        assert!(is_refused_without_room("a queue", &bench, || Queue::new(&context, ip, 0)) >= 4, "{ip}");
    }
    assert!(is_refused_without_room("a sync object", &bench, || Syncobj::new(device, true)) >= 1);
    let descriptor = Syncobj::new(device, false).unwrap().export().unwrap();
    assert!(is_refused_without_room("an imported sync object", &bench, || Syncobj::import(device, &descriptor)) >= 1);
    let placement = IbPlacement::of(device.info(), 0);
    assert!(is_refused_without_room("a pool", &bench, || IbPool::new(device, placement, 1 << 16)) >= 1);
    let pool = IbPool::new(device, placement, 1 << 16).unwrap();
    let record = |mut stream: Stream<pm4::Target>| {
        bench.memories.iter().for_each(|memory| stream.keep(memory.binding()));
        for _ in 0..400 {
            stream.push(&pm4::Nop::Skip(&[0; 7]))?;
        }
        stream.finish()
    };
    let list = || record(Stream::new(device, bench.target(), 1000)?);
    assert!(is_refused_without_room("a list", &bench, list) >= 8);
    // A pool keeps IBs that a refused stream did not fill, so nothing is compared with what was there before.
    for room in 0.. {
        match with_room(room, || record(pool.stream(bench.target(), 1000)?)) {
            Ok(_) => break,
            Err(error) => assert_eq!(error.vk_result(), VkResult::OutOfHostMemory, "{room}: {error:?}"),
        }
    }
}

#[test]
fn fences_of_submissions_are_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let (queue, list) = (bench.queue(BoListMode::Inline), bench.list(&bench.memories[..3]));
    let set = ResidencySet::new();
    bench.memories[3..30].iter().for_each(|memory| assert!(set.add(memory.binding())));
    let submission = Submission { lists: &[&list], sets: &[&set], ..Submission::default() };
    let fence = queue.submit(&submission).unwrap();
    assert!(is_refused_without_room("a fence as a sync object", &bench, || fence.to_syncobj()) >= 1);
    let submit = || {
        let fence = queue.submit(&submission)?;
        assert!(fence.wait(job_time())?);
        queue.retire();
        Ok::<_, Error>(fence)
    };
    // A changed set is copied, and a submission that only waits runs an empty list: both once more in each attempt.
    let signalled = Syncobj::new(&bench.device, true).unwrap();
    let waits = [SyncPoint::binary(&signalled)];
    let nothing = Submission { waits: &waits, ..Submission::default() };
    let wait = || {
        assert!(queue.submit(&nothing)?.wait(job_time())?);
        Ok::<_, Error>(())
    };
    let mut refused = [0; 2];
    for room in 0.. {
        assert!(set.remove(bench.memories[3].binding()) && set.add(bench.memories[3].binding()));
        let outcomes = [with_room(room, submit).map(drop), with_room(room, wait)];
        if outcomes.iter().all(Result::is_ok) {
            break;
        }
        for (refused, error) in refused.iter_mut().zip(outcomes.into_iter().map(Result::err)) {
            let is_right = |error: &Error| error.vk_result() == VkResult::OutOfHostMemory;
            assert!(error.iter().all(is_right), "{room}: {error:?}");
            *refused += u32::from(error.is_some());
        }
    }
    assert!(refused[0] >= 2 && refused[1] >= 4, "{refused:?}");
}

/// An allocation of memory is a BO and a binding, each with its room before it.
#[test]
fn an_allocation_of_memory_asks_for_room_and_for_two_objects() {
    let bench = Bench::new();
    let manager = MemoryManager::new(&bench.device, &TableOptions::default()).unwrap();
    let warm: Vec<_> = (0..100).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()).collect();
    drop(warm);
    let allocations = count(|| drop(manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()));
    assert_eq!(allocations, 4);
    let binding: &Binding = bench.memories[0].binding();
    assert_eq!(binding.handle_count(), 1);
}

#[test]
fn user_queues_are_refused_and_refuse_wherever_host_memory_ends() {
    let newer = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
    let bench = Bench::of(SimDevice::new(chip("navi31"), newer));
    let queue = UserQueue::new(&bench.device, Ip::Compute).unwrap();
    let list = bench.list(&bench.memories[..3]);
    assert!(queue.wait_for_bindings(job_time()).unwrap());
    let memory: Vec<&dyn Resident> = bench.memories.iter().map(|memory| memory.binding() as &dyn Resident).collect();
    let lists = [&list; 40];
    let submitted = || {
        let fence = queue.submit(&lists, &memory)?;
        assert!(fence.wait(job_time())?);
        assert_eq!(queue.in_flight(), 0);
        Ok::<_, Error>(fence)
    };
    let mut refused = 0;
    for n in 0.. {
        let handles = bench.handles();
        let Some(outcome) = failing(n, || queue.submit(&lists, &memory)) else { break };
        is_no_host_memory(outcome);
        assert_eq!((bench.handles(), queue.in_flight()), (handles, 0), "{n}");
        refused += 1;
    }
    assert!(refused >= 4, "{refused}: the lists, the memory, the packets, the place of the submission");
    assert!(submitted().is_ok());
    let done = Syncobj::new(&bench.device, false).unwrap();
    assert!(is_refused_without_room("a signal", &bench, || queue.signal(&[&done])) >= 1);
}
