//! Queries of a physical device.

use ash::vk;

use crate::{
    border::{Failure, Name, Out, OutArray, chain},
    facts::{
        extensions, external, features, formats, heaps,
        images::{self, ImageKind},
        properties, queue_families,
    },
    objects::PhysicalDevice,
};

pub(crate) fn properties(this: &PhysicalDevice, mut out: Out<'_, vk::PhysicalDeviceProperties>) {
    out.set(properties::core(&this.gpu));
}

pub(crate) fn properties2(this: &PhysicalDevice, out: &mut vk::PhysicalDeviceProperties2<'_>) {
    properties::fill(&this.gpu, out);
}

pub(crate) fn features(this: &PhysicalDevice, mut out: Out<'_, vk::PhysicalDeviceFeatures>) {
    out.set(features::core(&this.gpu));
}

pub(crate) fn features2(this: &PhysicalDevice, out: &mut vk::PhysicalDeviceFeatures2<'_>) {
    features::fill(&this.gpu, out);
}

pub(crate) fn queue_families(
    this: &PhysicalDevice,
    count: &mut u32,
    mut list: OutArray<'_, vk::QueueFamilyProperties>,
) {
    // A command without a result: a short array is told by the count.
    let _ = list.fill(count, this.families.iter().map(queue_families::properties));
}

pub(crate) fn queue_families2(
    this: &PhysicalDevice,
    count: &mut u32,
    list: OutArray<'_, vk::QueueFamilyProperties2<'_>>,
) {
    let all = u32::try_from(this.families.len()).unwrap_or(u32::MAX);
    let Some(out) = list.of(*count) else {
        *count = all;
        return;
    };
    *count = all.min(*count);
    out.iter_mut().zip(&this.families).for_each(|(out, family)| queue_families::fill(family, out));
}

pub(crate) fn memory(this: &PhysicalDevice, mut out: Out<'_, vk::PhysicalDeviceMemoryProperties>) {
    out.set(heaps::properties(&this.gpu));
}

pub(crate) fn memory2(this: &PhysicalDevice, out: &mut vk::PhysicalDeviceMemoryProperties2<'_>) {
    heaps::fill(&this.gpu, out);
}

pub(crate) fn format(this: &PhysicalDevice, format: vk::Format, mut out: Out<'_, vk::FormatProperties>) {
    out.set(formats::properties(&this.gpu, format));
}

pub(crate) fn format2(this: &PhysicalDevice, format: vk::Format, out: &mut vk::FormatProperties2<'_>) {
    formats::fill(&this.gpu, format, out);
}

pub(crate) fn image_format(
    this: &PhysicalDevice,
    format: vk::Format,
    dimension: vk::ImageType,
    tiling: vk::ImageTiling,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
    mut out: Out<'_, vk::ImageFormatProperties>,
) -> Result<(), Failure> {
    out.set(vk::ImageFormatProperties::default());
    out.set(images::properties(&this.gpu, &ImageKind { format, dimension, tiling, usage, flags, modifier: None })?);
    Ok(())
}

pub(crate) fn image_format2(
    this: &PhysicalDevice,
    info: &vk::PhysicalDeviceImageFormatInfo2<'_>,
    out: &mut vk::ImageFormatProperties2<'_>,
) -> Result<(), Failure> {
    images::fill(&this.gpu, info, out)
}

/// No image is sparse.
#[expect(clippy::too_many_arguments, reason = "Vulkan's")]
pub(crate) fn sparse_image_format(
    _: &PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::SampleCountFlags,
    _: vk::ImageUsageFlags,
    _: vk::ImageTiling,
    count: &mut u32,
    _: OutArray<'_, vk::SparseImageFormatProperties>,
) {
    *count = 0;
}

/// No image is sparse.
pub(crate) fn sparse_image_format2(
    _: &PhysicalDevice,
    _: &vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
    count: &mut u32,
    _: OutArray<'_, vk::SparseImageFormatProperties2<'_>>,
) {
    *count = 0;
}

pub(crate) fn tools(
    _: &PhysicalDevice,
    count: &mut u32,
    mut list: OutArray<'_, vk::PhysicalDeviceToolProperties<'_>>,
) -> vk::Result {
    list.fill(count, [].into_iter())
}

pub(crate) fn external_buffer(
    _: &PhysicalDevice,
    info: &vk::PhysicalDeviceExternalBufferInfo<'_>,
    out: &mut vk::ExternalBufferProperties<'_>,
) {
    out.external_memory_properties = external::buffer(info.handle_type);
}

pub(crate) fn external_fence(
    _: &PhysicalDevice,
    info: &vk::PhysicalDeviceExternalFenceInfo<'_>,
    out: &mut vk::ExternalFenceProperties<'_>,
) {
    external::fence(info.handle_type, out);
}

pub(crate) fn external_semaphore(
    _: &PhysicalDevice,
    info: &vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
    out: &mut vk::ExternalSemaphoreProperties<'_>,
) {
    let kind =
        chain::find::<vk::SemaphoreTypeCreateInfo<'_>>(info).map_or(vk::SemaphoreType::BINARY, |it| it.semaphore_type);
    external::semaphore(info.handle_type, kind, out);
}

pub(crate) fn extensions(
    _: &PhysicalDevice,
    layer: Name<'_>,
    count: &mut u32,
    mut list: OutArray<'_, vk::ExtensionProperties>,
) -> vk::Result {
    match layer.0 {
        Some(_) => vk::Result::ERROR_LAYER_NOT_PRESENT,
        None => list.fill(count, extensions::properties(extensions::DEVICE)),
    }
}

pub(crate) fn layers(_: &PhysicalDevice, count: &mut u32, mut list: OutArray<'_, vk::LayerProperties>) -> vk::Result {
    list.fill(count, [].into_iter())
}
