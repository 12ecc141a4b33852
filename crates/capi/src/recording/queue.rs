//! Queues.

use std::sync::Arc;

use amdgpu_winsys::{cs::Queue, uapi::Deadline};

use crate::{
    border::{Answer, Handle, create, entry, get, out, put, reference, release, within},
    objects::{DeviceState, agw_ctx, ctx, in_time, ip},
};

/// A queue of a context.
pub struct agw_queue {
    _private: [u8; 0],
}

impl Handle for agw_queue {
    type Head = ();
    type Body = QueueBody;
    const NAME: &'static str = "agw_queue";
}

pub(crate) struct QueueBody {
    pub(super) queue: Queue,
    state: Arc<DeviceState>,
}

/// Returns the body behind a handle, and notes that the current call works on its device.
///
/// # Safety
///
/// As for `shell`.
#[inline]
pub(super) unsafe fn queue<'a>(handle: *const agw_queue) -> Answer<&'a QueueBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "queue") }?;
    body.state.touch()?;
    Ok(body)
}

/// Makes the object of a queue of a context, of which there is one at a time: `AGW_ERROR_IN_USE` for a second one.
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
        let body = unsafe { ctx(context) }?;
        out(queue, "queue")?;
        let made = Queue::new(&body.context, ip(ip_type)?, ring)?;
        let made = create((), QueueBody { queue: made, state: Arc::clone(&body.state) })?;
        // SAFETY: checked above, and the caller's promise.
        unsafe { put(queue, made) };
        Ok(())
    })
}

/// Waits for everything submitted so far; `AGW_TIMEOUT` if the deadline, in nanoseconds of CLOCK_MONOTONIC, comes first.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_wait_idle(queue: *const agw_queue, deadline_ns: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::queue(queue) }?;
        in_time(body.queue.wait_idle(Deadline::at(deadline_ns))?)
    })
}

/// Lets go of what finished submissions used. No request, unless work was lost.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_retire(queue: *const agw_queue) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        unsafe { self::queue(queue) }?.queue.retire();
        Ok(())
    })
}

/// Fails with `AGW_ERROR_DEVICE_LOST` if work of the queue was lost.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_check(queue: *const agw_queue) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        Ok(unsafe { self::queue(queue) }?.queue.check()?)
    })
}

/// Removes a reference to a queue as `agw_queue_unref` does, and has the last reference wait for nothing, for a driver that gives up
/// a device whose GPU may be busy for long. Submissions that run end in their own time; their command buffers are never freed
/// if they have not ended by then.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_abandon(queue: *mut agw_queue) {
    // SAFETY: the caller's promise.
    if let Ok(body) = unsafe { within(|| get(queue, "queue")) } {
        body.queue.abandon();
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

/// Removes a reference to a queue. With the last one its last submission is waited for, two seconds at most.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_unref(queue: *mut agw_queue) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(queue, "queue")) };
}
