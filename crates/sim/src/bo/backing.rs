//! The bytes of a BO: shared memory that the CPU may map too.

use std::{
    ffi::c_void,
    num::NonZeroUsize,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
};

use nix::{
    errno::Errno,
    sys::{
        memfd::{MFdFlags, memfd_create},
        mman::{MapFlags, ProtFlags, mmap, munmap},
    },
    unistd::ftruncate,
};

/// Memory in a memfd, mapped once for the GPU. Clients map the same file.
///
/// Pages come into being when they are first touched, and read as zero until then.
///
/// # Invariants
///
/// `base` is the start of a live shared mapping of `len` bytes of `file`, which only `Drop` removes. Other mappings of
/// the same file may change the bytes at any time, so no reference into it is ever formed.
#[derive(Debug)]
pub(crate) struct Backing {
    file: OwnedFd,
    base: NonNull<u8>,
    len: u64,
}

// SAFETY: the mapping is plain memory; every access is a copy through raw pointers that claims nothing about others.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

impl Backing {
    /// `len` zero bytes, a multiple of the page size and not none.
    pub(crate) fn new(len: u64) -> Result<Self, Errno> {
        let file = memfd_create(c"amdgpu-sim BO", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&file, i64::try_from(len).map_err(|_| Errno::ENOMEM)?)?;
        Self::of_file(file, len)
    }

    /// Takes over a file that already holds a BO.
    pub(crate) fn of_file(file: OwnedFd, len: u64) -> Result<Self, Errno> {
        let size = usize::try_from(len).ok().and_then(NonZeroUsize::new).ok_or(Errno::ENOMEM)?;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_NORESERVE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { mmap(None, size, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags, &file, 0) }?;
        // INVARIANT: mmap mapped `len` bytes of `file` at `base`.
        Ok(Self { file, base: base.cast(), len })
    }

    /// The file, for clients to map.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Copies bytes out. The caller stays within the size; what does not is not copied.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let Some(from) = self.at(offset, out.len() as u64) else { return };
        // SAFETY: `at` checked the range; `out` is ours alone and cannot overlap a mapping we hold no reference into.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
    }

    /// Copies bytes in. The caller stays within the size; what does not is not copied.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let Some(to) = self.at(offset, data.len() as u64) else { return };
        // SAFETY: `at` checked the range; `data` is borrowed memory of Rust's and cannot overlap the mapping.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    }

    /// Copies between two backings, or within one even where the ranges overlap.
    pub(crate) fn copy_from(&self, offset: u64, source: &Self, source_offset: u64, len: u64) {
        let (Some(to), Some(from)) = (self.at(offset, len), source.at(source_offset, len)) else { return };
        // SAFETY: `at` checked both ranges, and `copy` allows them to overlap.
        unsafe { std::ptr::copy(from, to, len as usize) };
    }

    fn at(&self, offset: u64, len: u64) -> Option<*mut u8> {
        offset.checked_add(len).filter(|&end| end <= self.len)?;
        // The sum stays inside the mapping, or one past its end.
        Some(self.base.as_ptr().wrapping_add(offset as usize))
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // SAFETY: the mapping is live (invariant), and `self` is going away.
        let result = unsafe { munmap(self.base.cast::<c_void>(), self.len as usize) };
        if let Err(errno) = result {
            tracing::error!(%errno, "a BO's memory could not be unmapped");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_memory_is_zero_and_keeps_what_is_written() {
        let backing = Backing::new(8192).unwrap();
        let mut found = [1; 16];
        backing.read(4090, &mut found);
        assert_eq!(found, [0; 16]);
        backing.write(4090, &[7; 16]);
        backing.copy_from(0, &backing, 4090, 16);
        backing.read(0, &mut found);
        assert_eq!(found, [7; 16]);
    }

    #[test]
    fn what_passes_the_end_is_not_touched() {
        let backing = Backing::new(4096).unwrap();
        backing.write(4090, &[7; 16]);
        let mut found = [9; 4];
        backing.read(4094, &mut found);
        assert_eq!(found, [9; 4]);
    }
}
