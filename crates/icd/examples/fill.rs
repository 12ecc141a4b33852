//! Fills a buffer by the GPU and reads it.
//!
//! Vulkan's commands are unsafe: each comment says how the call keeps the valid usage of its command.
#![expect(unsafe_code, reason = "Vulkan's commands are unsafe")]

use ash::vk;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // SAFETY: the Vulkan loader is a library whose initialisers may run at any time.
    let entry = unsafe { ash::Entry::load() }?;
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: `info` names no layers and no extensions, and points at `application`, which outlives the call.
    let instance = unsafe { entry.create_instance(&info, None) }?;
    // SAFETY: the instance is live: it is destroyed last of all.
    let gpu = *unsafe { instance.enumerate_physical_devices() }?.first().ok_or("no GPU")?;
    // SAFETY: `gpu` is a physical device of this live instance.
    let properties = unsafe { instance.get_physical_device_properties(gpu) };

    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: each GPU has a queue family 0 with one queue at least; no features or extensions are asked for.
    let device = unsafe { instance.create_device(gpu, &info, None) }?;
    // SAFETY: the device was made with queue 0 of family 0.
    let queue = unsafe { device.get_device_queue(0, 0) };

    let info = vk::BufferCreateInfo::default().size(4096).usage(vk::BufferUsageFlags::TRANSFER_DST);
    // SAFETY: the size and the usage are not zero, and the device is live until it is destroyed below.
    let buffer = unsafe { device.create_buffer(&info, None) }?;
    // SAFETY: the buffer is of this device.
    let needed = unsafe { device.get_buffer_memory_requirements(buffer) };
    // SAFETY: `gpu` is a physical device of this live instance.
    let types = unsafe { instance.get_physical_device_memory_properties(gpu) }.memory_types;
    let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let fits = |&at: &usize| needed.memory_type_bits >> at & 1 != 0 && types[at].property_flags.contains(seen);
    let kind = (0..types.len()).find(fits).ok_or("no memory that the CPU sees")?;
    let info = vk::MemoryAllocateInfo::default().allocation_size(needed.size).memory_type_index(kind as u32);
    // SAFETY: the size is not zero, and the type is one that the GPU has.
    let memory = unsafe { device.allocate_memory(&info, None) }?;
    // SAFETY: the buffer has no memory yet; this is of a type that it takes, and as large as it needs.
    unsafe { device.bind_buffer_memory(buffer, memory, 0) }?;

    // SAFETY: the pool is for family 0, of which the device has a queue.
    let pool = unsafe { device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None) }?;
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    // SAFETY: the pool is live, and no other thread uses it.
    let commands = unsafe { device.allocate_command_buffers(&info) }?;
    // SAFETY: the command buffer is new, so it is in the initial state.
    unsafe { device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()) }?;
    // SAFETY: it is recording, outside of a render pass, for a family that does graphics, compute or transfers, as every family
    // without video does. The buffer is bound to memory, was made with TRANSFER_DST, and lives until the queue is idle; the offset
    // is 0, and WHOLE_SIZE fills its 4096 bytes.
    unsafe { device.cmd_fill_buffer(commands[0], buffer, 0, vk::WHOLE_SIZE, 42) };
    // SAFETY: it is recording, outside of a render pass and without an active query.
    unsafe { device.end_command_buffer(commands[0]) }?;
    let submit = vk::SubmitInfo::default().command_buffers(&commands);
    // SAFETY: it is recorded and not submitted yet; what it uses lives until the queue is idle.
    unsafe { device.queue_submit(queue, &[submit], vk::Fence::null()) }?;
    // SAFETY: no other thread uses the queue.
    unsafe { device.queue_wait_idle(queue) }?;

    // SAFETY: the memory is of a type that the CPU sees, and not mapped yet.
    let words = unsafe { device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }?;
    // SAFETY: the buffer starts at the start of the memory and has 4096 bytes, so that many are mapped. Vulkan aligns mappings to
    // `minMemoryMapAlignment`, 64 bytes at least. The queue is idle, so the GPU no longer writes, and the memory is coherent.
    let word = unsafe { words.cast::<[u32; 1024]>().read() }[1023];
    println!("{}: {word}", properties.device_name_as_c_str()?.to_string_lossy());

    // SAFETY: the queue is idle, so nothing uses the pool, and its command buffers go with it.
    unsafe { device.destroy_command_pool(pool, None) };
    // SAFETY: nothing uses the buffer any more.
    unsafe { device.destroy_buffer(buffer, None) };
    // SAFETY: nothing uses the memory any more; this unmaps it.
    unsafe { device.free_memory(memory, None) };
    // SAFETY: all objects of the device are destroyed, and its queue is idle.
    unsafe { device.destroy_device(None) };
    // SAFETY: the instance's one device is destroyed.
    unsafe { instance.destroy_instance(None) };
    Ok(())
}
