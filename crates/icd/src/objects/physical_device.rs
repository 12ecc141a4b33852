//! Physical devices and their queue families.

use std::sync::Arc;

use amdgpu_hw::GfxLevel;
use amdgpu_winsys::winsys::{Capabilities, Ip};
use ash::vk;

use super::{Face, Gpu, Program};

/// A queue family: the rings of an IP block.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    /// The IP block.
    pub(crate) ip: Ip,
    /// The number of queues.
    pub(crate) count: u32,
    /// The kinds of commands that the queues support.
    pub(crate) flags: vk::QueueFlags,
    /// `true` if the queues support timestamps. Copy engines support them since 2.0 (GFX7).
    pub(crate) has_timestamps: bool,
}

/// A `VkPhysicalDevice`.
pub(crate) struct PhysicalDevice {
    /// The GPU.
    pub(crate) gpu: Arc<Gpu>,
    /// The queue families of the device.
    pub(crate) families: Vec<Family>,
    /// The instance extensions and message callbacks of the program.
    pub(crate) program: Arc<Program>,
}

impl PhysicalDevice {
    /// Creates the physical device of a GPU. The queue families are graphics, compute and copy engines, in this order, without
    /// those that have no rings.
    pub(crate) fn new(gpu: Arc<Gpu>, program: &Arc<Program>) -> Self {
        let info = gpu.device.info();
        let shaders = |flags| if gpu.face == Face::Full { flags } else { vk::QueueFlags::empty() };
        let mut sparse = vk::QueueFlags::empty();
        if info.capabilities.contains(Capabilities::SPARSE) {
            sparse = vk::QueueFlags::SPARSE_BINDING;
        }
        let kinds = [
            (Ip::Gfx, 1, sparse | shaders(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)),
            (Ip::Compute, u32::MAX, shaders(vk::QueueFlags::COMPUTE)),
            (Ip::Sdma, u32::MAX, vk::QueueFlags::empty()),
        ];
        let families = kinds.into_iter().filter_map(|(ip, most, flags)| {
            let count = info.ring_count(ip).min(most);
            let has_timestamps = ip != Ip::Sdma || info.gfx_level > GfxLevel::Gfx6;
            (count > 0).then_some(Family { ip, count, flags: flags | vk::QueueFlags::TRANSFER, has_timestamps })
        });
        let families = families.collect();
        Self { gpu, families, program: Arc::clone(program) }
    }
}
