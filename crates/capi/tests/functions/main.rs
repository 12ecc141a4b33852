//! The C functions of the upper tier's memory, of handles that come from elsewhere, and of every function when the kernel refuses.
#![expect(unsafe_code, reason = "the functions are C's")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "each block is one step of a test, for one reason")]

mod foreign;
mod memory;
mod refused;

use std::{
    ffi::CStr,
    mem::size_of,
    ptr::{null, null_mut},
};

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};

/// Any result that is not success fails the test.
macro_rules! ok {
    ($call:expr) => {{
        #[allow(unused_unsafe, reason = "some calls are in a block already")]
        // SAFETY: the arguments are those of the test: live objects, and variables of its own.
        let result = unsafe { $call };
        assert_eq!(result, AGW_SUCCESS, "{}: {}", stringify!($call), $crate::last_error());
    }};
}
pub(crate) use ok;

fn last_error() -> String {
    // SAFETY: the text of this thread, until its next failing call.
    unsafe { CStr::from_ptr(agw_last_error()) }.to_str().unwrap().to_owned()
}

fn kernel() -> SimKernel {
    SimKernel::open(profile("navi21").unwrap())
}

/// The size of a structure, as its first field wants it.
fn size<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap()
}

/// A mapped BO in system memory.
fn request(size: u64) -> agw_bo_request {
    agw_bo_request {
        struct_size: self::size::<agw_bo_request>(),
        reserved: 0,
        size,
        alignment: 0,
        va_alignment: 0,
        address: 0,
        domains: 2,
        flags: 1,
        va_flags: 2 | 4,
        va_placement: 0,
        priority: 0,
        pad: 0,
    }
}

/// Stores words into a stream.
fn emit(stream: *mut agw_stream, words: &[u32]) {
    let len = u64::try_from(words.len()).unwrap();
    // SAFETY: a live stream begins with its window, which the test alone uses between two calls.
    unsafe {
        let window = stream.cast::<agw_cmd_window>();
        if (*window).max_dw - (*window).cdw < len {
            agw_stream_grow(stream, len);
        }
        for &word in words {
            (*window).buf.add(usize::try_from((*window).cdw).unwrap()).write(word);
            (*window).cdw += 1;
        }
    }
}

/// WRITE_DATA of one word to memory.
fn store(va: u64, value: u32) -> [u32; 5] {
    [0xc003_3700, 5 << 8 | 1 << 20, va as u32, (va >> 32) as u32, value]
}

/// A submission of streams that signals points, and keeps nothing.
fn submission(streams: &[*const agw_stream], signals: &[agw_sync_point]) -> agw_submission {
    agw_submission {
        struct_size: size::<agw_submission>(),
        reserved: 0,
        streams: streams.as_ptr(),
        initial: null(),
        further: null(),
        last: null(),
        followers: null(),
        bos: null(),
        sets: null(),
        waits: null(),
        signals: signals.as_ptr(),
        stream_count: u32::try_from(streams.len()).unwrap(),
        initial_count: 0,
        further_count: 0,
        last_count: 0,
        follower_count: 0,
        bo_count: 0,
        set_count: 0,
        wait_count: 0,
        signal_count: u32::try_from(signals.len()).unwrap(),
        keep: AGW_SUBMIT_KEEP_NOTHING,
        flags: 0,
        pad: 0,
    }
}

/// Has the GPU store a word at an address of a BO, and waits for it.
fn store_by_gpu(device: *mut agw_device, bo: *const agw_bo, va: u64, value: u32) {
    let (mut ctx, mut queue, mut stream, mut done) = (null_mut(), null_mut(), null_mut(), null_mut());
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    ok!(agw_queue_create(ctx, AGW_IP_GFX, 0, &raw mut queue));
    ok!(agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream));
    ok!(agw_sync_create(device, false, &raw mut done));
    emit(stream, &store(va, value));
    ok!(agw_stream_add_bo(stream, bo));
    ok!(agw_stream_finalize(stream));
    let points = [agw_sync_point { sync: done, point: 0 }];
    ok!(agw_queue_submit(queue, &submission(&[stream.cast_const()], &points), null_mut()));
    ok!(agw_sync_wait(points.as_ptr(), 1, 0, u64::MAX));
    // SAFETY: one reference each.
    unsafe {
        agw_queue_unref(queue);
        agw_stream_destroy(stream);
        agw_sync_destroy(done);
        agw_ctx_unref(ctx);
    }
}
