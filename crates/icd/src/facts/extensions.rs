//! The supported extensions.

use ash::{amd, ext, khr, vk};
use std::ffi::CStr;

use crate::{
    border::{Failure, copy_text, fault, name, zero},
    objects::Face,
};

/// The name of an extension and the version of its specification.
type Extension = (&'static CStr, u32);

/// The instance extensions.
pub(crate) const INSTANCE: &[Extension] = &[
    (ext::debug_utils::NAME, 2),
    (khr::device_group_creation::NAME, 1),
    (khr::external_fence_capabilities::NAME, 1),
    (khr::external_memory_capabilities::NAME, 1),
    (khr::external_semaphore_capabilities::NAME, 1),
    (khr::get_physical_device_properties2::NAME, 2),
];

/// The device extensions.
pub(crate) const DEVICE: &[Extension] = &[
    (amd::device_coherent_memory::NAME, 1),
    (amd::memory_overallocation_behavior::NAME, 1),
    (ext::calibrated_timestamps::NAME, 2),
    (ext::device_address_binding_report::NAME, 1),
    (ext::device_fault::NAME, 2),
    (ext::device_memory_report::NAME, 2),
    (ext::external_memory_acquire_unmodified::NAME, 1),
    (ext::external_memory_dma_buf::NAME, 1),
    (ext::external_memory_host::NAME, 1),
    (ext::global_priority::NAME, 2),
    (ext::global_priority_query::NAME, 1),
    (ext::host_image_copy::NAME, 1),
    (ext::host_query_reset::NAME, 1),
    (ext::image_drm_format_modifier::NAME, 2),
    (ext::map_memory_placed::NAME, 1),
    (ext::memory_budget::NAME, 1),
    (ext::memory_priority::NAME, 1),
    (ext::pageable_device_local_memory::NAME, 1),
    (ext::pci_bus_info::NAME, 2),
    (ext::physical_device_drm::NAME, 1),
    (ext::private_data::NAME, 1),
    (ext::queue_family_foreign::NAME, 1),
    (zero::NAME, 1),
    (khr::bind_memory2::NAME, 1),
    (khr::buffer_device_address::NAME, 1),
    (khr::calibrated_timestamps::NAME, 1),
    (khr::copy_commands2::NAME, 1),
    (khr::dedicated_allocation::NAME, 3),
    (fault::NAME, 1),
    (khr::device_group::NAME, 4),
    (khr::driver_properties::NAME, 1),
    (khr::external_fence::NAME, 1),
    (khr::external_fence_fd::NAME, 1),
    (khr::external_memory::NAME, 1),
    (khr::external_memory_fd::NAME, 1),
    (khr::external_semaphore::NAME, 1),
    (khr::external_semaphore_fd::NAME, 1),
    (khr::format_feature_flags2::NAME, 2),
    (khr::get_memory_requirements2::NAME, 1),
    (khr::global_priority::NAME, 1),
    (khr::image_format_list::NAME, 1),
    (khr::maintenance1::NAME, 2),
    (khr::maintenance2::NAME, 1),
    (khr::maintenance3::NAME, 1),
    (khr::maintenance4::NAME, 2),
    (khr::map_memory2::NAME, 1),
    (khr::synchronization2::NAME, 1),
    (khr::timeline_semaphore::NAME, 2),
];

/// Returns the Vulkan version of devices.
pub(crate) const fn api_version(face: Face) -> u32 {
    match face {
        Face::Transfer => vk::make_api_version(0, 1, 1, 281),
        Face::Full => vk::make_api_version(0, 1, 3, 281),
    }
}

/// Returns a list of extensions as Vulkan structures.
pub(crate) fn properties(list: &'static [Extension]) -> impl ExactSizeIterator<Item = vk::ExtensionProperties> {
    list.iter().map(|(name, version)| vk::ExtensionProperties {
        extension_name: copy_text(&name.to_string_lossy()),
        spec_version: *version,
    })
}

/// Returns the extensions that a program enables.
///
/// # Errors
///
/// `VK_ERROR_EXTENSION_NOT_PRESENT` if an extension is not supported.
pub(crate) fn enabled(
    list: &'static [Extension],
    names: &[*const std::ffi::c_char],
) -> Result<Vec<&'static str>, Failure> {
    let known = |wanted: &CStr| list.iter().find(|(name, _)| *name == wanted).and_then(|(name, _)| name.to_str().ok());
    let found = names.iter().map(|&pointer| name(pointer).and_then(known));
    found.collect::<Option<_>>().ok_or(Failure(vk::Result::ERROR_EXTENSION_NOT_PRESENT))
}
