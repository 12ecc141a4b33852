//! The results of memory calls and submissions, with Vulkan's numbers.

use nix::errno::Errno;

use crate::{
    uapi::{Argument, PrimeHandle},
    winsys::Error,
};

/// The part of `VkResult` that allocating, importing and mapping device memory, and submitting, can answer.
///
/// The discriminants are Vulkan's, so `result as i32` is what a driver returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum VkResult {
    /// `VK_SUCCESS`.
    Success = 0,
    /// `VK_ERROR_OUT_OF_HOST_MEMORY`: memory for the driver's own bookkeeping ran out.
    OutOfHostMemory = -1,
    /// `VK_ERROR_OUT_OF_DEVICE_MEMORY`: no GPU memory, or no GPU addresses, for it.
    OutOfDeviceMemory = -2,
    /// `VK_ERROR_DEVICE_LOST`.
    DeviceLost = -4,
    /// `VK_ERROR_MEMORY_MAP_FAILED`: the CPU mapping was refused.
    MemoryMapFailed = -5,
    /// `VK_ERROR_FEATURE_NOT_PRESENT`: the device does not have what was asked for.
    FeatureNotPresent = -8,
    /// `VK_ERROR_UNKNOWN`: the caller broke a rule of Vulkan, or the kernel one of its own.
    Unknown = -13,
    /// `VK_ERROR_INVALID_EXTERNAL_HANDLE`: not a handle this device can import.
    InvalidExternalHandle = -1_000_072_003,
    /// `VK_ERROR_NOT_PERMITTED`: the process lacks the right to it, as for a queue of high priority.
    NotPermitted = -1_000_174_001,
    /// `VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS`: the address of a replay is not free.
    InvalidOpaqueCaptureAddress = -1_000_257_000,
}

impl Error {
    /// Returns RADV's result for this error. Lost work is a lost device, whichever request reports it.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c` and `radv_amdgpu_cs.c`.
    pub fn vk_result(&self) -> VkResult {
        match self {
            _ if self.loss().is_some() => VkResult::DeviceLost,
            Self::OutOfMemory { .. } | Self::CreateBo { .. } | Self::BoRule { .. } | Self::Bind { .. } => {
                VkResult::OutOfDeviceMemory
            }
            Self::Bo { request, .. } if *request == PrimeHandle::NAME => VkResult::OutOfDeviceMemory,
            Self::NotMappable { .. }
            | Self::ForeignMemory { .. }
            | Self::Misaligned { what: "placed address", .. }
            | Self::Bo { request: "mmap" | "AMDGPU_GEM_MMAP", .. } => VkResult::MemoryMapFailed,
            Self::NotPermitted { .. } => VkResult::NotPermitted,
            Self::Unsupported { .. } => VkResult::FeatureNotPresent,
            Self::Ioctl { errno: Errno::ENOMEM | Errno::EMFILE | Errno::ENOSPC, .. } => VkResult::OutOfHostMemory,
            Self::Descriptor { .. } => VkResult::InvalidExternalHandle,
            _ => VkResult::Unknown,
        }
    }
}
