//! Extensions.

use ash::{ext, khr, vk};
use std::ffi::CStr;

use crate::{
    border::{Failure, copy_text, name},
    objects::Face,
};

/// An extension, and the version of its specification.
type Extension = (&'static CStr, u32);

/// Extensions of an instance.
pub(crate) const INSTANCE: &[Extension] = &[
    (khr::device_group_creation::NAME, 1),
    (khr::external_fence_capabilities::NAME, 1),
    (khr::external_memory_capabilities::NAME, 1),
    (khr::external_semaphore_capabilities::NAME, 1),
    (khr::get_physical_device_properties2::NAME, 2),
];

/// Extensions of a device.
pub(crate) const DEVICE: &[Extension] = &[
    (ext::memory_budget::NAME, 1),
    (ext::pci_bus_info::NAME, 2),
    (ext::physical_device_drm::NAME, 1),
    (khr::driver_properties::NAME, 1),
];

/// Returns the version of Vulkan that devices have.
pub(crate) const fn api_version(face: Face) -> u32 {
    match face {
        Face::Transfer => vk::make_api_version(0, 1, 1, 281),
        Face::Full => vk::make_api_version(0, 1, 3, 281),
    }
}

/// Returns Vulkan's structures of a list.
pub(crate) fn properties(list: &'static [Extension]) -> impl ExactSizeIterator<Item = vk::ExtensionProperties> {
    list.iter().map(|(name, version)| vk::ExtensionProperties {
        extension_name: copy_text(&name.to_string_lossy()),
        spec_version: *version,
    })
}

/// Finds the extensions that a program enables.
///
/// # Errors
///
/// `VK_ERROR_EXTENSION_NOT_PRESENT` for one that is not in the list.
pub(crate) fn enabled(
    list: &'static [Extension],
    names: &[*const std::ffi::c_char],
) -> Result<Vec<&'static str>, Failure> {
    let known = |wanted: &CStr| list.iter().find(|(name, _)| *name == wanted).and_then(|(name, _)| name.to_str().ok());
    let found = names.iter().map(|&pointer| name(pointer).and_then(known));
    found.collect::<Option<_>>().ok_or(Failure(vk::Result::ERROR_EXTENSION_NOT_PRESENT))
}
