//! Errors as Vulkan results.

use amdgpu_winsys::{cs, heaps, winsys};
use ash::vk;

/// A Vulkan result that is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) vk::Result);

impl From<vk::Result> for Failure {
    fn from(result: vk::Result) -> Self {
        Self(result)
    }
}

impl From<winsys::Error> for Failure {
    fn from(error: winsys::Error) -> Self {
        Self(error.into())
    }
}

impl From<winsys::OutOfRange> for Failure {
    fn from(error: winsys::OutOfRange) -> Self {
        winsys::Error::from(error).into()
    }
}

/// Takes the errors of operations.
macro_rules! of_operations {
    ($layer:ident: $($operation:ident)+) => {
        $(impl From<$layer::$operation> for Failure {
            fn from(error: $layer::$operation) -> Self {
                Self(error.vk_result().into())
            }
        })+
    };
}

of_operations! { heaps: AllocateMemoryError CreateManagerError ExportImageError ExportMemoryError FdTypesError FlushError }
of_operations! { heaps: ImportFdError ImportHostPointerError MapPlacedError MemoryError SparseQueueError SparseRangeError }
of_operations! { heaps: UnmapError UnsupportedHandleType }
of_operations! { cs: GangError QueueError RecordError SubmitError SubmitterError }
of_operations! { winsys: AccessError BindError CreateBoError CreateBoundError ExportError ImportError KernelError MapError SetMetadataError }
