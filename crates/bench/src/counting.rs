//! Counter of the memory that this program has allocated.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
};

/// The system's allocator, which counts live bytes while asked to.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Off while anything is timed: then counting is one load.
static IS_ON: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicI64 = AtomicI64::new(0);

fn count(bytes: usize, sign: i64) {
    if IS_ON.load(Relaxed) {
        LIVE.fetch_add(sign * bytes.cast_signed() as i64, Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches nothing but two atomics.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(layout.size(), -1);
        count(new_size, 1);
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// By how many bytes `work` makes this program larger, as long as its result lives. Sizes as asked for: what the
/// allocator adds is not in it.
pub(crate) fn growth<T>(work: impl FnOnce() -> T) -> (T, i64) {
    LIVE.store(0, Relaxed);
    IS_ON.store(true, Relaxed);
    let result = work();
    IS_ON.store(false, Relaxed);
    (result, LIVE.load(Relaxed))
}
