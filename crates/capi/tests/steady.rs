//! Allocations of the C functions that a driver calls for each frame, once they are warm: two for the list of a finalized
//! stream, and none otherwise.
#![expect(unsafe_code, reason = "the functions are C's")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "each block is one step of a frame")]

mod support;

use std::{
    mem::size_of,
    ptr::{null, null_mut},
};

use amdgpu_layers::Layer as _;
use amdgpu_sim::{SimKernel, profile};
use amdgpu_test_support::allocations::{self, Counting, Inside};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};
use support::request;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The functions of a frame, in the order of the counts, and the allocations of each.
const STEPS: [(&str, u64); 11] = [
    ("agw_stream_reserve", 0),
    ("agw_stream_add_bo", 0),
    ("agw_stream_pad", 0),
    ("agw_stream_finalize", 2),
    ("agw_queue_submit", 0),
    ("agw_sync_wait for 1", 0),
    ("agw_sync_wait for 16", 0),
    ("agw_sync_wait that times out", 0),
    ("agw_queue_wait_idle", 0),
    ("agw_queue_retire", 0),
    ("agw_stream_reset", 0),
];

/// Runs a step, and returns how many allocations it made.
fn count(step: impl FnOnce() -> i32, wanted: i32) -> u64 {
    let before = allocations::count();
    assert_eq!(step(), wanted);
    allocations::count() - before
}

#[test]
#[allow(clippy::too_many_lines, reason = "a frame is a list of calls")]
fn a_frame_allocates_the_list_of_its_stream_and_nothing_else() {
    let device = device_of_kernel(Inside.over(SimKernel::open(profile("navi21").unwrap()))).unwrap();
    let request = request(4096);
    let (mut bo, mut ctx, mut queue, mut stream) = (null_mut(), null_mut(), null_mut(), null_mut());
    let mut syncs = [null_mut(); 16];
    let mut never = null_mut();
    // SAFETY: live objects, and variables of this test.
    unsafe {
        assert_eq!(agw_bo_create(device, &raw const request, &raw mut bo), AGW_SUCCESS);
        assert_eq!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx), AGW_SUCCESS);
        assert_eq!(agw_queue_create(ctx, AGW_IP_GFX, 0, &raw mut queue), AGW_SUCCESS);
        assert_eq!(agw_stream_create(device, AGW_IP_GFX, 0, 256, &raw mut stream), AGW_SUCCESS);
        for sync in &mut syncs {
            assert_eq!(agw_sync_create(device, true, sync), AGW_SUCCESS);
        }
        assert_eq!(agw_sync_create(device, false, &raw mut never), AGW_SUCCESS);
    }
    // SAFETY: every BO begins with its head.
    let va = unsafe { bo.cast::<agw_bo_head>().read() }.va;
    let window = stream.cast::<agw_cmd_window>();
    let mut counts = [0; STEPS.len()];
    for frame in 0..20_u32 {
        let points = syncs.map(|sync| agw_sync_point { sync, point: 0 });
        let streams = [stream.cast_const()];
        let submission = agw_submission {
            struct_size: u32::try_from(size_of::<agw_submission>()).unwrap(),
            reserved: 0,
            streams: streams.as_ptr(),
            initial: null(),
            further: null(),
            last: null(),
            followers: null(),
            bos: (&raw const bo).cast::<*const agw_bo>(),
            sets: null(),
            waits: null(),
            signals: points.as_ptr(),
            stream_count: 1,
            initial_count: 0,
            further_count: 0,
            last_count: 0,
            follower_count: 0,
            bo_count: 1,
            set_count: 0,
            wait_count: 0,
            signal_count: 1,
            keep: AGW_SUBMIT_KEEP_NOTHING,
            flags: 0,
            pad: 0,
        };
        let unmet = agw_sync_point { sync: never, point: 0 };
        // SAFETY: live objects, and variables of this test; a stream begins with its window.
        counts = unsafe {
            [
                count(
                    || {
                        agw_stream_grow(stream, 16);
                        for word in [0xc003_3700, 5 << 8 | 1 << 20, va as u32, (va >> 32) as u32, frame] {
                            (*window).buf.add(usize::try_from((*window).cdw).unwrap()).write(word);
                            (*window).cdw += 1;
                        }
                        AGW_SUCCESS
                    },
                    AGW_SUCCESS,
                ),
                count(|| agw_stream_add_bo(stream, bo), AGW_SUCCESS),
                count(|| agw_stream_pad(stream, 0), AGW_SUCCESS),
                count(|| agw_stream_finalize(stream), AGW_SUCCESS),
                count(|| agw_queue_submit(queue, &raw const submission, null_mut()), AGW_SUCCESS),
                count(|| agw_sync_wait(points.as_ptr(), 1, 0, u64::MAX), AGW_SUCCESS),
                count(|| agw_sync_wait(points.as_ptr(), 16, 0, u64::MAX), AGW_SUCCESS),
                count(|| agw_sync_wait(&raw const unmet, 1, AGW_WAIT_PENDING, 0), AGW_TIMEOUT),
                count(|| agw_queue_wait_idle(queue, u64::MAX), AGW_SUCCESS),
                count(|| agw_queue_retire(queue), AGW_SUCCESS),
                count(|| agw_stream_reset(stream), AGW_SUCCESS),
            ]
        };
    }
    let counted: Vec<_> = STEPS.iter().zip(counts).map(|((step, _), count)| (*step, count)).collect();
    assert_eq!(counted, STEPS);
    // SAFETY: one reference each.
    unsafe {
        agw_queue_unref(queue);
        agw_stream_destroy(stream);
        for sync in syncs {
            agw_sync_destroy(sync);
        }
        agw_sync_destroy(never);
        agw_ctx_unref(ctx);
        agw_bo_unref(bo);
        agw_device_unref(device);
    }
}
