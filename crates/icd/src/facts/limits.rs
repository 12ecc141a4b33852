//! Limits: those of hardware and kernel if the library knows them, otherwise the minimum that Vulkan requires.

use amdgpu_winsys::{
    heaps::NON_COHERENT_ATOM,
    winsys::{Capabilities, PAGE_SIZE},
};
use ash::vk;

use crate::objects::Gpu;

/// The largest allocation that RADV supports, `RADV_MAX_MEMORY_ALLOCATION_SIZE`: sizes in buffer descriptors have 32 bits.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_constants.h`.
const RADV_MAX_ALLOCATION: u64 = 0xffff_fffc;

/// The maximum number of descriptors in a set.
pub(crate) const MAX_DESCRIPTORS: u32 = 1024;

/// Returns the size of the largest allocation in bytes: RADV's limit, or the size of the largest heap if that is smaller.
pub(crate) fn max_allocation(gpu: &Gpu) -> u64 {
    let largest = gpu.memory.properties().heaps().iter().map(|heap| heap.size).max().unwrap_or(0);
    largest.min(RADV_MAX_ALLOCATION)
}

/// Returns the limits.
///
/// Source: Vulkan 1.3 specification, tables "Required Limits" and "Required Limit Types"; RADV 26.2.6's answers for facts of kernel
/// or hardware.
pub(crate) fn limits(gpu: &Gpu) -> vk::PhysicalDeviceLimits {
    let info = gpu.device.info();
    let has_sparse = info.capabilities.contains(Capabilities::SPARSE);
    vk::PhysicalDeviceLimits {
        max_memory_allocation_count: u32::MAX,
        buffer_image_granularity: 1,
        sparse_address_space_size: if has_sparse { info.va_max } else { 0 },
        min_memory_map_alignment: PAGE_SIZE as usize,
        min_texel_buffer_offset_alignment: 4,
        min_uniform_buffer_offset_alignment: 4,
        min_storage_buffer_offset_alignment: 4,
        optimal_buffer_copy_offset_alignment: 1,
        optimal_buffer_copy_row_pitch_alignment: 1,
        non_coherent_atom_size: NON_COHERENT_ATOM,
        timestamp_compute_and_graphics: vk::TRUE,
        // Nanoseconds a tick: 1e6 by kHz.
        timestamp_period: (1e6 / f64::from(info.clock_counter_khz.max(1))) as f32,
        ..required()
    }
}

/// Returns the minimum that Vulkan requires of each limit.
fn required() -> vk::PhysicalDeviceLimits {
    let one_and_four = vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4;
    vk::PhysicalDeviceLimits {
        max_image_dimension1_d: 4096,
        max_image_dimension2_d: 4096,
        max_image_dimension3_d: 256,
        max_image_dimension_cube: 4096,
        max_image_array_layers: 256,
        max_texel_buffer_elements: 65536,
        max_uniform_buffer_range: 16384,
        max_storage_buffer_range: 1 << 27,
        max_push_constants_size: 128,
        max_memory_allocation_count: 4096,
        max_sampler_allocation_count: 4000,
        buffer_image_granularity: 131_072,
        max_bound_descriptor_sets: 4,
        max_per_stage_descriptor_samplers: 16,
        max_per_stage_descriptor_uniform_buffers: 12,
        max_per_stage_descriptor_storage_buffers: 4,
        max_per_stage_descriptor_sampled_images: 16,
        max_per_stage_descriptor_storage_images: 4,
        max_per_stage_descriptor_input_attachments: 4,
        max_per_stage_resources: 128,
        max_descriptor_set_samplers: 96,
        max_descriptor_set_uniform_buffers: 72,
        max_descriptor_set_uniform_buffers_dynamic: 8,
        max_descriptor_set_storage_buffers: 24,
        max_descriptor_set_storage_buffers_dynamic: 4,
        max_descriptor_set_sampled_images: 96,
        max_descriptor_set_storage_images: 24,
        max_descriptor_set_input_attachments: 4,
        max_vertex_input_attributes: 16,
        max_vertex_input_bindings: 16,
        max_vertex_input_attribute_offset: 2047,
        max_vertex_input_binding_stride: 2048,
        max_vertex_output_components: 64,
        max_fragment_input_components: 64,
        max_fragment_output_attachments: 4,
        max_fragment_combined_output_resources: 4,
        max_compute_shared_memory_size: 16384,
        max_compute_work_group_count: [65535; 3],
        max_compute_work_group_invocations: 128,
        max_compute_work_group_size: [128, 128, 64],
        sub_pixel_precision_bits: 4,
        sub_texel_precision_bits: 4,
        mipmap_precision_bits: 4,
        max_draw_indexed_index_value: (1 << 24) - 1,
        max_draw_indirect_count: 1,
        max_sampler_lod_bias: 2.0,
        max_sampler_anisotropy: 1.0,
        max_viewports: 1,
        max_viewport_dimensions: [4096; 2],
        viewport_bounds_range: [-8192.0, 8191.0],
        min_memory_map_alignment: 64,
        min_texel_offset: -8,
        max_texel_offset: 7,
        max_framebuffer_width: 4096,
        max_framebuffer_height: 4096,
        max_framebuffer_layers: 256,
        framebuffer_color_sample_counts: one_and_four,
        framebuffer_depth_sample_counts: one_and_four,
        framebuffer_stencil_sample_counts: one_and_four,
        framebuffer_no_attachments_sample_counts: one_and_four,
        max_color_attachments: 4,
        sampled_image_color_sample_counts: one_and_four,
        sampled_image_integer_sample_counts: vk::SampleCountFlags::TYPE_1,
        sampled_image_depth_sample_counts: one_and_four,
        sampled_image_stencil_sample_counts: one_and_four,
        storage_image_sample_counts: vk::SampleCountFlags::TYPE_1,
        max_sample_mask_words: 1,
        discrete_queue_priorities: 2,
        point_size_range: [1.0, 1.0],
        line_width_range: [1.0, 1.0],
        ..vk::PhysicalDeviceLimits::default()
    }
}
