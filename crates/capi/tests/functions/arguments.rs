//! Invalid arguments: each is refused with a text that names the argument and the fault, and changes nothing.

use std::ptr::{null, null_mut};

use amdgpu_winsys_c::{border::*, heaps::*, objects::*, recording::*};

use super::{kernel, last_error, ok, request, size};

/// Checks the result of a call, and the start of its text.
#[track_caller]
pub(super) fn refused(result: i32, code: i32, start: &str) {
    let text = last_error();
    assert_eq!(result, code, "{text}");
    assert!(text.starts_with(start), "{text:?} does not begin with {start:?}");
}

/// Makes an object, or fails the test.
pub(super) fn made<T>(call: impl FnOnce(*mut *mut T) -> i32) -> *mut T {
    let mut object = null_mut();
    assert_eq!(call(&raw mut object), AGW_SUCCESS, "{}", last_error());
    object
}

pub(super) fn device() -> *mut agw_device {
    device_of_kernel(kernel()).unwrap()
}

pub(super) const INVALID: i32 = AGW_ERROR_INVALID_ARGUMENT;

#[test]
fn a_null_handle_is_named_as_the_header_names_the_argument() {
    let device = device();
    let (mut none, mut queue, mut video) = (null_mut(), null_mut(), null_mut());
    // SAFETY: null is what every function takes, and a live device.
    unsafe {
        refused(agw_queue_create(null(), 0, 0, &raw mut queue), INVALID, "context: is null");
        refused(agw_video_queue_create(null(), 3, 0, &raw mut video), INVALID, "context: is null");
        refused(agw_ctx_check(null(), 0, 0), INVALID, "ctx: is null");
        refused(agw_residents_add(null(), null()), INVALID, "set: is null");
        refused(agw_residents_remove(null(), null()), INVALID, "set: is null");
        refused(agw_sparse_change(null(), null(), 0), INVALID, "range: is null");
        refused(agw_sparse_create(device, 4096, 0, 0, 0, null_mut()), INVALID, "range: is null");
        refused(agw_sync_transfer(null(), 0, null(), 0), INVALID, "to: is null");
        refused(agw_sync_swap(null(), null()), INVALID, "a: is null");
        refused(agw_sync_wait(&agw_sync_point { sync: null(), point: 0 }, 1, 0, 0), INVALID, "points: is null");
        refused(agw_bo_create(device, null(), null_mut()), INVALID, "bo: is null");
        refused(agw_bo_create(device, null(), &raw mut none), INVALID, "request: is null");
        refused(agw_device_get_info(device, null_mut()), INVALID, "info: is null");
        refused(agw_device_page_fault(device, null_mut()), INVALID, "fault: is null");
        refused(agw_last_loss(null_mut()), INVALID, "loss: is null");
        let sync = made(|sync| agw_sync_create(device, false, sync));
        refused(agw_sync_transfer(sync, 0, null(), 0), INVALID, "from: is null");
        refused(agw_sync_swap(sync, null()), INVALID, "b: is null");
        let ctx = made(|ctx| agw_ctx_create(device, 0, ctx));
        refused(agw_ctx_submit(ctx, null(), null_mut()), INVALID, "cs: is null");
        agw_ctx_unref(ctx);
        agw_sync_destroy(sync);
        agw_device_unref(device);
    }
}

#[test]
fn a_function_that_returns_a_value_says_why_it_returns_none() {
    let clear = || {
        // SAFETY: null is what every function takes.
        unsafe { refused(agw_queue_retire(null()), INVALID, "queue: is null") };
    };
    // SAFETY: null is what every function takes.
    unsafe {
        clear();
        refused(i32::try_from(agw_ctx_id(null())).unwrap(), 0, "ctx: is null");
        clear();
        refused(i32::try_from(agw_sync_handle(null())).unwrap(), 0, "sync: is null");
        clear();
        refused(agw_device_fd(null()), -1, "device: is null");
        clear();
        assert!(agw_device_name(null()).is_null());
        refused(0, 0, "device: is null");
        clear();
        assert_eq!(agw_device_fragment_alignment(null(), 1, 1), 0);
        refused(0, 0, "device: is null");
        clear();
        assert_eq!(agw_memory_manager_buffer_types(null(), 0), 0);
        refused(0, 0, "manager: is null");
        let device = device();
        let manager = made(|manager| agw_memory_manager_create(device, null(), manager));
        assert_ne!(agw_memory_manager_buffer_types(manager, 0), 0);
        assert_eq!(agw_memory_manager_buffer_types(manager, 1 << 31), 0);
        refused(0, 0, "flags: has unknown bits");
        agw_memory_manager_unref(manager);
        agw_device_unref(device);
    }
}

/// A change of a request, its result, and the start of the text.
type Case<T> = (fn(&mut T), i32, &'static str);

#[test]
fn a_bo_request_is_refused_with_the_name_of_the_field() {
    let cases: [Case<agw_bo_request>; 16] = [
        (|r| r.size = 0, INVALID, "size: "),
        (|r| r.size = u64::MAX, AGW_ERROR_OUT_OF_DEVICE_MEMORY, "size: "),
        (|r| r.alignment = 3, INVALID, "alignment: "),
        (|r| r.alignment = u64::MAX, INVALID, "alignment: "),
        (|r| r.va_alignment = u64::MAX, INVALID, "alignment: "),
        (|r| r.address = 1, AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "address: "),
        (|r| r.domains = 1 << 63, INVALID, "domains: "),
        (|r| r.domains = 2 | 8, INVALID, "domains: "),
        (|r| r.flags = 1 << 63, INVALID, "flags: "),
        (|r| r.va_flags = 1 << 31, INVALID, "va_flags: "),
        (|r| r.va_placement = 1 << 31, INVALID, "va_placement: "),
        (|r| r.reserved = 1, AGW_ERROR_UNKNOWN_FIELDS, "request: reserved"),
        (|r| r.pad = 1, AGW_ERROR_UNKNOWN_FIELDS, "request: reserved or pad"),
        (|r| r.priority = 32, INVALID, "priority: is more than 31"),
        (|r| r.address = 1 << 50, AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "address: 0x4000000000000 is no address"),
        (|r| r.size = 1 << 50, AGW_ERROR_OUT_OF_DEVICE_MEMORY, "no hole"),
    ];
    let device = device();
    for (change, code, start) in cases {
        let (mut request, mut bo) = (request(8192), null_mut());
        change(&mut request);
        // SAFETY: a live device, and variables of this test.
        refused(unsafe { agw_bo_create(device, &raw const request, &raw mut bo) }, code, start);
        assert!(bo.is_null());
    }
    // SAFETY: its one reference.
    unsafe { agw_device_unref(device) };
}

#[test]
fn a_memory_request_is_refused_with_the_name_of_the_field() {
    let cases: [Case<agw_memory_request>; 9] = [
        (|r| r.memory_type = 99, INVALID, "memory type 99"),
        (|r| r.flags = 1 << 30, INVALID, "flags: "),
        (|r| r.priority = f32::NAN, INVALID, "priority: is NaN"),
        (|r| r.priority = 1.5, INVALID, "priority: is 1.5"),
        (|r| r.priority = -0.5, INVALID, "priority: is -0.5"),
        (|r| r.pad = 1, AGW_ERROR_UNKNOWN_FIELDS, "request: reserved or pad"),
        (|r| r.reserved = 1, AGW_ERROR_UNKNOWN_FIELDS, "request: reserved or pad"),
        // Without the upper bits it would be another address.
        (|r| r.address = 1 << 60 | 1 << 20, AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "address: 0x1000000000100000"),
        (|r| r.size = 0, INVALID, "allocation of no bytes"),
    ];
    let device = device();
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let manager = made(|manager| agw_memory_manager_create(device, null(), manager));
        let plain = agw_memory_request {
            struct_size: size::<agw_memory_request>(),
            reserved: 0,
            size: 4096,
            address: 0,
            memory_type: 0,
            flags: 0,
            priority: 0.5,
            pad: 0,
        };
        for (change, code, start) in cases {
            let (mut request, mut memory) = (plain, null_mut());
            change(&mut request);
            refused(agw_memory_allocate(manager, &raw const request, &raw mut memory), code, start);
            assert!(memory.is_null());
        }
        let memory = made(|memory| agw_memory_allocate(manager, &raw const plain, memory));
        let mut fd = -7;
        refused(agw_memory_set_priority(memory, f32::INFINITY), INVALID, "priority: is inf");
        for handle_type in [0, 2, AGW_HANDLE_OPAQUE_FD | AGW_HANDLE_DMA_BUF, u32::MAX] {
            refused(agw_memory_export(memory, handle_type, &raw mut fd), INVALID, "handle_type: ");
        }
        assert_eq!(fd, -7);
        agw_memory_unref(memory);
        agw_memory_manager_unref(manager);
        agw_device_unref(device);
    }
}

#[test]
fn host_memory_is_imported_as_one_of_the_types_for_it_and_of_a_size() {
    const BYTES: usize = 8192;
    let device = device();
    // SAFETY: an anonymous mapping, live objects, and variables of this test.
    unsafe {
        let pages = libc::mmap(null_mut(), BYTES, 3, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        assert_ne!(pages, libc::MAP_FAILED);
        let manager = made(|manager| agw_memory_manager_create(device, null(), manager));
        let mut types = 0;
        ok!(agw_memory_manager_host_types(manager, &raw mut types));
        assert_ne!(types, 0);
        refused(agw_memory_manager_host_types(manager, null_mut()), INVALID, "types: is null");
        let import = |memory_type: u32, size: u64| {
            let request = agw_memory_request {
                struct_size: self::size::<agw_memory_request>(),
                reserved: 0,
                size,
                address: 0,
                memory_type,
                flags: 0,
                priority: 0.5,
                pad: 0,
            };
            let mut memory = null_mut();
            let result = agw_memory_import_host(manager, pages, &raw const request, &raw mut memory);
            agw_memory_unref(memory);
            result
        };
        for memory_type in 0..32 {
            let is_possible = import(memory_type, 8192) == AGW_SUCCESS;
            assert_eq!(is_possible, types >> memory_type & 1 == 1, "type {memory_type}");
        }
        assert!(import(types.trailing_zeros(), 0) < 0);
        let mut bo = null_mut();
        refused(agw_bo_from_user_memory(device, pages, 0, 0, &raw mut bo), INVALID, "size: ");
        assert!(bo.is_null());
        assert_eq!(libc::munmap(pages, BYTES), 0);
        agw_memory_manager_unref(manager);
        agw_device_unref(device);
    }
}

#[test]
fn files_that_are_no_drm_nodes_are_an_incompatible_driver() {
    let mut device = null_mut();
    // SAFETY: a string, and variables of this test.
    unsafe {
        for path in [c"/dev/null", c"/etc/passwd"] {
            let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            assert!(fd >= 0);
            let result = agw_device_open_fd(fd, null(), &raw mut device);
            refused(result, AGW_ERROR_INCOMPATIBLE_DRIVER, "the file is no DRM node (VERSION: ");
            assert_eq!(libc::close(fd), 0, "it is still open");
        }
        refused(agw_device_open_fd(-1, null(), &raw mut device), INVALID, "fd: is negative");
        let options = agw_device_options { struct_size: 16, reserved: 0, flags: 0, pad: 7 };
        let result = agw_device_open_fd(0, &raw const options, &raw mut device);
        refused(result, AGW_ERROR_UNKNOWN_FIELDS, "options: reserved or pad");
        let missing = agw_device_open(c"/nonexistent".as_ptr(), null(), &raw mut device);
        refused(missing, AGW_ERROR_INITIALIZATION_FAILED, "cannot open /nonexistent");
    }
    assert!(device.is_null());
}

#[test]
fn a_refused_submission_of_arrays_says_which_ib_names_no_ring() {
    let device = device();
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let ctx = made(|ctx| agw_ctx_create(device, 0, ctx));
        let ib = agw_cs_ib { pad: 0, flags: 0, va: 0x10000, bytes: 16, ip: AGW_IP_GFX, ip_instance: 0, ring: 0 };
        let unknown = agw_cs_bo { handle: 7777, priority: 0 };
        let submit = |ibs: &[agw_cs_ib], bos: &[agw_cs_bo]| {
            let mut cs: agw_cs = std::mem::zeroed();
            (cs.struct_size, cs.ibs, cs.bos) = (size::<agw_cs>(), ibs.as_ptr(), bos.as_ptr());
            (cs.ib_count, cs.bo_count) = (u32::try_from(ibs.len()).unwrap(), u32::try_from(bos.len()).unwrap());
            let mut sequence = 77;
            let result = agw_ctx_submit(ctx, &raw const cs, &raw mut sequence);
            assert_eq!(sequence, 77);
            result
        };
        refused(submit(&[], &[]), INVALID, "ib_count: is 0");
        let ring = agw_cs_ib { ring: 9, ..ib };
        refused(submit(&[ib, ring], &[]), AGW_ERROR_UNKNOWN, "ibs[1]: ring 9 of GFX does not exist");
        assert_eq!(agw_last_errno(), libc::EINVAL);
        refused(submit(&[agw_cs_ib { ip: 99, ..ib }], &[]), AGW_ERROR_UNKNOWN, "ibs[0].ip is no AGW_IP_*");
        refused(submit(&[ib], &[unknown]), AGW_ERROR_UNKNOWN, "the device has no such handle in bos");
        assert_eq!(agw_last_errno(), libc::ENOENT);
        let unsupported = AGW_ERROR_FEATURE_NOT_PRESENT;
        refused(agw_ctx_check(ctx, AGW_IP_GFX, 9), unsupported, "ring 9 of GFX does not exist");
        refused(agw_ctx_wait(ctx, AGW_IP_GFX, u32::MAX, 1, 0), unsupported, "ring 4294967295 of GFX");
        refused(agw_ctx_wait(ctx, 99, 0, 1, 0), INVALID, "ip_type: ");
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}

#[test]
fn sparse_ranges_and_their_changes_are_refused_with_what_is_wrong() {
    let device = device();
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let mut none = null_mut();
        let mut create =
            |size, alignment, address| agw_sparse_create(device, size, alignment, 0, address, &raw mut none);
        refused(create(0, 0, 0), INVALID, "size: ");
        refused(create(u64::MAX, 0, 0), AGW_ERROR_OUT_OF_DEVICE_MEMORY, "size: ");
        refused(create(1 << 20, u64::MAX, 0), INVALID, "alignment: ");
        refused(create(1 << 20, 0, 5), AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "address: ");
        refused(create(1 << 20, 0, 1 << 60), AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "address: 0x1000000000000000");
        assert!(none.is_null());
        let range = made(|range| agw_sparse_create(device, 1 << 20, 0, 0, 0, range));
        let bo = made(|bo| agw_bo_create(device, &request(8192), bo));
        let change =
            |offset, size, bo_offset| agw_sparse_change(range, &agw_sparse_bind { offset, size, bo, bo_offset }, 1);
        refused(change(0, 0, 0), INVALID, "0 bytes at offset 0 are not inside the 1048576 bytes of the object");
        refused(change(0, 4096, 8192), INVALID, "4096 bytes at offset 8192 are not inside the 8192 bytes of BO");
        refused(change(1, 4096, 0), INVALID, "offset in the sparse range 0x1 is not a multiple");
        refused(change(u64::MAX - 4095, 8192, u64::MAX - 4095), INVALID, "8192 bytes at offset");
        ok!(change(0, 8192, 0));
        agw_sparse_unref(range);
        agw_bo_unref(bo);
        agw_device_unref(device);
    }
}

#[test]
fn sync_objects_refuse_handles_flags_and_descriptors_that_are_none() {
    let device = device();
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let mut none = null_mut();
        refused(agw_sync_from_handle(device, 0, false, &raw mut none), INVALID, "handle: is 0");
        let sync = made(|sync| agw_sync_create(device, false, sync));
        let external = AGW_ERROR_INVALID_EXTERNAL_HANDLE;
        refused(agw_sync_tell(sync, 1, 0, -1), external, "eventfd: is negative");
        refused(agw_sync_tell(sync, 1, AGW_WAIT_ANY, 0), INVALID, "flags: has AGW_WAIT_ANY");
        refused(agw_sync_tell(sync, 1, 8, 0), INVALID, "flags: has unknown bits");
        refused(agw_sync_tell(sync, 1, 0, 999), external, "SYNCOBJ_EVENTFD of descriptor 999: EBADF");
        refused(agw_sync_import_sync_file(sync, -1), external, "fd: is negative");
        refused(agw_sync_import_fd(device, 999, &raw mut none), external, "SYNCOBJ_FD_TO_HANDLE of descriptor 999");
        assert!(none.is_null());
        agw_sync_destroy(sync);
        agw_device_unref(device);
    }
}

/// A loss is not reported here, so the query of one says so, and keeps the text of the error before.
#[test]
fn there_is_no_loss_after_another_error() {
    let mut loss = agw_loss { struct_size: 24, reserved: 0, reason: 7, blame: 7, vram_lost: 7, errno_value: 7 };
    // SAFETY: null is what every function takes, and a variable of this test.
    unsafe {
        refused(agw_queue_check(null()), INVALID, "queue: is null");
        assert_eq!(agw_last_loss(&raw mut loss), AGW_NOT_READY);
        assert_eq!((loss.reason, last_error().as_str()), (7, "queue: is null"));
    }
}
