//! CPU mappings of BOs.

use std::ptr::NonNull;

use amdgpu_hw::num::{index, wide};

use super::bare_mapping::{self, extent, notify_mapped, notify_unmapped};
use crate::winsys::{AccessError, Bo, KernelError, MapError, Misaligned, OutOfRange, PAGE_SIZE};

/// A CPU mapping of a whole BO, readable and writable.
///
/// The GPU may change the bytes at any time, so no references to them are given out: every access is a bounds-checked
/// volatile copy. The memory comes from mmap and lies outside of every Rust allocation. Fences and submissions order
/// accesses against the GPU; this type does not. If two threads write the same bytes, the result is either thread's value.
///
/// # Invariants
///
/// `base` is page-aligned and the start of `len` mapped bytes. Either the device's kernel made the mapping, and only `Drop`
/// and [`Mapping::unmap_reserving`] remove it; or the bytes are user memory, and the caller that lent it keeps it mapped
/// longer than this value exists.
///
/// ```
/// use amdgpu_winsys::winsys::{AccessError, Mapping, OutOfRange};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let mapping = Mapping::new(&bo)?;
/// mapping.write_dwords(16, &[1, 2])?;
/// assert_eq!((mapping.load_u32(20)?, mapping.load_u64(16)?), (2, 0x2_0000_0001));
/// let outside = OutOfRange { handle: bo.handle(), offset: 64 << 10, len: 4, size: 64 << 10 };
/// assert_eq!(mapping.load_u32(64 << 10), Err(AccessError::OutOfRange(outside)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    bo: Bo,
    /// The length in pages, which takes less space than bytes: every device memory has room for a mapping.
    pages: u32,
    ending: Ending,
}

/// [`PAGE_SIZE`] as a `usize`.
const PAGE_BYTES: usize = 4096;
const _: () = assert!(wide(PAGE_BYTES) == PAGE_SIZE);

/// Returns the number of pages of a mapped BO.
fn pages(bo: &Bo) -> u32 {
    // `extent` checked the size before the BO was mapped.
    (bo.size() / PAGE_SIZE) as u32
}

/// The treatment of the addresses when the mapping is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Unmap the addresses.
    Unmap,
    /// Leave the addresses alone: they belong to the lender, or are unmapped already.
    Leave,
}

// SAFETY: the mapping is plain memory that any thread may access. All accesses are volatile copies, which do not assume
// that no other code writes.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the whole BO for the CPU.
    ///
    /// Requests: AMDGPU_GEM_MMAP, then mmap of the node.
    ///
    /// # Errors
    ///
    /// * [`MapError::Unmappable`] if the BO has no CPU access or comes from another GPU;
    /// * [`MapError::Kernel`] if the kernel refuses the request.
    pub fn new(bo: &Bo) -> Result<Self, MapError> {
        // SAFETY: without an address the kernel picks free ones, so no mapping is replaced.
        unsafe { Self::map(bo, None) }
    }

    /// Maps the whole BO at address `at` and replaces existing mappings there (VK_EXT_map_memory_placed).
    ///
    /// Requests: AMDGPU_GEM_MMAP, then mmap of the node.
    ///
    /// # Errors
    ///
    /// The errors of [`Mapping::new`], and [`MapError::Misaligned`] if the address is not a multiple of the page size. On
    /// error, existing mappings remain.
    ///
    /// # Safety
    ///
    /// The caller must own the CPU addresses from `at` to `at` plus the size of the BO, and no other code may use them while this
    /// mapping exists.
    pub unsafe fn placed(bo: &Bo, at: NonNull<u8>) -> Result<Self, MapError> {
        // SAFETY: the caller's promise.
        unsafe { Self::map(bo, Some(at)) }
    }

    /// # Safety
    ///
    /// The requirements of [`Mapping::placed`], if `at` is given.
    unsafe fn map(bo: &Bo, at: Option<NonNull<u8>>) -> Result<Self, MapError> {
        // SAFETY: the caller's promise.
        let base = unsafe { bare_mapping::map(bo, at) }?;
        // INVARIANT: the kernel keeps the BO's bytes mapped at `base` until munmap.
        let mapping = Self { base, bo: bo.clone(), pages: pages(bo), ending: Ending::Unmap };
        notify_mapped(bo, base);
        Ok(mapping)
    }

    /// Returns a view of user memory, which its owner has mapped. Dropping the view unmaps nothing.
    ///
    /// # Safety
    ///
    /// `bo` was created from the memory at `base`, and all of it stays mapped and writable while the mapping exists.
    pub(crate) unsafe fn of_user_memory(bo: &Bo, base: NonNull<u8>) -> Result<Self, KernelError> {
        extent(bo)?;
        // INVARIANT: the caller's promise.
        Ok(Self { base, bo: bo.clone(), pages: pages(bo), ending: Ending::Leave })
    }

    /// Unmaps the memory but keeps its addresses reserved: they are not reused by this process, an access to them faults, and
    /// another BO can be [placed](Mapping::placed) there (`VK_MEMORY_UNMAP_RESERVE_BIT_EXT`). The addresses then belong to the
    /// caller. User memory stays mapped.
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the addresses cannot be reserved. The mapping is returned with the error if it still exists.
    pub fn unmap_reserving(mut self) -> Result<(), (Option<Self>, KernelError)> {
        if self.ending == Ending::Leave {
            return Ok(());
        }
        // SAFETY: the mapping exists and is of this BO (invariant). It is not in use, because `self` is owned here, and on
        // success `self` is dropped without unmapping again.
        let reserved = match unsafe { bare_mapping::reserve(&self.bo, self.base) } {
            Err((true, error)) => return Err((Some(self), error)),
            Err((false, error)) => Err((None, error)),
            Ok(()) => Ok(()),
        };
        self.ending = Ending::Leave;
        notify_unmapped(&self.bo, self.base);
        reserved
    }

    /// Returns the mapped BO.
    pub fn bo(&self) -> &Bo {
        &self.bo
    }

    /// Returns the number of mapped bytes, a multiple of the page size.
    #[inline]
    pub fn len(&self) -> usize {
        index(self.pages) * PAGE_BYTES
    }

    /// Returns `false`, because a BO has at least one page.
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Returns a pointer to the first byte, for code that passes the address on (vkMapMemory). Accesses through it must be
    /// volatile or otherwise allow for the GPU's writes, and end before the mapping is dropped.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.base
    }

    /// Reads the dword at byte offset `offset`.
    ///
    /// # Errors
    ///
    /// [`AccessError::OutOfRange`] if the dword is not inside the mapping, [`AccessError::Misaligned`] if the offset is not a multiple of 4.
    pub fn load_u32(&self, offset: u64) -> Result<u32, AccessError> {
        let address = self.aligned::<u32>(offset)?;
        // SAFETY: `aligned` checked bounds and alignment.
        Ok(unsafe { address.read_volatile() })
    }

    /// Writes the dword at byte offset `offset`.
    ///
    /// # Errors
    ///
    /// The errors of [`Mapping::load_u32`].
    pub fn store_u32(&self, offset: u64, value: u32) -> Result<(), AccessError> {
        let address = self.aligned::<u32>(offset)?;
        // SAFETY: `aligned` checked bounds and alignment.
        unsafe { address.write_volatile(value) };
        Ok(())
    }

    /// Reads the qword at byte offset `offset`.
    ///
    /// # Errors
    ///
    /// [`AccessError::OutOfRange`] if the qword is not inside the mapping, [`AccessError::Misaligned`] if the offset is not a multiple of 8.
    pub fn load_u64(&self, offset: u64) -> Result<u64, AccessError> {
        let address = self.aligned::<u64>(offset)?;
        // SAFETY: `aligned` checked bounds and alignment.
        Ok(unsafe { address.read_volatile() })
    }

    /// Writes the qword at byte offset `offset`.
    ///
    /// # Errors
    ///
    /// The errors of [`Mapping::load_u64`].
    pub fn store_u64(&self, offset: u64, value: u64) -> Result<(), AccessError> {
        let address = self.aligned::<u64>(offset)?;
        // SAFETY: `aligned` checked bounds and alignment.
        unsafe { address.write_volatile(value) };
        Ok(())
    }

    /// Copies `into.len()` bytes from the mapping, starting at byte offset `offset`.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if the bytes are not inside the mapping.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), OutOfRange> {
        let mut from = self.range(offset, into.len())?;
        // Whole words where the mapping is aligned for them, single bytes before and after.
        let (head, rest) = into.split_at_mut(from.align_offset(WORD).min(into.len()));
        let (words, tail) = rest.as_chunks_mut::<WORD>();
        for byte in head {
            // SAFETY: `range` found `into.len()` bytes there, and `from` advances with each read.
            *byte = unsafe { from.read_volatile() };
            from = from.wrapping_add(1);
        }
        for word in words {
            // SAFETY: in bounds as above; aligned, because the head reached a multiple of the word's size.
            *word = unsafe { as_word(from).read_volatile() }.to_ne_bytes();
            from = from.wrapping_add(WORD);
        }
        for byte in tail {
            // SAFETY: in bounds as above.
            *byte = unsafe { from.read_volatile() };
            from = from.wrapping_add(1);
        }
        Ok(())
    }

    /// Copies `bytes` into the mapping, starting at byte offset `offset`.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if the bytes are not inside the mapping.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), OutOfRange> {
        let mut to = self.range(offset, bytes.len())?;
        let (head, rest) = bytes.split_at(to.align_offset(WORD).min(bytes.len()));
        let (words, tail) = rest.as_chunks::<WORD>();
        for &byte in head {
            // SAFETY: `range` found `bytes.len()` bytes there, and `to` advances with each write.
            unsafe { to.write_volatile(byte) };
            to = to.wrapping_add(1);
        }
        for &word in words {
            // SAFETY: in bounds as above; aligned, because the head reached a multiple of the word's size.
            unsafe { as_word(to).write_volatile(u64::from_ne_bytes(word)) };
            to = to.wrapping_add(WORD);
        }
        for &byte in tail {
            // SAFETY: in bounds as above.
            unsafe { to.write_volatile(byte) };
            to = to.wrapping_add(1);
        }
        Ok(())
    }

    /// Writes dwords into the mapping, starting at byte offset `offset`.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if the dwords are not inside the mapping.
    pub fn write_dwords(&self, offset: u64, dwords: &[u32]) -> Result<(), OutOfRange> {
        self.write(offset, zerocopy::IntoBytes::as_bytes(dwords))
    }

    fn range(&self, offset: u64, len: usize) -> Result<*mut u8, OutOfRange> {
        let out_of_range = || OutOfRange { handle: self.bo.handle(), offset, len: wide(len), size: wide(self.len()) };
        let start = usize::try_from(offset).map_err(|_| out_of_range())?;
        if start.checked_add(len).is_none_or(|end| end > self.len()) {
            return Err(out_of_range());
        }
        // SAFETY: `start <= self.len()`, so the sum stays inside the mapping or one past its end (invariant).
        Ok(unsafe { self.base.as_ptr().add(start) })
    }

    fn aligned<T>(&self, offset: u64) -> Result<*mut T, AccessError> {
        let alignment = wide(size_of::<T>());
        if !offset.is_multiple_of(alignment) {
            return Err(Misaligned { what: "offset", value: offset, alignment }.into());
        }
        // The base is page-aligned (invariant), so a multiple of the size is aligned for the type.
        Ok(self.range(offset, size_of::<T>())?.cast())
    }
}

/// The number of bytes copied by one access.
const WORD: usize = 8;

/// Returns a pointer to the word at an address, which the caller has aligned to the word's size.
fn as_word(address: *mut u8) -> *mut u64 {
    address.cast()
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.ending == Ending::Leave {
            return;
        }
        // SAFETY: the mapping exists and is of this BO (invariant), and `self` is being dropped, so it is no longer used.
        unsafe { bare_mapping::unmap(&self.bo, self.base, || self.ending = Ending::Leave) };
    }
}
