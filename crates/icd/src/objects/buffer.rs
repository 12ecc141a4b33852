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

/// The alignment of a buffer in memory in bytes, as in RADV.
const ALIGNMENT: u64 = 16;

/// The alignment of the parts of a sparse buffer in bytes: the granularity of `sparseBinding`.
const SPARSE_ALIGNMENT: u64 = 64 << 10;

/// A part of device memory that a buffer is bound to.
#[derive(Debug)]
struct Bound {
    /// The binding, which keeps the addresses bound.
    _memory: Binding,
    /// The addresses of the buffer.
    bytes: Span,
}

/// The memory of a buffer.
#[derive(Debug)]
enum Place {
    /// Device memory, which can be bound once.
    Bound(OnceLock<Bound>),
    /// A sparse range, and the addresses of the buffer in it.
    Sparse(SparseRange, Span),
}

/// A `VkBuffer`: a size, and the memory that it is bound to.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// The size in bytes.
    pub(crate) size: u64,
    place: Place,
}

impl Buffer {
    /// Creates a buffer without memory.
    pub(crate) fn new(size: u64) -> Self {
        Self { size, place: Place::Bound(OnceLock::new()) }
    }

    /// Creates a sparse buffer on a range.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the size is 0, which valid usage forbids.
    pub(crate) fn sparse(size: u64, range: SparseRange) -> Result<Self, Failure> {
        let bytes = Span::new(range.address(), size)?;
        Ok(Self { size, place: Place::Sparse(range, bytes) })
    }

    /// Returns the sparse range; `None` if the buffer is not sparse.
    pub(crate) fn range(&self) -> Option<&SparseRange> {
        match &self.place {
            Place::Bound(_) => None,
            Place::Sparse(range, _) => Some(range),
        }
    }

    /// Binds the buffer to memory, starting at `offset`.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the memory ends before the buffer, or if the buffer is sparse, already bound or empty. Valid usage
    /// forbids these cases.
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

    /// Returns the GPU address of the buffer; `None` if it has no memory yet.
    pub(crate) fn address(&self) -> Option<GpuVa> {
        self.bytes().map(Span::address)
    }

    /// Returns the GPU address and the size in bytes; `None` if it has no memory yet.
    pub(crate) fn place(&self) -> Option<(u64, u64)> {
        self.address().map(|address| (address.as_u64(), self.size))
    }

    /// Returns the addresses of the buffer; `None` if it has no memory yet.
    #[inline]
    fn bytes(&self) -> Option<Span> {
        match &self.place {
            Place::Bound(place) => place.get().map(|bound| bound.bytes),
            Place::Sparse(_, bytes) => Some(*bytes),
        }
    }

    /// Returns a part of the buffer for a command.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the part is not within the buffer, or the buffer has no memory.
    #[inline]
    pub(crate) fn part(&self, offset: u64, bytes: u64) -> Result<Span, Failure> {
        let unknown = Failure(vk::Result::ERROR_UNKNOWN);
        self.bytes().and_then(|all| all.part(offset, bytes).ok()).ok_or(unknown)
    }
}

/// Returns the size that a buffer occupies in memory, in bytes; `None` if it exceeds 64 bits.
pub(super) fn rounded(size: u64, flags: vk::BufferCreateFlags) -> Option<u64> {
    let is_sparse = flags.contains(vk::BufferCreateFlags::SPARSE_BINDING);
    size.checked_next_multiple_of(if is_sparse { SPARSE_ALIGNMENT } else { ALIGNMENT })
}

impl Gpu {
    /// Returns the memory requirements of a buffer, with RADV's sizes and types.
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

    /// Returns the memory types of buffers and images. Types that the device does not cache require a feature.
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

    /// Creates a sparse buffer, at an address of an earlier run if one is given.
    ///
    /// # Errors
    ///
    /// The errors of the library; `VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS` if the given address is not available.
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
