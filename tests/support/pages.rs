//! Pages of the process, for host pointers and placed mappings.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{num::NonZeroUsize, ptr::NonNull};

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Private anonymous pages that no other code touches.
///
/// # Invariants
///
/// `base` is the start of `len` bytes that belong to this object until its drop, which unmaps them.
pub(crate) struct Pages {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the pages belong to the object wherever it goes.
unsafe impl Send for Pages {}
// SAFETY: accesses are volatile copies of single bytes.
unsafe impl Sync for Pages {}

impl Pages {
    /// Readable and writable ones.
    pub(crate) fn new(len: usize) -> Self {
        Self::with(len, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)
    }

    /// Addresses without memory.
    pub(crate) fn reserved(len: usize) -> Self {
        Self::with(len, ProtFlags::PROT_NONE)
    }

    fn with(len: usize, protection: ProtFlags) -> Self {
        let size = NonZeroUsize::new(len).unwrap();
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { mmap_anonymous(None, size, protection, MapFlags::MAP_PRIVATE) }.unwrap();
        Self { base: base.cast(), len }
    }

    /// The first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Writes one byte.
    pub(crate) fn store(&self, index: usize, value: u8) {
        assert!(index < self.len);
        // SAFETY: inside the pages; volatile, as the GPU may use them too.
        unsafe { self.base.as_ptr().wrapping_add(index).write_volatile(value) };
    }

    /// Reads one byte.
    pub(crate) fn load(&self, index: usize) -> u8 {
        assert!(index < self.len);
        // SAFETY: inside the pages; volatile, as the GPU may use them too.
        unsafe { self.base.as_ptr().wrapping_add(index).read_volatile() }
    }

    /// Returns the access rights of the first byte in `/proc`, such as "rw-s"; `None` if nothing is mapped there.
    pub(crate) fn rights(&self) -> Option<String> {
        let address = self.base.addr().get();
        std::fs::read_to_string("/proc/self/maps").unwrap().lines().find_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            let bound = |text| usize::from_str_radix(text, 16).unwrap();
            (bound(start)..bound(end)).contains(&address).then(|| rest[..4].to_owned())
        })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: whatever is mapped there is the object's, which is going away.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}
