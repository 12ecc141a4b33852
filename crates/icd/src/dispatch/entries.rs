//! The table of the driver's functions.

use ash::vk;

use super::{
    full::FULL,
    table::{entries, find_in},
};
use crate::{
    border::adapter::{Function, eight, eleven, five, four, one, seven, six, ten, three, two},
    entries::{
        buffer, command_buffer, device, event, fault, fence, image, instance, memory, message, physical_device,
        query_pool, queue, semaphore, transfer,
    },
    objects::Face,
};

/// The functions that both faces have, ordered by name.
pub(super) static ENTRIES: &[(&str, Function)] = entries! {
    PFN_vkAllocateCommandBuffers: three(command_buffer::allocate);
    PFN_vkAllocateMemory: four(memory::allocate);
    PFN_vkBeginCommandBuffer: two(command_buffer::begin);
    PFN_vkBindBufferMemory: four(buffer::bind);
    PFN_vkBindBufferMemory2: three(buffer::bind2);
    PFN_vkBindImageMemory: four(image::bind);
    PFN_vkBindImageMemory2: three(image::bind2);
    PFN_vkCmdBeginDebugUtilsLabelEXT: two(message::label);
    PFN_vkCmdClearColorImage: six(image::transfer::clear);
    PFN_vkCmdCopyBuffer: five(transfer::copy_buffer);
    PFN_vkCmdCopyBuffer2: two(transfer::copy_buffer2);
    PFN_vkCmdCopyBufferToImage: six(image::transfer::from_buffer);
    PFN_vkCmdCopyBufferToImage2: two(image::transfer::from_buffer2);
    PFN_vkCmdCopyImage: seven(image::transfer::copy);
    PFN_vkCmdCopyImage2: two(image::transfer::copy2);
    PFN_vkCmdCopyImageToBuffer: six(image::transfer::to_buffer);
    PFN_vkCmdCopyImageToBuffer2: two(image::transfer::to_buffer2);
    PFN_vkCmdCopyQueryPoolResults: eight(query_pool::cmd_copy_results);
    PFN_vkCmdEndDebugUtilsLabelEXT: one(message::end_label);
    PFN_vkCmdExecuteCommands: three(command_buffer::execute);
    PFN_vkCmdFillBuffer: five(transfer::fill_buffer);
    PFN_vkCmdInsertDebugUtilsLabelEXT: two(message::label);
    PFN_vkCmdPipelineBarrier: ten(transfer::pipeline_barrier);
    PFN_vkCmdPipelineBarrier2: two(transfer::pipeline_barrier2);
    PFN_vkCmdResetEvent: three(event::cmd_reset);
    PFN_vkCmdResetEvent2: three(event::cmd_reset2);
    PFN_vkCmdResetQueryPool: four(query_pool::cmd_reset);
    PFN_vkCmdSetDeviceMask: two(command_buffer::set_device_mask);
    PFN_vkCmdSetEvent: three(event::cmd_set);
    PFN_vkCmdSetEvent2: three(event::cmd_set2);
    PFN_vkCmdUpdateBuffer: five(transfer::update_buffer);
    PFN_vkCmdWaitEvents: eleven(event::cmd_wait);
    PFN_vkCmdWaitEvents2: four(event::cmd_wait2);
    PFN_vkCmdWriteTimestamp: four(query_pool::cmd_timestamp);
    PFN_vkCmdWriteTimestamp2: four(query_pool::cmd_timestamp2);
    PFN_vkCopyImageToImageEXT: two(image::host::between_images);
    PFN_vkCopyImageToMemoryEXT: two(image::host::to_memory);
    PFN_vkCopyMemoryToImageEXT: two(image::host::from_memory);
    PFN_vkCreateBuffer: four(buffer::create);
    PFN_vkCreateCommandPool: four(command_buffer::create_pool);
    PFN_vkCreateDebugUtilsMessengerEXT: four(message::create_messenger);
    PFN_vkCreateDevice: four(device::create);
    PFN_vkCreateEvent: four(event::create);
    PFN_vkCreateFence: four(fence::create);
    PFN_vkCreateImage: four(image::create);
    PFN_vkCreateImageView: four(image::view::create_view);
    PFN_vkCreateInstance: three(instance::create);
    PFN_vkCreatePrivateDataSlot: four(device::create_slot);
    PFN_vkCreateQueryPool: four(query_pool::create);
    PFN_vkCreateSampler: four(image::view::create_sampler);
    PFN_vkCreateSemaphore: four(semaphore::create);
    PFN_vkDestroyBuffer: three(buffer::destroy);
    PFN_vkDestroyCommandPool: three(command_buffer::destroy_pool);
    PFN_vkDestroyDebugUtilsMessengerEXT: three(message::destroy_messenger);
    PFN_vkDestroyDevice: two(device::destroy);
    PFN_vkDestroyEvent: three(event::destroy);
    PFN_vkDestroyFence: three(fence::destroy);
    PFN_vkDestroyImage: three(image::destroy);
    PFN_vkDestroyImageView: three(image::view::destroy_view);
    PFN_vkDestroyInstance: two(instance::destroy);
    PFN_vkDestroyPrivateDataSlot: three(device::destroy_slot);
    PFN_vkDestroyQueryPool: three(query_pool::destroy);
    PFN_vkDestroySampler: three(image::view::destroy_sampler);
    PFN_vkDestroySemaphore: three(semaphore::destroy);
    PFN_vkDeviceWaitIdle: one(device::wait_idle);
    PFN_vkEndCommandBuffer: one(command_buffer::end);
    PFN_vkEnumerateDeviceExtensionProperties: four(physical_device::extensions);
    PFN_vkEnumerateDeviceLayerProperties: three(physical_device::layers);
    PFN_vkEnumerateInstanceExtensionProperties: three(instance::enumerate_extensions);
    PFN_vkEnumerateInstanceLayerProperties: two(instance::enumerate_layers);
    PFN_vkEnumerateInstanceVersion: one(instance::enumerate_version);
    PFN_vkEnumeratePhysicalDeviceGroups: three(instance::enumerate_groups);
    PFN_vkEnumeratePhysicalDevices: three(instance::enumerate_physical_devices);
    PFN_vkFlushMappedMemoryRanges: three(memory::flush);
    PFN_vkFreeCommandBuffers: four(command_buffer::free);
    PFN_vkFreeMemory: three(memory::free);
    PFN_vkGetBufferDeviceAddress: two(buffer::address);
    PFN_vkGetBufferMemoryRequirements: three(buffer::requirements);
    PFN_vkGetBufferMemoryRequirements2: three(buffer::requirements2);
    PFN_vkGetBufferOpaqueCaptureAddress: two(buffer::address);
    PFN_vkGetCalibratedTimestampsKHR: five(device::calibrated_timestamps);
    PFN_vkGetDeviceBufferMemoryRequirements: three(buffer::requirements_without);
    PFN_vkGetDeviceFaultInfoEXT: three(fault::info);
    PFN_vkGetDeviceGroupPeerMemoryFeatures: five(device::peer_memory);
    PFN_vkGetDeviceImageMemoryRequirements: three(image::requirements_without);
    PFN_vkGetDeviceImageSparseMemoryRequirements: four(image::sparse_requirements_without);
    PFN_vkGetDeviceMemoryCommitment: three(memory::commitment);
    PFN_vkGetDeviceMemoryOpaqueCaptureAddress: two(memory::capture_address);
    PFN_vkGetDeviceQueue: four(device::queue);
    PFN_vkGetDeviceQueue2: three(device::queue2);
    PFN_vkGetEventStatus: two(event::status);
    PFN_vkGetFenceFdKHR: three(fence::export);
    PFN_vkGetFenceStatus: two(fence::status);
    PFN_vkGetImageDrmFormatModifierPropertiesEXT: three(image::modifier);
    PFN_vkGetImageMemoryRequirements: three(image::requirements);
    PFN_vkGetImageMemoryRequirements2: three(image::requirements2);
    PFN_vkGetImageSparseMemoryRequirements: four(image::sparse_requirements);
    PFN_vkGetImageSparseMemoryRequirements2: four(image::sparse_requirements2);
    PFN_vkGetImageSubresourceLayout: four(image::subresource_layout);
    PFN_vkGetImageSubresourceLayout2KHR: four(image::subresource_layout2);
    PFN_vkGetMemoryFdKHR: three(memory::export);
    PFN_vkGetMemoryFdPropertiesKHR: four(memory::fd_properties);
    PFN_vkGetMemoryHostPointerPropertiesEXT: four(memory::host_properties);
    PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR: three(device::time_domains);
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
    PFN_vkGetPrivateData: five(device::private);
    PFN_vkGetQueryPoolResults: eight(query_pool::results);
    PFN_vkGetSemaphoreCounterValue: three(semaphore::value);
    PFN_vkGetSemaphoreFdKHR: three(semaphore::export);
    PFN_vkImportFenceFdKHR: two(fence::import);
    PFN_vkImportSemaphoreFdKHR: two(semaphore::import);
    PFN_vkInvalidateMappedMemoryRanges: three(memory::invalidate);
    PFN_vkMapMemory: six(memory::map);
    PFN_vkMapMemory2KHR: three(memory::map2);
    PFN_vkQueueBeginDebugUtilsLabelEXT: two(message::queue_label);
    PFN_vkQueueBindSparse: four(queue::bind_sparse);
    PFN_vkQueueEndDebugUtilsLabelEXT: one(message::end_queue_label);
    PFN_vkQueueInsertDebugUtilsLabelEXT: two(message::queue_label);
    PFN_vkQueueSubmit: four(queue::submit);
    PFN_vkQueueSubmit2: four(queue::submit2);
    PFN_vkQueueWaitIdle: one(queue::wait_idle);
    PFN_vkResetCommandBuffer: two(command_buffer::reset);
    PFN_vkResetCommandPool: three(command_buffer::reset_pool);
    PFN_vkResetEvent: two(event::reset);
    PFN_vkResetFences: three(fence::reset);
    PFN_vkResetQueryPool: four(query_pool::reset);
    PFN_vkSetDebugUtilsObjectNameEXT: two(message::describe);
    PFN_vkSetDebugUtilsObjectTagEXT: two(message::describe);
    PFN_vkSetDeviceMemoryPriorityEXT: three(memory::set_priority);
    PFN_vkSetEvent: two(event::set);
    PFN_vkSetPrivateData: five(device::set_private);
    PFN_vkSignalSemaphore: two(semaphore::signal);
    PFN_vkSubmitDebugUtilsMessageEXT: four(message::submit);
    PFN_vkTransitionImageLayoutEXT: three(image::host::transition);
    PFN_vkTrimCommandPool: three(command_buffer::trim_pool);
    PFN_vkUnmapMemory: two(memory::unmap);
    PFN_vkUnmapMemory2KHR: two(memory::unmap2);
    PFN_vkWaitForFences: five(fence::wait);
    PFN_vkWaitSemaphores: three(semaphore::wait);
};

/// Returns the function with a name in a face; `None` if there is none.
pub(super) fn find(name: &str, face: Face) -> vk::PFN_vkVoidFunction {
    find_in(ENTRIES, name).or_else(|| if face == Face::Full { find_in(FULL, name) } else { None })
}
