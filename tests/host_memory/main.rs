//! The host memory of free addresses: as much is reported as was allocated.
#![expect(unsafe_code, reason = "a counting allocator")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use amdgpu_winsys::vamgr::{Holes, Step};

thread_local! {
    /// Bytes that this thread has allocated and not freed.
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: isize) {
    BYTES.set(BYTES.get() + bytes);
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches nothing but a cell.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn the_host_memory_of_holes_is_what_they_have_allocated() {
    for (span, runs) in [(0..1_u64 << 36, 0), (0..1 << 24, 300), (0..1 << 36, 20_000)] {
        let before = BYTES.get();
        let mut holes = Holes::new(span.clone()).unwrap();
        let check = |holes: &Holes| {
            let allocated = (BYTES.get() - before).cast_unsigned();
            let reported = holes.host_bytes() - size_of::<Holes>();
            // The vector of the offers itself has room for a few more.
            assert!((reported..reported + 512).contains(&allocated), "{span:?}: {allocated} bytes, not {reported}");
        };
        check(&holes);
        // Every second run is given back, and then such are wanted as fit none of the holes.
        (0..runs).for_each(|run| assert_eq!(holes.take_lowest(3, Step::ONE).ok(), Some(3 * run)));
        check(&holes);
        (0..runs).step_by(2).for_each(|run| holes.give(3 * run, 3).unwrap());
        check(&holes);
        for shift in 1..5 {
            let step = Step::new(std::num::NonZeroU64::new(1 << shift).unwrap());
            (0..runs.min(200)).for_each(|_| assert!(holes.take_lowest(3, step).unwrap().is_multiple_of(1 << shift)));
            check(&holes);
        }
        assert!(runs < 1000 || holes.host_bytes() > 100_000);
    }
}
