//! Addresses for mappings that take no time.

use std::{
    num::NonZeroUsize,
    ptr::NonNull,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use amdgpu_uapi::{Errno, Protection};
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Addresses for all mappings together: the host gives them memory when they are touched.
const SPACE: usize = 16 << 40;
/// The least that is reserved where fewer addresses are free, as under a tool that keeps some for itself.
const LEAST_SPACE: usize = 1 << 30;
/// Handles whose mapping is remembered.
const HANDLES: usize = 64 << 20;
/// Bytes of what is remembered.
const BOOK: usize = HANDLES * size_of::<AtomicU64>();
const PAGE: usize = 4096;
/// The part of an offset that says that it is one of a null kernel.
const MARK: u64 = 0x004e_0000_0000_0000;
const HANDLE_SHIFT: u32 = 12;

/// The offset at which a BO is mapped.
pub(super) const fn offset_of(handle: u32) -> u64 {
    MARK | (handle as u64) << HANDLE_SHIFT
}

/// The BO that is mapped at an offset.
pub(super) const fn handle_of(offset: u64) -> Option<u32> {
    let handle = (offset & !MARK) >> HANDLE_SHIFT;
    if offset & MARK == MARK && handle <= u32::MAX as u64 { Some(handle as u32) } else { None }
}

/// A reservation, from which every mapping takes the next piece. Behind it is a book of where each BO was mapped last.
///
/// # Invariants
///
/// `base` is the start of `space + BOOK` mapped bytes, readable and writable, which only `Drop` unmaps; `space` is a multiple
/// of [`PAGE`].
#[derive(Debug)]
pub(super) struct NullMemory {
    base: NonNull<u8>,
    space: usize,
    used: AtomicUsize,
}

// SAFETY: the pieces are handed out once each, and the book is only touched as atomics.
unsafe impl Send for NullMemory {}
// SAFETY: as above.
unsafe impl Sync for NullMemory {}

impl NullMemory {
    /// Reserves the addresses: the most that the host gives, between two bounds.
    pub(super) fn reserve() -> Result<Self, Errno> {
        let mut space = SPACE;
        loop {
            match Self::reserve_bytes(space) {
                Err(Errno::ENOMEM | Errno::EINVAL) if space > LEAST_SPACE => space /= 2,
                outcome => return outcome,
            }
        }
    }

    fn reserve_bytes(space: usize) -> Result<Self, Errno> {
        let len = NonZeroUsize::new(space + BOOK).ok_or(Errno::EINVAL)?;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { mmap_anonymous(None, len, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags) }?;
        // INVARIANT: just mapped.
        Ok(Self { base: base.cast(), space, used: AtomicUsize::new(0) })
    }

    pub(super) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base.addr().get()) < self.space
    }

    /// Memory for a mapping of a BO.
    ///
    /// # Safety
    ///
    /// As for `mmap` with MAP_FIXED where there is an address.
    pub(super) unsafe fn map(
        &self,
        handle: u32,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
    ) -> Result<NonNull<u8>, Errno> {
        let mapped = match at {
            // SAFETY: the caller's promise.
            Some(at) => unsafe { fixed(at, len, protection) }?,
            None => self.next(len)?,
        };
        if let Some(place) = self.place(handle) {
            place.store(mapped.as_ptr().expose_provenance() as u64, Relaxed);
        }
        Ok(mapped)
    }

    fn next(&self, len: usize) -> Result<NonNull<u8>, Errno> {
        let len = len.checked_next_multiple_of(PAGE).filter(|&len| len <= self.space).ok_or(Errno::ENOMEM)?;
        let start = self.used.fetch_add(len, Relaxed);
        if start > self.space - len {
            self.used.fetch_sub(len, Relaxed);
            return Err(Errno::ENOMEM);
        }
        // SAFETY: `start + len <= space`, so the sum stays inside the reservation (invariant).
        Ok(unsafe { self.base.add(start) })
    }

    /// Returns the address at which a BO was mapped last.
    pub(super) fn mapping_of(&self, handle: u32) -> Option<u64> {
        self.place(handle).map(|place| place.load(Relaxed)).filter(|&address| address != 0)
    }

    fn place(&self, handle: u32) -> Option<&AtomicU64> {
        let index = handle as usize;
        if index >= HANDLES {
            return None;
        }
        // SAFETY: the book lies behind the `space` bytes and has `HANDLES` entries, which `index` is below.
        let place = unsafe { self.base.add(self.space + index * size_of::<AtomicU64>()) };
        // SAFETY: a multiple of 8 in mapped memory that lives as long as `self` (invariant) and is touched as this only;
        // zeroed bytes are a valid atomic.
        Some(unsafe { place.cast::<AtomicU64>().as_ref() })
    }
}

/// Memory at an address of the caller's.
///
/// # Safety
///
/// The caller owns the bytes there, and nothing else uses them.
unsafe fn fixed(at: NonNull<u8>, len: usize, protection: Protection) -> Result<NonNull<u8>, Errno> {
    let protection = match protection {
        Protection::Read => ProtFlags::PROT_READ,
        Protection::ReadWrite => ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
    };
    let len = NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
    let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_FIXED;
    let address = NonZeroUsize::new(at.as_ptr().expose_provenance());
    // SAFETY: the caller's promise.
    let mapped = unsafe { mmap_anonymous(address, len, protection, flags) }?;
    Ok(mapped.cast())
}

impl Drop for NullMemory {
    fn drop(&mut self) {
        // SAFETY: the reservation (invariant), whose pieces are gone with the kernel's mappings.
        let gone = unsafe { munmap(self.base.cast(), self.space + BOOK) };
        debug_assert_eq!(gone, Ok(()), "a whole mapping of our own");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_says_which_bo_it_is_of() {
        for handle in [0, 1, 0x1234_5678, u32::MAX] {
            assert_eq!(handle_of(offset_of(handle)), Some(handle));
            assert!(i64::try_from(offset_of(handle)).is_ok(), "off_t holds it");
        }
        for other in [0, 4096, 1 << 32, 1 << 40, u64::MAX] {
            assert_eq!(handle_of(other), None, "{other:#x}");
        }
    }
}
