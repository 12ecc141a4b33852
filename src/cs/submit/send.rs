//! Submission: taking the buffers, naming resources, making the kernel calls, and letting go of what they leave.

use std::{mem, sync::Arc};

use super::{
    call::Beside,
    shared::Shared,
    submit_buffers::{Flags, SUBMISSION, SubmitBuffers},
};
use crate::{
    cs::{
        CommandList, Error, Fence, Keep, Result, Submission, SyncPoint,
        retire::{
            buffers::{Parts, Taken},
            job::{Job, Unkept},
            over::Over,
            resources::{has_lists, name_in_empty_job, name_resources},
            underway::Underway,
        },
    },
    winsys::{Event, ResidencySet},
};

/// Runs when the queue and all its fences are dropped.
impl Drop for Shared {
    fn drop(&mut self) {
        if self.jobs.job_count() == 0 {
            return;
        }
        self.jobs.doubt();
        self.retire();
        let abandoned = self.jobs.abandon();
        if abandoned > 0 {
            tracing::error!(abandoned, "memory lost: the kernel does not report the end of submissions that use it");
        }
    }
}

/// Leftovers of a submission, which are dropped or reported without a lock.
#[derive(Default)]
struct Left {
    over: Over,
    unkept: Option<Unkept>,
    report: Option<Report>,
}

/// Events for observers or the error to return; few submissions have either.
#[derive(Default)]
struct Report {
    events: Vec<Event>,
    /// The reason why the kernel did not accept all of it. Not boxed, because there may be no memory for a box.
    error: Option<Error>,
}

impl Left {
    /// Returns `true` if there is nothing to drop and nothing to report.
    #[inline]
    fn is_empty(&self) -> bool {
        self.over.is_empty() && self.unkept.is_none() && self.report.is_none()
    }

    /// Stores the reason why the kernel did not accept all of the submission.
    #[cold]
    fn refuse(&mut self, error: Error) {
        self.report.get_or_insert_default().error = Some(error);
    }
}

impl Shared {
    /// Drops the state that makes later submissions cheaper.
    pub(super) fn forget_memory(&self) {
        // Dropped at the end of the function, without the lock.
        let _list = self.jobs.change_buffers(SubmitBuffers::take_kernel_list);
        drop(self.jobs.take_overtaking());
    }

    /// Submits lists to this queue and, for a gang, to the queues in `beside`.
    #[inline]
    pub(super) fn send(self: &Arc<Self>, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<Fence> {
        let sequence = self.send_numbered(beside, submission)?;
        Ok(Fence::new(Arc::clone(self), sequence))
    }

    /// Submits, and returns the sequence number that the kernel assigned.
    pub(super) fn send_numbered(&self, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<u64> {
        if submission.keep != Keep::Nothing {
            return self.send_kept(beside, submission);
        }
        match self.jobs.take_buffers(!submission.waits.is_empty()) {
            Some(taken) => self.send_unkept(taken, beside, submission),
            None => self.send_kept(beside, submission),
        }
    }

    /// Reports a submission to subscribers of traces.
    #[inline]
    fn trace(&self, sequence: u64) {
        if tracing::level_enabled!(tracing::Level::TRACE) {
            self.trace_heard(sequence);
        }
    }

    #[cold]
    fn trace_heard(&self, sequence: u64) {
        tracing::trace!(ip = %self.ip, ring = self.ring, sequence, "submitted");
    }

    /// Makes the kernel call of a submission that has only lists and sets and keeps nothing. Returns the buffers, and does nothing, if
    /// it must be made in another way.
    #[inline]
    pub(super) fn send_lent<'q, 'l>(
        &'q self,
        mut taken: Taken<'q, SubmitBuffers>,
        lists: impl Iterator<Item = Option<&'l CommandList>> + Clone,
        sets: &[&ResidencySet],
        flags: Flags,
    ) -> Result<Result<u64>, Taken<'q, SubmitBuffers>> {
        match taken.parts().buffers.send_lent(self, lists, sets, flags) {
            Some(Ok(sequence)) => {
                self.jobs.end_without_job(taken, sequence);
                self.retire_finished();
                self.trace(sequence);
                Ok(Ok(sequence))
            }
            Some(Err(error)) => {
                drop(taken);
                Ok(Err(self.refused(error.into())))
            }
            None => Err(taken),
        }
    }

    /// Retires what has finished, if any of it keeps resources.
    #[inline]
    fn retire_finished(&self) {
        if self.jobs.has_job_up_to(|| self.user_fence.value()) {
            self.retire();
        }
    }

    /// Makes the kernel calls of a submission that keeps nothing.
    #[inline(never)]
    fn send_unkept(
        &self,
        taken: Taken<'_, SubmitBuffers>,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
    ) -> Result<u64> {
        let is_plain = beside.is_empty()
            && submission.preambles.is_none()
            && !submission.has_sync()
            && submission.memory.binding_count() == 0;
        if !is_plain {
            return self.send_unkept_slowly(taken, beside, submission);
        }
        let lists = submission.lists.iter().map(|list| Some(*list));
        match self.send_lent(taken, lists, submission.sets, submission.flags()) {
            Ok(outcome) => outcome,
            Err(taken) => self.send_unkept_slowly(taken, beside, submission),
        }
    }

    /// Makes the kernel calls of any submission that keeps nothing.
    #[inline(never)]
    fn send_unkept_slowly(
        &self,
        mut taken: Taken<'_, SubmitBuffers>,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
    ) -> Result<u64> {
        let mut over = Over::default();
        let Parts { job, buffers } = taken.parts();
        // A panic may have left something.
        job.clear();
        let outcome = match name_in_empty_job(job, buffers, beside, submission) {
            Ok(()) => buffers.send(self, beside, submission, job, &mut over),
            Err(error) => Err(error.of(SUBMISSION).into()),
        };
        let sequence = job.sequence;
        let unkept = if job.sets.is_empty() { None } else { Some(job.take_sets()) };
        // Lists of preambles, chains and gangs. The caller holds references to all, but may drop them at any time after the call.
        let others = if job.lists.is_empty() { Vec::new() } else { mem::take(&mut job.lists) };
        job.clear();
        let events = buffers.take_events();
        if sequence > 0 {
            self.jobs.end_without_job(taken, sequence);
        } else {
            drop(taken);
        }
        // Resources are dropped, and observers called, without the lock.
        drop((unkept, others));
        drop(over);
        self.retire_finished();
        for event in events {
            self.device().tell(|| event);
        }
        match outcome {
            Ok(()) if sequence == 0 => Err(Error::NothingToSubmit),
            Ok(()) => {
                self.trace(sequence);
                Ok(sequence)
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// Makes the kernel calls of a submission that keeps resources.
    #[inline(never)]
    fn send_kept(&self, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<u64> {
        let mut left = Left::default();
        // Read first, so that the submission itself is not retired: the next one may run the same lists.
        let done = self.user_fence.value();
        let sequence = self.hand_over(done, beside, submission, &mut left);
        if left.is_empty() {
            // There is nothing to drop, and `forget` saves the checks of the drop.
            mem::forget(left);
        } else {
            self.finish(&mut left, done)?;
        }
        let sequence = sequence.ok_or(Error::NothingToSubmit)?;
        self.trace(sequence);
        Ok(sequence)
    }

    /// Drops the leftovers of a submission, and reports its events and error.
    #[inline(never)]
    fn finish(&self, left: &mut Left, done: u64) -> Result<()> {
        left.unkept = None;
        // From here on the job is kept alive, even if an observer panics.
        self.jobs.let_go(&mut left.over, done);
        left.report.take().map_or(Ok(()), |report| self.report(report))
    }

    /// Notifies observers of a submission, and returns the reason why the kernel did not accept all of it.
    #[cold]
    fn report(&self, report: Report) -> Result<()> {
        let Report { events, error } = report;
        for event in events {
            self.device().tell(|| event);
        }
        error.map_or(Ok(()), |error| Err(self.refused(error)))
    }

    /// Notes the loss that an error of a submission reports, and returns the error.
    #[cold]
    fn refused(&self, error: Error) -> Error {
        if let Error::Winsys(error) | Error::PartlySubmitted { source: error, .. } = &error {
            self.note_loss(error);
        }
        error
    }

    /// Makes the kernel calls of a submission, and keeps its resources alive. Returns the last sequence number that the kernel
    /// assigned.
    ///
    /// The kernel waits inside the ioctl for sync objects that have no fence yet; other threads are not blocked by this.
    #[expect(clippy::inline_always, reason = "the one call that nearly all submissions make")]
    #[inline(always)]
    fn hand_over(
        &self,
        done: u64,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        left: &mut Left,
    ) -> Option<u64> {
        let is_same = |job: &Job| has_lists(job, beside, submission);
        let mut underway = Underway::of(&self.jobs);
        if let Err(error) = underway.begin(done, !submission.waits.is_empty(), is_same) {
            left.refuse(error.of(SUBMISSION).into());
            return None;
        }
        self.hand_over_resources(&mut underway, beside, submission, left);
        underway.end(done, &mut left.over)
    }

    /// Names the resources of a submission, and makes its kernel calls.
    #[expect(clippy::inline_always, reason = "a part of the one call that nearly all submissions make")]
    #[inline(always)]
    fn hand_over_resources(
        &self,
        underway: &mut Underway<'_, SubmitBuffers>,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        left: &mut Left,
    ) {
        // Uses `match`, because a closure here is a call, and its captures go through memory.
        match name_resources(underway, &mut left.over, beside, submission) {
            Ok(()) => {
                if let Some((job, buffers)) = underway.parts()
                    && let Err(error) = buffers.send(self, beside, submission, job, &mut left.over)
                {
                    left.refuse(error);
                }
            }
            Err(error) => left.refuse(error.of(SUBMISSION).into()),
        }
        if let Some((job, buffers)) = underway.parts() {
            if submission.keep != Keep::Everything {
                if !job.sets.is_empty() {
                    left.unkept = Some(job.take_sets());
                }
                if submission.keep == Keep::Nothing {
                    // The caller holds references to all lists.
                    job.lists.clear();
                }
            }
            if !buffers.events.is_empty() {
                left.report.get_or_insert_default().events = buffers.take_events();
            }
        }
    }

    /// Makes sync objects signal when the last submission has completed.
    pub(super) fn signal_with_last(self: &Arc<Self>, signals: &[SyncPoint<'_>]) -> Result<Fence> {
        for signal in signals {
            self.own("sync object", signal.syncobj.device())?;
        }
        let last = self.jobs.last();
        let fence =
            if self.has_reached(last) { None } else { Some(self.context.fence_to_syncobj(self.ip, self.ring, last)?) };
        for SyncPoint { syncobj, point } in signals {
            match (&fence, point) {
                (Some(fence), _) => syncobj.transfer(*point, fence, 0)?,
                (None, 0) => syncobj.signal()?,
                (None, _) => syncobj.signal_point(*point)?,
            }
        }
        Ok(Fence::new(Arc::clone(self), last))
    }
}
