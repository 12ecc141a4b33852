//! Images: what there is of them, and their bytes, checked against the tiler.

use amdgpu_hw::GfxLevel;
use amdgpu_sim::SimKernel;
use amdgpu_surface::{
    Chip, ChipRegisters,
    surface::{Dimension, SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode},
    tiler::{Region, Rows},
};
use amdgpu_winsys::winsys::Device;
use ash::vk;

use crate::gpu::{CHIPS, Gpu};

const COPIED: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw()
        | vk::ImageUsageFlags::HOST_TRANSFER_EXT.as_raw(),
);

/// Returns a two-dimensional image for copies by queues and the CPU.
fn described(tiling: vk::ImageTiling, [width, height]: [u32; 2]) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width, height, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(tiling)
        .usage(COPIED)
}

/// Makes an image that is bound to memory of its own, which the CPU sees.
fn image(gpu: &Gpu, info: &vk::ImageCreateInfo<'_>) -> (vk::Image, vk::DeviceMemory) {
    // SAFETY: the structure is valid.
    let image = unsafe { gpu.device.create_image(info, None) }.unwrap();
    // SAFETY: the image is live.
    let wanted = unsafe { gpu.device.get_image_memory_requirements(image) };
    assert_ne!(wanted.memory_type_bits & 1 << gpu.host_type(), 0);
    let memory = gpu.allocate(gpu.host_type(), wanted.size);
    // SAFETY: both are live, and the memory is long enough.
    unsafe { gpu.device.bind_image_memory(image, memory, 0) }.unwrap();
    (image, memory)
}

fn discard(gpu: &Gpu, (image, memory): (vk::Image, vk::DeviceMemory)) {
    // SAFETY: nothing uses the image.
    unsafe { gpu.device.destroy_image(image, None) };
    // SAFETY: nothing uses the memory.
    unsafe { gpu.device.free_memory(memory, None) };
}

/// Makes a buffer of bytes that are all different from their neighbours.
fn pattern(gpu: &Gpu, bytes: usize) -> ((vk::Buffer, vk::DeviceMemory), Vec<u8>) {
    let buffer = gpu.buffer(gpu.host_type(), bytes as u64);
    let values: Vec<u8> = (0..bytes as u32).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 13) as u8).collect();
    // SAFETY: the memory is live and of a type that the CPU sees.
    let mapped = unsafe { gpu.device.map_memory(buffer.1, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }.unwrap();
    // SAFETY: the memory is at least that long, and the GPU does not use it.
    unsafe { mapped.cast::<u8>().copy_from_nonoverlapping(values.as_ptr(), bytes) };
    // SAFETY: the memory is mapped.
    unsafe { gpu.device.unmap_memory(buffer.1) };
    (buffer, values)
}

/// Returns all layers of a level.
fn layers(level: u32, count: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).mip_level(level).layer_count(count)
}

/// Records a barrier between copies.
fn barrier(gpu: &Gpu, commands: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: the command buffer is recording.
    unsafe { gpu.device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[], &[], &[]) };
}

/// Returns the tiler's own idea of a simulated chip.
pub(crate) fn chip(name: &str) -> Chip {
    let device = Device::new(SimKernel::open(amdgpu_sim::profile(name).unwrap())).unwrap();
    let info = device.info();
    let config = info.tiling.gb_addr_config;
    Chip::new(&ChipRegisters {
        chip_rev: info.chip_revision,
        tile_modes: info.tiling.tile_modes,
        macrotile_modes: info.tiling.macro_tile_modes,
        ..ChipRegisters::new(info.gfx_level, info.family as u32, info.external_revision, config)
    })
    .unwrap()
}

/// Takes the texels of a level out of an image's memory.
fn detiled(chip: &Chip, config: &SurfaceConfig, level: u32, tiled: &[u8]) -> Vec<u8> {
    let layout = SurfaceLayout::new(chip, config).unwrap();
    let level_texels = layout.texels(chip, config, level).unwrap();
    let side = |side: u32| (side >> level).max(1);
    let (width, height) = (side(config.width), side(config.height));
    let depth = if config.dimension == Dimension::D3 { side(config.depth) } else { config.layers };
    let pitch = (width * config.bytes) as usize;
    let rows = Rows { pitch, slice: pitch * height as usize };
    let mut texels = vec![0; rows.slice * depth as usize];
    level_texels.detile(&Region::whole(width, height, depth), tiled, &mut texels, rows).unwrap();
    texels
}

/// Returns the image as the surface library describes it.
fn config(info: &vk::ImageCreateInfo<'_>, bytes: u32) -> SurfaceConfig {
    SurfaceConfig {
        depth: info.extent.depth,
        layers: info.array_layers,
        levels: info.mip_levels,
        dimension: if info.image_type == vk::ImageType::TYPE_3D { Dimension::D3 } else { Dimension::D2 },
        mode: if info.tiling == vk::ImageTiling::LINEAR { TilingMode::Linear } else { TilingMode::Tiled2d },
        usage: SurfaceUsage::DISABLE_DCC | SurfaceUsage::NO_FMASK | SurfaceUsage::NO_HTILE,
        ..SurfaceConfig::new(info.extent.width, info.extent.height, bytes)
    }
}

#[test]
fn every_level_goes_both_ways_on_every_family_and_lies_where_the_tiler_says() {
    for name in CHIPS {
        let gpu = Gpu::new(name);
        let array = described(vk::ImageTiling::OPTIMAL, [37, 21]).mip_levels(3).array_layers(2);
        let volume = described(vk::ImageTiling::OPTIMAL, [20, 17])
            .image_type(vk::ImageType::TYPE_3D)
            .extent(vk::Extent3D { width: 20, height: 17, depth: 5 })
            .format(vk::Format::R16_UNORM)
            .mip_levels(2);
        let rows = described(vk::ImageTiling::LINEAR, [33, 9]).format(vk::Format::R16G16B16A16_SFLOAT);
        let odd = described(vk::ImageTiling::LINEAR, [31, 7]).format(vk::Format::R32G32B32_SFLOAT);
        for (info, bytes) in [(array, 4), (volume, 2), (rows, 8), (odd, 12)] {
            for family in 0..gpu.families.len() as u32 {
                let made = image(&gpu, &info);
                for level in 0..info.mip_levels {
                    let side = |side: u32| (side >> level).max(1);
                    let vk::Extent3D { width, height, depth } = info.extent;
                    let extent = vk::Extent3D { width: side(width), height: side(height), depth: side(depth) };
                    let texels = extent.width * extent.height * extent.depth * info.array_layers;
                    let size = (texels * bytes) as usize;
                    let (source, wanted) = pattern(&gpu, size);
                    let back = gpu.buffer(gpu.host_type(), size as u64);
                    let part = vk::BufferImageCopy::default()
                        .image_subresource(layers(level, info.array_layers))
                        .image_extent(extent);
                    gpu.run(family, |device, commands| {
                        let layout = vk::ImageLayout::GENERAL;
                        // SAFETY: both are bound and long enough, here and below.
                        unsafe { device.cmd_copy_buffer_to_image(commands, source.0, made.0, layout, &[part]) };
                        barrier(&gpu, commands);
                        // SAFETY: as above.
                        unsafe { device.cmd_copy_image_to_buffer(commands, made.0, layout, back.0, &[part]) };
                    });
                    assert!(gpu.read(back.1, size) == wanted, "{name} {family}: level {level} of {bytes}");
                    // SAFETY: the image is live.
                    let whole = unsafe { gpu.device.get_image_memory_requirements(made.0) }.size;
                    let memory = gpu.read(made.1, whole as usize);
                    let found = detiled(&chip(name), &config(&info, bytes), level, &memory);
                    assert!(found == wanted, "{name} {family}: level {level} of {bytes} is elsewhere");
                    gpu.discard(source);
                    gpu.discard(back);
                }
                discard(&gpu, made);
            }
        }
    }
}

#[test]
fn tiles_are_no_rows() {
    for name in CHIPS {
        let gpu = Gpu::new(name);
        let (source, wanted) = pattern(&gpu, 64 * 64 * 4);
        for tiling in [vk::ImageTiling::LINEAR, vk::ImageTiling::OPTIMAL] {
            let made = image(&gpu, &described(tiling, [64, 64]));
            let extent = vk::Extent3D { width: 64, height: 64, depth: 1 };
            let part = vk::BufferImageCopy::default().image_subresource(layers(0, 1)).image_extent(extent);
            gpu.run(0, |device, commands| {
                let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
                // SAFETY: both are bound and long enough.
                unsafe { device.cmd_copy_buffer_to_image(commands, source.0, made.0, layout, &[part]) };
            });
            let are_rows = gpu.read(made.1, wanted.len()) == wanted;
            assert_eq!(are_rows, tiling == vk::ImageTiling::LINEAR, "{name}");
            discard(&gpu, made);
        }
        gpu.discard(source);
    }
}

/// Copies a level's layers out of an image by the CPU.
fn host_read(gpu: &Gpu, image: vk::Image, extent: vk::Extent3D, level: u32, bytes: usize) -> Vec<u8> {
    let extension = ash::ext::host_image_copy::Device::new(&gpu.instance, &gpu.device);
    let mut found = vec![0_u8; bytes];
    let mut region = vk::ImageToMemoryCopyEXT::default().image_subresource(layers(level, 1)).image_extent(extent);
    region.p_host_pointer = found.as_mut_ptr().cast();
    let regions = [region];
    let info = vk::CopyImageToMemoryInfoEXT::default()
        .src_image(image)
        .src_image_layout(vk::ImageLayout::GENERAL)
        .regions(&regions);
    // SAFETY: the image is bound and idle, and the memory has room.
    unsafe { extension.copy_image_to_memory(&info) }.unwrap();
    found
}

#[test]
fn the_cpu_and_queues_copy_parts_between_rows_and_tiles() {
    for name in CHIPS {
        let gpu = Gpu::new(name);
        let extension = ash::ext::host_image_copy::Device::new(&gpu.instance, &gpu.device);
        let tiles = image(&gpu, &described(vk::ImageTiling::OPTIMAL, [40, 30]));
        let rows = image(&gpu, &described(vk::ImageTiling::LINEAR, [40, 30]));
        let copy = image(&gpu, &described(vk::ImageTiling::OPTIMAL, [40, 30]));
        let whole = vk::Extent3D { width: 40, height: 30, depth: 1 };
        let values: Vec<u8> = (0..48_u32 * 30 * 4).map(|at| (at.wrapping_mul(0x85eb_ca6b) >> 17) as u8).collect();
        let mut region = vk::MemoryToImageCopyEXT::default()
            .memory_row_length(48)
            .image_subresource(layers(0, 1))
            .image_extent(whole);
        region.p_host_pointer = values.as_ptr().cast();
        let regions = [region];
        let info = vk::CopyMemoryToImageInfoEXT::default()
            .dst_image(tiles.0)
            .dst_image_layout(vk::ImageLayout::GENERAL)
            .regions(&regions);
        // SAFETY: the image is bound and idle, and the memory holds the region.
        unsafe { extension.copy_memory_to_image(&info) }.unwrap();
        // Rows without the gaps of the program's.
        let wanted: Vec<u8> = values.chunks(48 * 4).flat_map(|row| &row[..40 * 4]).copied().collect();
        assert!(host_read(&gpu, tiles.0, whole, 0, wanted.len()) == wanted, "{name}");

        let at = |x, y| vk::Offset3D { x, y, z: 0 };
        let part = vk::ImageCopy::default()
            .src_subresource(layers(0, 1))
            .src_offset(at(3, 5))
            .dst_subresource(layers(0, 1))
            .dst_offset(at(11, 2))
            .extent(vk::Extent3D { width: 20, height: 25, depth: 1 });
        gpu.run(0, |device, commands| {
            let layout = vk::ImageLayout::GENERAL;
            // SAFETY: both images are bound.
            unsafe { device.cmd_copy_image(commands, tiles.0, layout, rows.0, layout, &[part]) };
        });
        let region =
            vk::ImageCopy2::default().src_subresource(layers(0, 1)).dst_subresource(layers(0, 1)).extent(whole);
        let regions = [region];
        let info = vk::CopyImageToImageInfoEXT::default().src_image(rows.0).dst_image(copy.0).regions(&regions);
        // SAFETY: both images are bound and idle.
        unsafe { extension.copy_image_to_image(&info) }.unwrap();
        let found = host_read(&gpu, copy.0, whole, 0, wanted.len());
        let texel = |bytes: &[u8], x: usize, y: usize| bytes[(y * 40 + x) * 4..][..4].to_vec();
        for (x, y) in [(0, 0), (19, 24), (7, 13)] {
            assert_eq!(texel(&found, 11 + x, 2 + y), texel(&wanted, 3 + x, 5 + y), "{name} {x} {y}");
        }
        assert_eq!((texel(&found, 10, 2), texel(&found, 31, 26)), (vec![0; 4], vec![0; 4]), "{name}: outside");
        // SAFETY: the image is live.
        let place = unsafe { gpu.device.get_image_subresource_layout(rows.0, vk::ImageSubresource::default()) };
        let raw = gpu.read(rows.1, (place.offset + place.size) as usize);
        let start = place.offset as usize + (2 + 13) * place.row_pitch as usize + (11 + 7) * 4;
        assert_eq!(raw[start..start + 4], texel(&wanted, 3 + 7, 5 + 13), "{name}: rows are where they are said to be");
        for made in [tiles, rows, copy] {
            discard(&gpu, made);
        }
    }
}

#[test]
fn a_clear_fills_its_levels_and_no_other() {
    for name in CHIPS {
        for (format, bytes) in [(vk::Format::R8_UINT, 1), (vk::Format::R16G16B16A16_UINT, 8)] {
            let gpu = Gpu::new(name);
            let made = image(&gpu, &described(vk::ImageTiling::OPTIMAL, [21, 13]).format(format).mip_levels(4));
            let clear = |value: u32, first, count| {
                let color = vk::ClearColorValue { uint32: [value, value + 1, value, value] };
                let range = vk::ImageSubresourceRange::default()
                    .aspect_mask(vk::ImageAspectFlags::COLOR)
                    .base_mip_level(first)
                    .level_count(count)
                    .layer_count(1);
                gpu.run(0, |device, commands| {
                    let layout = vk::ImageLayout::GENERAL;
                    // SAFETY: the image is bound.
                    unsafe { device.cmd_clear_color_image(commands, made.0, layout, &color, &[range]) };
                });
            };
            clear(7, 0, vk::REMAINING_MIP_LEVELS);
            clear(9, 1, 2);
            for (level, value) in [7_u8, 9, 9, 7].into_iter().enumerate() {
                let extent = vk::Extent3D { width: 21 >> level, height: 13 >> level, depth: 1 };
                let texels = (extent.width * extent.height) as usize;
                let found = host_read(&gpu, made.0, extent, level as u32, texels * bytes);
                let texel = [value, 0, value + 1, 0, value, 0, value, 0];
                assert!(found.chunks(bytes).all(|it| *it == texel[..bytes]), "{name} {level}: {found:?}");
            }
            discard(&gpu, made);
        }
    }
}

#[test]
fn a_clear_of_texels_of_12_bytes_repeats_three_words() {
    for name in CHIPS {
        let gpu = Gpu::new(name);
        let made = image(&gpu, &described(vk::ImageTiling::LINEAR, [9, 5]).format(vk::Format::R32G32B32_UINT));
        for family in 0..2 {
            let color = vk::ClearColorValue { uint32: [family + 1, 2, 3, 4] };
            let range = vk::ImageSubresourceRange::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .level_count(1)
                .layer_count(1);
            gpu.run(family, |device, commands| {
                // SAFETY: the image is bound.
                unsafe {
                    device.cmd_clear_color_image(commands, made.0, vk::ImageLayout::GENERAL, &color, &[range]);
                };
            });
            let found = host_read(&gpu, made.0, vk::Extent3D { width: 9, height: 5, depth: 1 }, 0, 9 * 5 * 12);
            let texel = [family as u8 + 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
            assert!(found.chunks(12).all(|it| it == texel), "{name} {family}: {found:?}");
        }
        discard(&gpu, made);
    }
}

#[test]
fn formats_and_images_are_what_they_are_said_to_be() {
    let gpu = Gpu::new("navi21");
    let features = |format| {
        // SAFETY: the physical device is live.
        let found = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) };
        (found.linear_tiling_features, found.optimal_tiling_features, found.buffer_features)
    };
    let copied = vk::FormatFeatureFlags::TRANSFER_SRC | vk::FormatFeatureFlags::TRANSFER_DST;
    let none = vk::FormatFeatureFlags::empty();
    assert!(features(vk::Format::R8G8B8A8_UNORM) == (copied, copied, none));
    assert!(features(vk::Format::D32_SFLOAT) == (none, none, none));
    assert!(features(vk::Format::R32G32B32_SFLOAT) == (copied, none, none), "there are no tiles of 12 bytes");
    let kind = (vk::Format::R8G8B8A8_UNORM, vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL);
    let limits = |(format, kind, tiling), usage, flags| {
        // SAFETY: the physical device is live.
        unsafe {
            gpu.instance.get_physical_device_image_format_properties(gpu.physical, format, kind, tiling, usage, flags)
        }
        .map(|found| (found.max_extent.width, found.max_mip_levels, found.max_array_layers))
    };
    let no_flags = vk::ImageCreateFlags::empty();
    assert_eq!(limits(kind, COPIED, no_flags), Ok((4096, 13, 256)));
    let absent = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    assert_eq!(limits(kind, vk::ImageUsageFlags::SAMPLED, no_flags), absent);
    assert_eq!(limits(kind, COPIED, vk::ImageCreateFlags::SPARSE_BINDING), absent, "no image is sparse");
    assert_eq!(limits((vk::Format::D16_UNORM, kind.1, kind.2), COPIED, no_flags), absent);
    assert_eq!(limits((vk::Format::R32G32B32_UINT, kind.1, kind.2), COPIED, no_flags), absent);
    let create = |info: vk::ImageCreateInfo<'_>| {
        // SAFETY: the structure is valid but for what the driver is to refuse.
        unsafe { gpu.device.create_image(&info, None) }.map(|image| {
            // SAFETY: nothing uses it.
            unsafe { gpu.device.destroy_image(image, None) };
        })
    };
    let refused = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    let plain = described(vk::ImageTiling::OPTIMAL, [64, 64]);
    assert_eq!(create(plain), Ok(()));
    assert_eq!(create(plain.mip_levels(8)), refused, "a level too many");
    assert_eq!(create(plain.array_layers(257)), refused);
    assert_eq!(create(plain.extent(vk::Extent3D { width: 4097, height: 1, depth: 1 })), refused);
    assert_eq!(create(plain.extent(vk::Extent3D::default())), refused);
    assert_eq!(create(plain.samples(vk::SampleCountFlags::TYPE_4)), refused);
    assert_eq!(create(plain.flags(vk::ImageCreateFlags::SPARSE_BINDING)), refused);
    let huge = plain.extent(vk::Extent3D { width: 4096, height: 4096, depth: 1 }).array_layers(256);
    assert_eq!(create(huge.format(vk::Format::R32G32B32A32_SFLOAT)), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
}

#[test]
fn an_image_is_bound_once_inside_its_memory_and_copied_inside_itself() {
    let gpu = Gpu::new("navi21");
    let info = described(vk::ImageTiling::OPTIMAL, [64, 64]);
    let made = image(&gpu, &info);
    // SAFETY: both are live; the driver refuses what valid usage forbids, here and below.
    let again = unsafe { gpu.device.bind_image_memory(made.0, made.1, 0) };
    assert_eq!(again, Err(vk::Result::ERROR_UNKNOWN));
    // SAFETY: the structure is valid.
    let other = unsafe { gpu.device.create_image(&info, None) }.unwrap();
    // SAFETY: as above.
    let beyond = unsafe { gpu.device.bind_image_memory(other, made.1, 1 << 16) };
    assert_eq!(beyond, Err(vk::Result::ERROR_UNKNOWN));
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_image(other, None) };
    let mut same = vk::MemoryRequirements2::default();
    let asked = vk::DeviceImageMemoryRequirements::default().create_info(&info);
    // SAFETY: the structures are valid.
    unsafe { gpu.device.get_device_image_memory_requirements(&asked, &mut same) };
    // SAFETY: the image is live.
    let wanted = unsafe { gpu.device.get_image_memory_requirements(made.0) };
    assert_eq!((same.memory_requirements.size, same.memory_requirements.alignment), (wanted.size, wanted.alignment));
    let buffer = gpu.buffer(gpu.host_type(), 64 * 64 * 4);
    // SAFETY: the structure is valid.
    let pool = unsafe { gpu.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None) }.unwrap();
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    // SAFETY: the pool is live.
    let commands = unsafe { gpu.device.allocate_command_buffers(&info) }.unwrap()[0];
    // SAFETY: the command buffer is in its initial state.
    unsafe { gpu.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()) }.unwrap();
    let part = vk::BufferImageCopy::default()
        .image_subresource(layers(0, 1))
        .image_offset(vk::Offset3D { x: 1, y: 0, z: 0 })
        .image_extent(vk::Extent3D { width: 64, height: 64, depth: 1 });
    // SAFETY: as above.
    unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.0, made.0, vk::ImageLayout::GENERAL, &[part]) };
    // SAFETY: the command buffer is recording.
    assert_eq!(unsafe { gpu.device.end_command_buffer(commands) }, Err(vk::Result::ERROR_UNKNOWN));
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_command_pool(pool, None) };
    gpu.discard(buffer);
    discard(&gpu, made);
}

/// Returns the modifiers of a format.
fn modifiers(gpu: &Gpu) -> Vec<u64> {
    let ask = |list: &mut vk::DrmFormatModifierPropertiesListEXT<'_>| {
        let mut out = vk::FormatProperties2::default().push_next(list);
        let format = vk::Format::R8G8B8A8_UNORM;
        // SAFETY: the structures are valid.
        unsafe { gpu.instance.get_physical_device_format_properties2(gpu.physical, format, &mut out) };
    };
    let mut count = vk::DrmFormatModifierPropertiesListEXT::default();
    ask(&mut count);
    let mut found = vec![vk::DrmFormatModifierPropertiesEXT::default(); count.drm_format_modifier_count as usize];
    let mut list = vk::DrmFormatModifierPropertiesListEXT::default().drm_format_modifier_properties(&mut found);
    ask(&mut list);
    assert!(found.iter().all(|it| it.drm_format_modifier_plane_count == 1));
    found.iter().map(|it| it.drm_format_modifier).collect()
}

#[test]
fn an_image_with_a_modifier_is_read_by_whoever_imports_it() {
    for name in CHIPS {
        let gpu = Gpu::new(name);
        let all = modifiers(&gpu);
        assert_eq!(all.is_empty(), chip(name).level() < GfxLevel::Gfx9, "{name}");
        for modifier in all {
            let plain = described(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT, [50, 40]);
            let (list, dma_buf) = ([modifier], vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
            let mut allowed = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&list);
            let mut shared = vk::ExternalMemoryImageCreateInfo::default().handle_types(dma_buf);
            let made = image(&gpu, &plain.push_next(&mut allowed).push_next(&mut shared));
            let extension = ash::ext::image_drm_format_modifier::Device::new(&gpu.instance, &gpu.device);
            let mut said = vk::ImageDrmFormatModifierPropertiesEXT::default();
            // SAFETY: the image is live.
            unsafe { extension.get_image_drm_format_modifier_properties(made.0, &mut said) }.unwrap();
            assert_eq!(said.drm_format_modifier, modifier, "{name}");
            let part = vk::ImageSubresource::default().aspect_mask(vk::ImageAspectFlags::MEMORY_PLANE_0_EXT);
            // SAFETY: the image is live.
            let plane = unsafe { gpu.device.get_image_subresource_layout(made.0, part) };
            let (source, wanted) = pattern(&gpu, 50 * 40 * 4);
            let whole = vk::Extent3D { width: 50, height: 40, depth: 1 };
            let copy = vk::BufferImageCopy::default().image_subresource(layers(0, 1)).image_extent(whole);
            gpu.run(0, |device, commands| {
                let layout = vk::ImageLayout::GENERAL;
                // SAFETY: both are bound and long enough.
                unsafe { device.cmd_copy_buffer_to_image(commands, source.0, made.0, layout, &[copy]) };
            });
            let explicit = |row_pitch| {
                let planes = [vk::SubresourceLayout { row_pitch, ..vk::SubresourceLayout::default() }];
                let mut explicit = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default()
                    .drm_format_modifier(modifier)
                    .plane_layouts(&planes);
                // SAFETY: the structures are valid but for a plane that the driver is to refuse.
                unsafe { gpu.device.create_image(&plain.push_next(&mut explicit), None) }
            };
            let refused = explicit(plane.row_pitch + 4);
            assert_eq!(refused, Err(vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT), "{name}");
            let other = explicit(plane.row_pitch).unwrap();
            // SAFETY: both are live, and the memory is long enough.
            unsafe { gpu.device.bind_image_memory(other, made.1, 0) }.unwrap();
            assert!(host_read(&gpu, other, whole, 0, wanted.len()) == wanted, "{name} {modifier:#x}");
            // SAFETY: nothing uses it.
            unsafe { gpu.device.destroy_image(other, None) };
            gpu.discard(source);
            discard(&gpu, made);
        }
    }
}

#[test]
fn views_and_samplers_come_and_go() {
    let gpu = Gpu::new("navi21");
    let made = image(&gpu, &described(vk::ImageTiling::OPTIMAL, [8, 8]));
    let view = |format| {
        let info = vk::ImageViewCreateInfo::default().image(made.0).format(format);
        // SAFETY: the structure is valid.
        unsafe { gpu.device.create_image_view(&info, None) }
    };
    let one = view(vk::Format::R8G8B8A8_SRGB).unwrap();
    assert_eq!(view(vk::Format::R16_UNORM), Err(vk::Result::ERROR_UNKNOWN), "texels of another size");
    // SAFETY: the structure is valid.
    let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }.unwrap();
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_sampler(sampler, None) };
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_image_view(one, None) };
    discard(&gpu, made);
}
