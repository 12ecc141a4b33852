//! State shared by a queue and its fences.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::submit_buffers::SubmitBuffers;
use crate::{
    cs::{QueueOptions, Result, Target, retire::jobs::Jobs},
    uapi::{CsChunkDep, CsFence, Errno},
    winsys::{Context, Deadline, Device, Error as WinsysError, Ip, UserFence},
};

/// State shared by a queue and its fences.
#[derive(Debug)]
pub(in crate::cs) struct Shared {
    pub(in crate::cs) context: Context,
    pub(in crate::cs) ip: Ip,
    pub(in crate::cs) ring: u32,
    pub(in crate::cs) target: Target,
    pub(super) options: QueueOptions,
    /// The maximum number of IBs of this queue in one call.
    pub(super) most_ibs: usize,
    pub(in crate::cs) user_fence: UserFence,
    pub(in crate::cs) jobs: Jobs<SubmitBuffers>,
}

impl Shared {
    pub(in crate::cs) fn device(&self) -> &Device {
        self.context.device()
    }

    pub(super) fn own(&self, what: &'static str, device: &Device) -> Result<()> {
        if self.device() == device { Ok(()) } else { Err(WinsysError::ForeignDevice { what }.into()) }
    }

    /// Returns `true` if the GPU has written this sequence number or a later one.
    pub(super) fn has_reached(&self, sequence: u64) -> bool {
        sequence == 0 || self.user_fence.value() >= sequence
    }

    pub(super) fn wait(&self, sequence: u64, deadline: Deadline) -> Result<bool> {
        if !self.has_reached(sequence) {
            return self.ask(sequence, deadline);
        }
        self.jobs.retire_up_to(sequence);
        Ok(true)
    }

    /// Waits for a submission in the kernel, even if its sequence number has been written.
    pub(super) fn ask(&self, sequence: u64, deadline: Deadline) -> Result<bool> {
        let is_done = self.context.wait(self.ip, self.ring, sequence, deadline);
        if *is_done.as_ref().inspect_err(|error| self.note_loss(error)).unwrap_or(&false) {
            self.jobs.retire_up_to(sequence);
        }
        Ok(is_done?)
    }

    /// Returns an error if the queue no longer works, with the kind of loss.
    pub(in crate::cs) fn check(&self) -> Result<(), WinsysError> {
        self.context.check(self.ip, self.ring).inspect_err(|error| self.note_loss(error))
    }

    /// Notes that work was lost. Retires the submissions that have ended; the others are retired later.
    pub(super) fn note_loss(&self, error: &WinsysError) {
        if matches!(error, WinsysError::DeviceLost { .. }) {
            self.jobs.doubt();
            self.retire();
        }
    }

    /// Releases the resources of submissions that have ended. Makes no ioctl unless work was lost before.
    pub(super) fn retire(&self) {
        let done = self.user_fence.value();
        self.jobs.retire_up_to(done);
        if self.jobs.are_in_doubt(done) {
            self.wait_for_the_end(Deadline::POLL);
        }
    }

    /// Waits until all submissions so far have ended, normally or by a loss, and releases their resources. Releases nothing if the
    /// deadline passes first, or if the kernel does not report.
    pub(super) fn wait_for_the_end(&self, deadline: Deadline) {
        // Read before the query, because the answer does not cover later submissions.
        let last = self.jobs.last();
        match self.user_fence.wait_idle(deadline) {
            Ok(true) => self.jobs.lose(self.user_fence.value(), last),
            Ok(false) => {}
            // A GPU that was removed runs nothing, and the kernel refuses all requests.
            Err(error) if error.errno() == Some(Errno::ENODEV) => self.jobs.lose(self.user_fence.value(), last),
            Err(error) => tracing::debug!(%error, "the kernel does not tell whether a queue is idle"),
        }
    }

    pub(super) fn dependency(&self, sequence: u64) -> CsChunkDep {
        let CsFence { ctx_id, ip_type, ip_instance, ring, seq_no: handle } = self.number(sequence);
        CsChunkDep { ip_type, ip_instance, ring, ctx_id, handle }
    }

    pub(super) fn number(&self, sequence: u64) -> CsFence {
        CsFence { ctx_id: self.context.id(), ip_type: self.ip.raw(), ip_instance: 0, ring: self.ring, seq_no: sequence }
    }
}

/// The longest time that dropping a queue waits for its last submission. RADV gives up after a second (Mesa 25.0.7
/// `radv_amdgpu_cs.c`, `radv_amdgpu_ctx_wait_idle`).
const DRAIN: Duration = Duration::from_secs(2);

/// The end of a queue: it is dropped with the last handle, waits for the jobs and releases the ring.
#[derive(Debug)]
pub(super) struct End {
    shared: Arc<Shared>,
    /// `true` if dropping the last handle must not wait.
    is_abandoned: AtomicBool,
}

impl End {
    /// Creates the end of a queue; dropping it waits.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, is_abandoned: AtomicBool::new(false) }
    }

    /// Makes dropping the value return without waiting.
    pub(super) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let Self { shared, is_abandoned } = self;
        let deadline = if *is_abandoned.get_mut() { Deadline::POLL } else { Deadline::after(DRAIN) };
        let outcome = shared.wait(shared.jobs.last(), deadline);
        if outcome.is_err() {
            // Work was lost, or the kernel does not support this query. Jobs still in the queue use their memory until they have
            // ended.
            shared.wait_for_the_end(deadline);
        }
        shared.forget_memory();
        shared.context.give_back_queue(shared.ip, shared.ring);
        let (ip, ring) = (shared.ip, shared.ring);
        match outcome {
            Ok(true) => {}
            // Fences may still observe the end. The kernel orders every unbinding after the running jobs.
            Ok(false) => tracing::warn!(%ip, ring, "queue dropped while its jobs still run"),
            Err(error) => tracing::warn!(%ip, ring, %error, "queue dropped after an error"),
        }
    }
}
