//! Conversions of results.

use super::vk;
use crate::{VkResult, cs, heaps, winsys};

impl From<VkResult> for vk::Result {
    fn from(result: VkResult) -> Self {
        Self::from_raw(result as i32)
    }
}

impl From<winsys::Error> for vk::Result {
    fn from(error: winsys::Error) -> Self {
        error.vk_result().into()
    }
}

/// Converts the errors of operations on device memory.
macro_rules! of_memory {
    ($($operation:ident)+) => {
        $(impl From<heaps::$operation> for vk::Result {
            fn from(error: heaps::$operation) -> Self {
                error.vk_result().into()
            }
        })+
    };
}

of_memory! { AllocateMemoryError CreateManagerError ExportImageError ExportMemoryError FdTypesError FlushError }
of_memory! { ImportFdError ImportHostPointerError MapPlacedError MemoryError SparseQueueError SparseRangeError UnmapError }
of_memory! { UnsupportedHandleType WorkingSetError }

impl From<cs::Error> for vk::Result {
    fn from(error: cs::Error) -> Self {
        error.vk_result().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::winsys::{HostMemory, OpenError};

    #[test]
    fn results_have_the_same_names() {
        for (ours, theirs) in [
            (VkResult::Success, vk::Result::SUCCESS),
            (VkResult::NotReady, vk::Result::NOT_READY),
            (VkResult::Timeout, vk::Result::TIMEOUT),
            (VkResult::Incomplete, vk::Result::INCOMPLETE),
            (VkResult::OutOfHostMemory, vk::Result::ERROR_OUT_OF_HOST_MEMORY),
            (VkResult::OutOfDeviceMemory, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
            (VkResult::InitializationFailed, vk::Result::ERROR_INITIALIZATION_FAILED),
            (VkResult::DeviceLost, vk::Result::ERROR_DEVICE_LOST),
            (VkResult::MemoryMapFailed, vk::Result::ERROR_MEMORY_MAP_FAILED),
            (VkResult::FeatureNotPresent, vk::Result::ERROR_FEATURE_NOT_PRESENT),
            (VkResult::IncompatibleDriver, vk::Result::ERROR_INCOMPATIBLE_DRIVER),
            (VkResult::TooManyObjects, vk::Result::ERROR_TOO_MANY_OBJECTS),
            (VkResult::Unknown, vk::Result::ERROR_UNKNOWN),
            (VkResult::InvalidExternalHandle, vk::Result::ERROR_INVALID_EXTERNAL_HANDLE),
            (VkResult::NotPermitted, vk::Result::ERROR_NOT_PERMITTED_KHR),
            (VkResult::InvalidOpaqueCaptureAddress, vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS),
        ] {
            assert_eq!(vk::Result::from(ours), theirs);
        }
    }

    #[test]
    fn errors_of_each_layer_are_their_results() {
        assert_eq!(vk::Result::from(winsys::Error::Open(OpenError::NoRings)), vk::Result::ERROR_INITIALIZATION_FAILED);
        let none = cs::Error::Winsys(winsys::Error::HostMemory(HostMemory { what: "a submission" }));
        assert_eq!(vk::Result::from(none), vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        let thread = heaps::SparseQueueError::Thread { reason: String::new() };
        assert_eq!(vk::Result::from(thread), vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    }
}
