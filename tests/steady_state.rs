//! What recording and submitting cost once they are warm: no heap allocation, one ioctl.
#![expect(unsafe_code, reason = "a counting allocator, and a kernel that counts")]

mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ffi::{c_int, c_void},
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, SyncPoint, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    uapi::Request,
    winsys::{Context, Device, Ip, Kernel, Priority, Protection, ResidentSet, Syncobj},
};
use nix::errno::Errno;
use support::{chip, job_time};

thread_local! {
    /// Allocations of this thread outside the kernel.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Whether this thread is inside the kernel, whose allocations are its own affair.
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches nothing but two cells.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IN_KERNEL.get() {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
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
static ALLOCATOR: Counting = Counting;

/// Counts ioctls, and marks the time spent inside.
struct Counted {
    inner: SimKernel,
    ioctls: AtomicU64,
}

impl Counted {
    fn inside<T>(call: impl FnOnce() -> T) -> T {
        IN_KERNEL.set(true);
        let result = call();
        IN_KERNEL.set(false);
        result
    }
}

// SAFETY: every call is passed on to the simulator unchanged.
unsafe impl Kernel for Counted {
    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        self.ioctls.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on unchanged.
        Self::inside(|| unsafe { self.inner.ioctl(request, argument) })
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        Self::inside(|| unsafe { self.inner.mmap(len, protection, at, offset) })
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        Self::inside(|| unsafe { self.inner.munmap(address, len) })
    }
}

fn counted() -> (Arc<Counted>, Arc<Device>) {
    let kernel = Arc::new(Counted { inner: SimKernel::open(chip("navi21")), ioctls: AtomicU64::new(0) });
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

#[test]
fn recording_a_packet_allocates_nothing() {
    let (kernel, device) = counted();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let memory = manager.allocate(&AllocateInfo::new(5, 4096)).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    let mut stream = Stream::new(&device, target, 4096).unwrap();
    let before = (ALLOCATIONS.get(), kernel.ioctls.load(Ordering::Relaxed));
    for value in 0..100_u32 {
        stream.push(&pm4::EndOfPipe::fence(memory.address(), value)).unwrap();
        stream.push(&pm4::Nop::Skip(&[0; 5])).unwrap();
    }
    assert_eq!((ALLOCATIONS.get(), kernel.ioctls.load(Ordering::Relaxed)), before);
    assert!(stream.len() > 1000);
}

#[test]
fn a_steady_submission_is_one_ioctl_and_allocates_nothing() {
    let (kernel, device) = counted();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let memories: Vec<_> = (0..10).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()).collect();
    let bindings: Vec<_> = memories.iter().map(|memory| Arc::clone(memory.binding())).collect();
    let context = Arc::new(Context::new(&device, Priority::Normal).unwrap());
    let queue = Queue::new(&context, Ip::Compute, 0).unwrap();
    let target = pm4::Target::compute(device.info().gfx_level);
    let mut stream = Stream::new(&device, target, 64).unwrap();
    stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
    let list = stream.finish().unwrap();
    let done = Syncobj::new(&device, false).unwrap();
    let (lists, signals) = ([&list], [SyncPoint::binary(&done)]);
    let set = ResidentSet::new();
    bindings[5..].iter().for_each(|binding| assert!(set.add(binding)));
    let sets = [&set];
    let submission =
        Submission { lists: &lists, memory: &bindings[..5], sets: &sets, signals: &signals, ..Submission::default() };
    for warm in [true, false] {
        for _ in 0..20 {
            let before = (ALLOCATIONS.get(), kernel.ioctls.load(Ordering::Relaxed));
            let fence = queue.submit(&submission).unwrap();
            let after = (ALLOCATIONS.get(), kernel.ioctls.load(Ordering::Relaxed));
            assert!(fence.wait(job_time()).unwrap());
            if !warm {
                assert_eq!((after.0 - before.0, after.1 - before.1), (0, 1), "(allocations, ioctls)");
            }
        }
    }
}

/// A set is listed anew only when it has changed; how many members it has does not matter otherwise.
#[test]
fn an_unchanged_resident_set_costs_a_submission_nothing() {
    let (kernel, device) = counted();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let memories: Vec<_> = (0..1000).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap()).collect();
    let (device_wide, others) = (ResidentSet::new(), ResidentSet::new());
    memories[..900].iter().for_each(|memory| assert!(device_wide.add(memory.binding())));
    memories[900..999].iter().for_each(|memory| assert!(others.add(memory.binding())));
    let context = Arc::new(Context::new(&device, Priority::Normal).unwrap());
    let queue = Queue::new(&context, Ip::Gfx, 0).unwrap();
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64).unwrap();
    stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
    let list = stream.finish().unwrap();
    let (lists, sets) = ([&list], [&device_wide, &others]);
    let submission = Submission { lists: &lists, sets: &sets, ..Submission::default() };
    let submit = || {
        let before = (ALLOCATIONS.get(), kernel.ioctls.load(Ordering::Relaxed));
        let fence = queue.submit(&submission).unwrap();
        let after = (ALLOCATIONS.get(), kernel.ioctls.load(Ordering::Relaxed));
        assert!(fence.wait(job_time()).unwrap());
        (after.0 - before.0, after.1 - before.1)
    };
    (0..3).for_each(|_| drop(submit()));
    (0..20).for_each(|_| assert_eq!(submit(), (0, 1), "(allocations, ioctls)"));
    // A new member is listed, in the same single ioctl; after that all is as before.
    assert!(others.add(memories[999].binding()));
    let (allocations, ioctls) = submit();
    assert!(allocations > 0, "a changed set is copied once");
    assert_eq!(ioctls, 1);
    submit();
    (0..20).for_each(|_| assert_eq!(submit(), (0, 1), "(allocations, ioctls)"));
}
