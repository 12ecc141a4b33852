//! Every call of the kernel fails once under a program of Vulkan: each command answers with a result, and nothing is leaked. Before
//! every call the GPU is unplugged once, and the computer suspended once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use amdgpu_sim::SimDevice;
use amdgpu_winsys::winsys::Errno;
use ash::{prelude::VkResult, vk};

use super::opened::Opened;
use crate::border::Failure;

/// The objects of the program; null until they are made, which Vulkan allows to destroy.
#[derive(Default)]
struct Made {
    memory: vk::DeviceMemory,
    buffer: vk::Buffer,
    sparse: vk::Buffer,
    pool: vk::CommandPool,
    queries: vk::QueryPool,
    event: vk::Event,
    fence: vk::Fence,
    semaphore: vk::Semaphore,
    image: vk::Image,
    image_memory: vk::DeviceMemory,
}

/// Bytes of the program's buffers.
const BYTES: u64 = 256 << 10;

/// Makes an image, writes it by the CPU, and records a clear and a copy of it.
fn draw(instance: &ash::Instance, device: &ash::Device, made: &mut Made, commands: vk::CommandBuffer) -> VkResult<()> {
    let extent = vk::Extent3D { width: 16, height: 16, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::HOST_TRANSFER_EXT);
    // SAFETY: `info` and what it chains are locals, no allocator is given, and `device` is live until `program` destroys it.
    made.image = unsafe { device.create_image(&info, None) }?;
    // SAFETY: the image was just made by this device.
    let wanted = unsafe { device.get_image_memory_requirements(made.image) };
    let kind = wanted.memory_type_bits.trailing_zeros();
    let memory = vk::MemoryAllocateInfo::default().allocation_size(wanted.size).memory_type_index(kind);
    // SAFETY: the size is that of an image, so not zero, and the type is one that the image takes.
    made.image_memory = unsafe { device.allocate_memory(&memory, None) }?;
    // SAFETY: the image has no memory yet, and the memory was allocated with its size and type.
    unsafe { device.bind_image_memory(made.image, made.image_memory, 0) }?;
    let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    let bytes = [3_u8; 16 * 16 * 4];
    let mut region = vk::MemoryToImageCopyEXT::default().image_subresource(layers).image_extent(extent);
    region.p_host_pointer = bytes.as_ptr().cast();
    let (regions, layout) = ([region], vk::ImageLayout::GENERAL);
    let info = vk::CopyMemoryToImageInfoEXT::default().dst_image(made.image).dst_image_layout(layout).regions(&regions);
    let host = ash::ext::host_image_copy::Device::new(instance, device);
    // SAFETY: the image is bound, and the memory holds the region.
    unsafe { host.copy_memory_to_image(&info) }?;
    let range = vk::ImageSubresourceRange::default().level_count(1).layer_count(1);
    // SAFETY: the image is bound.
    unsafe { device.cmd_clear_color_image(commands, made.image, layout, &vk::ClearColorValue::default(), &[range]) };
    let part = vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent);
    // SAFETY: both are bound and long enough.
    unsafe { device.cmd_copy_buffer_to_image(commands, made.buffer, made.image, layout, &[part]) };
    Ok(())
}

/// Makes everything, records, submits, waits, and binds sparse pages.
fn work(instance: &ash::Instance, device: &ash::Device, made: &mut Made) -> VkResult<()> {
    let memory = vk::MemoryAllocateInfo::default().allocation_size(BYTES);
    let buffer = vk::BufferCreateInfo::default().size(BYTES);
    let sparse = buffer.flags(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY);
    let queries = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
    let mut timeline = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let semaphore = vk::SemaphoreCreateInfo::default().push_next(&mut timeline);
    // SAFETY: the size is not zero, type 0 exists on every GPU, and `device` is live until `program` destroys it.
    made.memory = unsafe { device.allocate_memory(&memory, None) }?;
    // SAFETY: the structure is a local, and its size is not zero. This driver does not read usages.
    made.buffer = unsafe { device.create_buffer(&buffer, None) }?;
    // SAFETY: the structure is a local. This driver makes sparse buffers without reading which features were enabled.
    made.sparse = unsafe { device.create_buffer(&sparse, None) }?;
    // SAFETY: the structure is a local and names family 0, of which the device has a queue.
    made.pool = unsafe { device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None) }?;
    // SAFETY: the structure is a local, and the number of queries is not zero.
    made.queries = unsafe { device.create_query_pool(&queries, None) }?;
    // SAFETY: the structure is a local without flags.
    made.event = unsafe { device.create_event(&vk::EventCreateInfo::default(), None) }?;
    // SAFETY: the structure is a local without flags.
    made.fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }?;
    // SAFETY: the structure and the one that it chains are locals, and Vulkan 1.2 has timelines.
    made.semaphore = unsafe { device.create_semaphore(&semaphore, None) }?;
    // SAFETY: the buffer has no memory yet, and the memory has its size.
    unsafe { device.bind_buffer_memory(made.buffer, made.memory, 0) }?;
    let commands = vk::CommandBufferAllocateInfo::default().command_pool(made.pool).command_buffer_count(1);
    // SAFETY: the pool was made above, and no other thread uses it.
    let commands = unsafe { device.allocate_command_buffers(&commands) }?;
    // SAFETY: the command buffer is in its initial state.
    unsafe { device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()) }?;
    // SAFETY: the buffer is bound and long enough.
    unsafe { device.cmd_fill_buffer(commands[0], made.buffer, 0, vk::WHOLE_SIZE, 7) };
    let stage = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: the pool has the query.
    unsafe { device.cmd_write_timestamp(commands[0], stage, made.queries, 0) };
    // SAFETY: the event is live.
    unsafe { device.cmd_set_event(commands[0], made.event, stage) };
    draw(instance, device, made, commands[0])?;
    // SAFETY: the command buffer is recording.
    unsafe { device.end_command_buffer(commands[0]) }?;
    // SAFETY: the queue was asked for.
    let queue = unsafe { device.get_device_queue(0, 0) };
    let (values, semaphores) = ([1], [made.semaphore]);
    let mut points = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
    let submit =
        vk::SubmitInfo::default().command_buffers(&commands).signal_semaphores(&semaphores).push_next(&mut points);
    // SAFETY: everything named is live.
    unsafe { device.queue_submit(queue, &[submit], made.fence) }?;
    // SAFETY: the fence is live.
    unsafe { device.wait_for_fences(&[made.fence], true, u64::MAX) }?;
    let binds = [vk::SparseMemoryBind::default().size(64 << 10).memory(made.memory)];
    let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(made.sparse).binds(&binds)];
    let bind = vk::BindSparseInfo::default().buffer_binds(&buffers);
    // SAFETY: everything named is live.
    unsafe { device.queue_bind_sparse(queue, &[bind], vk::Fence::null()) }
}

/// Runs the program on a new device, and destroys all it made.
fn program(instance: &ash::Instance) -> VkResult<()> {
    // SAFETY: the instance is live.
    let physical = unsafe { instance.enumerate_physical_devices() }?[0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    let names = [ash::ext::host_image_copy::NAME.as_ptr()];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    // SAFETY: the structure is valid.
    let device = unsafe { instance.create_device(physical, &info, None) }?;
    let mut made = Made::default();
    let outcome = work(instance, &device, &mut made);
    // SAFETY: the device is live. That the wait fails too is no reason not to destroy.
    let _ = unsafe { device.device_wait_idle() };
    // SAFETY: the wait has ended or the device is lost: no work uses what is destroyed here and below, and no other thread does. Each
    // handle is null or was made by this device, and is destroyed once.
    unsafe { device.destroy_semaphore(made.semaphore, None) };
    // SAFETY: its one submission has ended, as said above; null is ignored.
    unsafe { device.destroy_fence(made.fence, None) };
    // SAFETY: the command buffer that sets it has ended, as said above; null is ignored.
    unsafe { device.destroy_event(made.event, None) };
    // SAFETY: the command buffer that writes it has ended, as said above; null is ignored.
    unsafe { device.destroy_query_pool(made.queries, None) };
    // SAFETY: its command buffer has ended, as said above, and is freed with it; null is ignored.
    unsafe { device.destroy_command_pool(made.pool, None) };
    // SAFETY: the commands that use it have ended, as said above; null is ignored.
    unsafe { device.destroy_image(made.image, None) };
    // SAFETY: the image that was bound to it is destroyed; null is ignored.
    unsafe { device.free_memory(made.image_memory, None) };
    // SAFETY: its binding has ended, as said above; null is ignored.
    unsafe { device.destroy_buffer(made.sparse, None) };
    // SAFETY: the commands that use it have ended, as said above; null is ignored.
    unsafe { device.destroy_buffer(made.buffer, None) };
    // SAFETY: both buffers that were bound to it are destroyed; null is ignored.
    unsafe { device.free_memory(made.memory, None) };
    // SAFETY: all that was made of it is destroyed, and no queue of it is used again.
    unsafe { device.destroy_device(None) };
    outcome
}

/// Runs the program with call `n` failing; `true` if there was such a call.
fn fails_cleanly(n: u64, errno: Errno) -> Result<bool, Failure> {
    let Opened { kernel, before, after, owner, instance, .. } = Opened::new()?;
    kernel.fail_nth(n, errno);
    let outcome = program(&instance);
    assert_eq!(kernel.inner().census(), after, "call {n} failed with {errno}: {outcome:?}");
    drop(owner);
    assert_eq!(kernel.inner().census(), before, "call {n} failed with {errno}, and the instance is gone");
    let has_fired = kernel.has_fired();
    assert!(has_fired || outcome.is_ok(), "no call failed, and yet: {outcome:?}");
    Ok(has_fired)
}

#[test]
fn no_single_failure_leaks_anything() {
    for errno in [Errno::ENOMEM, Errno::EIO] {
        let calls = (0..10_000).find(|&n| !fails_cleanly(n, errno).unwrap()).expect("the program ends");
        assert!(calls > 30, "the program makes only {calls} calls");
    }
}

/// The time after which BOs count as leaked.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the program with an event before call `n`. Returns `true` if there was such a call, and the outcome. Nothing of the program is
/// left at the end.
fn interrupted(n: u64, event: fn(&SimDevice)) -> Result<(bool, VkResult<()>), Failure> {
    let Opened { simulated, kernel, owner, instance, .. } = Opened::new()?;
    let (made, device) = (Arc::new(AtomicU64::new(0)), simulated.clone());
    let counted = Arc::clone(&made);
    kernel.fail_every_where(Errno::EIO, move |_| {
        if counted.fetch_add(1, Relaxed) == n {
            event(&device);
        }
        false
    });
    let outcome = program(&instance);
    let has_happened = made.load(Relaxed) > n;
    drop((owner, instance, kernel));
    // Rings of an unplugged GPU end their jobs, which keep BOs alive, some time later.
    let begun = Instant::now();
    while simulated.census().bos > 0 && begun.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    let census = simulated.census();
    assert_eq!((census.files, census.bos), (0, 0), "call {n}: {outcome:?}");
    Ok((has_happened, outcome))
}

/// Source: Vulkan 1.3 specification, section "Lost Device".
#[test]
fn a_gpu_that_is_unplugged_at_any_moment_is_lost_and_leaves_nothing() {
    let mut lost = 0;
    for n in 0..10_000 {
        let (has_happened, outcome) = interrupted(n, SimDevice::unplug).unwrap();
        if !has_happened {
            assert_eq!(outcome, Ok(()), "no call was left to be interrupted");
            break;
        }
        // Mappings of an unplugged GPU stay, so that the last calls are not missed by the program.
        let told = [vk::Result::ERROR_DEVICE_LOST, vk::Result::ERROR_INITIALIZATION_FAILED];
        assert!(outcome.is_ok() || outcome.is_err_and(|error| told.contains(&error)), "call {n}: {outcome:?}");
        lost += u64::from(outcome == Err(vk::Result::ERROR_DEVICE_LOST));
    }
    assert!(lost > 30, "the program noticed {lost} times");
}

#[test]
fn a_computer_that_sleeps_at_any_moment_is_not_noticed() {
    for n in 0..10_000 {
        let (has_happened, outcome) =
            interrupted(n, |gpu| drop(gpu.suspend().expect("there is room for VRAM"))).unwrap();
        assert_eq!(outcome, Ok(()), "call {n}");
        if !has_happened {
            break;
        }
    }
}
