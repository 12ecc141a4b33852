//! Images.

pub(crate) mod host;
pub(crate) mod transfer;
pub(crate) mod view;

use ash::vk;

use crate::{
    border::{Allocator, Array, Failure, Handed, Out, OutArray, list, object},
    facts::fill_chain,
    objects::{Device, Image},
};

/// The result if the call violates valid usage.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

pub(crate) fn create(
    device: &Device,
    info: &vk::ImageCreateInfo<'_>,
    _: Allocator,
    mut image: Out<'_, vk::Image>,
) -> Result<(), Failure> {
    image.set(Handed::new(device.gpu.image(info)?).give());
    Ok(())
}

pub(crate) fn destroy(device: &Device, image: Option<Handed<Image>>, _: Allocator) {
    if let Some(image) = image {
        device.reports.addresses.unbound(image.handle(), image.address_and_size());
    }
}

pub(crate) fn requirements(device: &Device, image: &Image, mut out: Out<'_, vk::MemoryRequirements>) {
    out.set(device.gpu.image_requirements(image, device.has_coherent_memory));
}

/// Fills in memory requirements.
fn fill(device: &Device, image: &Image, out: &mut vk::MemoryRequirements2<'_>) {
    out.memory_requirements = device.gpu.image_requirements(image, device.has_coherent_memory);
    let is_dedicated = vk::Bool32::from(image.is_dedicated);
    fill_chain!(out; MemoryDedicatedRequirements {
        prefers_dedicated_allocation: is_dedicated,
        requires_dedicated_allocation: is_dedicated,
    });
}

pub(crate) fn requirements2(
    device: &Device,
    info: &vk::ImageMemoryRequirementsInfo2<'_>,
    out: &mut vk::MemoryRequirements2<'_>,
) {
    if let Some(image) = object::<Image>(info.image) {
        fill(device, image, out);
    }
}

pub(crate) fn requirements_without(
    device: &Device,
    info: &vk::DeviceImageMemoryRequirements<'_>,
    out: &mut vk::MemoryRequirements2<'_>,
) {
    if let Some(image) = list::image_create_info(info).and_then(|info| device.gpu.image(info).ok()) {
        fill(device, &image, out);
    }
}

/// No image is sparse.
pub(crate) fn sparse_requirements(
    _: &Device,
    _: &Image,
    count: &mut u32,
    _: OutArray<'_, vk::SparseImageMemoryRequirements>,
) {
    *count = 0;
}

/// No image is sparse.
pub(crate) fn sparse_requirements2(
    _: &Device,
    _: &vk::ImageSparseMemoryRequirementsInfo2<'_>,
    count: &mut u32,
    _: OutArray<'_, vk::SparseImageMemoryRequirements2<'_>>,
) {
    *count = 0;
}

/// No image is sparse.
pub(crate) fn sparse_requirements_without(
    _: &Device,
    _: &vk::DeviceImageMemoryRequirements<'_>,
    count: &mut u32,
    _: OutArray<'_, vk::SparseImageMemoryRequirements2<'_>>,
) {
    *count = 0;
}

pub(crate) fn bind(device: &Device, handle: vk::Image, memory: vk::DeviceMemory, offset: u64) -> Result<(), Failure> {
    let image = object::<Image>(handle).ok_or(UNKNOWN)?;
    image.bind(memory, offset)?;
    device.reports.addresses.bound(handle, image.address_and_size());
    Ok(())
}

pub(crate) fn bind2(device: &Device, count: u32, infos: Array<'_, vk::BindImageMemoryInfo<'_>>) -> Result<(), Failure> {
    infos.of(count).iter().try_for_each(|info| bind(device, info.image, info.memory, info.memory_offset))
}

pub(crate) fn subresource_layout(
    device: &Device,
    image: &Image,
    part: &vk::ImageSubresource,
    mut out: Out<'_, vk::SubresourceLayout>,
) {
    let place = image.place(&device.gpu, part.mip_level, part.array_layer);
    out.set(place.unwrap_or_default());
}

/// Returns the layout of a subresource, and the size of a MEMCPY copy, which has rows without gaps.
pub(crate) fn subresource_layout2(
    device: &Device,
    image: &Image,
    part: &vk::ImageSubresource2KHR<'_>,
    out: &mut vk::SubresourceLayout2KHR<'_>,
) {
    let (level, layer) = (part.image_subresource.mip_level, part.image_subresource.array_layer);
    out.subresource_layout = image.place(&device.gpu, level, layer).unwrap_or_default();
    let [width, height, slices] = image.extent(level).unwrap_or_default();
    let texels = u64::from(width) * u64::from(height) * u64::from(if image.is_volume { slices } else { 1 });
    fill_chain!(out; SubresourceHostMemcpySizeEXT { size: texels * u64::from(image.texel.bytes()) });
}

pub(crate) fn modifier(
    _: &Device,
    image: &Image,
    out: &mut vk::ImageDrmFormatModifierPropertiesEXT<'_>,
) -> Result<(), Failure> {
    out.drm_format_modifier = image.modifier.ok_or(UNKNOWN)?;
    Ok(())
}
