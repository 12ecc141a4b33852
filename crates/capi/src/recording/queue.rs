//! Queues.

use std::sync::Arc;

use amdgpu_winsys::{
    cs::{Queue, QueueError, VideoQueue},
    uapi::Deadline,
    winsys::Ip,
};

use super::numbered_user_queue::NumberedUserQueue;
use crate::{
    border::{Answer, Handle, Out, create, entry, get, reference, release, within},
    objects::{DeviceState, agw_ctx, ctx, in_time, ip},
};

/// A queue of a context, for one ring. Several threads may use one queue.
///
/// The kernel supports no user fences on rings of video engines: there, every query of completion takes an ioctl, and memory that
/// submissions keep alive is released by further submissions, `agw_queue_wait_idle` and `agw_queue_retire`.
pub struct agw_queue {
    _private: [u8; 0],
}

impl Handle for agw_queue {
    type Head = ();
    type Body = QueueBody;
    const NAME: &'static str = "agw_queue";
}

pub(crate) struct QueueBody {
    pub(super) queue: AnyQueue,
    state: Arc<DeviceState>,
}

impl QueueBody {
    pub(super) fn new(queue: AnyQueue, state: Arc<DeviceState>) -> Self {
        Self { queue, state }
    }
}

/// A queue for packets that the library knows, of the kernel or of this process, or for a video engine.
pub(super) enum AnyQueue {
    Packets(Queue),
    Video(VideoQueue),
    User(NumberedUserQueue),
}

impl AnyQueue {
    /// Returns the kernel's queue for packets, or a failure for a video engine or a user queue.
    pub(super) fn packets(&self) -> Answer<&Queue> {
        match self {
            Self::Packets(queue) => Ok(queue),
            Self::Video(queue) => Err(QueueError::UnsupportedIp { ip: queue.ip() }.into()),
            Self::User(_) => Err(NumberedUserQueue::unsupported()),
        }
    }
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
#[inline]
pub(super) unsafe fn queue<'a>(handle: *const agw_queue) -> Answer<&'a QueueBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "queue") }?;
    body.state.touch()?;
    Ok(body)
}

/// Creates a queue for a ring of a context. Returns `AGW_ERROR_IN_USE` if the ring already has a queue.
///
/// # Safety
///
/// `context` is null or a context that was not freed; `queue` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_create(
    context: *const agw_ctx,
    ip_type: u32,
    ring: u32,
    queue: *mut *mut agw_queue,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { ctx(context, "context") }?;
        // SAFETY: the caller's promise.
        let queue = unsafe { Out::new(queue, "queue") }?;
        let (context, ip) = (&body.context, ip(ip_type)?);
        let made = match ip {
            Ip::Gfx | Ip::Compute | Ip::Sdma => AnyQueue::Packets(Queue::new(context, ip, ring)?),
            _ => AnyQueue::Video(VideoQueue::new(context, ip, ring)?),
        };
        let made = create((), QueueBody { queue: made, state: Arc::clone(&body.state) })?;
        queue.put(made);
        Ok(())
    })
}

/// Waits until all submissions so far have completed. Returns `AGW_TIMEOUT` if the deadline, in nanoseconds of CLOCK_MONOTONIC,
/// passes first.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_wait_idle(queue: *const agw_queue, deadline_ns: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::queue(queue) }?;
        let deadline = Deadline::at(deadline_ns);
        in_time(match &body.queue {
            AnyQueue::Packets(queue) => queue.wait_idle(deadline)?,
            AnyQueue::Video(queue) => queue.wait_idle(deadline)?,
            AnyQueue::User(queue) => queue.wait_idle(deadline)?,
        })
    })
}

/// Releases the memory of completed submissions. Takes no ioctl, unless work was lost. On a ring of a video engine it takes one for
/// each completed submission and one for the first that is running, and returns `AGW_ERROR_DEVICE_LOST` if one was lost.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_retire(queue: *const agw_queue) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        match &unsafe { self::queue(queue) }?.queue {
            AnyQueue::Packets(queue) => queue.retire(),
            AnyQueue::Video(queue) => queue.retire()?,
            AnyQueue::User(queue) => queue.retire(),
        }
        Ok(())
    })
}

/// Returns `AGW_ERROR_DEVICE_LOST` if work of the queue was lost.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_check(queue: *const agw_queue) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        match &unsafe { self::queue(queue) }?.queue {
            AnyQueue::Packets(queue) => Ok(queue.check()?),
            AnyQueue::Video(queue) => Ok(queue.context().check(queue.ip(), queue.ring())?),
            AnyQueue::User(_) => Ok(()),
        }
    })
}

/// Removes a reference to a queue like `agw_queue_unref`, except that the last reference does not wait, for a driver that gives
/// up a device whose GPU may be busy for long. Running submissions continue; their command buffers are never freed if they have
/// not completed by then.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_abandon(queue: *mut agw_queue) {
    // SAFETY: the caller's promise.
    if let Ok(body) = unsafe { within(|| get(queue, "queue")) } {
        // The handles of a video queue and of a user queue never wait.
        if let Ok(queue) = body.queue.packets() {
            queue.abandon();
        }
    }
    // SAFETY: the caller's promise.
    unsafe { within(|| release(queue, "queue")) };
}

/// Adds a reference to a queue, and returns it.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_ref(queue: *mut agw_queue) -> *mut agw_queue {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(queue, "queue")) }
}

/// Removes a reference to a queue. The last one waits for the last submission, for two seconds at most; that of a video engine's
/// ring does not wait, because the kernel keeps the memory that running jobs use.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_unref(queue: *mut agw_queue) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(queue, "queue")) };
}
