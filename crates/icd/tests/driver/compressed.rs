//! Modifiers with DCC, which no queue here could read on every chip: they are not listed, and refused.

use amdgpu_surface::modifier::{FormatClass, ListOptions, Modifier, ModifierList};
use ash::vk;

use crate::{
    gpu::{CHIPS, Gpu},
    images::chip,
};

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::TRANSFER_SRC;

fn described() -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(FORMAT)
        .extent(vk::Extent3D { width: 256, height: 256, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(USAGE)
}

/// Returns the answer about images that a modifier lays out.
fn supported(gpu: &Gpu, modifier: u64) -> Result<(), vk::Result> {
    let mut named = vk::PhysicalDeviceImageDrmFormatModifierInfoEXT::default().drm_format_modifier(modifier);
    let info = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(FORMAT)
        .ty(vk::ImageType::TYPE_2D)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(USAGE)
        .push_next(&mut named);
    let mut out = vk::ImageFormatProperties2::default();
    // SAFETY: the structures are valid.
    unsafe { gpu.instance.get_physical_device_image_format_properties2(gpu.physical, &info, &mut out) }
}

/// Creates an image with the first plane at the start of its memory and metadata behind it, as an importer does.
fn imported(gpu: &Gpu, modifier: u64, planes: usize) -> Result<vk::Image, vk::Result> {
    let plane = |number: u64| vk::SubresourceLayout { offset: number << 20, row_pitch: 1024, ..Default::default() };
    let planes: Vec<_> = (0..planes as u64).map(plane).collect();
    let mut explicit =
        vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default().drm_format_modifier(modifier).plane_layouts(&planes);
    // SAFETY: the structures are valid but for a modifier that the driver is to refuse.
    unsafe { gpu.device.create_image(&described().push_next(&mut explicit), None) }
}

#[test]
fn compressed_images_of_other_drivers_are_refused_and_uncompressed_ones_chosen() {
    let class = FormatClass { bits: 32, compressed: false, depth_stencil: false, planes: 1 };
    let absent = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    let mut compressed = 0;
    for name in CHIPS {
        let gpu = Gpu::new(name);
        let all = ModifierList::new(&chip(name), class, ListOptions { dcc: true, retile: true });
        let (dcc, plain): (Vec<Modifier>, Vec<Modifier>) =
            all.as_slice().iter().partition(|modifier| matches!(modifier, Modifier::Amd(amd) if amd.dcc.is_some()));
        for modifier in &dcc {
            compressed += 1;
            assert_eq!(supported(&gpu, modifier.encode()), absent, "{name} {modifier:?}");
            for planes in 1..=3 {
                assert_eq!(imported(&gpu, modifier.encode(), planes), absent.map(|()| vk::Image::null()), "{name}");
            }
        }
        for modifier in &plain {
            assert_eq!(supported(&gpu, modifier.encode()), Ok(()), "{name} {modifier:?}");
        }
        // A program that allows all of a producer's modifiers gets the best one without DCC.
        let Some(best) = plain.first().filter(|_| !dcc.is_empty()) else { continue };
        let offered: Vec<u64> = all.as_slice().iter().map(|modifier| modifier.encode()).collect();
        let mut list = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&offered);
        // SAFETY: the structures are valid.
        let image = unsafe { gpu.device.create_image(&described().push_next(&mut list), None) }.unwrap();
        let extension = ash::ext::image_drm_format_modifier::Device::new(&gpu.instance, &gpu.device);
        let mut said = vk::ImageDrmFormatModifierPropertiesEXT::default();
        // SAFETY: the image is live.
        unsafe { extension.get_image_drm_format_modifier_properties(image, &mut said) }.unwrap();
        assert_eq!(said.drm_format_modifier, best.encode(), "{name}");
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_image(image, None) };
    }
    assert_ne!(compressed, 0, "no chip has modifiers with DCC");
}
