//! Views of mapped memory for CPU access.

use std::ptr::NonNull;

use amdgpu_hw::num::wide;

use crate::winsys::{Mapping, OutOfRange};

/// A view of a part of a CPU mapping. Offsets are relative to the start of the view. Only the [pointer](Self::as_ptr) gives
/// access to memory outside it.
///
/// ```
/// use amdgpu_winsys::{heaps::{MemoryUsage, suballocation::SlabPool}, winsys::OutOfRange};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let piece = SlabPool::new(&cache).allocate(upload, 512, 256)?;
/// let view = piece.view()?;
/// view.write(508, &[1, 2, 3, 4])?;
/// assert!(matches!(view.write(509, &[1, 2, 3, 4]), Err(OutOfRange { .. }))); // never into the neighbour
/// let mut bytes = [0; 4];
/// view.read(508, &mut bytes)?;
/// assert_eq!((bytes, view.len()), ([1, 2, 3, 4], 512));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MemoryView<'a> {
    mapping: &'a Mapping,
    offset: u64,
    len: u64,
}

impl<'a> MemoryView<'a> {
    /// Creates a view of `len` bytes at `offset`, which must be within the mapping.
    pub(super) fn new(mapping: &'a Mapping, offset: u64, len: u64) -> Self {
        debug_assert!(offset + len <= wide(mapping.len()));
        Self { mapping, offset, len }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns `true` if the view is empty. Views from an allocator never are.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a pointer to the first byte, with the rules of [`Mapping::as_ptr`].
    pub fn as_ptr(&self) -> NonNull<u8> {
        let base = self.mapping.as_ptr();
        // The mapping is larger than `offset` bytes, so the sum is never null.
        NonNull::new(base.as_ptr().wrapping_add(self.offset as usize)).unwrap_or(base)
    }

    /// Writes bytes at the offset `at`.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if they do not fit the view.
    pub fn write(&self, at: u64, bytes: &[u8]) -> Result<(), OutOfRange> {
        self.mapping.write(self.place(at, wide(bytes.len()))?, bytes)
    }

    /// Writes dwords at the byte offset `at`.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if they do not fit the view.
    pub fn write_dwords(&self, at: u64, dwords: &[u32]) -> Result<(), OutOfRange> {
        self.mapping.write_dwords(self.place(at, wide(size_of_val(dwords)))?, dwords)
    }

    /// Reads bytes at the offset `at`.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if the range is not within the view.
    pub fn read(&self, at: u64, into: &mut [u8]) -> Result<(), OutOfRange> {
        self.mapping.read(self.place(at, wide(into.len()))?, into)
    }

    /// Returns the offset in the mapping of `len` bytes at `at`.
    fn place(&self, at: u64, len: u64) -> Result<u64, OutOfRange> {
        match at.checked_add(len) {
            Some(end) if end <= self.len => Ok(self.offset + at),
            _ => Err(OutOfRange { handle: self.mapping.bo().handle(), offset: at, len, size: self.len }),
        }
    }
}
