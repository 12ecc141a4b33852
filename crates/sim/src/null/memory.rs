//! Addresses for mappings that need no system call.

use std::{
    num::NonZeroUsize,
    ptr::NonNull,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use amdgpu_uapi::{Errno, Protection};
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The address space for all mappings, in bytes. The host allocates memory when it is touched.
const SPACE: usize = 16 << 40;
/// The smallest acceptable reservation, if fewer addresses are free, for example under a tool that reserves some.
const LEAST_SPACE: usize = 1 << 30;
/// The number of handles whose last mapping is stored.
const HANDLES: usize = 64 << 20;
/// The size of the table of last mappings in bytes.
const BOOK: usize = HANDLES * size_of::<AtomicU64>();
const PAGE: usize = 4096;
/// The bits that mark an offset as one of a null kernel.
const MARK: u64 = 0x004e_0000_0000_0000;
const HANDLE_SHIFT: u32 = 12;

/// Returns the offset at which a BO is mapped.
pub(super) const fn offset_of(handle: u32) -> u64 {
    MARK | (handle as u64) << HANDLE_SHIFT
}

/// Returns the handle of the BO that is mapped at an offset.
pub(super) const fn handle_of(offset: u64) -> Option<u32> {
    let handle = (offset & !MARK) >> HANDLE_SHIFT;
    if offset & MARK == MARK && handle <= u32::MAX as u64 { Some(handle as u32) } else { None }
}

/// A reservation of addresses, from which each mapping takes the next range. After it follows a table of each BO's last mapping.
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

// SAFETY: each range is given out once, and the table is only accessed as atomics.
unsafe impl Send for NullMemory {}
// SAFETY: as above.
unsafe impl Sync for NullMemory {}

impl NullMemory {
    /// Reserves as many addresses as the host permits, between two limits.
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
        // SAFETY: no address is requested, so no existing mapping is replaced.
        let base = unsafe { mmap_anonymous(None, len, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags) }?;
        // INVARIANT: just mapped.
        Ok(Self { base: base.cast(), space, used: AtomicUsize::new(0) })
    }

    pub(super) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base.addr().get()) < self.space
    }

    /// Returns memory for a mapping of a BO.
    ///
    /// # Safety
    ///
    /// The requirements of `mmap` with MAP_FIXED if an address is given.
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

    /// Returns the address of a BO's last mapping.
    pub(super) fn mapping_of(&self, handle: u32) -> Option<u64> {
        self.place(handle).map(|place| place.load(Relaxed)).filter(|&address| address != 0)
    }

    fn place(&self, handle: u32) -> Option<&AtomicU64> {
        let index = handle as usize;
        if index >= HANDLES {
            return None;
        }
        // SAFETY: the table follows the `space` bytes and has `HANDLES` entries, and `index` is below that.
        let place = unsafe { self.base.add(self.space + index * size_of::<AtomicU64>()) };
        // SAFETY: the address is a multiple of 8 in mapped memory that lives as long as `self` (invariant) and is only accessed as
        // atomics; zeroed bytes are a valid atomic.
        Some(unsafe { place.cast::<AtomicU64>().as_ref() })
    }
}

/// Maps memory at an address of the caller.
///
/// # Safety
///
/// The caller owns the bytes at the address, and nothing else uses them.
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
        // SAFETY: the reservation (invariant), whose ranges are no longer used once the kernel's mappings are gone.
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
