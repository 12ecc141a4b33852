//! The C functions of the upper tier's memory, of handles that come from elsewhere, and of every function when the kernel refuses.
#![expect(unsafe_code, reason = "the functions are C's")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "each block is one step of a test, for one reason")]

#[path = "../support/mod.rs"]
mod support;

mod arguments;
mod chains;
mod facts;
mod foreign;
mod memory;
mod misuse;
mod refused;
mod user_queues;
mod video;
mod video_streams;

use std::{ffi::CStr, ptr::null_mut};

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};
use support::{request, size, store, submission};

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
