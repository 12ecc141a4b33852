//! The state that the handles of a queue and its fences share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::in_flight::InFlightList;
use crate::{
    cs::{Preambles, QueueOptions, Target},
    uapi::{CsChunkDep, CsFence, Errno},
    winsys::{Context, Deadline, Device, Error as WinsysError, Ip, UserFence},
};

/// The state that the handles of a queue and its fences share.
#[derive(Debug)]
pub(in crate::cs) struct QueueState {
    pub(in crate::cs) context: Context,
    pub(in crate::cs) ip: Ip,
    /// The index of its kernel ring.
    pub(in crate::cs) ring: u32,
    pub(in crate::cs) target: Target,
    /// The maximum number of IBs in one call.
    pub(super) most_ibs: usize,
    pub(super) options: QueueOptions,
    /// The preambles of submissions that have none of their own. Neither plans nor entries refer to them: they live as long as
    /// both, and the kernel keeps their memory for the jobs that it has accepted.
    pub(super) acquires: Option<Preambles>,
    /// The page to which the GPU writes the sequence number of each submission that has ended.
    pub(in crate::cs) user_fence: UserFence,
    pub(in crate::cs) in_flight: InFlightList,
}

impl QueueState {
    pub(in crate::cs) fn device(&self) -> &Device {
        self.context.device()
    }

    pub(super) fn own(&self, what: &'static str, device: &Device) -> Result<(), WinsysError> {
        if self.device() == device { Ok(()) } else { Err(WinsysError::ForeignDevice { what }) }
    }

    /// Returns `true` if the GPU has written this sequence number or a later one.
    pub(super) fn has_reached(&self, sequence: u64) -> bool {
        sequence == 0 || self.user_fence.value() >= sequence
    }

    pub(super) fn wait(&self, sequence: u64, deadline: Deadline) -> Result<bool, WinsysError> {
        if !self.has_reached(sequence) {
            return self.ask(sequence, deadline);
        }
        self.in_flight.retire_up_to(sequence);
        Ok(true)
    }

    /// Waits for a submission in the kernel, even if its sequence number has been written.
    pub(super) fn ask(&self, sequence: u64, deadline: Deadline) -> Result<bool, WinsysError> {
        let is_done = self.context.wait(self.ip, self.ring, sequence, deadline);
        if *is_done.as_ref().inspect_err(|error| self.note_loss(error)).unwrap_or(&false) {
            self.in_flight.retire_up_to(sequence);
        }
        is_done
    }

    /// Returns an error if the queue no longer works, with the kind of loss.
    pub(in crate::cs) fn check(&self) -> Result<(), WinsysError> {
        self.context.check(self.ip, self.ring).inspect_err(|error| self.note_loss(error))
    }

    /// Marks the queue if an error reports lost work, and retires the submissions that have ended; the others are retired later.
    pub(super) fn note_loss(&self, error: &WinsysError) {
        if matches!(error, WinsysError::DeviceLost { .. }) {
            self.in_flight.mark_lost();
            self.retire();
        }
    }

    /// Releases the resources of submissions that have ended. Makes no ioctl unless work was lost before.
    pub(super) fn retire(&self) {
        let done = self.user_fence.value();
        self.in_flight.retire_up_to(done);
        if self.in_flight.may_be_lost() {
            self.wait_for_the_end(Deadline::POLL);
        }
    }

    /// Waits until all submissions so far have ended, normally or by a loss, and releases their resources. Releases nothing if the
    /// deadline passes first, or if the kernel does not report.
    pub(super) fn wait_for_the_end(&self, deadline: Deadline) {
        // Read before the query, because the answer does not cover later submissions.
        let last = self.in_flight.last();
        match self.user_fence.wait_idle(deadline) {
            Ok(true) => self.in_flight.retire_lost(self.user_fence.value(), last),
            Ok(false) => {}
            // A GPU that was removed runs nothing, and the kernel refuses all requests.
            Err(error) if error.errno == Errno::ENODEV => {
                self.in_flight.retire_lost(self.user_fence.value(), last);
            }
            Err(error) => tracing::debug!(%error, "the kernel does not tell whether a queue is idle"),
        }
    }

    /// Drops the state that makes later submissions cheaper.
    pub(super) fn forget_memory(&self) {
        // Dropped here, without a lock.
        let _forgotten = self.in_flight.forget_plans();
    }

    pub(super) fn dependency(&self, sequence: u64) -> CsChunkDep {
        let CsFence { ctx_id, ip_type, ip_instance, ring, seq_no: handle } = self.number(sequence);
        CsChunkDep { ip_type, ip_instance, ring, ctx_id, handle }
    }

    pub(super) fn number(&self, sequence: u64) -> CsFence {
        CsFence { ctx_id: self.context.id(), ip_type: self.ip.raw(), ip_instance: 0, ring: self.ring, seq_no: sequence }
    }
}

/// Runs when the queue and all its fences are dropped.
impl Drop for QueueState {
    fn drop(&mut self) {
        if self.in_flight.count() == 0 {
            return;
        }
        self.in_flight.mark_lost();
        self.retire();
        let abandoned = self.in_flight.abandon();
        if abandoned > 0 {
            tracing::error!(abandoned, "memory lost: the kernel does not report the end of submissions that use it");
        }
    }
}

/// The longest time that dropping a queue waits for its last submission. RADV gives up after a second (Mesa 25.0.7
/// `radv_amdgpu_cs.c`, `radv_amdgpu_ctx_wait_idle`).
const DRAIN: Duration = Duration::from_secs(2);

/// The end of a queue: it is dropped with the last handle, waits for the jobs and releases the ring.
#[derive(Debug)]
pub(super) struct QueueEnd {
    state: Arc<QueueState>,
    /// `true` if dropping the last handle must not wait.
    is_abandoned: AtomicBool,
}

impl QueueEnd {
    /// Creates the end of a queue; dropping it waits.
    pub(super) fn new(state: Arc<QueueState>) -> Self {
        Self { state, is_abandoned: AtomicBool::new(false) }
    }

    /// Makes dropping the value return without waiting.
    pub(super) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }
}

impl Drop for QueueEnd {
    fn drop(&mut self) {
        let Self { state, is_abandoned } = self;
        let deadline = if *is_abandoned.get_mut() { Deadline::POLL } else { Deadline::after(DRAIN) };
        let outcome = state.wait(state.in_flight.last(), deadline);
        if outcome.is_err() {
            // Work was lost, or the kernel does not support this query. Jobs still in the queue use their memory until they have
            // ended.
            state.wait_for_the_end(deadline);
        }
        state.forget_memory();
        let (ip, ring) = (state.ip, state.ring);
        state.context.give_back_queue(ip, ring);
        match outcome {
            Ok(true) => {}
            // Fences may still observe the end. The kernel orders every unbinding after the running jobs.
            Ok(false) => tracing::warn!(%ip, ring, "queue dropped while its jobs still run"),
            Err(error) => tracing::warn!(%ip, ring, %error, "queue dropped after an error"),
        }
    }
}
