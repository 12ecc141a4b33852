//! Command pools and command buffers.

use ash::vk;

use crate::{
    border::{Allocator, Array, Failure, Handed, Out, OutArray, object},
    objects::{CommandBuffer, CommandPool, Device},
};

pub(crate) fn create_pool(
    device: &Device,
    info: &vk::CommandPoolCreateInfo<'_>,
    _: Allocator,
    mut pool: Out<'_, vk::CommandPool>,
) -> Result<(), Failure> {
    let family = device.family(info.queue_family_index)?;
    pool.set(Handed::new(CommandPool::new(device, family)?).give());
    Ok(())
}

pub(crate) fn destroy_pool(_: &Device, pool: Option<Handed<CommandPool>>, _: Allocator) {
    drop(pool);
}

pub(crate) fn reset_pool(_: &Device, pool: &CommandPool, flags: vk::CommandPoolResetFlags) -> vk::Result {
    pool.reset();
    if flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES) {
        pool.trim();
    }
    vk::Result::SUCCESS
}

pub(crate) fn trim_pool(_: &Device, pool: &CommandPool, _: vk::CommandPoolTrimFlags) {
    pool.trim();
}

pub(crate) fn allocate(
    _: &Device,
    info: &vk::CommandBufferAllocateInfo<'_>,
    mut buffers: OutArray<'_, vk::CommandBuffer>,
) -> Result<(), Failure> {
    let pool = object::<CommandPool>(info.command_pool).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let count = usize::try_from(info.command_buffer_count).unwrap_or(usize::MAX);
    for index in 0..count {
        buffers.put(index, pool.allocate(info.level == vk::CommandBufferLevel::PRIMARY));
    }
    Ok(())
}

pub(crate) fn free(_: &Device, pool: &CommandPool, count: u32, buffers: Array<'_, vk::CommandBuffer>) {
    pool.free(buffers.of(count));
}

pub(crate) fn begin(buffer: &CommandBuffer, _: &vk::CommandBufferBeginInfo<'_>) -> Result<(), Failure> {
    buffer.begin()
}

pub(crate) fn end(buffer: &CommandBuffer) -> Result<(), Failure> {
    buffer.end()
}

pub(crate) fn reset(buffer: &CommandBuffer, _: vk::CommandBufferResetFlags) -> vk::Result {
    buffer.reset();
    vk::Result::SUCCESS
}

pub(crate) fn execute(buffer: &CommandBuffer, count: u32, secondaries: Array<'_, vk::CommandBuffer>) {
    let secondaries = secondaries.of(count).iter().filter_map(|&handle| object::<CommandBuffer>(handle));
    secondaries.for_each(|secondary| buffer.execute(secondary));
}

/// Does nothing: a device group has one device, so the mask has only one possible value.
pub(crate) fn set_device_mask(_: &CommandBuffer, _: u32) {}
