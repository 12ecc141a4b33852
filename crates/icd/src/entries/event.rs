//! Events.

use amdgpu_winsys::cs::commands::Point;
use ash::vk;

use super::transfer::{barrier, barriers, dependencies};
use crate::{
    border::{Allocator, Array, Failure, Handed, Out, object},
    objects::{CommandBuffer, Device, Event},
};

pub(crate) fn create(
    device: &Device,
    _: &vk::EventCreateInfo<'_>,
    _: Allocator,
    mut event: Out<'_, vk::Event>,
) -> Result<(), Failure> {
    event.set(Handed::new(Event::new(&device.gpu)?).give());
    Ok(())
}

pub(crate) fn destroy(_: &Device, event: Option<Handed<Event>>, _: Allocator) {
    drop(event);
}

pub(crate) fn status(device: &Device, event: &Event) -> Result<vk::Result, Failure> {
    device.check()?;
    Ok(if event.is_set()? { vk::Result::EVENT_SET } else { vk::Result::EVENT_RESET })
}

pub(crate) fn set(_: &Device, event: &Event) -> Result<(), Failure> {
    event.set(true)
}

pub(crate) fn reset(_: &Device, event: &Event) -> Result<(), Failure> {
    event.set(false)
}

pub(crate) fn cmd_set(this: &CommandBuffer, event: &Event, _: vk::PipelineStageFlags) {
    this.record(|commands| Ok(commands.set_event(event.address(), Point::Bottom)?));
}

pub(crate) fn cmd_set2(this: &CommandBuffer, event: &Event, _: &vk::DependencyInfo<'_>) {
    cmd_set(this, event, vk::PipelineStageFlags::ALL_COMMANDS);
}

pub(crate) fn cmd_reset(this: &CommandBuffer, event: &Event, _: vk::PipelineStageFlags) {
    this.record(|commands| Ok(commands.reset_event(event.address(), Point::Bottom)?));
}

pub(crate) fn cmd_reset2(this: &CommandBuffer, event: &Event, _: vk::PipelineStageFlags2) {
    cmd_reset(this, event, vk::PipelineStageFlags::ALL_COMMANDS);
}

/// Records waits for events.
fn wait(this: &CommandBuffer, events: &[vk::Event]) {
    for event in events.iter().filter_map(|&event| object::<Event>(event)) {
        this.record(|commands| Ok(commands.wait_event(event.address())?));
    }
}

#[expect(clippy::too_many_arguments, reason = "Vulkan's")]
pub(crate) fn cmd_wait<'a>(
    this: &CommandBuffer,
    count: u32,
    events: Array<'_, vk::Event>,
    from: vk::PipelineStageFlags,
    to: vk::PipelineStageFlags,
    memory_count: u32,
    memory: Array<'a, vk::MemoryBarrier<'a>>,
    buffer_count: u32,
    buffers: Array<'a, vk::BufferMemoryBarrier<'a>>,
    image_count: u32,
    images: Array<'a, vk::ImageMemoryBarrier<'a>>,
) {
    wait(this, events.of(count));
    barrier(this, barriers(from, to, memory_count, memory, buffer_count, buffers, image_count, images));
}

pub(crate) fn cmd_wait2(
    this: &CommandBuffer,
    count: u32,
    events: Array<'_, vk::Event>,
    infos: Array<'_, vk::DependencyInfo<'_>>,
) {
    wait(this, events.of(count));
    infos.of(count).iter().for_each(|info| barrier(this, dependencies(info)));
}
