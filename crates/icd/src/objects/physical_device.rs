//! Physical devices and their queue families.

use std::sync::Arc;

use amdgpu_hw::GfxLevel;
use amdgpu_winsys::winsys::{Capabilities, Ip};
use ash::vk;

use super::{Face, Gpu, Program};

/// A queue family: the rings of one IP block.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    /// The block.
    pub(crate) ip: Ip,
    /// Number of queues.
    pub(crate) count: u32,
    /// Commands that its queues take.
    pub(crate) flags: vk::QueueFlags,
    /// `true` if its queues write timestamps: copy engines do so from 2.0 (GFX7) on.
    pub(crate) has_timestamps: bool,
}

/// A `VkPhysicalDevice`.
pub(crate) struct PhysicalDevice {
    /// The GPU.
    pub(crate) gpu: Arc<Gpu>,
    /// Its queue families.
    pub(crate) families: Vec<Family>,
    /// The program's requests to the instance.
    pub(crate) program: Arc<Program>,
}

impl PhysicalDevice {
    /// Works out the queue families: graphics, compute, copy engines, in this order, where there are rings.
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
