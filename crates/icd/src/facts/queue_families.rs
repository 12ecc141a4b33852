//! Queue families.

use ash::vk;

use super::fill_chain;
use crate::objects::Family;

/// The global priorities, lowest first. The kernel decides at vkCreateDevice which of them a process may use.
const PRIORITIES: [vk::QueueGlobalPriorityKHR; 4] = [
    vk::QueueGlobalPriorityKHR::LOW,
    vk::QueueGlobalPriorityKHR::MEDIUM,
    vk::QueueGlobalPriorityKHR::HIGH,
    vk::QueueGlobalPriorityKHR::REALTIME,
];

/// Returns the properties of a family.
pub(crate) fn properties(family: &Family) -> vk::QueueFamilyProperties {
    vk::QueueFamilyProperties {
        queue_flags: family.flags,
        queue_count: family.count,
        timestamp_valid_bits: if family.has_timestamps { 64 } else { 0 },
        min_image_transfer_granularity: vk::Extent3D { width: 1, height: 1, depth: 1 },
    }
}

/// Fills in the properties of a family.
pub(crate) fn fill(family: &Family, out: &mut vk::QueueFamilyProperties2<'_>) {
    out.queue_family_properties = properties(family);
    let mut priorities = [vk::QueueGlobalPriorityKHR::default(); vk::MAX_GLOBAL_PRIORITY_SIZE_KHR];
    priorities.iter_mut().zip(PRIORITIES).for_each(|(to, priority)| *to = priority);
    fill_chain!(out; QueueFamilyGlobalPriorityPropertiesKHR { priority_count: 4, priorities: priorities });
}
