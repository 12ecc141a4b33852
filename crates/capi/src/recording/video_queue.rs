//! Queues of video engines.

use std::sync::Arc;

use amdgpu_hw::num::index;
use amdgpu_winsys::{cs::VideoQueue, uapi::Deadline};

use crate::{
    border::{Answer, Handle, Out, create, entry, fill, get, reference, release, within},
    objects::{DeviceState, agw_ctx, ctx, in_time, ip},
};

/// A queue of a context, for a ring of UVD, VCE, VCN, JPEG or VPE, and for commands that the caller stores in its own BOs.
///
/// An `agw_queue` submits streams to the same rings. The kernel supports no user fences on these rings, so every query of a submission's
/// completion takes an ioctl. Several threads may use one queue.
pub struct agw_video_queue {
    _private: [u8; 0],
}

impl Handle for agw_video_queue {
    type Head = ();
    type Body = VideoQueueBody;
    const NAME: &'static str = "agw_video_queue";
}

pub(crate) struct VideoQueueBody {
    pub(super) queue: VideoQueue,
    state: Arc<DeviceState>,
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
pub(super) unsafe fn video_queue<'a>(handle: *const agw_video_queue) -> Answer<&'a VideoQueueBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "queue") }?;
    body.state.touch()?;
    Ok(body)
}

/// Creates a queue for a video ring of a context. Returns `AGW_ERROR_IN_USE` if the ring already has a queue, and
/// `AGW_ERROR_FEATURE_NOT_PRESENT` if the chip has no such ring or the IP is not one of `AGW_IP_UVD` to `AGW_IP_VPE`.
///
/// # Safety
///
/// `context` is null or a context that was not freed; `queue` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_create(
    context: *const agw_ctx,
    ip_type: u32,
    ring: u32,
    queue: *mut *mut agw_video_queue,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { ctx(context, "context") }?;
        // SAFETY: the caller's promise.
        let queue = unsafe { Out::new(queue, "queue") }?;
        let made = VideoQueue::new(&body.context, ip(ip_type)?, ring)?;
        let made = create((), VideoQueueBody { queue: made, state: Arc::clone(&body.state) })?;
        queue.put(made);
        Ok(())
    })
}

/// Writes the dwords that pad an IB of `dwords` dwords to a length that the engine accepts. Encoders need none, because their
/// commands contain their lengths. `count` contains the length of the array, and is set to the number of dwords. Returns
/// `AGW_INCOMPLETE` if the array is too short.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed; `count` is null or valid for reading and writing; `fillers` is null, or valid
/// for writing `*count` dwords.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_padding(
    queue: *const agw_video_queue,
    dwords: u32,
    fillers: *mut u32,
    count: *mut u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { video_queue(queue) }?;
        let padding: Vec<u32> = body.queue.padding(index(dwords)).collect();
        // SAFETY: the caller's promise.
        unsafe { fill(fillers, count, ["fillers", "count"], padding.into_iter()) }
    })
}

/// Waits for a submission and all earlier ones, by the sequence number that `agw_video_queue_submit` returned, and releases the
/// memory of completed submissions. Takes one ioctl. Returns `AGW_TIMEOUT` if the deadline, in nanoseconds of CLOCK_MONOTONIC,
/// passes first; a deadline of 0 does not wait. Returns `AGW_ERROR_DEVICE_LOST` if the submission was lost in a GPU reset.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_wait(queue: *const agw_video_queue, sequence: u64, deadline_ns: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { video_queue(queue) }?;
        in_time(body.queue.wait(sequence, Deadline::at(deadline_ns))?)
    })
}

/// Releases the memory of completed submissions. Takes an ioctl for each of them, and one for the first that is running.
/// Returns `AGW_ERROR_DEVICE_LOST` if one was lost; its memory and that of later ones is then kept as long as the queue.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_retire(queue: *const agw_video_queue) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        Ok(unsafe { video_queue(queue) }?.queue.retire()?)
    })
}

/// Adds a reference to a queue, and returns it.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_ref(queue: *mut agw_video_queue) -> *mut agw_video_queue {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(queue, "queue")) }
}

/// Removes a reference to a queue. The last one does not wait: the kernel keeps the memory that running jobs use.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_unref(queue: *mut agw_video_queue) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(queue, "queue")) };
}
