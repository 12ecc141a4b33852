//! Devices and their queues.

use std::sync::Arc;

use amdgpu_winsys::winsys::{Context, Deadline, Priority};
use ash::vk;

use crate::{
    border::{
        Allocator, Failure, Handed, Out, chain,
        list::{DeviceFeatures, DeviceLists},
    },
    facts::{extensions, features},
    objects::{Device, PhysicalDevice, Queue},
};

pub(crate) fn create(
    physical: &PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    _: Allocator,
    mut device: Out<'_, vk::Device>,
) -> Result<(), Failure> {
    let extensions = extensions::enabled(extensions::DEVICE, info.extensions())?;
    features::check(&physical.gpu, info, info.features())?;
    let mut queues = Vec::new();
    for wanted in info.queues() {
        queues.append(&mut open_queues(physical, wanted)?);
    }
    device.set(Handed::new(Device { gpu: Arc::clone(&physical.gpu), queues, extensions }).give());
    Ok(())
}

/// Opens the queues of one family, on a context of their priority.
fn open_queues(
    physical: &PhysicalDevice,
    wanted: &vk::DeviceQueueCreateInfo<'_>,
) -> Result<Vec<Handed<Queue>>, Failure> {
    let number = usize::try_from(wanted.queue_family_index).unwrap_or(usize::MAX);
    let family = physical.families.get(number).copied().filter(|family| wanted.queue_count <= family.count);
    let family = family.ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
    let priority = chain::find::<vk::DeviceQueueGlobalPriorityCreateInfoKHR<'_>>(wanted);
    let priority = match priority.map(|priority| priority.global_priority) {
        Some(vk::QueueGlobalPriorityKHR::LOW) => Priority::Low,
        Some(vk::QueueGlobalPriorityKHR::HIGH) => Priority::High,
        Some(vk::QueueGlobalPriorityKHR::REALTIME) => Priority::VeryHigh,
        _ => Priority::Normal,
    };
    let context = Arc::new(Context::new(&physical.gpu.device, priority)?);
    (0..wanted.queue_count)
        .map(|index| Ok(Handed::new(Queue::new(&context, family, (wanted.queue_family_index, index))?)))
        .collect()
}

pub(crate) fn destroy(device: Option<Handed<Device>>, _: Allocator) {
    drop(device);
}

pub(crate) fn wait_idle(device: &Device) -> Result<(), Failure> {
    device.queues.iter().try_for_each(|queue| queue_wait_idle(queue))
}

pub(crate) fn queue_wait_idle(queue: &Queue) -> Result<(), Failure> {
    queue.ring.wait_idle(Deadline::NEVER)?;
    Ok(queue.ring.check()?)
}

pub(crate) fn queue(device: &Device, family: u32, index: u32, mut queue: Out<'_, vk::Queue>) {
    queue.set(device.queue(family, index).map_or(vk::Queue::null(), Handed::handle));
}

/// Queues have no flags, for there is no protected one.
pub(crate) fn queue2(device: &Device, info: &vk::DeviceQueueInfo2<'_>, out: Out<'_, vk::Queue>) {
    queue(device, info.queue_family_index, info.queue_index, out);
}
