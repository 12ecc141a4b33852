//! Pipelines, which cannot be created, and pipeline caches, which are empty.

use ash::vk;

use crate::{
    border::{Allocator, Ignored, OutArray, OutData},
    facts::properties,
    objects::Device,
};

/// Refuses to create pipelines and sends a message. Every handle is null, as Vulkan requires after a failure.
fn refuse(device: &Device, command: &str, count: u32, mut pipelines: OutArray<'_, vk::Pipeline>) -> vk::Result {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    (0..count).for_each(|index| pipelines.put(index, vk::Pipeline::null()));
    device.program.refuse(command, "this driver has no shader compiler");
    vk::Result::ERROR_UNKNOWN
}

pub(crate) fn create_graphics(
    device: &Device,
    _: Ignored,
    count: u32,
    _: Ignored,
    _: Allocator,
    pipelines: OutArray<'_, vk::Pipeline>,
) -> vk::Result {
    refuse(device, "vkCreateGraphicsPipelines", count, pipelines)
}

pub(crate) fn create_compute(
    device: &Device,
    _: Ignored,
    count: u32,
    _: Ignored,
    _: Allocator,
    pipelines: OutArray<'_, vk::Pipeline>,
) -> vk::Result {
    refuse(device, "vkCreateComputePipelines", count, pipelines)
}

/// Does nothing, because the only possible handle is null.
pub(crate) fn destroy(_: &Device, _: Ignored, _: Allocator) {}

/// Returns the data of a cache, which is only the header.
pub(crate) fn cache_data(device: &Device, _: Ignored, size: &mut usize, data: Option<OutData<'_>>) -> vk::Result {
    let header = properties::cache_header(&device.gpu);
    let Some(mut data) = data else {
        *size = header.len();
        return vk::Result::SUCCESS;
    };
    if *size < header.len() {
        *size = 0;
        return vk::Result::INCOMPLETE;
    }
    *size = header.len();
    data.put(0, &header);
    vk::Result::SUCCESS
}

pub(crate) fn merge_caches(_: &Device, _: Ignored, _: u32, _: Ignored) -> vk::Result {
    vk::Result::SUCCESS
}
