//! Queues of video engines.

use std::{
    ptr::{null, null_mut},
    sync::Arc,
};

use amdgpu_layers::{Counter, Forward, Layer};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions, profile};
use amdgpu_winsys::uapi::{Argument, Cs, WaitCs};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};

use super::{emit, last_error, ok, request, size, submission};

/// A NOP of VCN's decoder, eight times.
const NOPS: [u32; 16] = [0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0];

type Counted = Arc<Forward<SimKernel, Counter>>;

fn with_video() -> (Counted, *mut agw_device, *mut agw_ctx) {
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions { video: true, ..SimOptions::default() });
    let kernel = Arc::new(Counter::default().over(gpu.open()));
    let device = device_of_kernel(Arc::clone(&kernel)).unwrap();
    let mut ctx = null_mut();
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    (kernel, device, ctx)
}

/// A BO with dwords at its start.
fn bo_with(device: *mut agw_device, dwords: &[u32]) -> *mut agw_bo {
    let (mut bo, mut pointer) = (null_mut(), null_mut());
    ok!(agw_bo_create(device, &request(4096), &raw mut bo));
    ok!(agw_bo_map(bo, &raw mut pointer));
    // SAFETY: a mapping of 4096 bytes that the test alone uses.
    unsafe { pointer.cast::<u32>().copy_from_nonoverlapping(dwords.as_ptr(), dwords.len()) };
    bo
}

fn commands(ibs: &[agw_video_ib]) -> agw_video_submission {
    agw_video_submission {
        struct_size: size::<agw_video_submission>(),
        reserved: 0,
        ibs: ibs.as_ptr(),
        bos: null(),
        sets: null(),
        waits: null(),
        signals: null(),
        ib_count: u32::try_from(ibs.len()).unwrap(),
        bo_count: 0,
        set_count: 0,
        wait_count: 0,
        signal_count: 0,
        pad: 0,
    }
}

/// Has the graphics ring signal a sync object as soon as the first word of a BO is 1.
fn signal_by_word(
    device: *mut agw_device,
    ctx: *mut agw_ctx,
    bo: *mut agw_bo,
    signal: *mut agw_sync,
) -> *mut agw_queue {
    let (mut queue, mut stream) = (null_mut(), null_mut());
    ok!(agw_queue_create(ctx, AGW_IP_GFX, 0, &raw mut queue));
    ok!(agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream));
    // SAFETY: every BO begins with its head.
    let va = unsafe { bo.cast::<agw_bo_head>().read() }.va;
    // WAIT_REG_MEM: memory, equal to 1 in all bits.
    emit(stream, &[0xc005_3c00, 1 << 4 | 3, va as u32, (va >> 32) as u32, 1, u32::MAX, 10]);
    ok!(agw_stream_add_bo(stream, bo));
    ok!(agw_stream_finalize(stream));
    let points = [agw_sync_point { sync: signal, point: 0 }];
    let submission = agw_submission { keep: AGW_SUBMIT_KEEP_LISTS, ..submission(&[stream.cast_const()], &points) };
    ok!(agw_queue_submit(queue, &raw const submission, null_mut()));
    // SAFETY: the queue has the list.
    unsafe { agw_stream_destroy(stream) };
    queue
}

fn own_gtt(device: *const agw_device) -> u64 {
    let mut bytes = 0;
    ok!(agw_device_query(device, AGW_QUERY_OWN_GTT, &raw mut bytes));
    bytes
}

#[test]
fn a_submission_to_a_video_ring_ends_by_its_number_and_keeps_its_memory_until_then() {
    let (kernel, device, ctx) = with_video();
    let (mut queue, mut before, mut after, mut set, mut word) =
        (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
    ok!(agw_video_queue_create(ctx, AGW_IP_VCN_DEC, 0, &raw mut queue));
    ok!(agw_sync_create(device, false, &raw mut before));
    ok!(agw_sync_create(device, false, &raw mut after));
    ok!(agw_residents_create(device, &raw mut set));
    let gate = bo_with(device, &[]);
    ok!(agw_bo_map(gate, &raw mut word));
    let gfx = signal_by_word(device, ctx, gate, before);
    let without = own_gtt(device);
    let [code, picture, session] = [&NOPS[..], &[], &[]].map(|dwords| bo_with(device, dwords));
    ok!(agw_residents_add(set, session));
    let ibs = [agw_video_ib { bo: code, offset: 0, dwords: 16, pad: 0 }];
    let (bos, sets) = ([picture.cast_const()], [set.cast_const()]);
    let waits = [agw_sync_point { sync: before, point: 0 }];
    let signals = [agw_sync_point { sync: after, point: 0 }];
    let submission = agw_video_submission {
        bos: bos.as_ptr(),
        sets: sets.as_ptr(),
        waits: waits.as_ptr(),
        signals: signals.as_ptr(),
        bo_count: 1,
        set_count: 1,
        wait_count: 1,
        signal_count: 1,
        ..commands(&ibs)
    };
    let (calls, asked) = (kernel.layer().of(Cs::REQUEST), kernel.layer().of(WaitCs::REQUEST));
    for expected in [1, 2] {
        let mut sequence = 0;
        ok!(agw_video_queue_submit(queue, &raw const submission, &raw mut sequence));
        assert_eq!(sequence, expected);
    }
    ok!(agw_video_queue_submit(queue, &raw const submission, null_mut()));
    // SAFETY: the queue keeps what its submissions use.
    unsafe {
        agw_residents_remove(set, session);
        for bo in [code, picture, session] {
            agw_bo_unref(bo);
        }
    }
    assert_eq!(own_gtt(device) - without, 3 * 4096, "the jobs wait");
    // SAFETY: a live queue.
    assert_eq!(unsafe { agw_video_queue_wait(queue, 3, 0) }, AGW_TIMEOUT);
    // SAFETY: the start of a mapping.
    unsafe { word.cast::<u32>().write_volatile(1) };
    ok!(agw_sync_wait(signals.as_ptr(), 1, 0, u64::MAX));
    assert_eq!(own_gtt(device) - without, 3 * 4096, "the queue has not asked");
    ok!(agw_video_queue_wait(queue, 3, u64::MAX));
    ok!(agw_video_queue_wait(queue, 1, 0));
    assert_eq!(own_gtt(device), without);
    assert_eq!(kernel.layer().of(Cs::REQUEST) - calls, 3);
    assert!(kernel.layer().of(WaitCs::REQUEST) - asked >= 2);
    ok!(agw_video_queue_retire(queue));
    // SAFETY: one reference each, and one that is taken here.
    unsafe {
        assert_eq!(agw_video_queue_ref(queue), queue);
        agw_video_queue_unref(queue);
        agw_video_queue_unref(queue);
        agw_video_queue_unref(null_mut());
        agw_queue_unref(gfx);
        agw_bo_unref(gate);
        agw_residents_unref(set);
        agw_sync_destroy(before);
        agw_sync_destroy(after);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}

#[test]
fn an_ib_is_filled_up_with_what_the_engine_passes_over() {
    let (_, device, ctx) = with_video();
    for (ip, fillers) in
        [(AGW_IP_VCN_DEC, &[0x81ff, 0][..]), (AGW_IP_VCN_JPEG, &[0x6000_0000, 0]), (AGW_IP_VCN_ENC, &[])]
    {
        let (mut queue, mut words, mut count) = (null_mut(), [7; 4], 4);
        ok!(agw_video_queue_create(ctx, ip, 0, &raw mut queue));
        ok!(agw_video_queue_padding(queue, 14, words.as_mut_ptr(), &raw mut count));
        assert_eq!(words[..usize::try_from(count).unwrap()], *fillers);
        let mut needed = 0;
        ok!(agw_video_queue_padding(queue, 12, null_mut(), &raw mut needed));
        assert_eq!(needed, 2 * count);
        if needed > 0 {
            let mut room = 1;
            // SAFETY: a live queue, and room for one word.
            let result = unsafe { agw_video_queue_padding(queue, 12, words.as_mut_ptr(), &raw mut room) };
            assert_eq!((result, room, words[0], words[1]), (AGW_INCOMPLETE, needed, fillers[0], fillers[1]));
        }
        // SAFETY: its one reference.
        unsafe { agw_video_queue_unref(queue) };
    }
    // SAFETY: one reference each.
    unsafe {
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}

#[test]
fn what_no_video_ring_takes_is_refused_before_the_kernel_is_asked() {
    let (kernel, device, ctx) = with_video();
    let (mut queue, mut other) = (null_mut(), null_mut());
    ok!(agw_video_queue_create(ctx, AGW_IP_VCN_DEC, 0, &raw mut queue));
    let bo = bo_with(device, &NOPS);
    let before = kernel.layer().ioctls();
    // SAFETY: live objects or null, and variables of this test.
    unsafe {
        let results = [AGW_IP_GFX, AGW_IP_SDMA, AGW_IP_VPE, AGW_IP_UVD, AGW_IP_VCN_DEC, 99]
            .map(|ip| agw_video_queue_create(ctx, ip, 0, &raw mut other));
        let missing = AGW_ERROR_FEATURE_NOT_PRESENT;
        assert_eq!(
            results,
            [missing, missing, missing, missing, AGW_ERROR_IN_USE, AGW_ERROR_INVALID_ARGUMENT],
            "{}",
            last_error()
        );
        assert!(other.is_null());
        let ib = |offset, dwords| agw_video_ib { bo, offset, dwords, pad: 0 };
        for ibs in [
            &[][..],
            &[ib(0, 16), ib(0, 16)],
            &[ib(2, 16)],
            &[ib(0, 0)],
            &[ib(4096, 1)],
            &[agw_video_ib { bo: null(), ..ib(0, 16) }],
        ] {
            let mut sequence = 0x77;
            let result = agw_video_queue_submit(queue, &commands(ibs), &raw mut sequence);
            assert_eq!((result, sequence), (AGW_ERROR_INVALID_ARGUMENT, 0x77), "{}", last_error());
        }
        let nowhere = [
            agw_video_queue_create(null(), AGW_IP_VCN_DEC, 0, &raw mut other),
            agw_video_queue_create(ctx, AGW_IP_VCN_ENC, 0, null_mut()),
            agw_video_queue_submit(null(), &commands(&[ib(0, 16)]), null_mut()),
            agw_video_queue_submit(queue, null(), null_mut()),
            agw_video_queue_wait(null(), 1, 0),
            agw_video_queue_retire(null()),
            agw_video_queue_padding(queue, 1, null_mut(), null_mut()),
        ];
        assert_eq!(nowhere, [AGW_ERROR_INVALID_ARGUMENT; 7]);
        assert_eq!(kernel.layer().ioctls(), before);
        let without = device_of_kernel(super::kernel()).unwrap();
        let mut bare = null_mut();
        ok!(agw_ctx_create(without, AGW_PRIORITY_NORMAL, &raw mut bare));
        assert_eq!(agw_video_queue_create(bare, AGW_IP_VCN_DEC, 0, &raw mut other), missing);
        agw_bo_unref(bo);
        agw_video_queue_unref(queue);
        agw_ctx_unref(bare);
        agw_ctx_unref(ctx);
        agw_device_unref(without);
        agw_device_unref(device);
    }
}

#[test]
fn a_lost_submission_is_an_error_of_its_wait() {
    let options = SimOptions { video: true, ..SimOptions::hanging_for(std::time::Duration::from_millis(200)) };
    let device = device_of_kernel(SimDevice::new(profile("navi21").unwrap(), options).open()).unwrap();
    let (mut ctx, mut queue, mut sequence) = (null_mut(), null_mut(), 0);
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    ok!(agw_video_queue_create(ctx, AGW_IP_VCN_DEC, 0, &raw mut queue));
    let bo = bo_with(device, &[0xc000_1000, 0]);
    let ibs = [agw_video_ib { bo, offset: 0, dwords: 2, pad: 0 }];
    ok!(agw_video_queue_submit(queue, &commands(&ibs), &raw mut sequence));
    // SAFETY: live objects, and one reference each.
    unsafe {
        assert_eq!(agw_video_queue_wait(queue, sequence, u64::MAX), AGW_ERROR_DEVICE_LOST, "{}", last_error());
        assert_eq!(agw_video_queue_retire(queue), AGW_ERROR_DEVICE_LOST);
        agw_bo_unref(bo);
        agw_video_queue_unref(queue);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}
