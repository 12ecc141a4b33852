//! Heap memory for concurrent copies by many threads.
#![expect(unsafe_code, reason = "memory that is shared without references")]

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::NonNull,
};

use amdgpu_uapi::Errno;

use super::page::PAGE;
use crate::kernel::process::errno::errno_of;

/// Zeroed heap memory.
///
/// # Invariants
///
/// `base` was allocated by the global allocator with `layout`, and only `Drop` frees it. Several threads copy from and to it
/// concurrently, as engines of a GPU do, so no reference into it is created meanwhile.
#[derive(Debug)]
pub(super) struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: this is plain memory; every access is a copy through raw pointers that assumes nothing about other threads.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// Allocates `len` zero bytes, more than none; `None` if there is no memory.
    pub(super) fn new(len: u64) -> Option<Self> {
        let layout = Layout::from_size_align(usize::try_from(len).ok()?, align_of::<u128>()).ok()?;
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        NonNull::new(base).map(|base| Self { base, layout })
    }

    pub(super) fn at(&self, offset: u64, len: u64) -> Option<*mut u8> {
        offset.checked_add(len).filter(|&end| end <= self.layout.size() as u64)?;
        // The sum is inside the memory, or one past its end.
        Some(self.base.as_ptr().wrapping_add(offset as usize))
    }

    /// Passes the pages with data to `put`. No other thread may access the block: the caller has the only lock.
    pub(super) fn save(&self, mut put: impl FnMut(u64, &[u8]) -> std::io::Result<()>) -> Result<(), Errno> {
        let mut page = [0; PAGE as usize];
        for offset in (0..self.layout.size() as u64).step_by(PAGE as usize) {
            let Some(from) = self.at(offset, PAGE) else { continue };
            // SAFETY: `at` checked the range, and `page` is exclusive.
            unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), page.as_mut_ptr(), page.len()) };
            if page.iter().any(|&byte| byte != 0) {
                put(offset, &page).map_err(errno_of)?;
            }
        }
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: by the invariant it was allocated with this layout, and `self` is being dropped.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
