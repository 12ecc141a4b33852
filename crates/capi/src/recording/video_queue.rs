//! Queues of video engines.

use std::sync::Arc;

use amdgpu_hw::num::index;
use amdgpu_winsys::{cs::VideoQueue, uapi::Deadline};

use crate::{
    border::{Answer, Handle, create, entry, fill, get, out, put, reference, release, within},
    objects::{DeviceState, agw_ctx, ctx, in_time, ip},
};

/// A queue of a context on a ring of UVD, VCE, VCN or JPEG.
///
/// Its commands are the caller's, in BOs. The kernel takes no user fence on these rings, so that each question for the end of a
/// submission is a request. One queue may be used by several threads.
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

/// Returns the body behind a handle, and notes that the current call works on its device.
///
/// # Safety
///
/// As for `shell`.
pub(super) unsafe fn video_queue<'a>(handle: *const agw_video_queue) -> Answer<&'a VideoQueueBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "queue") }?;
    body.state.touch()?;
    Ok(body)
}

/// Makes the object of a queue of a context on a video ring, of which there is one at a time: `AGW_ERROR_IN_USE` for a second one,
/// `AGW_ERROR_FEATURE_NOT_PRESENT` for a ring that the chip lacks and for IPs other than `AGW_IP_UVD` to `AGW_IP_VCN_JPEG`.
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
        let body = unsafe { ctx(context) }?;
        out(queue, "queue")?;
        let made = VideoQueue::new(&body.context, ip(ip_type)?, ring)?;
        let made = create((), VideoQueueBody { queue: made, state: Arc::clone(&body.state) })?;
        // SAFETY: checked above, and the caller's promise.
        unsafe { put(queue, made) };
        Ok(())
    })
}

/// Writes the dwords that fill up an IB of `dwords` dwords to a length that the engine reads in whole; none for encoders, whose
/// commands state their lengths. `count` says how long the array is, and afterwards how many there are; `AGW_INCOMPLETE` if that
/// is more.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed; `count` is null or valid for reading and writing; `fillers` is null, or valid
/// for writing as many dwords as `count` says.
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

/// Waits for a submission and those before it, by the number that `agw_video_queue_submit` gave; `AGW_TIMEOUT` if the deadline, in
/// nanoseconds of CLOCK_MONOTONIC, comes first. A deadline of 0 asks without waiting. One request. The memory of what has ended
/// is let go of. `AGW_ERROR_DEVICE_LOST` if the submission was lost to a reset.
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

/// Lets go of the memory of submissions that have ended. One request for each, and one for the first that runs.
/// `AGW_ERROR_DEVICE_LOST` if one was lost: its memory and that of later ones is then kept as long as the queue.
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

/// Removes a reference to a queue. The last one waits for nothing: the kernel keeps the memory that running jobs use.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_unref(queue: *mut agw_video_queue) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(queue, "queue")) };
}
