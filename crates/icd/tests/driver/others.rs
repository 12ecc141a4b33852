//! The loader's interface, sparse buffers, clocks and private data.

use ash::vk;
use vulkan_amdgpu_winsys::loader;

use crate::{
    gpu::{Gpu, entry},
    sync::semaphore,
};

#[test]
fn the_loader_and_the_driver_agree_on_a_version() {
    let negotiate = |offered: u32| {
        let mut version = offered;
        // SAFETY: the pointer is valid.
        (unsafe { loader::vk_icdNegotiateLoaderICDInterfaceVersion(&raw mut version) }, version)
    };
    assert_eq!(negotiate(4).0, vk::Result::ERROR_INCOMPATIBLE_DRIVER);
    assert_eq!(negotiate(5), (vk::Result::SUCCESS, 5));
    assert_eq!(negotiate(9), (vk::Result::SUCCESS, 7));
}

#[test]
fn functions_are_found_at_their_level() {
    let gpu = Gpu::new("navi21");
    let null = vk::Instance::null();
    // SAFETY: the arguments are those of the loader.
    let global = |name: &std::ffi::CStr| unsafe { loader::vk_icdGetInstanceProcAddr(null, name.as_ptr()) }.is_some();
    assert!(global(c"vkCreateInstance") && global(c"vk_icdGetPhysicalDeviceProcAddr"));
    assert!(!global(c"vkCreateDevice") && !global(c"vkNoSuchCommand"));
    let instance = gpu.instance.handle();
    // SAFETY: the instance is live.
    let physical =
        |name: &std::ffi::CStr| unsafe { loader::vk_icdGetPhysicalDeviceProcAddr(instance, name.as_ptr()) }.is_some();
    assert!(physical(c"vkGetPhysicalDeviceProperties2KHR"), "an alias");
    assert!(!physical(c"vkQueueSubmit") && !physical(c"vkDestroyInstance"));
    // SAFETY: the device is live.
    let device = |name: &std::ffi::CStr| unsafe {
        gpu.instance.get_device_proc_addr(gpu.device.handle(), name.as_ptr()).is_some()
    };
    assert!(device(c"vkQueueSubmit") && device(c"vkGetBufferDeviceAddressKHR") && device(c"vkMapMemory2KHR"));
    assert!(device(c"vkCreateGraphicsPipelines") && device(c"vkCmdBlitImage2KHR"), "they are there to refuse");
    assert!(!device(c"vkSetDebugUtilsObjectNameEXT"), "nor was that of the instance");
    assert!(!device(c"vkGetBufferDeviceAddressEXT"), "its extension was not enabled");
    assert!(!device(c"vkGetPhysicalDeviceProperties"));
}

#[test]
fn what_is_not_there_cannot_be_enabled() {
    let gpu = Gpu::new("navi21");
    let create = |info: vk::DeviceCreateInfo<'_>| {
        // SAFETY: the structure is valid but for what the driver is to refuse.
        let made = unsafe { gpu.instance.create_device(gpu.physical, &info, None) };
        made.map(|device| {
            // SAFETY: nothing uses it.
            unsafe { device.destroy_device(None) };
        })
    };
    let names = [c"VK_KHR_swapchain".as_ptr()];
    let info = vk::DeviceCreateInfo::default();
    assert_eq!(create(info.enabled_extension_names(&names)), Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
    let features = vk::PhysicalDeviceFeatures::default().geometry_shader(true);
    assert_eq!(create(info.enabled_features(&features)), Err(vk::Result::ERROR_FEATURE_NOT_PRESENT));
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default().shader_int8(true);
    assert_eq!(create(info.push_next(&mut twelve)), Err(vk::Result::ERROR_FEATURE_NOT_PRESENT));
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    assert_eq!(create(info.push_next(&mut twelve)), Ok(()));
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(99).queue_priorities(&[1.0])];
    assert_eq!(create(info.queue_create_infos(&queues)), Err(vk::Result::ERROR_INITIALIZATION_FAILED));
}

#[test]
fn every_instance_has_devices_of_its_own() {
    let entry = entry();
    let instances = [(); 2].map(|()| {
        // SAFETY: the structure is valid.
        unsafe { entry.create_instance(&vk::InstanceCreateInfo::default(), None) }.unwrap()
    });
    // SAFETY: the instances are live.
    let all = instances.each_ref().map(|instance| unsafe { instance.enumerate_physical_devices() }.unwrap());
    assert_eq!(all[0].len(), crate::gpu::CHIPS.len());
    assert!(all[0].iter().all(|device| !all[1].contains(device)));
    for instance in instances {
        // SAFETY: nothing uses it.
        unsafe { instance.destroy_instance(None) };
    }
}

#[test]
fn sparse_pages_come_and_go() {
    let gpu = Gpu::new("navi21");
    let page = 64 << 10;
    let info = vk::BufferCreateInfo::default()
        .size(4 * page)
        .flags(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY);
    // SAFETY: the structure is valid.
    let sparse = unsafe { gpu.device.create_buffer(&info, None) }.unwrap();
    let memory = gpu.allocate(0, page);
    let copied = gpu.buffer(gpu.host_type(), 4 * page);
    // SAFETY: the structure is valid.
    let fence = unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default(), None) }.unwrap();
    for (is_bound, wanted) in [(true, 0x21), (false, 0)] {
        let memory = if is_bound { memory } else { vk::DeviceMemory::null() };
        let binds = [vk::SparseMemoryBind::default().resource_offset(page).size(page).memory(memory)];
        let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(sparse).binds(&binds)];
        let info = vk::BindSparseInfo::default().buffer_binds(&buffers);
        // SAFETY: everything named is live.
        unsafe { gpu.device.queue_bind_sparse(gpu.queue(0), &[info], fence) }.unwrap();
        // SAFETY: the fence is live.
        unsafe { gpu.device.wait_for_fences(&[fence], true, u64::MAX) }.unwrap();
        // SAFETY: the fence has signalled.
        unsafe { gpu.device.reset_fences(&[fence]) }.unwrap();
        gpu.run(0, |device, commands| {
            // SAFETY: the buffer is long enough.
            unsafe { device.cmd_fill_buffer(commands, sparse, 0, vk::WHOLE_SIZE, 0x2121_2121) };
            let all = vk::PipelineStageFlags::ALL_COMMANDS;
            // SAFETY: the command buffer is recording.
            unsafe { device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[], &[], &[]) };
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 4 * page };
            // SAFETY: both buffers are long enough.
            unsafe { device.cmd_copy_buffer(commands, sparse, copied.0, &[region]) };
        });
        let found = gpu.read(copied.1, 4 * page as usize);
        let page = page as usize;
        assert!(found[page..2 * page].iter().all(|byte| *byte == wanted));
        assert!(found[..page].iter().chain(&found[2 * page..]).all(|byte| *byte == 0), "no memory reads zero");
    }
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_fence(fence, None) };
    gpu.discard(copied);
    gpu.discard((sparse, memory));
}

#[test]
fn sparse_binds_wait_for_0_and_ignore_the_values_of_binary_semaphores() {
    let gpu = Gpu::new("navi21");
    let (timeline, binary) = (semaphore(&gpu, Some(0)), semaphore(&gpu, None));
    // SAFETY: the structure is valid.
    let fence = unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default(), None) }.unwrap();
    let bind =
        |waits: &[vk::Semaphore], wait_values: &[u64], signals: &[vk::Semaphore], signal_values: &[u64], fence| {
            let mut values = vk::TimelineSemaphoreSubmitInfo::default()
                .wait_semaphore_values(wait_values)
                .signal_semaphore_values(signal_values);
            let info = vk::BindSparseInfo::default().wait_semaphores(waits).signal_semaphores(signals);
            // SAFETY: everything named is live.
            unsafe { gpu.device.queue_bind_sparse(gpu.queue(0), &[info.push_next(&mut values)], fence) }.unwrap();
        };
    bind(&[timeline], &[0], &[timeline, binary], &[4, 77], vk::Fence::null());
    bind(&[timeline, binary], &[4, 99], &[timeline], &[6], fence);
    // SAFETY: the fence is live.
    unsafe { gpu.device.wait_for_fences(&[fence], true, 60_000_000_000) }.unwrap();
    // SAFETY: the semaphore is live.
    assert_eq!(unsafe { gpu.device.get_semaphore_counter_value(timeline) }, Ok(6));
    for semaphore in [timeline, binary] {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_semaphore(semaphore, None) };
    }
    // SAFETY: the fence has signalled.
    unsafe { gpu.device.destroy_fence(fence, None) };
}

#[test]
fn clocks_are_read_together() {
    let gpu = Gpu::new("navi21");
    let extension = ash::khr::calibrated_timestamps::Device::new(&gpu.instance, &gpu.device);
    let domains =
        [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC, vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW];
    let infos = domains.map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
    // SAFETY: the structures are valid.
    let (before, _) = unsafe { extension.get_calibrated_timestamps(&infos) }.unwrap();
    // SAFETY: the structures are valid.
    let (after, deviation) = unsafe { extension.get_calibrated_timestamps(&infos) }.unwrap();
    assert!(before.iter().zip(&after).all(|(before, after)| before <= after), "{before:?} {after:?}");
    assert!(deviation > 0);
}

#[test]
fn private_data_is_each_slots_own() {
    let gpu = Gpu::new("navi21");
    let info = vk::PrivateDataSlotCreateInfo::default();
    // SAFETY: the structure is valid.
    let slots = [(); 2].map(|()| unsafe { gpu.device.create_private_data_slot(&info, None) }.unwrap());
    let memory = gpu.allocate(0, 4096);
    // SAFETY: the slot and the object are live.
    unsafe { gpu.device.set_private_data(memory, slots[0], 42) }.unwrap();
    // SAFETY: the slots and the object are live.
    let found = slots.map(|slot| unsafe { gpu.device.get_private_data(memory, slot) });
    assert_eq!(found, [42, 0]);
    for slot in slots {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_private_data_slot(slot, None) };
    }
    // SAFETY: nothing uses it.
    unsafe { gpu.device.free_memory(memory, None) };
}
