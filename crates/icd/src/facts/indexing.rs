//! Limits of descriptors that may be updated after they are bound.

use ash::vk;

/// Returns the properties of descriptor indexing, whose features the driver does not have.
///
/// The limits count descriptors of all sets, so a pipeline layout must keep to them although no set can be updated after it is
/// bound. They are those of other sets.
///
/// Source: Vulkan 1.3 specification, `VkPhysicalDeviceDescriptorIndexingProperties`, and the valid usage 03022 to 03028 and 03036 to
/// 03042 of `VkPipelineLayoutCreateInfo`.
pub(super) fn properties(limits: &vk::PhysicalDeviceLimits) -> vk::PhysicalDeviceDescriptorIndexingProperties<'static> {
    vk::PhysicalDeviceDescriptorIndexingProperties::default()
        .max_per_stage_descriptor_update_after_bind_samplers(limits.max_per_stage_descriptor_samplers)
        .max_per_stage_descriptor_update_after_bind_uniform_buffers(limits.max_per_stage_descriptor_uniform_buffers)
        .max_per_stage_descriptor_update_after_bind_storage_buffers(limits.max_per_stage_descriptor_storage_buffers)
        .max_per_stage_descriptor_update_after_bind_sampled_images(limits.max_per_stage_descriptor_sampled_images)
        .max_per_stage_descriptor_update_after_bind_storage_images(limits.max_per_stage_descriptor_storage_images)
        .max_per_stage_descriptor_update_after_bind_input_attachments(limits.max_per_stage_descriptor_input_attachments)
        .max_per_stage_update_after_bind_resources(limits.max_per_stage_resources)
        .max_descriptor_set_update_after_bind_samplers(limits.max_descriptor_set_samplers)
        .max_descriptor_set_update_after_bind_uniform_buffers(limits.max_descriptor_set_uniform_buffers)
        .max_descriptor_set_update_after_bind_uniform_buffers_dynamic(limits.max_descriptor_set_uniform_buffers_dynamic)
        .max_descriptor_set_update_after_bind_storage_buffers(limits.max_descriptor_set_storage_buffers)
        .max_descriptor_set_update_after_bind_storage_buffers_dynamic(limits.max_descriptor_set_storage_buffers_dynamic)
        .max_descriptor_set_update_after_bind_sampled_images(limits.max_descriptor_set_sampled_images)
        .max_descriptor_set_update_after_bind_storage_images(limits.max_descriptor_set_storage_images)
        .max_descriptor_set_update_after_bind_input_attachments(limits.max_descriptor_set_input_attachments)
}

/// Returns the same properties in the structure of Vulkan 1.2, without the others.
pub(super) fn properties12(limits: &vk::PhysicalDeviceLimits) -> vk::PhysicalDeviceVulkan12Properties<'static> {
    let all = properties(limits);
    vk::PhysicalDeviceVulkan12Properties {
        max_per_stage_descriptor_update_after_bind_samplers: all.max_per_stage_descriptor_update_after_bind_samplers,
        max_per_stage_descriptor_update_after_bind_uniform_buffers: all
            .max_per_stage_descriptor_update_after_bind_uniform_buffers,
        max_per_stage_descriptor_update_after_bind_storage_buffers: all
            .max_per_stage_descriptor_update_after_bind_storage_buffers,
        max_per_stage_descriptor_update_after_bind_sampled_images: all
            .max_per_stage_descriptor_update_after_bind_sampled_images,
        max_per_stage_descriptor_update_after_bind_storage_images: all
            .max_per_stage_descriptor_update_after_bind_storage_images,
        max_per_stage_descriptor_update_after_bind_input_attachments: all
            .max_per_stage_descriptor_update_after_bind_input_attachments,
        max_per_stage_update_after_bind_resources: all.max_per_stage_update_after_bind_resources,
        max_descriptor_set_update_after_bind_samplers: all.max_descriptor_set_update_after_bind_samplers,
        max_descriptor_set_update_after_bind_uniform_buffers: all.max_descriptor_set_update_after_bind_uniform_buffers,
        max_descriptor_set_update_after_bind_uniform_buffers_dynamic: all
            .max_descriptor_set_update_after_bind_uniform_buffers_dynamic,
        max_descriptor_set_update_after_bind_storage_buffers: all.max_descriptor_set_update_after_bind_storage_buffers,
        max_descriptor_set_update_after_bind_storage_buffers_dynamic: all
            .max_descriptor_set_update_after_bind_storage_buffers_dynamic,
        max_descriptor_set_update_after_bind_sampled_images: all.max_descriptor_set_update_after_bind_sampled_images,
        max_descriptor_set_update_after_bind_storage_images: all.max_descriptor_set_update_after_bind_storage_images,
        max_descriptor_set_update_after_bind_input_attachments: all
            .max_descriptor_set_update_after_bind_input_attachments,
        ..vk::PhysicalDeviceVulkan12Properties::default()
    }
}
