//! Memory and buffers: allocation, mapping, requirements, addresses, budgets.

use ash::vk;

use crate::gpu::{CHIPS, Gpu};

#[test]
fn every_type_is_allocated_and_what_the_cpu_sees_is_mapped() {
    for chip in CHIPS {
        let gpu = Gpu::new(chip);
        let types = &gpu.memory.memory_types[..gpu.memory.memory_type_count as usize];
        for (kind, index) in types.iter().zip(0..) {
            let memory = gpu.allocate(index, 100_000);
            let is_visible = kind.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
            let whole = (0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
            // SAFETY: the memory is live; the driver refuses what cannot be mapped.
            let mapped = unsafe { gpu.device.map_memory(memory, whole.0, whole.1, whole.2) };
            assert_eq!(mapped.is_ok(), is_visible, "{chip} {index}: {mapped:?}");
            if is_visible {
                let range = vk::MappedMemoryRange::default().memory(memory).size(vk::WHOLE_SIZE);
                // SAFETY: the memory is mapped.
                unsafe { gpu.device.flush_mapped_memory_ranges(&[range]) }.unwrap();
                // SAFETY: the memory is mapped.
                unsafe { gpu.device.invalidate_mapped_memory_ranges(&[range]) }.unwrap();
            } else {
                assert_eq!(mapped, Err(vk::Result::ERROR_MEMORY_MAP_FAILED));
            }
            // SAFETY: nothing uses it.
            unsafe { gpu.device.free_memory(memory, None) };
        }
    }
}

#[test]
fn absurd_allocations_have_vulkans_results() {
    let gpu = Gpu::new("navi21");
    let allocate = |kind, size| {
        let info = vk::MemoryAllocateInfo::default().memory_type_index(kind).allocation_size(size);
        // SAFETY: the structure is valid; its numbers are the driver's to check.
        unsafe { gpu.device.allocate_memory(&info, None) }
    };
    assert_eq!(allocate(0, 0), Ok(vk::DeviceMemory::null()), "RADV's answer");
    assert_eq!(allocate(99, 4096), Err(vk::Result::ERROR_UNKNOWN));
    assert_eq!(allocate(0, u64::MAX), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    let info = vk::BufferCreateInfo::default().size(u64::MAX);
    // SAFETY: the structure is valid; its numbers are the driver's to check.
    let buffer = unsafe { gpu.device.create_buffer(&info, None) };
    assert_eq!(buffer, Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
}

/// The answers of RADV 26.2.6 in `tests/data/radv/navi21.json`, `bufferMemoryRequirements`.
#[test]
fn buffers_ask_for_what_radv_says() {
    let gpu = Gpu::new("navi21");
    let sparse = vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY;
    let none = vk::BufferCreateFlags::empty();
    for (size, flags, wanted) in [
        (0x3e8, none, (0x3f0, 0x10, 0x7ad)),
        (0x10_0000, none, (0x10_0000, 0x10, 0x7ad)),
        (0x186a0, sparse, (0x20000, 0x10000, 0x7ad)),
    ] {
        let info = vk::BufferCreateInfo::default().size(size).flags(flags);
        // SAFETY: the structure is valid.
        let buffer = unsafe { gpu.device.create_buffer(&info, None) }.unwrap();
        // SAFETY: the buffer is live.
        let found = unsafe { gpu.device.get_buffer_memory_requirements(buffer) };
        assert_eq!((found.size, found.alignment, found.memory_type_bits), wanted);
        let mut without = vk::MemoryRequirements2::default();
        let asked = vk::DeviceBufferMemoryRequirements::default().create_info(&info);
        // SAFETY: the structures are valid.
        unsafe { gpu.device.get_device_buffer_memory_requirements(&asked, &mut without) };
        let same = without.memory_requirements;
        assert_eq!((same.size, same.alignment, same.memory_type_bits), wanted);
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_buffer(buffer, None) };
    }
}

#[test]
fn a_buffer_is_bound_once_and_inside_its_memory() {
    let gpu = Gpu::new("navi21");
    let (buffer, memory) = gpu.buffer(0, 8192);
    // SAFETY: both are live; the driver refuses what valid usage forbids.
    let again = unsafe { gpu.device.bind_buffer_memory(buffer, memory, 0) };
    assert_eq!(again, Err(vk::Result::ERROR_UNKNOWN));
    let info = vk::BufferCreateInfo::default().size(8192);
    // SAFETY: the structure is valid.
    let other = unsafe { gpu.device.create_buffer(&info, None) }.unwrap();
    // SAFETY: as above.
    let beyond = unsafe { gpu.device.bind_buffer_memory(other, memory, 4096) };
    assert_eq!(beyond, Err(vk::Result::ERROR_UNKNOWN));
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_buffer(other, None) };
    gpu.discard((buffer, memory));
}

#[test]
fn captured_addresses_come_again() {
    let gpu = Gpu::new("navi21");
    let mut flags =
        vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY);
    let info = vk::MemoryAllocateInfo::default().allocation_size(1 << 20).push_next(&mut flags);
    // SAFETY: the structure is valid.
    let first = unsafe { gpu.device.allocate_memory(&info, None) }.unwrap();
    let asked = vk::DeviceMemoryOpaqueCaptureAddressInfo::default().memory(first);
    // SAFETY: the memory is live.
    let address = unsafe { gpu.device.get_device_memory_opaque_capture_address(&asked) };
    assert_ne!(address, 0);
    let mut wanted = vk::MemoryOpaqueCaptureAddressAllocateInfo::default().opaque_capture_address(address);
    let replay = info.push_next(&mut wanted);
    // SAFETY: the structure is valid.
    let taken = unsafe { gpu.device.allocate_memory(&replay, None) };
    assert_eq!(taken, Err(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS));
    // SAFETY: nothing uses it.
    unsafe { gpu.device.free_memory(first, None) };
    // SAFETY: the structure is valid.
    let second = unsafe { gpu.device.allocate_memory(&replay, None) }.unwrap();
    let asked = vk::DeviceMemoryOpaqueCaptureAddressInfo::default().memory(second);
    // SAFETY: the memory is live.
    assert_eq!(unsafe { gpu.device.get_device_memory_opaque_capture_address(&asked) }, address);
    // SAFETY: nothing uses it.
    unsafe { gpu.device.free_memory(second, None) };
}

#[test]
fn a_device_that_disallows_overallocation_refuses_what_is_beyond_its_heap() {
    use vk::MemoryOverallocationBehaviorAMD as Behaviour;
    for chip in CHIPS {
        for (behaviour, is_refused) in
            [(Behaviour::DISALLOWED, true), (Behaviour::ALLOWED, false), (Behaviour::DEFAULT, false)]
        {
            let mut wish = vk::DeviceMemoryOverallocationCreateInfoAMD::default().overallocation_behavior(behaviour);
            let names = [ash::amd::memory_overallocation_behavior::NAME];
            let gpu = Gpu::with(chip, &names, (&raw mut wish).cast());
            let heap = gpu.memory.memory_types[0].heap_index as usize;
            let half = gpu.memory.memory_heaps[heap].size / 2;
            let info = vk::MemoryAllocateInfo::default().allocation_size(half);
            // SAFETY: the structure is valid, here and below.
            let first = unsafe { gpu.device.allocate_memory(&info, None) }.unwrap();
            let more = info.allocation_size(half + (1 << 20));
            // SAFETY: as above.
            let second = unsafe { gpu.device.allocate_memory(&more, None) };
            assert_eq!(second.err(), is_refused.then_some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), "{chip}");
            for memory in second.into_iter().chain([first]) {
                // SAFETY: nothing uses it.
                unsafe { gpu.device.free_memory(memory, None) };
            }
            // SAFETY: as above.
            let again = unsafe { gpu.device.allocate_memory(&more, None) }.unwrap();
            // SAFETY: nothing uses it.
            unsafe { gpu.device.free_memory(again, None) };
        }
    }
}

/// `VkPhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT`, which `ash` does not have.
#[repr(C)]
struct ZeroFeatures {
    s_type: vk::StructureType,
    p_next: *mut std::ffi::c_void,
    zero_initialize_device_memory: vk::Bool32,
}

#[test]
fn memory_that_is_asked_to_be_zero_is_zero_where_other_memory_was() {
    let zero = c"VK_EXT_zero_initialize_device_memory";
    for chip in CHIPS {
        let s_type = vk::StructureType::from_raw(1_000_620_000);
        let mut features = ZeroFeatures { s_type, p_next: std::ptr::null_mut(), zero_initialize_device_memory: 0 };
        let mut asked = vk::PhysicalDeviceFeatures2 {
            p_next: (&raw mut features).cast(),
            ..vk::PhysicalDeviceFeatures2::default()
        };
        let gpu = Gpu::new(chip);
        // SAFETY: the structures are valid.
        unsafe { gpu.instance.get_physical_device_features2(gpu.physical, &mut asked) };
        assert_eq!(features.zero_initialize_device_memory, vk::TRUE, "{chip}");
        let gpu = Gpu::with(chip, &[zero], (&raw mut features).cast());
        let size = 1 << 20;
        let readable = gpu.buffer(gpu.host_type(), size);
        for kind in 0..gpu.memory.memory_type_count {
            let written = gpu.buffer_if_possible(kind, size);
            let Some(written) = written else { continue };
            // SAFETY: the buffer is bound.
            gpu.run(0, |device, it| unsafe { device.cmd_fill_buffer(it, written.0, 0, vk::WHOLE_SIZE, u32::MAX) });
            gpu.discard(written);
            let flag = vk::MemoryAllocateFlags::from_raw(8);
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flag);
            let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(kind);
            // SAFETY: the structures are valid.
            let memory = unsafe { gpu.device.allocate_memory(&info.push_next(&mut flags), None) }.unwrap();
            // SAFETY: the structure is valid.
            let buffer =
                unsafe { gpu.device.create_buffer(&vk::BufferCreateInfo::default().size(size), None) }.unwrap();
            // SAFETY: both are live, and the memory is long enough.
            unsafe { gpu.device.bind_buffer_memory(buffer, memory, 0) }.unwrap();
            let region = vk::BufferCopy::default().size(size);
            // SAFETY: both buffers are bound.
            gpu.run(0, |device, it| unsafe { device.cmd_copy_buffer(it, buffer, readable.0, &[region]) });
            assert!(gpu.read(readable.1, size as usize).iter().all(|&byte| byte == 0), "{chip}: type {kind}");
            gpu.discard((buffer, memory));
        }
        gpu.discard(readable);
    }
}

#[test]
fn budgets_move_with_allocations() {
    let gpu = Gpu::new("navi21");
    let usage = || {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut out = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the structures are valid.
        unsafe { gpu.instance.get_physical_device_memory_properties2(gpu.physical, &mut out) };
        budget.heap_usage[0]
    };
    let before = usage();
    let memory = gpu.allocate(0, 64 << 20);
    assert_eq!(usage(), before + (64 << 20));
    // SAFETY: nothing uses it.
    unsafe { gpu.device.free_memory(memory, None) };
    assert_eq!(usage(), before);
}
