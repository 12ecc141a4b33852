//! Programs on a GPU whose caches are checked.

use amdgpu_sim::Strictness;
use ash::vk;

use super::opened::Opened;
use crate::{
    border::object,
    objects::{Event, QueryPool},
};

/// A buffer of host memory.
struct Rig {
    opened: Opened,
    device: ash::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Rig {
    fn new(chip: &str) -> Self {
        let opened = Opened::strictly(chip, Strictness::Report).unwrap();
        // SAFETY: the instance is live.
        let physical = unsafe { opened.instance.enumerate_physical_devices() }.unwrap()[0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        // SAFETY: the structures are valid and the handles live, here and below.
        let device = unsafe { opened.instance.create_device(physical, &info, None) }.unwrap();
        // SAFETY: as above.
        let types = unsafe { opened.instance.get_physical_device_memory_properties(physical) };
        let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_CACHED;
        let kind = types.memory_types.iter().position(|it| it.property_flags.contains(seen)).unwrap() as u32;
        // SAFETY: as above.
        let buffer = unsafe { device.create_buffer(&vk::BufferCreateInfo::default().size(4096), None) }.unwrap();
        let info = vk::MemoryAllocateInfo::default().memory_type_index(kind).allocation_size(4096);
        // SAFETY: as above.
        let memory = unsafe { device.allocate_memory(&info, None) }.unwrap();
        // SAFETY: as above.
        unsafe { device.bind_buffer_memory(buffer, memory, 0) }.unwrap();
        Self { opened, device, buffer, memory }
    }

    /// Stores the first dword from the CPU, and returns the dword at byte 2048.
    fn poke(&self, value: u32) -> u32 {
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is live and of a type that the CPU sees.
        let mapped = unsafe { self.device.map_memory(self.memory, 0, vk::WHOLE_SIZE, flags) }.unwrap();
        // SAFETY: the memory is that long, the GPU is idle, and the slice is gone before the memory is unmapped.
        let dwords = unsafe { std::slice::from_raw_parts_mut(mapped.cast::<u32>(), 1024) };
        let found = dwords[512];
        dwords[0] = value;
        // SAFETY: the memory is mapped.
        unsafe { self.device.unmap_memory(self.memory) };
        found
    }

    /// Copies the first dword to byte 2048, in a submission of its own.
    fn copy(&self) {
        // SAFETY: the structures are valid and the handles live, here and below.
        let pool = unsafe { self.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None) }.unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: as above.
        let commands = unsafe { self.device.allocate_command_buffers(&info) }.unwrap();
        // SAFETY: as above.
        unsafe { self.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()) }.unwrap();
        let region = vk::BufferCopy { src_offset: 0, dst_offset: 2048, size: 4 };
        // SAFETY: as above.
        unsafe { self.device.cmd_copy_buffer(commands[0], self.buffer, self.buffer, &[region]) };
        // SAFETY: as above.
        unsafe { self.device.end_command_buffer(commands[0]) }.unwrap();
        // SAFETY: as above.
        let queue = unsafe { self.device.get_device_queue(0, 0) };
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: as above.
        unsafe { self.device.queue_submit(queue, &[submit], vk::Fence::null()) }.unwrap();
        // SAFETY: as above.
        unsafe { self.device.queue_wait_idle(queue) }.unwrap();
        // SAFETY: nothing uses it any more.
        unsafe { self.device.destroy_command_pool(pool, None) };
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // SAFETY: the queue is idle, and nothing uses the buffer.
        unsafe { self.device.destroy_buffer(self.buffer, None) };
        // SAFETY: as above.
        unsafe { self.device.free_memory(self.memory, None) };
        // SAFETY: as above.
        unsafe { self.device.destroy_device(None) };
    }
}

#[test]
fn a_submission_finds_what_the_host_wrote_since_the_last_one() {
    for chip in ["polaris10", "vega10", "navi21", "navi31"] {
        let rig = Rig::new(chip);
        for value in 1..4 {
            assert_eq!(rig.poke(value), value - 1, "{chip}");
            rig.copy();
        }
        assert_eq!(rig.opened.simulated.hazards(), [], "{chip}");
    }
}

#[test]
fn events_bypass_l2_and_queries_need_not() {
    use amdgpu_winsys::uapi::VaFlags;
    for (chip, expected) in
        [("polaris10", VaFlags::empty()), ("vega10", VaFlags::MTYPE_UC), ("navi21", VaFlags::MTYPE_UC)]
    {
        let rig = Rig::new(chip);
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        // SAFETY: the device is live, and the objects are destroyed below.
        let event = unsafe { rig.device.create_event(&vk::EventCreateInfo::default(), None) }.unwrap();
        // SAFETY: as above.
        let queries = unsafe { rig.device.create_query_pool(&info, None) }.unwrap();
        let of_event = object::<Event>(event).unwrap().memory().binding().flags() & VaFlags::MTYPE_MASK;
        let of_queries = object::<QueryPool>(queries).unwrap().memory().binding().flags() & VaFlags::MTYPE_MASK;
        assert_eq!(of_event, expected, "{chip}");
        assert_ne!(of_queries, VaFlags::MTYPE_UC, "{chip}");
        // SAFETY: nothing uses it.
        unsafe { rig.device.destroy_event(event, None) };
        // SAFETY: as above.
        unsafe { rig.device.destroy_query_pool(queries, None) };
    }
}
