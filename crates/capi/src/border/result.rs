//! Result numbers, which are Vulkan's where Vulkan has a corresponding result.

/// Major version of the header. The name of the shared object contains it.
pub const AGW_VERSION_MAJOR: u32 = 0;
/// Minor version of the header.
pub const AGW_VERSION_MINOR: u32 = 1;

/// The call succeeded.
pub const AGW_SUCCESS: i32 = 0;
/// The polled condition is not fulfilled yet.
pub const AGW_NOT_READY: i32 = 1;
/// The deadline passed first.
pub const AGW_TIMEOUT: i32 = 2;
/// The result has more items than the array.
pub const AGW_INCOMPLETE: i32 = 5;
/// Host memory, descriptors or threads ran out.
pub const AGW_ERROR_OUT_OF_HOST_MEMORY: i32 = -1;
/// GPU memory or GPU addresses ran out.
pub const AGW_ERROR_OUT_OF_DEVICE_MEMORY: i32 = -2;
/// The GPU or its driver cannot be used.
pub const AGW_ERROR_INITIALIZATION_FAILED: i32 = -3;
/// Work was lost; `agw_last_loss` has the details.
pub const AGW_ERROR_DEVICE_LOST: i32 = -4;
/// The CPU cannot map the memory.
pub const AGW_ERROR_MEMORY_MAP_FAILED: i32 = -5;
/// The chip or the kernel does not support the feature.
pub const AGW_ERROR_FEATURE_NOT_PRESENT: i32 = -8;
/// The device is not supported: another driver, a kernel that is too old, or an unknown chip.
pub const AGW_ERROR_INCOMPATIBLE_DRIVER: i32 = -9;
/// The kernel cannot create more objects of this kind.
pub const AGW_ERROR_TOO_MANY_OBJECTS: i32 = -10;
/// The caller broke a rule, or the kernel returned an unexpected error.
pub const AGW_ERROR_UNKNOWN: i32 = -13;
/// The descriptor or pointer cannot be imported.
pub const AGW_ERROR_INVALID_EXTERNAL_HANDLE: i32 = -1_000_072_003;
/// The process may not use the priority.
pub const AGW_ERROR_NOT_PERMITTED: i32 = -1_000_174_001;
/// The address to replay is not available.
pub const AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS: i32 = -1_000_257_000;
/// An argument is null or outside its range.
pub const AGW_ERROR_INVALID_ARGUMENT: i32 = -2_000_000_001;
/// A structure has fields that are newer than the library and not zero.
pub const AGW_ERROR_UNKNOWN_FIELDS: i32 = -2_000_000_002;
/// The library panicked, in this call or an earlier one on the same device.
pub const AGW_ERROR_PANIC: i32 = -2_000_000_003;
/// A sync object to wait for has no fence, because its work was not submitted in time. No work was lost.
pub const AGW_ERROR_NOT_SUBMITTED: i32 = -2_000_000_004;
/// The kernel accepted the first part of a submission and refused the rest.
pub const AGW_ERROR_PARTLY_SUBMITTED: i32 = -2_000_000_005;
/// A queue that a submission depends on has lost work, but this queue has not.
pub const AGW_ERROR_DEPENDENCY_LOST: i32 = -2_000_000_006;
/// The object is in use, or another object uses the requested resource.
pub const AGW_ERROR_IN_USE: i32 = -2_000_000_007;

/// Returns the version of the library: the major version in the upper 16 bits, the minor version in the lower.
#[unsafe(no_mangle)]
pub extern "C" fn agw_version() -> u32 {
    AGW_VERSION_MAJOR << 16 | AGW_VERSION_MINOR
}

/// Returns the `VkResult` for a result. It is the result itself if Vulkan defines it. `AGW_ERROR_NOT_SUBMITTED` and
/// `AGW_ERROR_IN_USE` become `VK_ERROR_OUT_OF_HOST_MEMORY`, because the call can be repeated; others become `VK_ERROR_UNKNOWN`.
#[unsafe(no_mangle)]
pub extern "C" fn agw_vk_result(result: i32) -> i32 {
    match result {
        AGW_ERROR_NOT_SUBMITTED | AGW_ERROR_IN_USE => AGW_ERROR_OUT_OF_HOST_MEMORY,
        ..=AGW_ERROR_INVALID_ARGUMENT => AGW_ERROR_UNKNOWN,
        vulkan => vulkan,
    }
}
