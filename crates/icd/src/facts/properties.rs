//! Properties of a physical device.

use ash::vk;

use super::{extensions::api_version, fill_chain, images::LAYOUTS, indexing, limits};
use crate::{
    border::{chain, copy_text, fault::FaultProperties, list::put_all},
    objects::Gpu,
};

/// AMD's PCI vendor ID.
const AMD: u32 = 0x1002;

/// The major number of DRM nodes: `DRM_MAJOR` of Linux.
const DRM_MAJOR: i64 = 226;

/// The UUID of the driver, by which programs recognize memory of the same driver.
const DRIVER_UUID: [u8; vk::UUID_SIZE] = *b"amdgpu-winsysICD";

/// The alignment of texel buffers in bytes: `minTexelBufferOffsetAlignment`.
const TEXEL_BUFFER_ALIGNMENT: u64 = 4;

/// The name of the driver.
const DRIVER_NAME: &str = "amdgpu-winsys";

/// Returns the version of this package in Vulkan's encoding.
fn driver_version() -> u32 {
    let part = |text: &str| text.parse().unwrap_or(0);
    vk::make_api_version(
        0,
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
        part(env!("CARGO_PKG_VERSION_PATCH")),
    )
}

/// Returns the UUID of pipeline caches, made from the chip and the driver's version.
fn cache_uuid(gpu: &Gpu) -> [u8; vk::UUID_SIZE] {
    let info = gpu.device.info();
    let parts = [driver_version(), info.device_id, info.external_revision, u32::from_be_bytes(*b"ICD0")];
    let mut uuid = [0; vk::UUID_SIZE];
    uuid.as_chunks_mut::<4>().0.iter_mut().zip(parts).for_each(|(bytes, part)| *bytes = part.to_le_bytes());
    uuid
}

/// Returns the header of a pipeline cache (`VkPipelineCacheHeaderVersionOne`).
pub(crate) fn cache_header(gpu: &Gpu) -> [u8; 32] {
    let mut header = [0; 32];
    let version = vk::PipelineCacheHeaderVersion::ONE.as_raw().cast_unsigned();
    let words = [32, version, AMD, gpu.device.info().device_id].map(u32::to_le_bytes);
    let bytes = words.as_flattened().iter().copied().chain(cache_uuid(gpu));
    header.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
    header
}

/// Returns the properties of Vulkan 1.0.
pub(crate) fn core(gpu: &Gpu) -> vk::PhysicalDeviceProperties {
    let info = gpu.device.info();
    let has_vram = info.has_dedicated_vram;
    vk::PhysicalDeviceProperties {
        api_version: api_version(gpu.face),
        driver_version: driver_version(),
        vendor_id: AMD,
        device_id: info.device_id,
        device_type: if has_vram {
            vk::PhysicalDeviceType::DISCRETE_GPU
        } else {
            vk::PhysicalDeviceType::INTEGRATED_GPU
        },
        device_name: copy_text(&format!("{} (amdgpu-winsys)", info.marketing_name)),
        pipeline_cache_uuid: cache_uuid(gpu),
        limits: limits::limits(gpu),
        sparse_properties: vk::PhysicalDeviceSparseProperties::default(),
    }
}

/// Fills in every known structure of properties in the chain.
pub(crate) fn fill(gpu: &Gpu, out: &mut vk::PhysicalDeviceProperties2<'_>) {
    out.properties = core(gpu);
    let max_allocation = limits::max_allocation(gpu);
    let conformance = vk::ConformanceVersion::default(); // none: there are no shaders
    let driver_info = copy_text("experimental, no shaders");
    let pci = gpu.pci;
    fill_chain!(out;
        PhysicalDeviceVulkan11Properties {
            device_uuid: pci.device_uuid(),
            driver_uuid: DRIVER_UUID,
            device_luid: [0; vk::LUID_SIZE],
            device_luid_valid: vk::FALSE,
            device_node_mask: 0,
            subgroup_size: 64,
            subgroup_supported_stages: vk::ShaderStageFlags::COMPUTE,
            subgroup_supported_operations: vk::SubgroupFeatureFlags::BASIC,
            subgroup_quad_operations_in_all_stages: vk::FALSE,
            point_clipping_behavior: vk::PointClippingBehavior::ALL_CLIP_PLANES,
            max_multiview_view_count: 6,
            max_multiview_instance_index: (1 << 27) - 1,
            protected_no_fault: vk::FALSE,
            max_per_set_descriptors: limits::MAX_DESCRIPTORS,
            max_memory_allocation_size: max_allocation,
        }
        PhysicalDeviceIDProperties {
            device_uuid: pci.device_uuid(),
            driver_uuid: DRIVER_UUID,
            device_luid: [0; vk::LUID_SIZE],
            device_luid_valid: vk::FALSE,
            device_node_mask: 0,
        }
        PhysicalDeviceMaintenance3Properties { max_per_set_descriptors: limits::MAX_DESCRIPTORS, max_memory_allocation_size: max_allocation }
        PhysicalDeviceSubgroupProperties {
            subgroup_size: 64,
            supported_stages: vk::ShaderStageFlags::COMPUTE,
            supported_operations: vk::SubgroupFeatureFlags::BASIC,
            quad_operations_in_all_stages: vk::FALSE,
        }
        PhysicalDevicePointClippingProperties { point_clipping_behavior: vk::PointClippingBehavior::ALL_CLIP_PLANES }
        PhysicalDeviceMultiviewProperties { max_multiview_view_count: 6, max_multiview_instance_index: (1 << 27) - 1 }
        PhysicalDeviceProtectedMemoryProperties { protected_no_fault: vk::FALSE }
        PhysicalDeviceDriverProperties {
            driver_id: vk::DriverId::from_raw(0),
            driver_name: copy_text(DRIVER_NAME),
            driver_info: driver_info,
            conformance_version: conformance,
        }
        PhysicalDeviceTimelineSemaphoreProperties { max_timeline_semaphore_value_difference: u64::MAX }
        PhysicalDeviceMaintenance4Properties { max_buffer_size: max_allocation }
        PhysicalDeviceDepthStencilResolveProperties {
            supported_depth_resolve_modes: vk::ResolveModeFlags::SAMPLE_ZERO,
            supported_stencil_resolve_modes: vk::ResolveModeFlags::SAMPLE_ZERO,
            independent_resolve_none: vk::FALSE,
            independent_resolve: vk::FALSE,
        }
        PhysicalDeviceSubgroupSizeControlProperties {
            min_subgroup_size: 64,
            max_subgroup_size: 64,
            max_compute_workgroup_subgroups: 2,
            required_subgroup_size_stages: vk::ShaderStageFlags::empty(),
        }
        PhysicalDeviceTexelBufferAlignmentProperties {
            storage_texel_buffer_offset_alignment_bytes: TEXEL_BUFFER_ALIGNMENT,
            storage_texel_buffer_offset_single_texel_alignment: vk::FALSE,
            uniform_texel_buffer_offset_alignment_bytes: TEXEL_BUFFER_ALIGNMENT,
            uniform_texel_buffer_offset_single_texel_alignment: vk::FALSE,
        }
        PhysicalDeviceMapMemoryPlacedPropertiesEXT { min_placed_memory_map_alignment: 4096 }
        PhysicalDeviceExternalMemoryHostPropertiesEXT { min_imported_host_pointer_alignment: 4096 }
        PhysicalDevicePCIBusInfoPropertiesEXT {
            pci_domain: pci.domain,
            pci_bus: pci.bus.into(),
            pci_device: pci.device.into(),
            pci_function: pci.function.into(),
        }
        PhysicalDeviceDrmPropertiesEXT {
            has_primary: vk::Bool32::from(gpu.primary_minor.is_some()),
            has_render: vk::TRUE,
            primary_major: if gpu.primary_minor.is_some() { DRM_MAJOR } else { 0 },
            primary_minor: gpu.primary_minor.unwrap_or(0).into(),
            render_major: DRM_MAJOR,
            render_minor: gpu.render_minor.into(),
        }
    );
    if let Some(all) = chain::find_mut::<vk::PhysicalDeviceDescriptorIndexingProperties<'_>>(out) {
        let p_next = all.p_next;
        *all = vk::PhysicalDeviceDescriptorIndexingProperties { p_next, ..indexing::properties(&limits::limits(gpu)) };
    }
    if let Some(faults) = chain::find_mut::<FaultProperties<'_>>(out) {
        // The kernel keeps the last fault alone.
        faults.max_count = 1;
    }
    vulkan12_and_13(gpu, out);
    host_copies(gpu, out);
}

/// Fills in the properties of image copies by the CPU.
fn host_copies(gpu: &Gpu, out: &mut vk::PhysicalDeviceProperties2<'_>) {
    if let Some(host) = chain::find_mut::<vk::PhysicalDeviceHostImageCopyPropertiesEXT<'_>>(out) {
        put_all(host.p_copy_src_layouts, &mut host.copy_src_layout_count, LAYOUTS.into_iter());
        put_all(host.p_copy_dst_layouts, &mut host.copy_dst_layout_count, LAYOUTS.into_iter());
        // Bytes of such copies are rows without gaps, whatever the chip.
        host.optimal_tiling_layout_uuid = DRIVER_UUID;
        host.identical_memory_type_requirements = vk::Bool32::from(gpu.host_types(u32::MAX) == u32::MAX);
    }
}

/// Fills in the structures of Vulkan 1.2 and 1.3. Properties of shaders have the minimum values, or 0.
fn vulkan12_and_13(gpu: &Gpu, out: &mut vk::PhysicalDeviceProperties2<'_>) {
    if let Some(twelve) = crate::border::chain::find_mut::<vk::PhysicalDeviceVulkan12Properties<'_>>(out) {
        *twelve = vk::PhysicalDeviceVulkan12Properties {
            p_next: twelve.p_next,
            driver_name: copy_text(DRIVER_NAME),
            driver_info: copy_text("experimental, no shaders"),
            max_timeline_semaphore_value_difference: u64::MAX,
            framebuffer_integer_color_sample_counts: vk::SampleCountFlags::TYPE_1,
            supported_depth_resolve_modes: vk::ResolveModeFlags::SAMPLE_ZERO,
            supported_stencil_resolve_modes: vk::ResolveModeFlags::SAMPLE_ZERO,
            ..indexing::properties12(&limits::limits(gpu))
        };
    }
    if let Some(thirteen) = crate::border::chain::find_mut::<vk::PhysicalDeviceVulkan13Properties<'_>>(out) {
        *thirteen = vk::PhysicalDeviceVulkan13Properties {
            p_next: thirteen.p_next,
            min_subgroup_size: 64,
            max_subgroup_size: 64,
            max_compute_workgroup_subgroups: 2,
            storage_texel_buffer_offset_alignment_bytes: TEXEL_BUFFER_ALIGNMENT,
            uniform_texel_buffer_offset_alignment_bytes: TEXEL_BUFFER_ALIGNMENT,
            max_buffer_size: limits::max_allocation(gpu),
            ..vk::PhysicalDeviceVulkan13Properties::default()
        };
    }
}
