//! The steps of a submission: reserve its place, make its plan and its kernel calls, and commit it.

use super::{
    in_flight::InFlight,
    listing::{Request, no_memory},
    plan::Plan,
    state::QueueState,
};
use crate::{
    cs::{BoListMode, CommandList, Keep, Submission, SubmitError, SyncPoint},
    host_memory::{self, TryBox},
    winsys::{ChunkScratch, Chunks, Deadline, Error as WinsysError, Event},
};

impl QueueState {
    /// Submits lists to this queue and, for a gang, to those of its other members. Returns the sequence number of the last call.
    pub(super) fn submit(
        &self,
        gang_members: &[(&Self, &[&CommandList])],
        submission: &Submission<'_>,
    ) -> Result<u64, SubmitError> {
        let request = Request { queue: self, gang_members, submission };
        // Before the lock of `begin`, because this runs code of the caller.
        let has_memory = submission.memory.binding_count() > 0;
        // Read first, so that the submission itself is not retired.
        let done = self.user_fence.value();
        let begun = self.in_flight.begin(done, |plan| !has_memory && request.is_same(plan)).map_err(no_memory)?;
        let mut guard = SubmissionGuard { state: self, begun: Some(begun) };
        let outcome = guard.submit(&request);
        let (sequence, events) = guard.end(submission.keep, done);
        // From here on no lock is held: observers may do anything.
        for event in events {
            self.device().notify(|| event);
        }
        match outcome {
            Ok(()) if sequence == 0 => Err(SubmitError::EmptySubmission),
            Ok(()) => {
                if tracing::level_enabled!(tracing::Level::TRACE) {
                    self.trace(sequence);
                }
                Ok(sequence)
            }
            Err(error) => {
                if let SubmitError::Winsys(error) | SubmitError::PartlySubmitted { source: error, .. } = &error {
                    self.note_loss(error);
                }
                Err(error)
            }
        }
    }

    #[cold]
    fn trace(&self, sequence: u64) {
        tracing::trace!(ip = %self.ip, ring = self.ring, sequence, "submitted");
    }

    /// Makes sync objects signal when the last submission has completed. Returns its sequence number.
    pub(super) fn signal_with_last(&self, signals: &[SyncPoint<'_>]) -> Result<u64, SubmitError> {
        for signal in signals {
            self.own("sync object", signal.syncobj.device())?;
        }
        let last = self.in_flight.last();
        let fence =
            if self.has_reached(last) { None } else { Some(self.context.fence_to_syncobj(self.ip, self.ring, last)?) };
        for SyncPoint { syncobj, point } in signals {
            match (&fence, point) {
                (Some(fence), _) => syncobj.transfer(*point, fence, 0)?,
                (None, 0) => syncobj.signal()?,
                (None, _) => syncobj.signal_point(*point)?,
            }
        }
        Ok(last)
    }

    /// Makes the kernel calls of a plan. The first one waits, and the last one signals.
    fn make_calls(
        &self,
        submission: &Submission<'_>,
        entry: &mut InFlight,
        plan: &mut Plan,
    ) -> Result<(), SubmitError> {
        if self.options.bo_list_mode == BoListMode::Kept {
            let count = entry.memory.len();
            plan.bos.keep_list(self.device(), &entry.lists, &mut entry.memory).map_err(no_memory)?;
            if entry.memory.len() > count {
                // The entry has more than its plan, so it must not serve another submission.
                entry.plan = 0;
            }
        }
        let Plan { bos, scratch, ibs, calls, dependencies, scheduled, waits, signals, events, .. } = plan;
        let is_observed = self.device().is_observed();
        events.clear();
        if is_observed {
            host_memory::reserve(events, calls.len()).map_err(no_memory)?;
        }
        let has_sync = submission.has_sync();
        for (part, range) in calls.iter().enumerate() {
            let (is_first, is_last) = (part == 0, part + 1 == calls.len());
            let mut call = Chunks {
                ibs: ibs.get(range.clone()).unwrap_or_default(),
                bos: bos.entries(),
                bo_list: bos.kernel_list(),
                user_fence: Some(&self.user_fence),
                ..Chunks::default()
            };
            if has_sync && is_first {
                (call.dependencies, call.scheduled, call.waits) = (&*dependencies, &*scheduled, &*waits);
            }
            if has_sync && is_last {
                call.signals = &*signals;
            }
            match self.call(&call, scratch) {
                Ok(sequence) => {
                    entry.accept(sequence);
                    if is_observed {
                        events.push(self.context.submitted(&call, sequence));
                    }
                }
                Err(source) if is_first => return Err(source.into()),
                Err(source) => return Err(SubmitError::PartlySubmitted { part, parts: calls.len(), source }),
            }
        }
        Ok(())
    }

    /// Makes one call. If memory is short, repeats it as the queue's retry policy allows: others may free memory in between, and
    /// submissions that have ended are retired.
    #[inline]
    fn call(&self, chunks: &Chunks<'_>, scratch: &mut ChunkScratch) -> Result<u64, WinsysError> {
        match self.context.submit_quiet(chunks, scratch) {
            Err(error @ WinsysError::OutOfMemory { .. }) => self.call_again(error, chunks, scratch),
            outcome => outcome,
        }
    }

    #[cold]
    fn call_again(
        &self,
        first: WinsysError,
        chunks: &Chunks<'_>,
        scratch: &mut ChunkScratch,
    ) -> Result<u64, WinsysError> {
        let retry = self.options.retry;
        let (mut error, end) = (first, Deadline::after(retry.total));
        while !end.remaining().is_zero() {
            self.in_flight.retire_up_to(self.user_fence.value());
            std::thread::sleep(retry.pause.min(end.remaining()));
            error = match self.context.submit_quiet(chunks, scratch) {
                Err(error @ WinsysError::OutOfMemory { .. }) => error,
                outcome => return outcome,
            };
        }
        Err(error)
    }
}

/// A submission that is being made. When it ends, even by a panic in code of the caller or of the kernel, what the kernel has
/// accepted is in flight, and its plan serves the next one.
struct SubmissionGuard<'q> {
    state: &'q QueueState,
    /// Its place among the submissions in flight, with the resources that it uses, and its plan; `None` after the end.
    begun: Option<(InFlight, TryBox<Plan>)>,
}

impl SubmissionGuard<'_> {
    /// Makes the submission. After an error some of its calls may have been made.
    fn submit(&mut self, request: &Request<'_>) -> Result<(), SubmitError> {
        let Some((entry, plan)) = &mut self.begun else { return Ok(()) };
        request.prepare(entry, plan)?;
        self.state.make_calls(request.submission, entry, plan)
    }

    /// Commits what the kernel has accepted. Then drops, without a lock, what is no longer kept, including the resources of
    /// submissions up to `done`. Returns the last sequence number, and the events for observers.
    fn end(&mut self, keep: Keep, done: u64) -> (u64, Vec<Event>) {
        let Some((entry, mut plan)) = self.begun.take() else { return (0, Vec::new()) };
        let (sequence, events) = (entry.sequence(), std::mem::take(&mut plan.events));
        drop(self.state.in_flight.commit(entry, Some(plan), keep, done));
        (sequence, events)
    }
}

/// Ends a submission after a panic.
impl Drop for SubmissionGuard<'_> {
    fn drop(&mut self) {
        self.end(Keep::Everything, 0);
    }
}
