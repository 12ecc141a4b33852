//! Why there is no device memory, and what Vulkan calls that.

use super::{AllocateError, FactsError, OverCommit, Refusal, VkResult};
use crate::{vamgr::VaError, winsys};

/// An error of the memory manager.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The kernel's numbers make no sense together.
    #[error(transparent)]
    Facts(#[from] FactsError),

    /// The request itself is wrong.
    #[error(transparent)]
    Request(#[from] AllocateError),

    /// The admission policy says no. The kernel was not asked for the memory.
    #[error(transparent)]
    Refused(Box<Refusal>),

    /// What one submission needs does not fit into memory at once.
    #[error(transparent)]
    DoesNotFit(#[from] OverCommit),

    /// No address.
    #[error("no address for {size} bytes of memory type {memory_type}: {source}")]
    Address {
        /// Bytes asked for.
        size: u64,
        /// The memory type.
        memory_type: u32,
        /// Whether a captured address was asked for.
        replay: bool,
        /// What the address manager says.
        source: VaError,
    },

    /// The chip has no partially resident memory that works.
    #[error("this chip has no sparse memory")]
    NoSparse,

    /// No address for a sparse range.
    #[error("no address for a sparse range: {0}")]
    SparseAddress(#[source] VaError),

    /// A sparse queue was dropped before it came to the submission.
    #[error("the sparse queue was dropped before it was done")]
    Abandoned,

    /// The system gives no thread.
    #[error("no thread for a sparse queue: {reason}")]
    Thread {
        /// What the system says.
        reason: String,
    },

    /// The layer below refused.
    #[error(transparent)]
    Winsys(#[from] winsys::Error),
}

impl MemoryError {
    /// What RADV returns in that case.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create` and `radv_amdgpu_winsys_bo_map`.
    pub fn vk_result(&self) -> VkResult {
        match self {
            Self::Facts(_) => VkResult::Unknown,
            Self::Request(error) => error.vk_result(),
            Self::Address { replay: true, .. } => VkResult::InvalidOpaqueCaptureAddress,
            Self::Refused(_) | Self::DoesNotFit(_) | Self::Address { .. } | Self::SparseAddress(_) => {
                VkResult::OutOfDeviceMemory
            }
            Self::NoSparse => VkResult::FeatureNotPresent,
            Self::Abandoned => VkResult::DeviceLost,
            Self::Thread { .. } => VkResult::OutOfHostMemory,
            Self::Winsys(error) => match error {
                // Mesa 25.0.7 says UNKNOWN for a refused binding, 26.2 this.
                winsys::Error::CreateBo { .. } | winsys::Error::Bind { .. } => VkResult::OutOfDeviceMemory,
                winsys::Error::DeviceLost { .. } => VkResult::DeviceLost,
                winsys::Error::NotMappable { .. } | winsys::Error::Bo { request: "mmap" | "AMDGPU_GEM_MMAP", .. } => {
                    VkResult::MemoryMapFailed
                }
                winsys::Error::Descriptor { .. } => VkResult::InvalidExternalHandle,
                _ => VkResult::Unknown,
            },
        }
    }
}
