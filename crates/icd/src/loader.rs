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

/// The oldest version of the interface that is spoken: from it on the loader checks a program's `apiVersion` itself.
const OLDEST: u32 = 5;

/// The newest version that is spoken.
const NEWEST: u32 = 7;

/// Agrees on a version of the interface: the loader's, or the newest here.
///
/// # Safety
///
/// `version` points to the newest version that the loader speaks.
// SAFETY: no other object of the process defines this name but drivers, which the loader opens apart from each other.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: the loader's pointer, which is valid for the length of the call.
    unsafe { version.as_mut() }.map_or(vk::Result::ERROR_INCOMPATIBLE_DRIVER, negotiate)
}

/// Type of [`vk_icdNegotiateLoaderICDInterfaceVersion`].
type Negotiate = unsafe extern "system" fn(*mut u32) -> vk::Result;

/// Asks a table of functions with arguments from C.
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

/// Returns a function of the driver by its name.
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

/// Returns a function of the driver whose first argument is a physical device.
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

/// Agrees on a version, for a loader that asks for the function by name.
fn negotiate(version: &mut u32) -> vk::Result {
    if *version < OLDEST {
        return vk::Result::ERROR_INCOMPATIBLE_DRIVER;
    }
    *version = NEWEST.min(*version);
    vk::Result::SUCCESS
}

/// Returns one of the three functions, which version 7 asks for by name.
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

/// Returns a function of the driver by its name, one of the loader's three or a command.
fn of_instance(instance: Option<&Instance>, name: Name<'_>) -> vk::PFN_vkVoidFunction {
    own(name).or_else(|| dispatch::of_instance(instance, name))
}
