//! Fills a buffer by the GPU and reads it.
#![expect(unsafe_code, reason = "Vulkan's commands are unsafe")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "each call keeps the rules of its command")]

use ash::vk;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entry = unsafe { ash::Entry::load() }?;
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    let instance = unsafe { entry.create_instance(&info, None) }?;
    let gpu = *unsafe { instance.enumerate_physical_devices() }?.first().ok_or("no GPU")?;
    let properties = unsafe { instance.get_physical_device_properties(gpu) };

    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    let device = unsafe { instance.create_device(gpu, &info, None) }?;
    let queue = unsafe { device.get_device_queue(0, 0) };

    let info = vk::BufferCreateInfo::default().size(4096).usage(vk::BufferUsageFlags::TRANSFER_DST);
    let buffer = unsafe { device.create_buffer(&info, None) }?;
    let needed = unsafe { device.get_buffer_memory_requirements(buffer) };
    let types = unsafe { instance.get_physical_device_memory_properties(gpu) }.memory_types;
    let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let fits = |&at: &usize| needed.memory_type_bits >> at & 1 != 0 && types[at].property_flags.contains(seen);
    let kind = (0..types.len()).find(fits).ok_or("no memory that the CPU sees")?;
    let info = vk::MemoryAllocateInfo::default().allocation_size(needed.size).memory_type_index(kind as u32);
    let memory = unsafe { device.allocate_memory(&info, None) }?;
    unsafe { device.bind_buffer_memory(buffer, memory, 0) }?;

    let pool = unsafe { device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None) }?;
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    let commands = unsafe { device.allocate_command_buffers(&info) }?;
    unsafe { device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()) }?;
    unsafe { device.cmd_fill_buffer(commands[0], buffer, 0, vk::WHOLE_SIZE, 42) };
    unsafe { device.end_command_buffer(commands[0]) }?;
    let submit = vk::SubmitInfo::default().command_buffers(&commands);
    unsafe { device.queue_submit(queue, &[submit], vk::Fence::null()) }?;
    unsafe { device.queue_wait_idle(queue) }?;

    let words = unsafe { device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }?;
    let word = unsafe { words.cast::<[u32; 1024]>().read() }[1023];
    println!("{}: {word}", properties.device_name_as_c_str()?.to_string_lossy());

    unsafe { device.destroy_command_pool(pool, None) };
    unsafe { device.destroy_buffer(buffer, None) };
    unsafe { device.free_memory(memory, None) };
    unsafe { device.destroy_device(None) };
    unsafe { instance.destroy_instance(None) };
    Ok(())
}
