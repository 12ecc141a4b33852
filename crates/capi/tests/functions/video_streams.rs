//! Streams for video engines, submitted by `agw_queue_submit`.

use std::ptr::{null, null_mut};

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};

use super::{emit, last_error, ok, request, submission};

fn with_video() -> (*mut agw_device, *mut agw_ctx) {
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions { video: true, ..SimOptions::default() });
    let (device, mut ctx) = (device_of_kernel(gpu.open()).unwrap(), null_mut());
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    (device, ctx)
}

fn stream(device: *mut agw_device, ip: u32, flags: u32) -> *mut agw_stream {
    let mut stream = null_mut();
    ok!(agw_stream_create(device, ip, flags, 64, &raw mut stream));
    stream
}

fn window(stream: *mut agw_stream) -> agw_cmd_window {
    // SAFETY: every stream begins with its head.
    unsafe { stream.cast::<agw_cmd_window>().read() }
}

fn contents(stream: *mut agw_stream) -> Vec<u32> {
    let (mut ib, mut count) = (agw_ib { va: 0, dwords: 0, pad: 0 }, 1);
    ok!(agw_stream_ibs(stream, &raw mut ib, &raw mut count));
    if count == 0 {
        return Vec::new();
    }
    assert!(count == 1 && ib.va.is_multiple_of(4096), "one IB");
    let mut dwords = vec![0; ib.dwords as usize];
    ok!(agw_stream_read(stream, 0, dwords.as_mut_ptr(), ib.dwords));
    dwords
}

#[test]
fn a_video_stream_records_through_its_window_into_one_ib_and_is_submitted_by_a_queue() {
    let (device, ctx) = with_video();
    let (mut queue, mut bo, mut done, mut line) = (null_mut(), null_mut(), null_mut(), null_mut());
    ok!(agw_queue_create(ctx, AGW_IP_VCN_DEC, 0, &raw mut queue));
    ok!(agw_bo_create(device, &request(4096), &raw mut bo));
    ok!(agw_sync_create(device, false, &raw mut done));
    ok!(agw_sync_create(device, false, &raw mut line));
    let streams = [0, AGW_STREAM_SECONDARY].map(|flags| stream(device, AGW_IP_VCN_DEC, flags));
    let [first, second] = streams;
    let start = window(first).buf;
    for value in 0..5000 {
        emit(first, &[0x81ff, value]);
    }
    assert!(window(first).buf != start && window(first).cdw == 10_000, "one chunk, elsewhere");
    ok!(agw_stream_add_bo(first, bo));
    // SAFETY: a string, and a live stream.
    assert_eq!(unsafe { agw_stream_annotate(first, c"no engine has a packet for it".as_ptr()) }, AGW_SUCCESS);
    emit(second, &[0x81ff, 77]);
    ok!(agw_stream_finalize(second));
    ok!(agw_stream_execute(first, second, 0));
    ok!(agw_stream_finalize(first));
    let dwords = contents(first);
    assert_eq!((dwords.len(), &dwords[10_000..10_004]), (10_016, &[0x81ff, 77, 0x81ff, 0][..]));
    assert_eq!((window(first).cdw, contents(second).len()), (10_016, 16));
    // SAFETY: two live streams, which a video engine cannot chain.
    assert!(unsafe { !agw_stream_chain(first, second) && !agw_stream_chain_replayed(first, second) });
    ok!(agw_stream_unchain(first));

    // Two calls, of which the last signals; then one without a stream.
    let handles = streams.map(<*mut agw_stream>::cast_const);
    let (mut sequence, points) = (0, [agw_sync_point { sync: done, point: 0 }]);
    let work = submission(&handles, &points);
    ok!(agw_queue_submit(queue, &raw const work, &raw mut sequence));
    assert_eq!(sequence, 2);
    let reached = [agw_sync_point { sync: line, point: 7 }];
    let waits = agw_submission { waits: points.as_ptr(), wait_count: 1, ..submission(&[], &reached) };
    ok!(agw_queue_submit(queue, &raw const waits, &raw mut sequence));
    ok!(agw_sync_wait(reached.as_ptr(), 1, 0, u64::MAX));
    assert_eq!(sequence, 2, "that of the last submission");
    ok!(agw_queue_wait_idle(queue, u64::MAX));
    ok!(agw_queue_retire(queue));
    ok!(agw_queue_check(queue));

    // In place, for nothing keeps the list; and what an encoder may be given: nothing.
    let place = window(first).buf;
    ok!(agw_stream_reset(first));
    assert_eq!((window(first).buf, window(first).cdw), (place, 0));
    let encoder = stream(device, AGW_IP_VCN_ENC, 0);
    ok!(agw_stream_finalize(encoder));
    assert_eq!((contents(encoder), window(encoder).cdw), (vec![], 0));
    let mut encode = null_mut();
    ok!(agw_queue_create(ctx, AGW_IP_VCN_ENC, 0, &raw mut encode));
    let empty = [encoder.cast_const()];
    let further = [agw_sync_point { sync: line, point: 8 }];
    ok!(agw_queue_submit(encode, &submission(&empty, &further), &raw mut sequence));
    ok!(agw_sync_wait(further.as_ptr(), 1, 0, u64::MAX));
    assert_eq!(sequence, 0, "the ring got nothing");
    // SAFETY: one reference each.
    unsafe {
        for stream in [first, second, encoder] {
            agw_stream_destroy(stream);
        }
        for sync in [done, line] {
            agw_sync_destroy(sync);
        }
        agw_bo_unref(bo);
        agw_queue_unref(encode);
        agw_queue_abandon(queue);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}

#[test]
fn what_a_video_ring_has_not_is_refused() {
    let (device, ctx) = with_video();
    let (mut queue, mut gfx, mut sequence) = (null_mut(), null_mut(), 0x77);
    ok!(agw_queue_create(ctx, AGW_IP_VCN_DEC, 0, &raw mut queue));
    ok!(agw_queue_create(ctx, AGW_IP_GFX, 0, &raw mut gfx));
    let [decode, jpeg, graphics] = [AGW_IP_VCN_DEC, AGW_IP_VCN_JPEG, AGW_IP_GFX].map(|ip| stream(device, ip, 0));
    for stream in [decode, jpeg, graphics] {
        ok!(agw_stream_finalize(stream));
    }
    let (own, others, packets) = ([decode.cast_const()], [jpeg.cast_const()], [graphics.cast_const()]);
    let followers = [gfx.cast_const()];
    let plain = submission(&own, &[]);
    let refused = [
        agw_submission { initial: own.as_ptr(), initial_count: 1, ..plain },
        agw_submission { further: own.as_ptr(), further_count: 1, ..plain },
        agw_submission { last: own.as_ptr(), last_count: 1, ..plain },
        agw_submission { followers: followers.as_ptr(), follower_count: 1, ..plain },
        agw_submission { flags: AGW_SUBMIT_SECURE, ..plain },
        agw_submission { flags: AGW_SUBMIT_PREEMPTIBLE, ..plain },
        agw_submission { keep: 9, ..plain },
        submission(&others, &[]),
        submission(&packets, &[]),
        agw_submission { streams: null(), ..plain },
    ];
    for submission in &refused {
        // SAFETY: live objects, and arrays of this test.
        let result = unsafe { agw_queue_submit(queue, submission, &raw mut sequence) };
        assert_eq!((result, sequence), (AGW_ERROR_INVALID_ARGUMENT, 0x77), "{}", last_error());
    }
    // A queue for packets takes no stream of a video engine, and no queue of one as its follower.
    let with_follower = [queue.cast_const()];
    for submission in
        [plain, agw_submission { followers: with_follower.as_ptr(), follower_count: 1, ..submission(&packets, &[]) }]
    {
        // SAFETY: live objects, and arrays of this test.
        let result = unsafe { agw_queue_submit(gfx, &raw const submission, null_mut()) };
        assert_eq!(result, AGW_ERROR_FEATURE_NOT_PRESENT, "{}", last_error());
    }
    let mut second = null_mut();
    // SAFETY: live objects, and a variable of this test.
    unsafe {
        let results = [AGW_IP_VCN_DEC, AGW_IP_UVD, AGW_IP_VPE].map(|ip| agw_queue_create(ctx, ip, 0, &raw mut second));
        let missing = AGW_ERROR_FEATURE_NOT_PRESENT;
        assert!(results == [AGW_ERROR_IN_USE, missing, missing] && second.is_null(), "{results:?}");
    }
    // Packets poison the stream.
    let poisoned = stream(device, AGW_IP_VCN_DEC, 0);
    let copied = stream(device, AGW_IP_VCN_DEC, 0);
    // SAFETY: live streams.
    unsafe {
        assert_eq!(agw_stream_call(poisoned, 0x1000, 16, false), AGW_ERROR_FEATURE_NOT_PRESENT);
        assert_eq!(agw_stream_finalize(poisoned), AGW_ERROR_FEATURE_NOT_PRESENT);
        assert_eq!(agw_stream_reset(poisoned), AGW_SUCCESS);
        assert_eq!(agw_stream_detour(poisoned, 0x1000, 16, 0x1000), AGW_ERROR_FEATURE_NOT_PRESENT);
        assert_eq!(agw_stream_execute(copied, graphics, 0), AGW_ERROR_INVALID_ARGUMENT);
        assert_eq!(agw_stream_reset(copied), AGW_SUCCESS);
        assert_eq!(agw_stream_execute(copied, jpeg, 0), AGW_ERROR_INVALID_ARGUMENT);
        assert_eq!(agw_stream_execute(decode, decode, 0), AGW_ERROR_IN_USE, "it was finalized");
        for stream in [decode, jpeg, graphics, poisoned, copied] {
            agw_stream_destroy(stream);
        }
        agw_queue_unref(gfx);
        agw_queue_unref(queue);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}

#[test]
fn a_video_engine_takes_no_stream_of_another_device() {
    let (device, ctx) = with_video();
    let (other, others_ctx) = with_video();
    let mut encode = null_mut();
    ok!(agw_queue_create(ctx, AGW_IP_VCN_ENC, 0, &raw mut encode));
    let child = stream(other, AGW_IP_VCN_DEC, 0);
    emit(child, &[0x81ff, 7]);
    ok!(agw_stream_finalize(child));
    let parent = stream(device, AGW_IP_VCN_DEC, 0);
    // SAFETY: live streams.
    let result = unsafe { agw_stream_execute(parent, child, 0) };
    assert!(result < 0 && last_error().contains("another device"), "{result}: {}", last_error());
    // One without an IB too.
    let empty = stream(other, AGW_IP_VCN_ENC, 0);
    ok!(agw_stream_finalize(empty));
    let handles = [empty.cast_const()];
    let work = submission(&handles, &[]);
    // SAFETY: live objects, and an array of this test.
    let result = unsafe { agw_queue_submit(encode, &raw const work, null_mut()) };
    assert!(result < 0 && last_error().contains("another device"), "{result}: {}", last_error());
    // SAFETY: one reference each.
    unsafe {
        for stream in [child, parent, empty] {
            agw_stream_destroy(stream);
        }
        agw_queue_unref(encode);
        for ctx in [ctx, others_ctx] {
            agw_ctx_unref(ctx);
        }
        for device in [device, other] {
            agw_device_unref(device);
        }
    }
}

#[test]
fn of_several_calls_none_is_made_for_a_signal_or_memory_of_another_device() {
    let (device, ctx) = with_video();
    let (other, others_ctx) = with_video();
    let (mut queue, mut foreign, mut bo, mut sequence) = (null_mut(), null_mut(), null_mut(), 0x77);
    ok!(agw_queue_create(ctx, AGW_IP_VCN_DEC, 0, &raw mut queue));
    ok!(agw_sync_create(other, false, &raw mut foreign));
    ok!(agw_bo_create(other, &request(4096), &raw mut bo));
    let [plain, mixed] = [0; 2].map(|flags| stream(device, AGW_IP_VCN_DEC, flags));
    ok!(agw_stream_add_bo(mixed, bo));
    for stream in [plain, mixed] {
        ok!(agw_stream_finalize(stream));
    }
    let points = [agw_sync_point { sync: foreign, point: 0 }];
    let (twice, then_mixed) = ([plain.cast_const(); 2], [plain.cast_const(), mixed.cast_const()]);
    for work in [submission(&twice, &points), submission(&then_mixed, &[])] {
        // SAFETY: live objects, and arrays of this test.
        let result = unsafe { agw_queue_submit(queue, &raw const work, &raw mut sequence) };
        assert!(result < 0 && result != AGW_ERROR_PARTLY_SUBMITTED, "{result}: {}", last_error());
        assert!(last_error().contains("another device") && sequence == 0x77, "{}", last_error());
    }
    ok!(agw_queue_submit(queue, &submission(&twice, &[]), &raw mut sequence));
    assert_eq!(sequence, 2, "the first two calls");
    ok!(agw_queue_wait_idle(queue, u64::MAX));
    // SAFETY: one reference each.
    unsafe {
        for stream in [plain, mixed] {
            agw_stream_destroy(stream);
        }
        agw_bo_unref(bo);
        agw_sync_destroy(foreign);
        agw_queue_unref(queue);
        for ctx in [ctx, others_ctx] {
            agw_ctx_unref(ctx);
        }
        for device in [device, other] {
            agw_device_unref(device);
        }
    }
}

#[test]
fn a_submission_whose_second_call_the_kernel_refuses_is_partly_submitted() {
    let (device, ctx) = with_video();
    let (mut queue, mut sequence) = (null_mut(), 0x77);
    ok!(agw_queue_create(ctx, AGW_IP_VCN_JPEG, 0, &raw mut queue));
    let [fine, refused] = [0; 2].map(|flags| stream(device, AGW_IP_VCN_JPEG, flags));
    // A register that is none of the decoder's.
    emit(refused, &[0x3fff, 0]);
    for stream in [fine, refused] {
        ok!(agw_stream_finalize(stream));
    }
    // A call for this engine has 16 IBs at most.
    for (before, expected) in [(15, AGW_ERROR_UNKNOWN), (16, AGW_ERROR_PARTLY_SUBMITTED)] {
        let mut handles = vec![fine.cast_const(); before];
        handles.push(refused.cast_const());
        let work = submission(&handles, &[]);
        // SAFETY: live objects, and an array of this test.
        let result = unsafe { agw_queue_submit(queue, &raw const work, &raw mut sequence) };
        assert_eq!((result, sequence), (expected, 0x77), "{}", last_error());
    }
    ok!(agw_queue_submit(queue, &submission(&[fine.cast_const()], &[]), &raw mut sequence));
    assert_eq!(sequence, 2, "behind the call that was made");
    ok!(agw_queue_wait_idle(queue, u64::MAX));
    // SAFETY: one reference each.
    unsafe {
        for stream in [fine, refused] {
            agw_stream_destroy(stream);
        }
        agw_queue_unref(queue);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}
