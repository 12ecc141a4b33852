//! User queues behind the functions for queues.

use std::{
    ptr::{null, null_mut},
    sync::Arc,
};

use amdgpu_layers::{Counter, Layer as _};
use amdgpu_sim::{KernelRelease, SimDevice, SimKernel, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{Argument as _, GemVaTimeline},
    winsys::Kernel,
};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};

use super::{emit, kernel, ok, request, store, submission};

/// A kernel with user queues.
fn with_user_queues() -> SimKernel {
    let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
    SimDevice::new(profile("navi31").unwrap(), options).open()
}

/// The objects of a test.
struct Bench {
    device: *mut agw_device,
    ctx: *mut agw_ctx,
    queue: *mut agw_queue,
    stream: *mut agw_stream,
    done: *mut agw_sync,
    bo: *mut agw_bo,
    words: *const u32,
}

impl Bench {
    /// Opens a device with a user queue for graphics.
    fn new() -> Self {
        Self::on(with_user_queues())
    }

    fn on(kernel: impl Kernel + 'static) -> Self {
        let device = device_of_kernel(kernel).unwrap();
        let (mut ctx, mut queue, mut stream, mut done) = (null_mut(), null_mut(), null_mut(), null_mut());
        let (mut bo, mut pointer) = (null_mut(), null_mut());
        ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
        ok!(agw_queue_create_user(ctx, AGW_IP_GFX, &raw mut queue));
        ok!(agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream));
        ok!(agw_sync_create(device, false, &raw mut done));
        // The binding is new when the first submission uses it.
        ok!(agw_bo_create(device, &request(4096), &raw mut bo));
        ok!(agw_bo_map(bo, &raw mut pointer));
        Self { device, ctx, queue, stream, done, bo, words: pointer.cast() }
    }

    /// Finalizes a stream that stores a word to the BO.
    fn record(&self, value: u32) {
        // SAFETY: the BO is live.
        let va = unsafe { (*self.bo.cast::<agw_bo_head>()).va };
        emit(self.stream, &store(va, value));
        ok!(agw_stream_add_bo(self.stream, self.bo));
        ok!(agw_stream_finalize(self.stream));
    }

    /// Returns the word in the BO.
    fn word(&self) -> u32 {
        // SAFETY: the BO is mapped.
        unsafe { self.words.read_volatile() }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: the one reference of each.
        unsafe {
            agw_queue_unref(self.queue);
            agw_stream_destroy(self.stream);
            agw_sync_destroy(self.done);
            agw_bo_unref(self.bo);
            agw_ctx_unref(self.ctx);
            agw_device_unref(self.device);
        }
    }
}

#[test]
fn a_submission_signals_points_and_sync_objects_and_its_numbers_rise() {
    let bench = Bench::new();
    for round in 1..=3 {
        bench.record(40 + round);
        let point = agw_sync_point { sync: bench.done, point: round.into() };
        let mut sequence = 0;
        ok!(agw_queue_submit(bench.queue, &submission(&[bench.stream.cast_const()], &[point]), &raw mut sequence));
        assert_eq!(sequence, u64::from(round));
        ok!(agw_sync_wait(&raw const point, 1, 0, u64::MAX));
        assert_eq!(bench.word(), 40 + round);
        ok!(agw_stream_reset(bench.stream));
    }
    let mut binary = null_mut();
    ok!(agw_sync_create(bench.device, false, &raw mut binary));
    let point = agw_sync_point { sync: binary, point: 0 };
    let mut sequence = 0;
    ok!(agw_queue_submit(bench.queue, &submission(&[], &[point]), &raw mut sequence));
    ok!(agw_sync_wait(&raw const point, 1, 0, u64::MAX));
    assert_eq!(sequence, 3, "a submission without streams is not counted");
    ok!(agw_queue_wait_idle(bench.queue, u64::MAX));
    ok!(agw_queue_retire(bench.queue));
    ok!(agw_queue_check(bench.queue));
    // SAFETY: the one reference.
    unsafe { agw_sync_destroy(binary) };
}

#[test]
fn what_is_recorded_again_in_the_same_memory_is_submitted_without_a_question_about_page_tables() {
    let kernel = Arc::new(Counter::default().over(with_user_queues()));
    let bench = Bench::on(Arc::clone(&kernel));
    let point = agw_sync_point { sync: bench.done, point: 0 };
    let mut asked = [0; 3];
    for (asked, value) in asked.iter_mut().zip(1..) {
        bench.record(value);
        let streams = [bench.stream.cast_const()];
        let again = agw_submission { keep: AGW_SUBMIT_KEEP_NOTHING, ..submission(&streams, &[point]) };
        let before = kernel.layer().of(GemVaTimeline::REQUEST);
        ok!(agw_queue_submit(bench.queue, &raw const again, null_mut()));
        *asked = kernel.layer().of(GemVaTimeline::REQUEST) - before;
        ok!(agw_sync_wait(&raw const point, 1, 0, u64::MAX));
        assert_eq!(bench.word(), value);
        ok!(agw_stream_reset(bench.stream));
    }
    assert_eq!(asked, [1, 0, 0], "the bindings are new to the first submission alone");
}

#[test]
fn a_query_tells_the_ips_that_have_user_queues() {
    let of = |kernel: SimKernel| {
        let (device, mut ips) = (device_of_kernel(kernel).unwrap(), u64::MAX);
        ok!(agw_device_query(device, AGW_QUERY_USER_QUEUE_IPS, &raw mut ips));
        // SAFETY: the one reference.
        unsafe { agw_device_unref(device) };
        ips
    };
    assert_eq!(of(with_user_queues()), 1 << AGW_IP_GFX | 1 << AGW_IP_COMPUTE | 1 << AGW_IP_SDMA);
    assert_eq!(of(kernel()), 0);
}

#[test]
fn a_stream_is_in_system_memory_on_request() {
    let bench = Bench::new();
    let gtt_of = |flags| {
        let (mut stream, mut gtt) = (null_mut(), [0; 2]);
        ok!(agw_device_query(bench.device, AGW_QUERY_OWN_GTT, &raw mut gtt[0]));
        ok!(agw_stream_create(bench.device, AGW_IP_SDMA, flags, 64, &raw mut stream));
        ok!(agw_device_query(bench.device, AGW_QUERY_OWN_GTT, &raw mut gtt[1]));
        // SAFETY: the one reference.
        unsafe { agw_stream_destroy(stream) };
        gtt[1] - gtt[0]
    };
    assert_eq!(gtt_of(0), 0, "VRAM of a GPU that has some");
    assert!(gtt_of(AGW_STREAM_IN_SYSTEM_MEMORY) >= 256);
}

#[test]
fn a_submission_waits_for_its_points_before_the_doorbell() {
    let bench = Bench::new();
    bench.record(7);
    let wait = agw_sync_point { sync: bench.done, point: 5 };
    let streams = [bench.stream.cast_const()];
    let waiting = agw_submission { waits: &raw const wait, wait_count: 1, ..submission(&streams, &[]) };
    let (done, seen) = (bench.done as usize, bench.words as usize);
    let signal = std::thread::spawn(move || {
        // SAFETY: the BO is mapped, and the submission that stores to it waits for this thread.
        let before = unsafe { (seen as *const u32).read_volatile() };
        ok!(agw_sync_signal(done as *mut agw_sync, 5));
        before
    });
    ok!(agw_queue_submit(bench.queue, &raw const waiting, null_mut()));
    assert_eq!(signal.join().unwrap(), 0);
    ok!(agw_queue_wait_idle(bench.queue, u64::MAX));
    assert_eq!(bench.word(), 7);
}

#[test]
fn what_a_user_queue_cannot_do_is_refused_and_submits_nothing() {
    let bench = Bench::new();
    bench.record(9);
    let streams = [bench.stream.cast_const()];
    let plain = submission(&streams, &[]);
    let secure = agw_submission { flags: AGW_SUBMIT_SECURE, ..plain };
    let other = [bench.queue.cast_const()];
    let gang = agw_submission { followers: other.as_ptr(), follower_count: 1, ..plain };
    for refused in [secure, gang] {
        // SAFETY: live objects.
        let result = unsafe { agw_queue_submit(bench.queue, &raw const refused, null_mut()) };
        assert_eq!(result, AGW_ERROR_FEATURE_NOT_PRESENT);
    }
    let mut stream = null_mut();
    ok!(agw_stream_create(bench.device, AGW_IP_COMPUTE, 0, 64, &raw mut stream));
    ok!(agw_stream_finalize(stream));
    // SAFETY: live objects.
    let result = unsafe { agw_queue_submit(bench.queue, &submission(&[stream.cast_const()], &[]), null_mut()) };
    assert_eq!(result, AGW_ERROR_INVALID_ARGUMENT, "a stream for another ring");
    ok!(agw_queue_wait_idle(bench.queue, 0));
    assert_eq!(bench.word(), 0);
    // SAFETY: the one reference.
    unsafe { agw_stream_destroy(stream) };
}

#[test]
fn kernels_without_user_queues_and_rings_without_them_are_told_apart_from_mistakes() {
    let device = device_of_kernel(kernel()).unwrap();
    let (mut ctx, mut queue) = (null_mut(), null_mut());
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    // SAFETY: live objects, or null, which is refused.
    unsafe {
        assert_eq!(agw_queue_create_user(ctx, AGW_IP_GFX, &raw mut queue), AGW_ERROR_FEATURE_NOT_PRESENT);
        assert_eq!(agw_queue_create_user(ctx, AGW_IP_VCN_DEC, &raw mut queue), AGW_ERROR_FEATURE_NOT_PRESENT);
        assert_eq!(agw_queue_create_user(ctx, 99, &raw mut queue), AGW_ERROR_INVALID_ARGUMENT);
        assert_eq!(agw_queue_create_user(null(), AGW_IP_GFX, &raw mut queue), AGW_ERROR_INVALID_ARGUMENT);
        assert_eq!(agw_queue_create_user(ctx, AGW_IP_GFX, null_mut()), AGW_ERROR_INVALID_ARGUMENT);
        assert!(queue.is_null(), "nothing was written");
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}
