//! Counts of allocations outside of the kernel, for tests that a steady state allocates nothing.
//!
//! A test makes [`Counting`] its global allocator and opens its kernel below [`Inside`].

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use amdgpu_layers::{Answered, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};

thread_local! {
    /// Allocations of this thread outside of the kernel.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// `true` if this thread is inside of the kernel, whose allocations are its own affair.
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, which counts the allocations of each thread outside of the kernel.
#[derive(Debug)]
pub struct Counting;

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

/// Returns the number of allocations that this thread has made outside of the kernel.
#[must_use]
pub fn count() -> u64 {
    ALLOCATIONS.get()
}

/// Returns `true` if this thread is inside of the kernel.
#[must_use]
pub fn is_in_kernel() -> bool {
    IN_KERNEL.get()
}

/// A layer that marks the time that a thread spends inside of the kernel.
#[derive(Debug)]
pub struct Inside;

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
