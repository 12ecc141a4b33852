//! Errors as Vulkan results.

use amdgpu_winsys::{cs, heaps::MemoryError, winsys};
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

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self(error.into())
    }
}

impl From<cs::Error> for Failure {
    fn from(error: cs::Error) -> Self {
        Self(error.into())
    }
}
