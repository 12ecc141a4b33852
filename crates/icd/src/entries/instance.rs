//! Instances, and queries that need no instance.

use ash::vk;

use crate::{
    border::{Allocator, Failure, Handed, Name, Out, OutArray, list::InstanceLists},
    facts::extensions,
    objects::{Face, Instance, Machine, PhysicalDevice, Program},
};

pub(crate) fn enumerate_version(mut version: Out<'_, u32>) -> vk::Result {
    version.set(extensions::api_version(Face::Full));
    vk::Result::SUCCESS
}

pub(crate) fn enumerate_extensions(
    layer: Name<'_>,
    count: &mut u32,
    mut list: OutArray<'_, vk::ExtensionProperties>,
) -> vk::Result {
    match layer.0 {
        Some(_) => vk::Result::ERROR_LAYER_NOT_PRESENT,
        None => list.fill(count, extensions::properties(extensions::INSTANCE)),
    }
}

pub(crate) fn enumerate_layers(count: &mut u32, mut list: OutArray<'_, vk::LayerProperties>) -> vk::Result {
    list.fill(count, [].into_iter())
}

pub(crate) fn create(
    info: &vk::InstanceCreateInfo<'_>,
    _: Allocator,
    mut instance: Out<'_, vk::Instance>,
) -> Result<(), Failure> {
    let program = Program::new(extensions::enabled(extensions::INSTANCE, info.extensions())?);
    instance.set(Handed::new(Instance::new(Machine::from_environment(), program)).give());
    Ok(())
}

pub(crate) fn destroy(instance: Option<Handed<Instance>>, _: Allocator) {
    drop(instance);
}

pub(crate) fn enumerate_physical_devices(
    instance: &Instance,
    count: &mut u32,
    mut list: OutArray<'_, vk::PhysicalDevice>,
) -> vk::Result {
    list.fill(count, instance.physical_devices().iter().map(Handed::handle))
}

/// Enumerates the device groups: each physical device is a separate group.
pub(crate) fn enumerate_groups(
    instance: &Instance,
    count: &mut u32,
    list: OutArray<'_, vk::PhysicalDeviceGroupProperties<'_>>,
) -> vk::Result {
    let devices = instance.physical_devices();
    let all = u32::try_from(devices.len()).unwrap_or(u32::MAX);
    let Some(groups) = list.of(*count) else {
        *count = all;
        return vk::Result::SUCCESS;
    };
    *count = all.min(*count);
    for (group, device) in groups.iter_mut().zip(devices) {
        let device: &Handed<PhysicalDevice> = device;
        group.physical_device_count = 1;
        group.physical_devices = [vk::PhysicalDevice::null(); vk::MAX_DEVICE_GROUP_SIZE];
        group.physical_devices[0] = device.handle();
        group.subset_allocation = vk::FALSE;
    }
    if *count < all { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
}
