//! User queues of the kernel behind the functions for queues.

use std::sync::Arc;

use amdgpu_winsys::{
    cs::{CommandList, SyncPoint},
    uapi::Deadline,
    winsys::{Resident, Syncobj, Until, WaitFor},
};

use super::{
    numbered_user_queue::NumberedUserQueue,
    queue::{AnyQueue, QueueBody, agw_queue},
    submission::{InlineVec, Named, agw_submission, check_signals, of_call},
};
use crate::{
    border::{Answer, Out, create, entry},
    objects::{agw_ctx, ctx, ip},
};

/// Creates a user queue: a ring of this process, which submissions start with a doorbell instead of an ioctl. `context` gives the device.
/// `ip_type` is `AGW_IP_GFX`, `AGW_IP_COMPUTE` or `AGW_IP_SDMA`. Returns `AGW_ERROR_FEATURE_NOT_PRESENT` if the chip or the kernel has
/// no user queues of the IP: they need GFX11, Linux 6.16, and the parameter `amdgpu.user_queue=1`.
///
/// The functions for queues accept it, with these differences:
///
/// * `agw_queue_submit` waits for the points of `waits` itself, because the kernel does not see the submission, and for the page tables
///   (the fence of GEM_VA) before the doorbell if anything was bound since the last submission, so that memory that was bound before may
///   be used.
/// * It signals binary sync objects with USERQ_SIGNAL, and points of timelines by a transfer from one.
/// * It accepts neither followers nor `AGW_SUBMIT_SECURE`. It executes `initial`, the streams and `last` in this order, each once.
/// * `agw_queue_wait_idle` polls memory. A queue that hangs never becomes idle, and `agw_queue_check` knows of no loss: the kernel ends
///   the fences of the signals instead.
/// * The last reference destroys the queue without a wait.
///
/// # Safety
///
/// `context` is null or a context that was not freed; `queue` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_create_user(
    context: *const agw_ctx,
    ip_type: u32,
    queue: *mut *mut agw_queue,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { ctx(context, "context") }?;
        // SAFETY: the caller's promise.
        let queue = unsafe { Out::new(queue, "queue") }?;
        let made = NumberedUserQueue::new(body.context.device(), ip(ip_type)?)?;
        let made = QueueBody::new(AnyQueue::User(made), Arc::clone(&body.state));
        let made = create((), made)?;
        queue.put(made);
        Ok(())
    })
}

impl NumberedUserQueue {
    /// Submits, and returns the sequence number of the last submission with streams.
    ///
    /// # Safety
    ///
    /// The arrays of the submission have the lengths that it states, and their objects are not freed during the call.
    pub(super) unsafe fn submit(&self, submission: &agw_submission) -> Answer<u64> {
        let mut named = Named::default();
        // SAFETY: the caller's promise.
        unsafe { named.look_up(submission) }?;
        if !named.followers.is_empty() || named.options.is_secure {
            return Err(Self::unsupported());
        }
        check_signals(&self.device, &named.signals)?;
        let waits: InlineVec<_> = named.waits.iter().map(|wait| (wait.syncobj, wait.point)).collect();
        Syncobj::wait_points(&waits, WaitFor::All, Until::Signalled, Deadline::NEVER)?;
        let lists = [&named.initial, &named.streams, &named.last].into_iter().flatten();
        let lists: InlineVec<&CommandList> = lists.map(|list| list.list).collect();
        let _turn = self.turn.lock();
        if !named.streams.is_empty() {
            self.start(&lists, &named)?;
        }
        let signalled = self.signal(&named.signals);
        signalled.map_err(|failure| of_call(named.streams.is_empty(), false, failure))?;
        Ok(self.order.lock().last)
    }

    /// Starts the lists of a submission, after the page tables contain all bindings so far.
    fn start(&self, lists: &[&CommandList], named: &Named<'_>) -> Answer {
        self.queue.wait_for_bindings(Deadline::NEVER)?;
        let members: InlineVec<_> = named.sets.iter().map(|set| set.snapshot()).collect();
        let bos = named.bos.iter().map(|bo| bo as &dyn Resident);
        let memory: InlineVec<&dyn Resident> =
            bos.chain(members.iter().flat_map(|set| set.iter()).map(|bo| bo as &dyn Resident)).collect();
        let fence = self.queue.submit_keeping(lists, &memory, named.options.keep)?;
        self.retire();
        let mut order = self.order.lock();
        order.last += 1;
        order.running.push_back(fence);
        Ok(())
    }

    /// Signals points when all submissions so far have completed.
    fn signal(&self, points: &[SyncPoint<'_>]) -> Answer {
        // USERQ_SIGNAL has no points: the fence of a binary sync object is copied.
        let has_timelines = points.iter().any(|point| point.point > 0);
        let fence = if has_timelines { Some(Syncobj::new(&self.device, false)?) } else { None };
        let binary = points.iter().filter(|point| point.point == 0).map(|point| point.syncobj);
        let signalled: InlineVec<&Syncobj> = binary.chain(&fence).collect();
        if !signalled.is_empty() {
            self.queue.signal(&signalled)?;
        }
        if let Some(fence) = &fence {
            let mut timelines = points.iter().filter(|point| point.point > 0);
            timelines.try_for_each(|point| point.syncobj.transfer(point.point, fence, 0))?;
        }
        Ok(())
    }
}
