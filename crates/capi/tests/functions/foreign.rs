//! Handles that the caller made, payloads that change places, queues that are given up.

use std::{ptr::null_mut, sync::Arc};

use amdgpu_layers::{Counter, Forward, Layer};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::uapi::{Answered, Argument, GemClose, GemCreate, SyncobjCreate, SyncobjDestroy, send_plain};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};

use super::{emit, kernel, last_error, ok, store, store_by_gpu, submission};

/// A kernel that the test makes requests of too.
type Shared = Arc<Forward<SimKernel, Counter>>;

fn shared() -> (Shared, *mut agw_device) {
    let kernel = Arc::new(Counter::default().over(kernel()));
    let device = device_of_kernel(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

#[test]
fn a_bo_of_the_callers_is_closed_only_if_it_was_given_away() {
    for is_owned in [false, true] {
        let (kernel, device) = shared();
        let mut made = GemCreate { bo_size: 8192, alignment: 0, domains: 2, domain_flags: 1 };
        // SAFETY: it only creates an object, which is the test's.
        unsafe { send_plain(&*kernel, &mut made) }.unwrap();
        let handle = made.answer().handle;
        let (mut bo, mut pointer) = (null_mut(), null_mut());
        ok!(agw_bo_from_handle(device, handle, is_owned, 0, 0, &raw mut bo));
        // SAFETY: every BO begins with its head.
        let head = unsafe { bo.cast::<agw_bo_head>().read() };
        assert_eq!((head.handle, head.size), (handle, 8192));
        ok!(agw_bo_map(bo, &raw mut pointer));
        store_by_gpu(device, bo, head.va, 77);
        // SAFETY: the start of the mapping, and one reference.
        unsafe {
            assert_eq!(pointer.cast::<u32>().read_volatile(), 77);
            let closed = kernel.layer().of(GemClose::REQUEST);
            agw_bo_unref(bo);
            assert_eq!(kernel.layer().of(GemClose::REQUEST) - closed, u64::from(is_owned));
            let unknown = agw_bo_from_handle(device, 9999, is_owned, 0, 0, &raw mut bo);
            assert_eq!(unknown, AGW_ERROR_INVALID_EXTERNAL_HANDLE, "{}", last_error());
            agw_device_unref(device);
        }
    }
}

#[test]
fn a_sync_object_of_the_callers_is_destroyed_only_if_it_was_given_away() {
    for is_owned in [false, true] {
        let (kernel, device) = shared();
        let mut made = SyncobjCreate { handle: 0, flags: 1 };
        // SAFETY: it only creates an object, which is the test's.
        unsafe { send_plain(&*kernel, &mut made) }.unwrap();
        let mut sync = null_mut();
        ok!(agw_sync_from_handle(device, made.handle, is_owned, &raw mut sync));
        ok!(agw_sync_wait([agw_sync_point { sync, point: 0 }].as_ptr(), 1, 0, 0));
        // SAFETY: a live object, and one reference each.
        unsafe {
            assert_eq!(agw_sync_handle(sync), made.handle);
            agw_sync_destroy(sync);
            assert_eq!(kernel.layer().of(SyncobjDestroy::REQUEST), u64::from(is_owned));
            agw_device_unref(device);
        }
    }
}

#[test]
fn payloads_change_places_without_a_request() {
    let (kernel, device) = shared();
    let (mut signalled, mut other) = (null_mut(), null_mut());
    ok!(agw_sync_create(device, true, &raw mut signalled));
    ok!(agw_sync_create(device, false, &raw mut other));
    // SAFETY: live objects, and one reference each.
    unsafe {
        let handles = [agw_sync_handle(signalled), agw_sync_handle(other)];
        let before = kernel.layer().ioctls();
        ok!(agw_sync_swap(signalled, other));
        ok!(agw_sync_swap(other, other));
        assert_eq!(kernel.layer().ioctls(), before);
        assert_eq!([agw_sync_handle(other), agw_sync_handle(signalled)], handles);
        ok!(agw_sync_wait([agw_sync_point { sync: other, point: 0 }].as_ptr(), 1, 0, 0));
        let (_, stranger) = shared();
        let mut theirs = null_mut();
        ok!(agw_sync_create(stranger, false, &raw mut theirs));
        assert!(agw_sync_swap(theirs, other) < 0);
        assert_eq!(agw_sync_handle(other), handles[0], "nothing has changed");
        for sync in [signalled, other, theirs] {
            agw_sync_destroy(sync);
        }
        agw_device_unref(device);
        agw_device_unref(stranger);
    }
}

#[test]
fn an_abandoned_queue_is_not_waited_for() {
    let (_, device) = shared();
    let (mut ctx, mut queue, mut stream, mut gate, mut bo) =
        (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    ok!(agw_queue_create(ctx, AGW_IP_GFX, 0, &raw mut queue));
    ok!(agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream));
    ok!(agw_sync_create(device, false, &raw mut gate));
    ok!(agw_bo_create(device, &super::request(4096), &raw mut bo));
    // SAFETY: every BO begins with its head.
    let va = unsafe { bo.cast::<agw_bo_head>().read() }.va;
    emit(stream, &store(va, 1));
    ok!(agw_stream_add_bo(stream, bo));
    ok!(agw_stream_finalize(stream));
    ok!(agw_queue_submit(queue, &submission(&[stream.cast_const()], &[]), null_mut()));
    // SAFETY: one reference each; the ring is free for another queue at once.
    unsafe {
        agw_queue_abandon(queue);
        ok!(agw_queue_create(ctx, AGW_IP_GFX, 0, &raw mut queue));
        agw_queue_abandon(queue);
        agw_queue_abandon(null_mut());
        agw_stream_destroy(stream);
        agw_sync_destroy(gate);
        agw_bo_unref(bo);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}
