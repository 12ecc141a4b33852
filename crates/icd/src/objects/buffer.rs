//! Buffers.

use std::sync::OnceLock;

use amdgpu_winsys::{
    cs::commands::Span,
    heaps::{Addressing, MemoryPropertyFlags, SparseRange},
    vamgr::GpuVa,
    winsys::Binding,
};
use ash::vk;

use super::Gpu;
use crate::border::Failure;

/// Alignment of a buffer in memory, bytes: RADV's.
const ALIGNMENT: u64 = 16;

/// Alignment of a sparse buffer's parts, bytes: the granularity of `sparseBinding`.
const SPARSE_ALIGNMENT: u64 = 64 << 10;

/// A part of device memory.
#[derive(Debug)]
struct Bound {
    /// Keeps the addresses bound.
    _memory: Binding,
    /// The buffer's bytes.
    bytes: Span,
}

/// The memory of a buffer.
#[derive(Debug)]
enum Place {
    /// Bound once.
    Bound(OnceLock<Bound>),
    /// A range of addresses whose pages come and go, and the buffer's bytes.
    Sparse(SparseRange, Span),
}

/// A `VkBuffer`: a size, and the memory it was bound to.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Size, bytes.
    pub(crate) size: u64,
    place: Place,
}

impl Buffer {
    /// Makes a buffer that is to be bound.
    pub(crate) fn new(size: u64) -> Self {
        Self { size, place: Place::Bound(OnceLock::new()) }
    }

    /// Makes a buffer of sparse pages.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` for a size of 0, which valid usage forbids.
    pub(crate) fn sparse(size: u64, range: SparseRange) -> Result<Self, Failure> {
        let bytes = Span::new(range.address(), size)?;
        Ok(Self { size, place: Place::Sparse(range, bytes) })
    }

    /// Returns the addresses of a sparse buffer.
    pub(crate) fn range(&self) -> Option<&SparseRange> {
        match &self.place {
            Place::Bound(_) => None,
            Place::Sparse(range, _) => Some(range),
        }
    }

    /// Binds it to memory from `offset` on.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` where the memory ends before the buffer, or the buffer is sparse, bound or empty: valid usage forbids
    /// these.
    pub(crate) fn bind(&self, memory: &Binding, offset: u64) -> Result<(), Failure> {
        let fits = offset.checked_add(self.size).is_some_and(|end| end <= memory.len());
        match &self.place {
            Place::Bound(place) if fits && offset.is_multiple_of(ALIGNMENT) => {
                let bytes = Span::of(memory, offset, self.size)?;
                let bound = Bound { _memory: memory.clone(), bytes };
                place.set(bound).map_err(|_| Failure(vk::Result::ERROR_UNKNOWN))
            }
            _ => Err(Failure(vk::Result::ERROR_UNKNOWN)),
        }
    }

    /// Returns the address of its first byte, once it has memory.
    pub(crate) fn address(&self) -> Option<GpuVa> {
        self.bytes().map(Span::address)
    }

    /// Returns its addresses, once it has memory.
    #[inline]
    fn bytes(&self) -> Option<Span> {
        match &self.place {
            Place::Bound(place) => place.get().map(|bound| bound.bytes),
            Place::Sparse(_, bytes) => Some(*bytes),
        }
    }

    /// Returns a part of it for a command.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` for a part that it does not have, and without memory.
    #[inline]
    pub(crate) fn part(&self, offset: u64, bytes: u64) -> Result<Span, Failure> {
        let unknown = Failure(vk::Result::ERROR_UNKNOWN);
        self.bytes().and_then(|all| all.part(offset, bytes).ok()).ok_or(unknown)
    }
}

/// Returns the size that a buffer takes in memory; `None` beyond what addresses can tell.
pub(super) fn rounded(size: u64, flags: vk::BufferCreateFlags) -> Option<u64> {
    let is_sparse = flags.contains(vk::BufferCreateFlags::SPARSE_BINDING);
    size.checked_next_multiple_of(if is_sparse { SPARSE_ALIGNMENT } else { ALIGNMENT })
}

impl Gpu {
    /// Returns what a buffer asks of memory: RADV's sizes and types.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_buffer.c`, `radv_get_buffer_memory_requirements`.
    pub(crate) fn buffer_requirements(
        &self,
        size: u64,
        flags: vk::BufferCreateFlags,
        has_coherent_memory: bool,
    ) -> vk::MemoryRequirements {
        let is_sparse = flags.contains(vk::BufferCreateFlags::SPARSE_BINDING);
        vk::MemoryRequirements {
            size: rounded(size, flags).unwrap_or(u64::MAX),
            alignment: if is_sparse { SPARSE_ALIGNMENT } else { ALIGNMENT },
            memory_type_bits: self.usable_types(flags.contains(vk::BufferCreateFlags::PROTECTED), has_coherent_memory),
        }
    }

    /// Returns the memory types of buffers and images: those that the device does not cache need a feature.
    pub(crate) fn usable_types(&self, is_protected: bool, has_coherent_memory: bool) -> u32 {
        let properties = self.memory.properties();
        let is_coherent = |index: &u32| {
            usize::try_from(*index)
                .ok()
                .and_then(|index| properties.types().get(index))
                .is_some_and(|kind| kind.properties.intersects(MemoryPropertyFlags::DEVICE_COHERENT_AMD))
        };
        let all = properties.buffer_types(Addressing::Bits64, is_protected);
        let usable = all.iter().filter(|index| has_coherent_memory || !is_coherent(index));
        usable.fold(0, |bits, index| bits | 1 << index)
    }

    /// Makes a sparse buffer, at an address of an earlier run if one is given.
    ///
    /// # Errors
    ///
    /// Those of the library, and `VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS`.
    pub(crate) fn sparse_buffer(&self, size: u64, captured: u64) -> Result<Buffer, Failure> {
        let len = rounded(size, vk::BufferCreateFlags::SPARSE_BINDING).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let request = amdgpu_winsys::vamgr::VaRequest::new(len).aligned(SPARSE_ALIGNMENT);
        let request = match captured {
            0 => request,
            raw => request.at(GpuVa::new(raw).map_err(|_| Failure(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS))?),
        };
        Buffer::sparse(size, SparseRange::new(&self.device, request)?)
    }
}
