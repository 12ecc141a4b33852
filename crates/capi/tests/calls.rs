//! The C functions on the simulator: conventions that hold for each of them, and the whole way to an executed packet.
#![expect(unsafe_code, reason = "the functions are C's")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "each block is one step of a test, for one reason")]

mod support;

use std::{
    ffi::{CStr, c_void},
    mem::size_of,
    ptr::{null, null_mut},
    sync::{Arc, Mutex},
};

use amdgpu_layers::{Answered, Counter, Ioctl, Layer};
use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::uapi::{Argument, Cs, GemCreate, chunk_id};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};
use support::{store, submission};

/// Any result that is not success fails the test.
macro_rules! ok {
    ($call:expr) => {{
        // SAFETY: the arguments are those of the test: live objects, and variables of its own.
        let result = unsafe { $call };
        assert_eq!(result, AGW_SUCCESS, "{}: {}", stringify!($call), last_error());
    }};
}

fn last_error() -> String {
    // SAFETY: the text of this thread, until its next failing call.
    unsafe { CStr::from_ptr(agw_last_error()) }.to_str().unwrap().to_owned()
}

fn kernel() -> SimKernel {
    SimKernel::open(profile("navi21").unwrap())
}

fn device() -> *mut agw_device {
    device_of_kernel(kernel()).unwrap()
}

const GTT: u64 = 2;
const CPU_ACCESS: u64 = 1;

fn request(size: u64) -> agw_bo_request {
    agw_bo_request {
        struct_size: u32::try_from(size_of::<agw_bo_request>()).unwrap(),
        reserved: 0,
        size,
        alignment: 0,
        va_alignment: 0,
        address: 0,
        domains: GTT,
        flags: CPU_ACCESS,
        va_flags: 2 | 4,
        va_placement: 0,
        priority: 0,
        pad: 0,
    }
}

fn allocate(device: *mut agw_device, size: u64) -> *mut agw_bo {
    let mut bo = null_mut();
    ok!(agw_bo_create(device, &request(size), &raw mut bo));
    bo
}

/// The head of a BO.
fn head(bo: *const agw_bo) -> agw_bo_head {
    // SAFETY: every BO begins with its head.
    unsafe { bo.cast::<agw_bo_head>().read() }
}

fn window(stream: *mut agw_stream) -> &'static mut agw_cmd_window {
    // SAFETY: every stream begins with its window, which the test alone uses between two calls.
    unsafe { &mut *stream.cast::<agw_cmd_window>() }
}

fn emit(stream: *mut agw_stream, words: &[u32]) {
    let len = u64::try_from(words.len()).unwrap();
    if window(stream).max_dw - window(stream).cdw < len {
        // SAFETY: a live stream.
        unsafe { agw_stream_grow(stream, len) };
    }
    let window = window(stream);
    for &word in words {
        // SAFETY: below `max_dw`, as was seen to.
        unsafe { window.buf.add(usize::try_from(window.cdw).unwrap()).write(word) };
        window.cdw += 1;
    }
}

#[test]
fn a_stream_that_grew_is_recorded_submitted_and_recorded_again_with_objects_freed_in_any_order() {
    let device = device();
    let bo = allocate(device, 1 << 16);
    let (mut ctx, mut queue, mut stream, mut done) = (null_mut(), null_mut(), null_mut(), null_mut());
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    ok!(agw_queue_create(ctx, AGW_IP_GFX, 0, &raw mut queue));
    ok!(agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream));
    ok!(agw_sync_create(device, false, &raw mut done));
    let mut pointer = null_mut::<c_void>();
    ok!(agw_bo_map(bo, &raw mut pointer));
    for round in 1..=2_u32 {
        let first = window(stream).buf;
        for word in 0..1000_u32 {
            emit(stream, &store(head(bo).va + u64::from(word) * 4, round << 16 | word));
        }
        assert_ne!(first, window(stream).buf, "it has grown");
        ok!(agw_stream_add_bo(stream, bo));
        ok!(agw_stream_finalize(stream));
        let points = [agw_sync_point { sync: done, point: round.into() }];
        let streams = [stream.cast_const()];
        ok!(agw_queue_submit(queue, &submission(&streams, &points), null_mut()));
        ok!(agw_sync_wait(points.as_ptr(), 1, 0, u64::MAX));
        for word in 0..1000_u32 {
            // SAFETY: inside the mapping, and the GPU has ended.
            let stored = unsafe { pointer.cast::<u32>().add(usize::try_from(word).unwrap()).read_volatile() };
            assert_eq!(stored, round << 16 | word);
        }
        ok!(agw_stream_reset(stream));
        assert_eq!(window(stream).cdw, 0);
    }
    // SAFETY: each has one reference, which goes here.
    unsafe {
        agw_device_unref(device);
        agw_bo_unref(bo);
        agw_ctx_unref(ctx);
        agw_stream_destroy(stream);
        agw_queue_unref(queue);
        agw_sync_destroy(done);
    }
}

/// Counts the IBs of each submission.
#[derive(Clone, Default)]
struct Ibs(Arc<Mutex<Vec<usize>>>);

impl Layer for Ibs {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        if call.is(Cs::REQUEST) {
            self.0.lock().unwrap().push(call.chunks().iter().filter(|chunk| chunk.id == chunk_id::IB).count());
        }
        call.forward()
    }
}

/// RADV's streams come with preambles, which invalidate the caches.
#[test]
fn the_library_invalidates_the_caches_first_unless_the_submission_has_initial_streams() {
    let ibs = Ibs::default();
    let device = device_of_kernel(ibs.clone().over(kernel())).unwrap();
    let mut ctx = null_mut();
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    let queue = |ip| {
        let mut queue = null_mut();
        ok!(agw_queue_create(ctx, ip, 0, &raw mut queue));
        queue
    };
    let stream = |ip| {
        let mut stream = null_mut();
        ok!(agw_stream_create(device, ip, 0, 64, &raw mut stream));
        ok!(agw_stream_finalize(stream));
        stream
    };
    let queues = [AGW_IP_GFX, AGW_IP_COMPUTE, AGW_IP_SDMA].map(|ip| (queue(ip), stream(ip), stream(ip)));
    for ((queue, work, own), alone) in queues.into_iter().zip([2, 2, 1]) {
        let (streams, initial) = ([work.cast_const()], [own.cast_const()]);
        let plain = submission(&streams, &[]);
        ok!(agw_queue_submit(queue, &raw const plain, null_mut()));
        let with_own = agw_submission { initial: initial.as_ptr(), initial_count: 1, ..submission(&streams, &[]) };
        for _ in 0..2 {
            ok!(agw_queue_submit(queue, &raw const with_own, null_mut()));
        }
        ok!(agw_queue_wait_idle(queue, u64::MAX));
        assert_eq!(std::mem::take(&mut *ibs.0.lock().unwrap()), [alone, 2, 2]);
    }
    let [leader, follower, _] = queues;
    let (streams, followers) = ([follower.1.cast_const(), leader.1.cast_const()], [follower.0.cast_const()]);
    let initial = [leader.2.cast_const(), follower.2.cast_const()];
    let gang = agw_submission { followers: followers.as_ptr(), follower_count: 1, ..submission(&streams, &[]) };
    ok!(agw_queue_submit(leader.0, &raw const gang, null_mut()));
    let gang = agw_submission { initial: initial.as_ptr(), initial_count: 2, ..gang };
    ok!(agw_queue_submit(leader.0, &raw const gang, null_mut()));
    ok!(agw_queue_wait_idle(leader.0, u64::MAX));
    assert_eq!(*ibs.0.lock().unwrap(), [4, 4]);
    // SAFETY: each has one reference, which goes here.
    unsafe {
        for (queue, work, own) in queues {
            agw_queue_unref(queue);
            agw_stream_destroy(work);
            agw_stream_destroy(own);
        }
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}

#[test]
fn null_is_an_invalid_argument_and_writes_nothing() {
    let device = device();
    let mut bo = std::ptr::without_provenance_mut::<agw_bo>(0x1234);
    // SAFETY: null is what every function takes.
    let results = unsafe {
        [
            agw_bo_create(null(), &request(4096), &raw mut bo),
            agw_bo_create(device, null(), &raw mut bo),
            agw_bo_create(device, &request(4096), null_mut()),
            agw_bo_import(null(), 0, 0, 0, &raw mut bo),
            agw_bo_map(null(), null_mut()),
            agw_bo_export(null(), null_mut()),
            agw_ctx_create(device, AGW_PRIORITY_NORMAL, null_mut()),
            agw_queue_create(null(), AGW_IP_GFX, 0, null_mut()),
            agw_queue_submit(null(), null(), null_mut()),
            agw_stream_create(device, AGW_IP_GFX, 0, 64, null_mut()),
            agw_stream_finalize(null_mut()),
            agw_stream_add_bo(null_mut(), null()),
            agw_sync_create(device, false, null_mut()),
            agw_sync_wait(null(), 1, 0, 0),
            agw_sparse_create(device, 4096, 0, 0, 0, null_mut()),
            agw_residents_add(null(), null()),
            agw_device_query(device, 0, null_mut()),
            agw_device_info_raw(device, 0, null(), null_mut(), 4),
        ]
    };
    assert_eq!(results, [AGW_ERROR_INVALID_ARGUMENT; 18]);
    assert_eq!(bo.addr(), 0x1234);
    assert!(last_error().ends_with("is null"), "{}", last_error());
    // SAFETY: null, and the one reference of a device.
    unsafe {
        agw_bo_unref(null_mut());
        agw_stream_destroy(null_mut());
        agw_stream_grow(null_mut(), 1);
        agw_device_unref(device);
    }
}

#[test]
fn unknown_flags_are_refused_before_anything_is_made() {
    let kernel = std::sync::Arc::new(Counter::default().over(kernel()));
    let device = device_of_kernel(std::sync::Arc::clone(&kernel)).unwrap();
    let mut stream = null_mut();
    ok!(agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream));
    let before = kernel.layer().ioctls();
    let (mut range, mut other, mut bo, mut ctx) = (null_mut(), null_mut(), null_mut(), null_mut());
    let mut placed = request(4096);
    placed.va_placement = 1 << 31;
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let results = [
            agw_stream_create(device, AGW_IP_GFX, 1 << 31, 64, &raw mut other),
            agw_stream_create(device, 99, 0, 64, &raw mut other),
            agw_sparse_create(device, 4096, 0, 1 << 31, 0, &raw mut range),
            agw_bo_create(device, &raw const placed, &raw mut bo),
            agw_ctx_create(device, 3, &raw mut ctx),
            agw_stream_execute(stream, stream, 1 << 31),
            agw_device_dump(device, 1 << 31, Some(nowhere), null_mut()),
            agw_sync_wait(null(), 0, 1 << 31, 0),
        ];
        assert_eq!(results, [AGW_ERROR_INVALID_ARGUMENT; 8]);
        assert!(other.is_null() && range.is_null() && bo.is_null() && ctx.is_null());
        assert_eq!(kernel.layer().ioctls(), before, "the kernel was asked");
    }
    // The stream is as it was.
    ok!(agw_stream_finalize(stream));
    // SAFETY: one reference each.
    unsafe {
        agw_stream_destroy(stream);
        agw_device_unref(device);
    }
}

unsafe extern "C" fn nowhere(_user: *mut c_void, _text: *const std::ffi::c_char) {}

/// The request of a later version.
#[repr(C)]
struct Newer {
    known: agw_bo_request,
    more: [u64; 4],
}

#[test]
fn structures_of_other_versions_are_understood() {
    let device = device();
    let mut bo = null_mut();
    // An older caller, whose structure ends with the flags.
    let mut old = request(4096);
    old.struct_size = 8 + 6 * 8;
    (old.va_flags, old.priority) = (u32::MAX, u32::MAX);
    ok!(agw_bo_create(device, &raw const old, &raw mut bo));
    // SAFETY: its one reference.
    unsafe { agw_bo_unref(bo) };
    // A newer one, whose further fields are zero, and one that wants something of them.
    let mut new = Newer { known: request(4096), more: [0; 4] };
    new.known.struct_size += 32;
    ok!(agw_bo_create(device, &raw const new.known, &raw mut bo));
    new.more[3] = 1;
    // SAFETY: a live device and BO, and a structure as long as it says.
    unsafe {
        agw_bo_unref(bo);
        assert_eq!(agw_bo_create(device, &raw const new.known, &raw mut bo), AGW_ERROR_UNKNOWN_FIELDS);
        // A checked build ends the process here: `tests/checked.rs`.
        for size in if cfg!(feature = "checked") { &[][..] } else { &[0, 7, 1 << 20] } {
            new.known.struct_size = *size;
            assert_eq!(agw_bo_create(device, &raw const new.known, &raw mut bo), AGW_ERROR_INVALID_ARGUMENT);
        }
    }
    // Every shorter answer leaves what is behind it.
    for size in 8..=size_of::<agw_device_info>() {
        let mut words = vec![0xaaaa_aaaa_aaaa_aaaa_u64; size_of::<agw_device_info>() / 8 + 1];
        words[0] = 0xaaaa_aaaa_0000_0000 | u64::try_from(size).unwrap();
        ok!(agw_device_get_info(device, words.as_mut_ptr().cast()));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert!(bytes[size..].iter().all(|&byte| byte == 0xaa), "{size}");
    }
    // SAFETY: its one reference.
    unsafe { agw_device_unref(device) };
}

#[test]
fn a_failed_growth_sends_the_words_nowhere_and_shows_when_the_stream_is_closed() {
    let device = device();
    let mut stream = null_mut();
    ok!(agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream));
    emit(stream, &store(0x1000, 1));
    // More than one IB holds.
    // SAFETY: a live stream.
    unsafe { agw_stream_grow(stream, (1 << 20) - 1) };
    assert_eq!(window(stream).cdw, 0);
    assert!(window(stream).max_dw >= 1 << 20);
    for _ in 0..100_000 {
        emit(stream, &store(0x1000, 1));
    }
    // SAFETY: a live stream.
    unsafe { agw_stream_grow(stream, 1 << 19) };
    // SAFETY: as above.
    assert_ne!(unsafe { agw_stream_finalize(stream) }, AGW_SUCCESS);
    assert!(last_error().contains("an IB holds"), "{}", last_error());
    ok!(agw_stream_reset(stream));
    emit(stream, &store(0x1000, 1));
    ok!(agw_stream_finalize(stream));
    // SAFETY: one reference each.
    unsafe {
        agw_stream_destroy(stream);
        agw_device_unref(device);
    }
}

#[test]
fn errors_have_vulkans_numbers_the_errno_and_a_text() {
    let device = device();
    let mut bo = null_mut();
    // SAFETY: a live device, and variables of this test.
    let result = unsafe { agw_bo_create(device, &request(1 << 50), &raw mut bo) };
    assert_eq!((result, agw_vk_result(result)), (AGW_ERROR_OUT_OF_DEVICE_MEMORY, -2));
    assert!(bo.is_null() && !last_error().is_empty());
    // SAFETY: a live device; standard input is no dma-buf.
    let result = unsafe { agw_bo_import(device, 0, 0, 0, &raw mut bo) };
    assert_eq!(result, AGW_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_ne!(agw_last_errno(), 0);
    for ours in [AGW_ERROR_INVALID_ARGUMENT, AGW_ERROR_UNKNOWN_FIELDS, AGW_ERROR_PANIC, AGW_ERROR_PARTLY_SUBMITTED] {
        assert_eq!(agw_vk_result(ours), AGW_ERROR_UNKNOWN);
    }
    // SAFETY: its one reference.
    unsafe { agw_device_unref(device) };
}

/// A kernel in which making a BO of 12345 bytes panics.
struct Panicking;

impl Layer for Panicking {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        assert!(!(call.is(GemCreate::REQUEST) && call.read::<GemCreate>().bo_size == 12_345), "on purpose");
        call.forward()
    }
}

#[test]
fn a_panic_inside_is_a_result_and_poisons_that_device_alone() {
    let (device, other) = (device_of_kernel(Panicking.over(kernel())).unwrap(), device());
    let mut bo = null_mut();
    for size in [12_345, 4096] {
        // SAFETY: a live device, and variables of this test.
        let result = unsafe { agw_bo_create(device, &request(size), &raw mut bo) };
        assert_eq!(result, AGW_ERROR_PANIC);
    }
    bo = allocate(other, 4096);
    // SAFETY: one reference each.
    unsafe {
        agw_bo_unref(bo);
        agw_device_unref(device);
        agw_device_unref(other);
    }
}

#[test]
fn sparse_ranges_read_what_is_bound() {
    let device = device();
    let (bo, mut range) = (allocate(device, 1 << 16), null_mut());
    ok!(agw_sparse_create(device, 1 << 20, 0, 0, 0, &raw mut range));
    let bind = agw_sparse_bind { offset: 1 << 16, size: 1 << 16, bo, bo_offset: 0 };
    ok!(agw_sparse_change(range, &raw const bind, 1));
    let gone = agw_sparse_bind { bo: null(), ..bind };
    ok!(agw_sparse_change(range, &raw const gone, 1));
    let outside = agw_sparse_bind { offset: 1 << 20, ..bind };
    // SAFETY: live objects.
    unsafe {
        assert_ne!(agw_sparse_change(range, &raw const outside, 1), AGW_SUCCESS);
        agw_sparse_unref(range);
        agw_bo_unref(bo);
        agw_device_unref(device);
    }
}
