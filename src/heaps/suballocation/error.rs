//! Errors of sub-allocation.

use crate::{
    heaps::{MemoryError, VkResult, suballocation::SizeClass},
    uapi::Errno,
    winsys,
};

/// An error of the slabs or the upload ring.
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
    /// Nothing was asked for.
    #[error("a sub-allocation of no bytes")]
    ZeroSize,
    /// More than a slab gives out. Such things deserve memory of their own, from the cache.
    #[error("a sub-allocation of {size} bytes, at most {} are possible", SizeClass::LARGEST)]
    TooLarge {
        /// Bytes asked for.
        size: u64,
    },
    /// No power of two, or more than the memory itself is aligned to.
    #[error("an alignment of {alignment} is no power of two up to {most}")]
    Alignment {
        /// The alignment requested, bytes.
        alignment: u64,
        /// The most that is possible, bytes.
        most: u64,
    },
    /// There is no such type.
    #[error("memory type {memory_type} does not exist, there are {count}")]
    NoSuchType {
        /// The type asked for.
        memory_type: u32,
        /// Number of memory types.
        count: u32,
    },
    /// The upload ring is full of what the GPU, or another batch, still uses.
    #[error("{size} bytes do not fit the ring of {capacity}, {used} of which are in use")]
    RingFull {
        /// Bytes asked for.
        size: u64,
        /// Bytes in use, or lost at the end until the ring comes round.
        used: u64,
        /// Bytes of the ring.
        capacity: u64,
    },
    /// The layer below refused.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl From<winsys::Error> for SuballocationError {
    fn from(error: winsys::Error) -> Self {
        Self::Memory(error.into())
    }
}

impl SuballocationError {
    /// Returns the result that a driver returns for this error.
    pub fn vk_result(&self) -> VkResult {
        match self {
            Self::Memory(error) => error.vk_result(),
            Self::RingFull { .. } => VkResult::OutOfDeviceMemory,
            _ => VkResult::Unknown,
        }
    }
}

/// Returns `true` if freeing something may help: the kernel has no memory, or the window no addresses.
pub(super) fn is_out_of_memory(error: &MemoryError) -> bool {
    match error {
        MemoryError::Address { source, .. } => source.is_out_of_space(),
        MemoryError::Winsys(error) => matches!(error.errno(), Some(Errno::ENOMEM | Errno::ENOSPC)),
        _ => false,
    }
}
