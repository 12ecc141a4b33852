//! Host memory that ends in the middle of an operation: the operation answers an error, nothing is left behind, and the next
//! attempt works. An allocation that cannot fail but by ending the process would end this one.
#![expect(unsafe_code, reason = "an allocator that fails")]

mod objects;
mod recording;
mod submissions;
#[path = "../support/mod.rs"]
mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ptr::null_mut,
    sync::Arc,
};

use amdgpu_layers::{Counter, Forward, Layer as _};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_test_support::allocations::{Inside, is_in_kernel};
use amdgpu_winsys::{
    VkResult,
    cs::{BoListMode, CommandList, Error, Queue, QueueOptions, Stream, pm4},
    heaps::{AllocateInfo, DeviceMemory, MemoryError, MemoryManager, TableOptions},
    winsys::{Context, Device, Error as WinsysError, Ip, Priority},
};
use support::chip;

thread_local! {
    /// Allocations of this thread outside the kernel until one fails.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
    /// Allocations that this thread can still have outside the kernel at a time: one that ends makes room for another.
    static ROOM: Cell<Option<u64>> = const { Cell::new(None) };
    /// Allocations of this thread outside the kernel that have not ended.
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

struct Failing;

/// Returns `true` if the allocation is the one that fails.
fn fails() -> bool {
    if is_in_kernel() {
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
    if !is_in_kernel() {
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
fn is_no_host_memory<T>(outcome: Result<T, impl Into<Error>>) {
    let error: Error = outcome.map(drop).map_err(Into::into).expect_err("an allocation has failed");
    assert!(matches!(error.winsys(), Some(WinsysError::HostMemory(_))), "{error}");
    assert_eq!(error.vk_result(), VkResult::OutOfHostMemory);
}

/// Returns the number of allocations of `work`.
fn count(work: impl FnOnce()) -> u64 {
    LEFT.set(Some(u64::MAX));
    work();
    u64::MAX - LEFT.take().expect("so many never are")
}

/// An error of an operation that may lack host memory.
trait Refusal: std::fmt::Debug {
    fn result(&self) -> VkResult;
}

impl Refusal for WinsysError {
    fn result(&self) -> VkResult {
        self.vk_result()
    }
}

/// Asks the errors of operations.
macro_rules! of_operations {
    ($layer:ident: $($operation:ident)+) => {
        $(impl Refusal for amdgpu_winsys::$layer::$operation {
            fn result(&self) -> VkResult {
                self.vk_result()
            }
        })+
    };
}

of_operations! { cs: GangError PollableError QueueError RecordError SubmitError SubmitterError UserQueueError }
of_operations! { heaps: AllocateMemoryError CreateManagerError ExportMemoryError ImportFdError ImportHostPointerError }
of_operations! { heaps: SparseQueueError SparseRangeError }
of_operations! { winsys: BindError CreateBoError CreateBoundError ExportError ImportError MapError UserMemoryError }

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
