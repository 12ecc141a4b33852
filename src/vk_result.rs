//! The results of memory calls and submissions, with Vulkan's values.

use crate::{
    uapi::{Argument, Ctx, Errno, GemMmap, PrimeHandle},
    vamgr::VaError,
    winsys::{Error, KernelError, Misaligned, NoAddress, OpenError, Subject},
};

/// The part of Vulkan's `VkResult` that a driver returns when it creates a device, allocates, imports or maps device
/// memory, submits work or waits for it.
///
/// The discriminants are Vulkan's, so `result as i32` is the value that a driver returns. Each error's `vk_result` method
/// gives one of the error values. A driver returns `NotReady` and `Timeout` itself, for a wait that returned `false`, and
/// `Incomplete` for a truncated table.
///
/// ```
/// use amdgpu_winsys::{VkResult, winsys::Device};
///
/// let error = Device::open("/nowhere").unwrap_err();
/// assert_eq!(error.vk_result(), VkResult::InitializationFailed);
/// assert_eq!(VkResult::Timeout as i32, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum VkResult {
    /// `VK_SUCCESS`.
    Success = 0,
    /// `VK_NOT_READY`: a fence or query has not completed yet.
    NotReady = 1,
    /// `VK_TIMEOUT`: the deadline passed first.
    Timeout = 2,
    /// `VK_INCOMPLETE`: the caller's array was too small.
    Incomplete = 5,
    /// `VK_ERROR_OUT_OF_HOST_MEMORY`: host memory for the driver's own data is exhausted.
    OutOfHostMemory = -1,
    /// `VK_ERROR_OUT_OF_DEVICE_MEMORY`: GPU memory or GPU addresses are exhausted.
    OutOfDeviceMemory = -2,
    /// `VK_ERROR_INITIALIZATION_FAILED`: the device cannot be opened or does not work.
    InitializationFailed = -3,
    /// `VK_ERROR_DEVICE_LOST`: the GPU lost work, or was removed.
    DeviceLost = -4,
    /// `VK_ERROR_MEMORY_MAP_FAILED`: the memory cannot be mapped for the CPU.
    MemoryMapFailed = -5,
    /// `VK_ERROR_FEATURE_NOT_PRESENT`: the device does not support the requested feature.
    FeatureNotPresent = -8,
    /// `VK_ERROR_INCOMPATIBLE_DRIVER`: the kernel driver is not amdgpu or too old, or the chip is unknown.
    IncompatibleDriver = -9,
    /// `VK_ERROR_TOO_MANY_OBJECTS`: the kernel's limit of objects, such as contexts, is reached.
    TooManyObjects = -10,
    /// `VK_ERROR_UNKNOWN`: the caller violated a rule of Vulkan, or the kernel returned an unexpected error.
    Unknown = -13,
    /// `VK_ERROR_INVALID_EXTERNAL_HANDLE`: the device cannot import the handle.
    InvalidExternalHandle = -1_000_072_003,
    /// `VK_ERROR_NOT_PERMITTED`: the process lacks a privilege, for instance for a queue of high priority.
    NotPermitted = -1_000_174_001,
    /// `VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS`: the address of a capture replay is not free.
    InvalidOpaqueCaptureAddress = -1_000_257_000,
}

impl Error {
    /// Returns RADV's result for this error. An error that reports lost work gives [`VkResult::DeviceLost`], regardless of the
    /// request.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c` and `radv_amdgpu_cs.c`.
    pub fn vk_result(&self) -> VkResult {
        match self {
            _ if self.loss().is_some() => VkResult::DeviceLost,
            Self::Open(error) => match error {
                OpenError::NotAmdgpu { .. }
                | OpenError::DriverVersion { .. }
                | OpenError::UnknownChip { .. }
                | OpenError::UnknownGfxVersion { .. } => VkResult::IncompatibleDriver,
                _ => VkResult::InitializationFailed,
            },
            Self::Timeout { .. } => VkResult::Timeout,
            Self::Address(NoAddress { is_fixed: true, .. }) => VkResult::InvalidOpaqueCaptureAddress,
            Self::Address(NoAddress { source: VaError::HostMemory { .. }, .. }) | Self::HostMemory(_) => {
                VkResult::OutOfHostMemory
            }
            Self::Address(_) | Self::OutOfMemory { .. } | Self::BoRule(_) => VkResult::OutOfDeviceMemory,
            Self::Kernel(error) => refusal(error),
            Self::Unmappable(_) | Self::Misaligned(Misaligned { what: "placed address", .. }) => {
                VkResult::MemoryMapFailed
            }
            Self::NotPermitted { .. } => VkResult::NotPermitted,
            Self::Unsupported { .. } => VkResult::FeatureNotPresent,
            _ => VkResult::Unknown,
        }
    }
}

/// Gives the errors of operations the results of the error of any operation.
macro_rules! results {
    ($($error:ident)+) => {
        $(impl crate::winsys::$error {
            /// Returns RADV's result for this error; see [`Error::vk_result`].
            pub fn vk_result(&self) -> VkResult {
                Error::from(*self).vk_result()
            }
        })+
    };
}

results! {
    KernelError CreateBoError UserMemoryError ExportError ImportError SetMetadataError BindError CreateBoundError MapError AccessError
}

/// Returns the result for a request that the kernel refused.
fn refusal(error: &KernelError) -> VkResult {
    match (error.subject, error.request, error.errno) {
        // Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_alloc`: ids up to `AMDGPU_VM_MAX_NUM_CTX`.
        (Subject::None, Ctx::NAME, Errno::ENOSPC) => VkResult::TooManyObjects,
        (Subject::NewBo { .. } | Subject::Range { .. }, ..) | (Subject::Bo { .. }, PrimeHandle::NAME, _) => {
            VkResult::OutOfDeviceMemory
        }
        (Subject::Bo { .. }, "mmap" | GemMmap::NAME, _) => VkResult::MemoryMapFailed,
        (Subject::None, _, Errno::ENOMEM | Errno::EMFILE | Errno::ENOSPC) => VkResult::OutOfHostMemory,
        (Subject::Descriptor { .. }, ..) => VkResult::InvalidExternalHandle,
        _ => VkResult::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{vamgr::VaWindow, winsys::HostMemory};

    #[test]
    fn bring_up_and_limits_have_results_of_their_own() {
        let ctx = |errno| Error::Kernel(KernelError::new(Ctx::NAME, errno));
        let address = |is_fixed, source| Error::Address(NoAddress { is_fixed, source });
        let table = [
            (
                Error::Open(OpenError::Node { path: "/nowhere".into(), errno: Errno::ENOENT }),
                VkResult::InitializationFailed,
            ),
            (Error::Open(OpenError::FileInUse), VkResult::InitializationFailed),
            (Error::Open(OpenError::NoAcceleration), VkResult::InitializationFailed),
            (Error::Open(OpenError::NotAmdgpu { name: "i915".into() }), VkResult::IncompatibleDriver),
            (Error::Open(OpenError::DriverVersion { major: 2, minor: 50 }), VkResult::IncompatibleDriver),
            (Error::Open(OpenError::UnknownChip { family: 1, external_rev: 1 }), VkResult::IncompatibleDriver),
            (ctx(Errno::ENOSPC), VkResult::TooManyObjects),
            (ctx(Errno::ENOMEM), VkResult::OutOfHostMemory),
            (ctx(Errno::ENODEV), VkResult::DeviceLost),
            (Error::HostMemory(HostMemory { what: "a submission" }), VkResult::OutOfHostMemory),
            (Error::Timeout { what: "a job" }, VkResult::Timeout),
            (address(true, VaError::ZeroSize), VkResult::InvalidOpaqueCaptureAddress),
            (address(false, VaError::ZeroSize), VkResult::OutOfDeviceMemory),
            (address(false, VaError::HostMemory { window: VaWindow::High, live: 1 }), VkResult::OutOfHostMemory),
        ];
        for (error, result) in table {
            assert_eq!(error.vk_result(), result, "{error}");
        }
        let numbers = [VkResult::NotReady, VkResult::Timeout, VkResult::Incomplete, VkResult::InitializationFailed];
        assert_eq!(numbers.map(|result| result as i32), [1, 2, 5, -3]);
    }
}
