//! Memory, fences and semaphores as descriptors, and memory of the host.

use ash::vk;

use crate::gpu::{CHIPS, Gpu};

#[test]
fn memory_leaves_as_a_dma_buf_and_comes_back() {
    let gpu = Gpu::new("navi21");
    let extension = ash::khr::external_memory_fd::Device::new(&gpu.instance, &gpu.device);
    let kind = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
    let mut exported = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
    let host = gpu.host_type();
    let info = vk::MemoryAllocateInfo::default().allocation_size(8192).memory_type_index(host).push_next(&mut exported);
    // SAFETY: the structure is valid.
    let memory = unsafe { gpu.device.allocate_memory(&info, None) }.unwrap();
    let asked = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(kind);
    // SAFETY: the memory is live and exportable.
    let fd = unsafe { extension.get_memory_fd(&asked) }.unwrap();
    let mut types = vk::MemoryFdPropertiesKHR::default();
    // SAFETY: the descriptor is open.
    unsafe { extension.get_memory_fd_properties(kind, fd, &mut types) }.unwrap();
    assert_ne!(types.memory_type_bits & 1 << host, 0);
    // SAFETY: it is no descriptor, and the driver says so.
    let none = unsafe { extension.get_memory_fd_properties(kind, -1, &mut types) };
    assert_eq!(none, Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
    let mut from = vk::ImportMemoryFdInfoKHR::default().handle_type(kind).fd(fd);
    let info = vk::MemoryAllocateInfo::default().allocation_size(8192).memory_type_index(host).push_next(&mut from);
    // SAFETY: the descriptor is open and becomes the driver's.
    let imported = unsafe { gpu.device.allocate_memory(&info, None) }.unwrap();
    let whole = vk::MemoryMapFlags::empty();
    // SAFETY: the memory is live and of a type that the CPU sees.
    let mapped = unsafe { gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, whole) }.unwrap();
    // SAFETY: 8192 bytes are mapped.
    unsafe { mapped.cast::<u8>().write_bytes(0x3c, 8192) };
    assert_eq!(gpu.read(imported, 8192), [0x3c; 8192]);
    for memory in [memory, imported] {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.free_memory(memory, None) };
    }
}

#[test]
fn memory_that_comes_back_unmodified_holds_what_it_held() {
    for chip in CHIPS {
        let gpu = Gpu::with(chip, &[ash::ext::external_memory_acquire_unmodified::NAME], std::ptr::null_mut());
        let (buffer, memory) = gpu.buffer(gpu.host_type(), 8192);
        let whole = vk::BufferMemoryBarrier2::default().buffer(buffer).size(vk::WHOLE_SIZE);
        let foreign = vk::QUEUE_FAMILY_FOREIGN_EXT;
        let released = [whole.src_queue_family_index(0).dst_queue_family_index(foreign)];
        let mut unmodified = vk::ExternalMemoryAcquireUnmodifiedEXT::default().acquire_unmodified_memory(true);
        let acquired = [whole.src_queue_family_index(foreign).dst_queue_family_index(0).push_next(&mut unmodified)];
        gpu.run(0, |device, commands| {
            // SAFETY: the buffer is bound, here and below.
            unsafe { device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0x3c3c_3c3c) };
            let barriers = vk::DependencyInfo::default().buffer_memory_barriers(&released);
            // SAFETY: as above.
            unsafe { device.cmd_pipeline_barrier2(commands, &barriers) };
        });
        gpu.run(0, |device, commands| {
            let barriers = vk::DependencyInfo::default().buffer_memory_barriers(&acquired);
            // SAFETY: as above.
            unsafe { device.cmd_pipeline_barrier2(commands, &barriers) };
        });
        assert_eq!(gpu.read(memory, 8192), [0x3c; 8192], "{chip}");
        gpu.discard((buffer, memory));
    }
}

#[test]
fn memory_that_was_not_made_to_leave_stays() {
    let gpu = Gpu::new("navi21");
    let extension = ash::khr::external_memory_fd::Device::new(&gpu.instance, &gpu.device);
    let memory = gpu.allocate(0, 4096);
    let asked =
        vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
    // SAFETY: the memory is live; the driver refuses what valid usage forbids.
    assert!(unsafe { extension.get_memory_fd(&asked) }.is_err());
    // SAFETY: nothing uses it.
    unsafe { gpu.device.free_memory(memory, None) };
}

/// Pages of the process.
#[repr(align(4096))]
struct Pages([u8; 16384]);

#[test]
fn the_gpu_writes_to_pages_of_the_process() {
    let gpu = Gpu::new("navi21");
    let extension = ash::ext::external_memory_host::Device::new(&gpu.instance, &gpu.device);
    let kind = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
    let mut pages = Box::new(Pages([1; 16384]));
    let pointer = std::ptr::from_mut(&mut *pages).cast();
    let mut types = vk::MemoryHostPointerPropertiesEXT::default();
    let function = extension.fp().get_memory_host_pointer_properties_ext;
    // SAFETY: the pages are the test's.
    unsafe { function(gpu.device.handle(), kind, pointer, &raw mut types) }.result().unwrap();
    let mut from = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(kind).host_pointer(pointer);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(16384)
        .memory_type_index(types.memory_type_bits.trailing_zeros())
        .push_next(&mut from);
    // SAFETY: the pages live longer than the memory.
    let memory = unsafe { gpu.device.allocate_memory(&info, None) }.unwrap();
    let info = vk::BufferCreateInfo::default().size(16384);
    // SAFETY: the structure is valid.
    let buffer = unsafe { gpu.device.create_buffer(&info, None) }.unwrap();
    // SAFETY: both are live, and the memory is long enough.
    unsafe { gpu.device.bind_buffer_memory(buffer, memory, 0) }.unwrap();
    // SAFETY: the buffer is bound and long enough.
    gpu.run(0, |device, commands| unsafe { device.cmd_fill_buffer(commands, buffer, 4096, 8192, 0x0202_0202) });
    gpu.discard((buffer, memory));
    assert_eq!((pages.0[4095], pages.0[4096], pages.0[12287], pages.0[12288]), (1, 2, 2, 1));
}

#[test]
fn memory_is_mapped_at_a_chosen_address() {
    let gpu = Gpu::new("navi21");
    let extension = ash::khr::map_memory2::Device::new(&gpu.instance, &gpu.device);
    let memory = gpu.allocate(gpu.host_type(), 16384);
    let pages = Box::leak(Box::new(Pages([0; 16384])));
    let pointer: *mut std::ffi::c_void = std::ptr::from_mut(pages).cast();
    let mut placed = vk::MemoryMapPlacedInfoEXT { p_placed_address: pointer, ..vk::MemoryMapPlacedInfoEXT::default() };
    let info = vk::MemoryMapInfoKHR::default()
        .memory(memory)
        .size(vk::WHOLE_SIZE)
        .flags(vk::MemoryMapFlags::PLACED_EXT)
        .push_next(&mut placed);
    let mut mapped = std::ptr::null_mut();
    // SAFETY: the pages are the test's, which gives them up for good.
    unsafe { (extension.fp().map_memory2_khr)(gpu.device.handle(), &raw const info, &raw mut mapped) }
        .result()
        .unwrap();
    assert_eq!(mapped, pointer);
    let info = vk::MemoryUnmapInfoKHR::default().memory(memory).flags(vk::MemoryUnmapFlagsKHR::RESERVE_EXT);
    // SAFETY: the memory is mapped.
    unsafe { (extension.fp().unmap_memory2_khr)(gpu.device.handle(), &raw const info) }.result().unwrap();
    // SAFETY: nothing uses it.
    unsafe { gpu.device.free_memory(memory, None) };
}

#[test]
fn fences_and_semaphores_leave_and_come_back() {
    let gpu = Gpu::new("navi21");
    let fences = ash::khr::external_fence_fd::Device::new(&gpu.instance, &gpu.device);
    let semaphores = ash::khr::external_semaphore_fd::Device::new(&gpu.instance, &gpu.device);
    let signalled = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
    // SAFETY: the structure is valid.
    let one = unsafe { gpu.device.create_fence(&signalled, None) }.unwrap();
    // SAFETY: the structure is valid.
    let other = unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default(), None) }.unwrap();
    let kind = vk::ExternalFenceHandleTypeFlags::SYNC_FD;
    // SAFETY: the fence has signalled.
    let fd = unsafe { fences.get_fence_fd(&vk::FenceGetFdInfoKHR::default().fence(one).handle_type(kind)) }.unwrap();
    // SAFETY: the fences are live.
    let status = |fence| unsafe { gpu.device.get_fence_status(fence) }.unwrap();
    assert!(!status(one), "an exported sync file takes the signal along");
    let info = vk::ImportFenceFdInfoKHR::default()
        .fence(other)
        .fd(fd)
        .handle_type(kind)
        .flags(vk::FenceImportFlags::TEMPORARY);
    // SAFETY: the descriptor is a sync file and becomes the driver's.
    unsafe { fences.import_fence_fd(&info) }.unwrap();
    assert!(status(other));
    // SAFETY: no queue uses it.
    unsafe { gpu.device.reset_fences(&[other]) }.unwrap();
    assert!(!status(other), "the temporary import is gone");

    let mut timeline = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut timeline);
    // SAFETY: the structure is valid.
    let pair = [(); 2].map(|()| unsafe { gpu.device.create_semaphore(&info, None) }.unwrap());
    let kind = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;
    let asked = vk::SemaphoreGetFdInfoKHR::default().semaphore(pair[0]).handle_type(kind);
    // SAFETY: the semaphore is live.
    let fd = unsafe { semaphores.get_semaphore_fd(&asked) }.unwrap();
    let info = vk::ImportSemaphoreFdInfoKHR::default().semaphore(pair[1]).fd(fd).handle_type(kind);
    // SAFETY: the descriptor is a sync object's and becomes the driver's.
    unsafe { semaphores.import_semaphore_fd(&info) }.unwrap();
    // SAFETY: the semaphore is live.
    unsafe { gpu.device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(pair[0]).value(9)) }.unwrap();
    // SAFETY: the semaphore is live.
    assert_eq!(unsafe { gpu.device.get_semaphore_counter_value(pair[1]) }, Ok(9));
    for semaphore in pair {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_semaphore(semaphore, None) };
    }
    for fence in [one, other] {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_fence(fence, None) };
    }
}
