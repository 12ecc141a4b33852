//! A sparse buffer of a Vulkan driver.
#![expect(unsafe_code, reason = "Vulkan: every call is unsafe")]

use ash::{Device, vk};

use super::radv::{Missing, Radv};

/// Bytes of a page.
const PAGE: u64 = 64 << 10;

/// A device with one queue for sparse binds, and a buffer of many pages.
///
/// RADV binds on a thread of the queue. No wait tells when that is done, as waits end at once on the null kernel; destroying the
/// device does. Buffer and memories, which the thread uses until then, live until the child process ends.
pub(crate) struct SparseBuffer {
    device: Device,
    queue: vk::Queue,
    buffer: vk::Buffer,
    /// Two memories for all pages, bound in turns so that each bind changes something.
    memories: [vk::DeviceMemory; 2],
    pages: u64,
}

impl SparseBuffer {
    /// Creates a device of its own of `radv`'s GPU.
    pub(crate) fn new(radv: &Radv, pages: u64) -> Result<Self, Missing> {
        let Radv { instance, physical, .. } = radv;
        // SAFETY: it is the instance's.
        let families = unsafe { instance.get_physical_device_queue_family_properties(*physical) };
        let is_sparse =
            |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::SPARSE_BINDING);
        let family = families.iter().position(is_sparse).and_then(|index| u32::try_from(index).ok());
        let family = family.ok_or(Missing::NoDevice)?;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let features = vk::PhysicalDeviceFeatures::default().sparse_binding(true).sparse_residency_buffer(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_features(&features);
        // SAFETY: the structures outlive the call.
        let device = unsafe { instance.create_device(*physical, &info, None) }?;
        // SAFETY: the device was made with this queue.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let flags = vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY;
        let info =
            vk::BufferCreateInfo::default().flags(flags).size(pages * PAGE).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        // SAFETY: the structure outlives the call.
        let buffer = unsafe { device.create_buffer(&info, None) }?;
        let memory_type_index = radv.memory_type(vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(pages * PAGE).memory_type_index(memory_type_index);
        // SAFETY: the structure outlives the call.
        let [one, other] = [0, 1].map(|_| unsafe { device.allocate_memory(&info, None) });
        let memories = [one?, other?];
        Ok(Self { device, queue, buffer, memories, pages })
    }

    /// Returns a bind for each page, to one of the two memories, backwards, so that no two of them are one run of memory.
    pub(crate) fn scattered(&self, which: usize) -> Vec<vk::SparseMemoryBind> {
        let memory = self.memories.get(which % 2).copied().unwrap_or_default();
        let bind = |page| {
            vk::SparseMemoryBind::default()
                .resource_offset(page * PAGE)
                .size(PAGE)
                .memory(memory)
                .memory_offset((self.pages - 1 - page) * PAGE)
        };
        (0..self.pages).map(bind).collect()
    }

    /// Returns one bind for all pages.
    pub(crate) fn whole(&self, which: usize) -> Vec<vk::SparseMemoryBind> {
        let memory = self.memories.get(which % 2).copied().unwrap_or_default();
        vec![vk::SparseMemoryBind::default().size(self.pages * PAGE).memory(memory)]
    }

    /// Hands binds to the thread.
    pub(crate) fn bind(&self, binds: &[vk::SparseMemoryBind]) {
        let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(self.buffer).binds(binds)];
        let infos = [vk::BindSparseInfo::default().buffer_binds(&buffers)];
        // SAFETY: the structures outlive the call, and nothing else uses the queue.
        unsafe { self.device.queue_bind_sparse(self.queue, &infos, vk::Fence::null()) }.expect("not lost");
    }
}

impl Drop for SparseBuffer {
    fn drop(&mut self) {
        // SAFETY: the driver ends its thread first, and nothing else uses the device.
        unsafe { self.device.destroy_device(None) };
    }
}
