//! The interface to the Vulkan loader.
//!
//! Source: `docs/LoaderDriverInterface.md` of the Vulkan loader, versions 5 to 7 of the interface.
#![expect(unsafe_code, reason = "the loader finds these three functions by their names")]

use std::ffi::c_char;

use ash::vk;

use crate::{
    border::{
        Answer, Argument, Name,
        adapter::{one, two},
    },
    dispatch,
    objects::Instance,
};

/// The oldest supported version of the interface. Since this version, the loader itself checks the `apiVersion` of a program.
const OLDEST: u32 = 5;

/// The newest supported version of the interface.
const NEWEST: u32 = 7;

/// Negotiates the version of the interface: the loader's version, or the newest supported one if that is older.
///
/// # Safety
///
/// `version` points to the newest version that the loader supports.
// SAFETY: no other object of the process defines this name but drivers, which the loader opens apart from each other.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: the loader's pointer, which is valid for the length of the call.
    unsafe { version.as_mut() }.map_or(vk::Result::ERROR_INCOMPATIBLE_DRIVER, negotiate)
}

/// The type of [`vk_icdNegotiateLoaderICDInterfaceVersion`].
type Negotiate = unsafe extern "system" fn(*mut u32) -> vk::Result;

/// Looks up a function in a table, with arguments from C.
///
/// # Safety
///
/// `instance` is null or live, and `name` a null-terminated string.
unsafe fn ask(
    table: fn(Option<&Instance>, Name<'_>) -> vk::PFN_vkVoidFunction,
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader's arguments.
    let instance: Option<&Instance> = unsafe { Argument::take(instance) }?;
    // SAFETY: the loader's arguments.
    let name: Name<'_> = unsafe { Argument::take(name) }?;
    table(instance, name).give()
}

/// Returns the function of the driver with a name; null if there is none.
///
/// # Safety
///
/// `instance` is null or live, and `name` a null-terminated string.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader's arguments.
    unsafe { ask(of_instance, instance, name) }
}

/// Returns the function of the driver with a name whose first argument is a physical device; null if there is none.
///
/// # Safety
///
/// `instance` is null or live, and `name` a null-terminated string.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader's arguments.
    unsafe { ask(dispatch::of_physical_device, instance, name) }
}

/// Negotiates the version, for a loader that queries this function by name.
fn negotiate(version: &mut u32) -> vk::Result {
    if *version < OLDEST {
        return vk::Result::ERROR_INCOMPATIBLE_DRIVER;
    }
    *version = NEWEST.min(*version);
    vk::Result::SUCCESS
}

/// Returns one of the three functions, which version 7 queries by name.
fn own(name: Name<'_>) -> vk::PFN_vkVoidFunction {
    match name.0?.to_bytes() {
        b"vk_icdNegotiateLoaderICDInterfaceVersion" => Some(one(negotiate, None::<Negotiate>)),
        b"vk_icdGetInstanceProcAddr" => Some(two(of_instance, None::<vk::PFN_vkGetInstanceProcAddr>)),
        b"vk_icdGetPhysicalDeviceProcAddr" => {
            Some(two(dispatch::of_physical_device, None::<vk::PFN_vkGetInstanceProcAddr>))
        }
        _ => None,
    }
}

/// Returns the function of the driver with a name: one of the loader's three functions, or a command.
fn of_instance(instance: Option<&Instance>, name: Name<'_>) -> vk::PFN_vkVoidFunction {
    own(name).or_else(|| dispatch::of_instance(instance, name))
}
