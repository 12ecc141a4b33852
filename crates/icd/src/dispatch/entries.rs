//! The functions of this driver.

use ash::vk;

use crate::{
    border::adapter::{Function, eight, four, one, seven, three, two},
    entries::{device, instance, physical_device},
};

/// Pairs each function with its name, which is that of its type without `PFN_`.
macro_rules! entries {
    ($($pfn:ident: $arity:ident($entry:path);)*) => {
        &[$((stringify!($pfn).split_at("PFN_".len()).1, $arity($entry, None::<vk::$pfn>)),)*]
    };
}

/// The functions, by name.
pub(super) static ENTRIES: &[(&str, Function)] = entries! {
    PFN_vkCreateDevice: four(device::create);
    PFN_vkCreateInstance: three(instance::create);
    PFN_vkDestroyDevice: two(device::destroy);
    PFN_vkDestroyInstance: two(instance::destroy);
    PFN_vkDeviceWaitIdle: one(device::wait_idle);
    PFN_vkEnumerateDeviceExtensionProperties: four(physical_device::extensions);
    PFN_vkEnumerateDeviceLayerProperties: three(physical_device::layers);
    PFN_vkEnumerateInstanceExtensionProperties: three(instance::enumerate_extensions);
    PFN_vkEnumerateInstanceLayerProperties: two(instance::enumerate_layers);
    PFN_vkEnumerateInstanceVersion: one(instance::enumerate_version);
    PFN_vkEnumeratePhysicalDeviceGroups: three(instance::enumerate_groups);
    PFN_vkEnumeratePhysicalDevices: three(instance::enumerate_physical_devices);
    PFN_vkGetDeviceQueue: four(device::queue);
    PFN_vkGetDeviceQueue2: three(device::queue2);
    PFN_vkGetPhysicalDeviceExternalBufferProperties: three(physical_device::external_buffer);
    PFN_vkGetPhysicalDeviceExternalFenceProperties: three(physical_device::external_fence);
    PFN_vkGetPhysicalDeviceExternalSemaphoreProperties: three(physical_device::external_semaphore);
    PFN_vkGetPhysicalDeviceFeatures: two(physical_device::features);
    PFN_vkGetPhysicalDeviceFeatures2: two(physical_device::features2);
    PFN_vkGetPhysicalDeviceFormatProperties: three(physical_device::format);
    PFN_vkGetPhysicalDeviceFormatProperties2: three(physical_device::format2);
    PFN_vkGetPhysicalDeviceImageFormatProperties: seven(physical_device::image_format);
    PFN_vkGetPhysicalDeviceImageFormatProperties2: three(physical_device::image_format2);
    PFN_vkGetPhysicalDeviceMemoryProperties: two(physical_device::memory);
    PFN_vkGetPhysicalDeviceMemoryProperties2: two(physical_device::memory2);
    PFN_vkGetPhysicalDeviceProperties: two(physical_device::properties);
    PFN_vkGetPhysicalDeviceProperties2: two(physical_device::properties2);
    PFN_vkGetPhysicalDeviceQueueFamilyProperties: three(physical_device::queue_families);
    PFN_vkGetPhysicalDeviceQueueFamilyProperties2: three(physical_device::queue_families2);
    PFN_vkGetPhysicalDeviceSparseImageFormatProperties: eight(physical_device::sparse_image_format);
    PFN_vkGetPhysicalDeviceSparseImageFormatProperties2: four(physical_device::sparse_image_format2);
    PFN_vkGetPhysicalDeviceToolProperties: three(physical_device::tools);
    PFN_vkQueueWaitIdle: one(device::queue_wait_idle);
};

/// Finds a function.
pub(super) fn find(name: &str) -> vk::PFN_vkVoidFunction {
    ENTRIES
        .binary_search_by_key(&name, |(name, _)| name)
        .ok()
        .and_then(|index| ENTRIES.get(index))
        .map(|(_, entry)| *entry)
}
