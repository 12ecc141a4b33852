//! A submission that is being made and keeps resources alive.

use super::{buffers::Taken, job::Job, jobs::Jobs, over::Over};
use crate::host_memory::{NoHostMemory, TryBox};

/// A submission that is being made. When it ends, even by a panic of an observer, the resources that the kernel uses stay alive as
/// long as it runs, and the next submission gets the buffers.
///
/// Filled in place, because moving it after it is filled takes longer than filling it.
pub(in crate::cs) struct Underway<'q, B> {
    jobs: &'q Jobs<B>,
    /// `true` between `begin` and `end`.
    has_begun: bool,
    /// Taken only by `end`, like the buffers.
    job: Option<TryBox<Job>>,
    /// The buffers of the queue, unless the submission overtakes another one that has them.
    common: Option<Taken<'q, B>>,
    /// The buffers of a submission that overtakes another one.
    own: Option<TryBox<B>>,
}

impl<'q, B> Underway<'q, B> {
    /// Returns a submission that has not begun.
    #[inline]
    pub(in crate::cs) fn of(jobs: &'q Jobs<B>) -> Self {
        Self { jobs, has_begun: false, job: None, common: None, own: None }
    }

    /// Returns the job and the buffers; never `None` between `begin` and `end`. The job is empty or a finished one.
    #[inline]
    pub(in crate::cs) fn parts(&mut self) -> Option<(&mut Job, &mut B)> {
        let buffers = match &mut self.common {
            Some(common) => &mut common.parts().buffers,
            None => self.own.as_deref_mut()?,
        };
        Some((self.job.as_deref_mut()?, buffers))
    }

    /// Continues with an empty job, because this one has too many resources that are not used again.
    #[cold]
    pub(in crate::cs) fn take_empty_job(&mut self, over: &mut Over) -> Result<(), NoHostMemory> {
        let spare = self.jobs.state().spare.pop();
        let empty = match spare {
            Some(job) => job,
            None => TryBox::new(Job::default())?,
        };
        over.rest().reused = self.job.replace(empty);
        Ok(())
    }

    /// Ends the submission after the ioctl. Returns the last sequence number that the kernel assigned, or `None` if it accepted
    /// nothing. Moves the resources to [drop](Jobs::let_go), including those of jobs up to `done`, to `over`.
    #[expect(clippy::inline_always, reason = "a part of the one call that nearly all submissions make")]
    #[inline(always)]
    pub(in crate::cs) fn end(&mut self, done: u64, over: &mut Over) -> Option<u64> {
        let Self { jobs, has_begun, job, common, own } = self;
        let job = job.take();
        *has_begun = false;
        let mut state = jobs.state();
        let (sequence, refused) = state.add(job);
        if let Some(finished) = state.take_up_to(done) {
            state.empty(finished, done, over);
        }
        let unkept = own.take().and_then(|own| state.keep_for_overtaking(own));
        jobs.close(state);
        // Returned after the job was added, because the next submission may reuse it.
        *common = None;
        if refused.is_some() {
            over.rest().refused = refused;
        }
        drop(unkept);
        sequence
    }
}

/// Ends a submission after a panic, or before it had a job.
impl<B> Drop for Underway<'_, B> {
    #[inline]
    fn drop(&mut self) {
        if self.has_begun {
            self.break_off();
        }
    }
}

impl<B> Underway<'_, B> {
    #[cold]
    fn break_off(&mut self) {
        self.end(0, &mut Over::default());
    }
}

impl<B: Default> Underway<'_, B> {
    /// Begins the submission when buffers are available, and reserves its place among the running ones: from here on it can be kept
    /// without an allocation. `waits` is `true` if the kernel may have to wait for sync objects of the submission.
    ///
    /// `done` is the last sequence number that the GPU has written. The submission reuses the oldest job if that has finished and
    /// either keeps nothing or, according to `is_same`, has the same lists, so that no references are counted. Any other finished
    /// job stays in `running`: a thread that waited for its end can get its lists back at once, even while this submission is made.
    #[inline]
    pub(in crate::cs) fn begin(
        &mut self,
        done: u64,
        waits: bool,
        is_same: impl FnOnce(&Job) -> bool,
    ) -> Result<(), NoHostMemory> {
        let jobs = self.jobs;
        self.common = jobs.buffers.take_or_overtake(waits);
        let mut state = jobs.state();
        state.promise()?;
        self.has_begun = true;
        if self.common.is_none() {
            self.own = state.overtaking.pop();
        }
        match state.take_front_if(|job| job.sequence <= done && (job.is_empty() || is_same(job))) {
            Some(mut job) => {
                job.sequence = 0;
                self.job = Some(job);
            }
            None => self.job = state.spare.pop(),
        }
        drop(state);
        if self.job.is_none() || (self.common.is_none() && self.own.is_none()) {
            self.make_containers()?;
        }
        Ok(())
    }

    #[cold]
    fn make_containers(&mut self) -> Result<(), NoHostMemory> {
        if self.job.is_none() {
            self.job = Some(TryBox::new(Job::default())?);
        }
        if self.common.is_none() && self.own.is_none() {
            self.own = Some(TryBox::new(B::default())?);
        }
        Ok(())
    }
}
