//! The GPU's mapping of a BO's file.
#![expect(unsafe_code, reason = "memory that clients map too")]

use std::{ffi::c_void, num::NonZeroUsize, os::fd::BorrowedFd, ptr::NonNull};

use amdgpu_uapi::Errno;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// A mapping of a file.
///
/// # Invariants
///
/// `base` is the start of a live shared mapping of `len` bytes, which only `Drop` removes. Other mappings of the same file may
/// change the bytes at any time, so no reference into it is ever created.
#[derive(Debug)]
pub(super) struct View {
    base: NonNull<u8>,
    len: u64,
}

// SAFETY: the mapping is plain memory; every access is a copy through raw pointers that assumes nothing about other threads.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    pub(super) fn new(file: BorrowedFd<'_>, len: u64) -> Result<Self, Errno> {
        let size = usize::try_from(len).ok().and_then(NonZeroUsize::new).ok_or(Errno::ENOMEM)?;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_NORESERVE;
        // SAFETY: no address is requested, so no existing mapping is replaced.
        let base = unsafe { mmap(None, size, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags, file, 0) }?;
        // INVARIANT: mmap mapped `len` bytes of `file` at `base`.
        Ok(Self { base: base.cast(), len })
    }

    pub(super) fn at(&self, offset: u64, len: u64) -> Option<*mut u8> {
        offset.checked_add(len).filter(|&end| end <= self.len)?;
        // The sum is inside the mapping, or one past its end.
        Some(self.base.as_ptr().wrapping_add(offset as usize))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the mapping is live (invariant), and `self` is being dropped.
        let result = unsafe { munmap(self.base.cast::<c_void>(), self.len as usize) };
        if let Err(errno) = result {
            tracing::error!(%errno, "a BO's memory could not be unmapped");
        }
    }
}
