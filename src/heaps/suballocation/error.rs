//! Errors of sub-allocation.

use crate::{
    heaps::{AllocateMemoryError, MemoryError, VkResult, suballocation::SizeClass},
    uapi::Errno,
    winsys::{self, NoAddress},
};

/// An error of a slab pool or an upload ring.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::{SizeClass, SlabPool, SuballocationError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let cache = amdgpu_winsys::heaps::suballocation::MemoryCache::new(&manager, amdgpu_winsys::heaps::suballocation::CacheLimits::default());
/// let pool = SlabPool::new(&cache);
/// let size = SizeClass::LARGEST + 1;
/// assert_eq!(pool.allocate(0, size, 256).unwrap_err(), SuballocationError::TooLarge { size });
/// assert_eq!(pool.allocate(0, 0, 256).unwrap_err(), SuballocationError::ZeroSize);
/// let count = u32::try_from(manager.properties().types().len())?;
/// let error = pool.allocate(99, 256, 256).unwrap_err();
/// assert_eq!(error, SuballocationError::NoSuchType { memory_type: 99, count });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SuballocationError {
    /// The size is zero.
    #[error("a sub-allocation of no bytes")]
    ZeroSize,
    /// The size exceeds the largest entry of a slab. Allocate such memory from the cache instead.
    #[error("a sub-allocation of {size} bytes, at most {} are possible", SizeClass::LARGEST)]
    TooLarge {
        /// The requested size in bytes.
        size: u64,
    },
    /// The alignment is not a power of two, or exceeds that of the memory.
    #[error("an alignment of {alignment} is no power of two up to {most}")]
    Alignment {
        /// The requested alignment in bytes.
        alignment: u64,
        /// The largest possible alignment in bytes.
        most: u64,
    },
    /// The memory type does not exist.
    #[error("memory type {memory_type} does not exist, there are {count}")]
    NoSuchType {
        /// The requested memory type.
        memory_type: u32,
        /// Number of memory types.
        count: u32,
    },
    /// The upload ring is full of data that the GPU or another batch still uses.
    #[error("{size} bytes do not fit the ring of {capacity}, {used} of which are in use")]
    RingFull {
        /// The requested size in bytes.
        size: u64,
        /// Bytes in use, including bytes that were skipped at the end of the ring.
        used: u64,
        /// Size of the ring in bytes.
        capacity: u64,
    },
    /// The memory manager returned an error.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl<E: Into<winsys::Error>> From<E> for SuballocationError {
    fn from(error: E) -> Self {
        Self::Memory(error.into().into())
    }
}

impl From<AllocateMemoryError> for SuballocationError {
    fn from(error: AllocateMemoryError) -> Self {
        Self::Memory(error.into())
    }
}

impl SuballocationError {
    /// Returns the Vulkan result that a driver returns for this error.
    pub fn vk_result(&self) -> VkResult {
        match self {
            Self::Memory(error) => error.vk_result(),
            Self::RingFull { .. } => VkResult::OutOfDeviceMemory,
            _ => VkResult::Unknown,
        }
    }
}

/// Returns `true` if freeing memory may help: the kernel has no memory, or the window has no addresses.
pub(super) fn is_out_of_memory(source: Option<&winsys::Error>) -> bool {
    match source {
        Some(winsys::Error::Address(NoAddress { source, .. })) => source.is_out_of_space(),
        Some(error) => matches!(error.errno(), Some(Errno::ENOMEM | Errno::ENOSPC)),
        None => false,
    }
}
