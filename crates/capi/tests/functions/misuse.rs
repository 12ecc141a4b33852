//! Objects of another device, windows that say what is not true, and structures of every size.

use std::{
    ffi::{CStr, c_void},
    ptr::{null, null_mut},
};

use amdgpu_winsys_c::{border::*, heaps::*, objects::*, recording::*};

use super::{
    arguments::{INVALID, device, made, refused},
    emit, ok, request, store, submission,
};

#[test]
fn objects_of_another_device_are_refused_wherever_they_are_used() {
    const FOREIGN: &str = "belongs to another device";
    let (device, other) = (device(), device());
    // SAFETY: live objects, and variables of this test.
    unsafe {
        let foreign = |result: i32, what: &str| refused(result, INVALID, &format!("{what} {FOREIGN}"));
        let ctx = made(|ctx| agw_ctx_create(device, 0, ctx));
        let queue = made(|queue| agw_queue_create(ctx, AGW_IP_GFX, 0, queue));
        let bo = made(|bo| agw_bo_create(other, &request(4096), bo));
        let sync = made(|sync| agw_sync_create(device, true, sync));
        let theirs = made(|sync| agw_sync_create(other, true, sync));
        let set = made(|set| agw_residents_create(device, set));
        let range = made(|range| agw_sparse_create(device, 1 << 20, 0, 0, 0, range));
        let streams = [device, other].map(|of| {
            let stream = made(|stream| agw_stream_create(of, AGW_IP_GFX, 0, 64, stream));
            emit(stream, &store(0x1000, 1));
            ok!(agw_stream_finalize(stream));
            stream
        });
        ok!(agw_residents_add(set, bo));
        foreign(agw_sync_swap(sync, theirs), "sync object");
        foreign(agw_sync_transfer(sync, 0, theirs, 0), "sync object");
        let points = [sync, theirs].map(|sync| agw_sync_point { sync, point: 0 });
        foreign(agw_sync_wait(points.as_ptr(), 2, 0, 0), "sync object");
        foreign(agw_sparse_change(range, &agw_sparse_bind { offset: 0, size: 4096, bo, bo_offset: 0 }, 1), "memory");
        let own = [streams[0].cast_const()];
        let plain = submission(&own, &[]);
        let submit = |change: &dyn Fn(&mut agw_submission)| {
            let mut changed = plain;
            change(&mut changed);
            agw_queue_submit(queue, &raw const changed, null_mut())
        };
        let lists = [streams[1].cast_const()];
        foreign(submit(&|s| s.streams = lists.as_ptr()), "command list");
        foreign(submit(&|s| (s.bos, s.bo_count) = ((&raw const bo).cast(), 1)), "memory");
        foreign(submit(&|s| (s.sets, s.set_count) = ((&raw const set).cast(), 1)), "memory");
        foreign(submit(&|s| (s.waits, s.wait_count) = (&raw const points[1], 1)), "sync object");
        foreign(submit(&|s| (s.signals, s.signal_count) = (&raw const points[1], 1)), "sync object");
        // More streams than fit into one call: nothing is submitted before the fault is found.
        let mut many = vec![streams[0].cast_const(); 400];
        let all = |streams: &[*const agw_stream], signals: &[agw_sync_point]| {
            agw_queue_submit(queue, &submission(streams, signals), null_mut())
        };
        foreign(all(&many, &points[1..]), "sync object");
        many.push(streams[1]);
        foreign(all(&many, &[]), "command list");
        let mut sequence = 0;
        ok!(agw_queue_submit(queue, &raw const plain, &raw mut sequence));
        assert_eq!(sequence, 1, "the first call of the queue");
        ok!(agw_queue_wait_idle(queue, u64::MAX));
        ok!(agw_stream_reset(streams[0]));
        foreign(agw_stream_execute(streams[0], streams[1], 0), "command list");
        ok!(agw_stream_reset(streams[0]));
        ok!(agw_stream_finalize(streams[0]));
        assert!(!agw_stream_chain(streams[0], streams[1]));
        ok!(agw_queue_check(queue));
        for stream in streams {
            agw_stream_destroy(stream);
        }
        agw_queue_unref(queue);
        agw_sparse_unref(range);
        agw_residents_unref(set);
        for sync in [sync, theirs] {
            agw_sync_destroy(sync);
        }
        agw_bo_unref(bo);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
        agw_device_unref(other);
    }
}

#[test]
fn a_false_window_and_impossible_recordings_poison_the_stream_until_it_is_reset() {
    let device = device();
    // SAFETY: live objects, and variables of this test; a stream begins with its window.
    unsafe {
        let mut none = null_mut();
        for dwords in [0, 1 << 20, u32::MAX] {
            let result = agw_stream_create(device, AGW_IP_GFX, 0, dwords, &raw mut none);
            refused(result, INVALID, &format!("a stream cannot begin with {dwords} dwords"));
        }
        let stream = made(|stream| agw_stream_create(device, AGW_IP_GFX, 0, 64, stream));
        let window = stream.cast::<agw_cmd_window>();
        for cdw in [(*window).max_dw + 1, 1 << 40, u64::MAX] {
            (*window).cdw = cdw;
            refused(agw_stream_pad(stream, 0), INVALID, "cdw: is more than max_dw");
            refused(agw_stream_finalize(stream), INVALID, "cdw: is more than max_dw");
            ok!(agw_stream_reset(stream));
        }
        emit(stream, &store(0x1000, 1));
        ok!(agw_stream_pad(stream, 0));
        (*window).cdw = 1;
        refused(agw_stream_pad(stream, 0), INVALID, "cdw: is less than");
        ok!(agw_stream_reset(stream));
        for va in [1 << 48, 1 << 60, u64::MAX << 47 ^ 1 << 50] {
            refused(agw_stream_call(stream, va, 4, false), INVALID, &format!("va: {va:#x} is no address"));
            assert!(agw_stream_finalize(stream) < 0);
            ok!(agw_stream_reset(stream));
            refused(agw_stream_detour(stream, 0x1000, 4, va), INVALID, "trailer_va: ");
            ok!(agw_stream_reset(stream));
        }
        for (va, dwords) in [(0x1002, 4), (0x1000, u32::MAX)] {
            assert!(agw_stream_call(stream, va, dwords, false) < 0, "{va:#x} {dwords}");
            ok!(agw_stream_reset(stream));
        }
        ok!(agw_stream_finalize(stream));
        agw_stream_destroy(stream);
        agw_device_unref(device);
    }
}

/// Every size of a structure that an older caller can have, with all bits set behind it.
#[test]
fn every_shorter_structure_is_read_or_written_as_far_as_it_goes() {
    const BYTES: usize = 1024;
    const BEHIND: u8 = 0xa5;
    let device = device();
    // SAFETY: live objects, and a buffer that is larger than every structure and aligned for each.
    unsafe {
        let bo = made(|bo| agw_bo_create(device, &request(4096), bo));
        let ctx = made(|ctx| agw_ctx_create(device, 0, ctx));
        let queue = made(|queue| agw_queue_create(ctx, AGW_IP_GFX, 0, queue));
        let manager = made(|manager| agw_memory_manager_create(device, null(), manager));
        let calls: [(usize, &dyn Fn(*mut c_void) -> i32); 12] = [
            (size_of::<agw_bo_request>(), &|place| {
                let mut bo = null_mut();
                let result = agw_bo_create(device, place.cast(), &raw mut bo);
                agw_bo_unref(bo);
                result
            }),
            (size_of::<agw_bo_metadata>(), &|place| agw_bo_set_metadata(bo, place.cast())),
            (size_of::<agw_cs>(), &|place| agw_ctx_submit(ctx, place.cast(), null_mut())),
            (size_of::<agw_device_options>(), &|place| {
                let mut made = null_mut();
                agw_device_open_fd(-1, place.cast(), &raw mut made)
            }),
            (size_of::<agw_memory_manager_options>(), &|place| {
                let mut made = null_mut();
                let result = agw_memory_manager_create(device, place.cast(), &raw mut made);
                agw_memory_manager_unref(made);
                result
            }),
            (size_of::<agw_memory_request>(), &|place| {
                let mut memory = null_mut();
                let result = agw_memory_allocate(manager, place.cast(), &raw mut memory);
                agw_memory_unref(memory);
                result
            }),
            (size_of::<agw_submission>(), &|place| agw_queue_submit(queue, place.cast(), null_mut())),
            (size_of::<agw_bo_info>(), &|place| agw_bo_get_info(bo, place.cast())),
            (size_of::<agw_bo_metadata>(), &|place| agw_bo_get_metadata(bo, place.cast())),
            (size_of::<agw_device_info>(), &|place| agw_device_get_info(device, place.cast())),
            (size_of::<agw_page_fault>(), &|place| agw_device_page_fault(device, place.cast())),
            (size_of::<agw_loss>(), &|place| agw_last_loss(place.cast())),
        ];
        for (call, (whole, function)) in calls.iter().enumerate() {
            for size in 8..=*whole {
                let mut bytes = vec![0_u64; BYTES / 8];
                bytes[0] = u64::try_from(size).unwrap();
                let start = bytes.as_mut_ptr().cast::<u8>();
                start.add(size).write_bytes(BEHIND, BYTES - size);
                let result = function(start.cast());
                let text = CStr::from_ptr(agw_last_error()).to_str().unwrap();
                assert!(result != AGW_ERROR_PANIC && result != AGW_ERROR_UNKNOWN_FIELDS, "{call}, {size}: {text}");
                let behind = std::slice::from_raw_parts(start.add(size), BYTES - size);
                assert!(behind.iter().all(|&byte| byte == BEHIND), "{call}, {size}");
            }
        }
        ok!(agw_queue_check(queue));
        agw_memory_manager_unref(manager);
        agw_queue_unref(queue);
        agw_ctx_unref(ctx);
        agw_bo_unref(bo);
        agw_device_unref(device);
    }
}
