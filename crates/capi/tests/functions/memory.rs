//! Memory by memory type.

use std::{
    ffi::c_void,
    ptr::{null, null_mut},
};

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys_c::{border::*, heaps::*, objects::*};

use super::{kernel, last_error, ok, size, store_by_gpu};

const HOST: u32 = 0x2 | 0x4;
const DEVICE_LOCAL: u32 = 0x1;

fn wanted(memory_type: u32, size: u64, flags: u32) -> agw_memory_request {
    agw_memory_request {
        struct_size: self::size::<agw_memory_request>(),
        reserved: 0,
        size,
        address: 0,
        memory_type,
        flags,
        priority: 0.5,
        pad: 0,
    }
}

fn manager(device: *mut agw_device, flags: u32) -> *mut agw_memory_manager {
    let options = agw_memory_manager_options {
        struct_size: size::<agw_memory_manager_options>(),
        reserved: 0,
        flags,
        vram_limit_mib: 0,
    };
    let mut manager = null_mut();
    ok!(agw_memory_manager_create(device, &raw const options, &raw mut manager));
    manager
}

/// The first type of a manager with properties.
fn type_with(manager: *mut agw_memory_manager, required: u32) -> u32 {
    let mut found = u32::MAX;
    // SAFETY: a live manager.
    let allowed = unsafe { agw_memory_manager_buffer_types(manager, 0) };
    ok!(agw_memory_manager_find_type(manager, allowed, required, 0, &raw mut found));
    found
}

/// The head of memory.
fn head(memory: *const agw_memory) -> agw_bo_head {
    // SAFETY: all memory begins with its head.
    unsafe { memory.cast::<agw_bo_head>().read() }
}

fn usages(manager: *mut agw_memory_manager) -> Vec<u64> {
    let mut budgets = [agw_heap_budget { budget: 0, usage: 0 }; 16];
    let mut count = 16;
    ok!(agw_memory_manager_get_budgets(manager, AGW_BUDGET_FRESH, budgets.as_mut_ptr(), &raw mut count));
    budgets[..usize::try_from(count).unwrap()].iter().map(|heap| heap.usage).collect()
}

#[test]
fn the_tables_are_those_of_the_library_and_an_array_that_is_too_short_is_filled() {
    let device = device_of_kernel(kernel()).unwrap();
    let manager = manager(device, AGW_HEAPS_HIDE_REBAR);
    let (mut heap_count, mut type_count) = (0, 0);
    ok!(agw_memory_manager_get_heaps(manager, null_mut(), &raw mut heap_count));
    ok!(agw_memory_manager_get_types(manager, null_mut(), &raw mut type_count));
    assert_eq!(heap_count, 3, "invisible VRAM, GTT, visible VRAM");
    let mut heaps = [agw_memory_heap { size: 0, flags: 9, kind: 9 }; 3];
    ok!(agw_memory_manager_get_heaps(manager, heaps.as_mut_ptr(), &raw mut heap_count));
    let kinds = [AGW_HEAP_INVISIBLE_VRAM, AGW_HEAP_GTT, AGW_HEAP_VISIBLE_VRAM];
    assert_eq!(heaps.map(|heap| heap.kind), kinds);
    assert_eq!(heaps.map(|heap| heap.flags), [1, 0, 1], "VRAM is device-local");
    assert!(heaps.iter().all(|heap| heap.size > 0));
    let none = agw_memory_type { domains: 0, create_flags: 0, heap: 99, properties: 0, is_32bit: 0, pad: 0 };
    let mut types = [none; 32];
    let mut room = 2;
    // SAFETY: a live manager, and variables of this test.
    let result = unsafe { agw_memory_manager_get_types(manager, types.as_mut_ptr(), &raw mut room) };
    assert_eq!((result, room), (AGW_INCOMPLETE, type_count));
    assert_eq!(types.map(|kind| kind.heap != 99)[..4], [true, true, false, false]);
    // SAFETY: as above.
    unsafe {
        let mut found = 77;
        let result = agw_memory_manager_find_type(manager, 0, HOST, 0, &raw mut found);
        assert_eq!((result, found), (AGW_ERROR_FEATURE_NOT_PRESENT, 77));
        let mut unknown = null_mut();
        let bad = agw_memory_manager_options { struct_size: 16, reserved: 0, flags: 1 << 31, vram_limit_mib: 0 };
        let result = agw_memory_manager_create(device, &raw const bad, &raw mut unknown);
        assert_eq!((result, unknown), (AGW_ERROR_INVALID_ARGUMENT, null_mut()));
        agw_memory_manager_unref(agw_memory_manager_ref(manager));
        agw_memory_manager_unref(manager);
        agw_device_unref(device);
    }
}

#[test]
fn memory_is_charged_mapped_written_by_the_gpu_and_given_back() {
    let device = device_of_kernel(kernel()).unwrap();
    let manager = manager(device, 0);
    let before = usages(manager);
    let (mut memory, mut bo, mut pointer) = (null_mut(), null_mut(), null_mut::<c_void>());
    ok!(agw_memory_allocate(manager, &wanted(type_with(manager, HOST), 100_000, 0), &raw mut memory));
    assert_eq!(usages(manager).iter().sum::<u64>(), before.iter().sum::<u64>() + 102_400, "25 pages");
    ok!(agw_memory_map(memory, &raw mut pointer));
    ok!(agw_memory_bo(memory, &raw mut bo));
    let va = head(memory).va;
    store_by_gpu(device, bo, va + 4096, 0x1234_5678);
    ok!(agw_memory_invalidate(memory, 0, u64::MAX));
    // SAFETY: inside of the mapping, and the GPU has ended.
    assert_eq!(unsafe { pointer.cast::<u32>().add(1024).read_volatile() }, 0x1234_5678);
    ok!(agw_memory_flush(memory, 64, 64));
    ok!(agw_memory_set_priority(memory, 1.0));
    ok!(agw_memory_unmap(memory, false));
    // SAFETY: a live object, and one reference each.
    unsafe {
        assert_ne!(agw_memory_flush(memory, 0, 64), AGW_SUCCESS, "it is not mapped");
        // The BO keeps the memory.
        agw_memory_unref(memory);
        assert_ne!(usages(manager), before);
        agw_bo_unref(bo);
        assert_eq!(usages(manager), before);
        agw_memory_manager_unref(manager);
        agw_device_unref(device);
    }
}

#[test]
fn memory_goes_from_one_device_to_another_and_comes_from_the_process() {
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let (device, other) = (device_of_kernel(gpu.open()).unwrap(), device_of_kernel(gpu.open()).unwrap());
    let (manager, others) = (manager(device, 0), manager(other, 0));
    let (mut memory, mut imported, mut fd, mut types) = (null_mut(), null_mut(), -1, 0);
    let memory_type = type_with(manager, HOST);
    ok!(agw_memory_allocate(manager, &wanted(memory_type, 8192, AGW_MEMORY_EXPORTABLE), &raw mut memory));
    ok!(agw_memory_export(memory, AGW_HANDLE_DMA_BUF, &raw mut fd));
    ok!(agw_memory_manager_fd_types(others, fd, &raw mut types));
    assert_ne!(types & 1 << memory_type, 0);
    ok!(agw_memory_import_fd(others, fd, &wanted(memory_type, 8192, 0), &raw mut imported));
    let (mut here, mut there) = (null_mut::<c_void>(), null_mut::<c_void>());
    ok!(agw_memory_map(memory, &raw mut here));
    ok!(agw_memory_map(imported, &raw mut there));
    // SAFETY: inside of both mappings.
    unsafe {
        here.cast::<u32>().write_volatile(41);
        assert_eq!(there.cast::<u32>().read_volatile(), 41);
        let mut refused = null_mut();
        let larger = agw_memory_import_fd(others, fd, &wanted(memory_type, 8193, 0), &raw mut refused);
        assert_eq!(larger, AGW_ERROR_INVALID_EXTERNAL_HANDLE, "{}", last_error());
        // The descriptor is still the caller's.
        assert_eq!(libc::close(fd), 0);
        assert_eq!(agw_memory_import_fd(others, -1, &wanted(memory_type, 0, 0), &raw mut refused), larger);
        // Pages of the process.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let pages = libc::mmap(null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        let mut host = null_mut();
        let cached = type_with(manager, HOST | 0x8);
        ok!(agw_memory_import_host(manager, pages, &wanted(cached, 8192, 0), &raw mut host));
        let mut mapped = null_mut();
        ok!(agw_memory_map(host, &raw mut mapped));
        assert_eq!(mapped, pages, "the pages are the mapping");
        agw_memory_unref(host);
        assert_eq!(libc::munmap(pages, 8192), 0);
        for memory in [memory, imported] {
            agw_memory_unref(memory);
        }
        for manager in [manager, others] {
            agw_memory_manager_unref(manager);
        }
        agw_device_unref(device);
        agw_device_unref(other);
    }
}

#[test]
fn addresses_of_an_earlier_run_are_given_again_and_budgets_are_kept() {
    let device = device_of_kernel(kernel()).unwrap();
    let manager = manager(device, AGW_HEAPS_NO_OVERALLOCATION);
    let local = type_with(manager, DEVICE_LOCAL);
    let (mut first, mut second, mut third) = (null_mut(), null_mut(), null_mut());
    ok!(agw_memory_allocate(manager, &wanted(local, 1 << 20, AGW_MEMORY_REPLAYABLE), &raw mut first));
    let mut again = wanted(local, 1 << 20, AGW_MEMORY_REPLAYABLE);
    again.address = head(first).va & ((1 << 48) - 1);
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let taken = agw_memory_allocate(manager, &raw const again, &raw mut second);
        assert_eq!((taken, second), (AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, null_mut()), "{}", last_error());
        let va = head(first).va;
        agw_memory_unref(first);
        ok!(agw_memory_allocate(manager, &raw const again, &raw mut second));
        assert_eq!(head(second).va, va);
        for (request, result) in [
            (wanted(local, 0, 0), AGW_ERROR_INVALID_ARGUMENT),
            (wanted(local, 1, 1 << 20), AGW_ERROR_INVALID_ARGUMENT),
            (wanted(99, 4096, 0), AGW_ERROR_INVALID_ARGUMENT),
            (wanted(local, 1 << 50, 0), AGW_ERROR_OUT_OF_DEVICE_MEMORY),
        ] {
            let refused = agw_memory_allocate(manager, &raw const request, &raw mut third);
            assert_eq!((refused, third), (result, null_mut()), "{}", last_error());
        }
        assert_eq!(agw_memory_allocate(manager, null(), &raw mut third), AGW_ERROR_INVALID_ARGUMENT);
        agw_memory_unref(second);
        agw_memory_manager_unref(manager);
        agw_device_unref(device);
    }
}
