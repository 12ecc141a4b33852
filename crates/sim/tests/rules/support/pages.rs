//! Memory of this process for user-pointer BOs.

use std::{ffi::c_void, num::NonZeroUsize, ptr::NonNull};

use nix::{
    sys::{
        memfd::{MFdFlags, memfd_create},
        mman::{MapFlags, ProtFlags, mmap, mmap_anonymous, mprotect, munmap},
    },
    unistd::ftruncate,
};

use super::PAGE;

/// Pages of this process that can be taken away.
pub(crate) struct Pages {
    base: NonNull<c_void>,
    len: usize,
}

#[expect(unsafe_code, reason = "memory whose pages come and go")]
impl Pages {
    pub(crate) fn new(pages: usize) -> Self {
        let len = pages * PAGE as usize;
        let size = NonZeroUsize::new(len).unwrap();
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { mmap_anonymous(None, size, access, MapFlags::MAP_PRIVATE) }.unwrap();
        Self { base, len }
    }

    pub(crate) fn of_file() -> Self {
        let fd = memfd_create("pages", MFdFlags::MFD_CLOEXEC).unwrap();
        ftruncate(&fd, PAGE.cast_signed()).unwrap();
        let size = NonZeroUsize::new(PAGE as usize).unwrap();
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { mmap(None, size, access, MapFlags::MAP_SHARED, &fd, 0) }.unwrap();
        Self { base, len: PAGE as usize }
    }

    pub(crate) fn address(&self) -> u64 {
        self.base.as_ptr().expose_provenance() as u64
    }

    /// Makes the pages inaccessible. The addresses stay reserved, so that no other thread's memory is
    /// mapped there.
    pub(crate) fn take_away(&self) {
        // SAFETY: the mapping is live, and no reference to it exists: it is only read and written through `base`.
        unsafe { mprotect(self.base, self.len, ProtFlags::PROT_NONE) }.unwrap();
    }

    pub(crate) fn load(&self) -> u32 {
        // SAFETY: the mapping is live, aligned and longer than a dword.
        unsafe { self.base.cast::<u32>().read_volatile() }
    }

    pub(crate) fn store(&self, value: u32) {
        // SAFETY: as in `load`, and it is writable.
        unsafe { self.base.cast::<u32>().write_volatile(value) }
    }
}

#[expect(unsafe_code, reason = "memory whose pages come and go")]
impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is live and nothing of Rust's borrows from it.
        unsafe { munmap(self.base, self.len) }.unwrap();
    }
}
