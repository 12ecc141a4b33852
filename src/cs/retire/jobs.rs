//! The running submissions of a queue.

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, atomic::Ordering},
};

use super::{
    buffers::{Buffers, Taken},
    job::{Job, Same},
    over::{Over, Rest},
};
use crate::{
    cs::record::list::recorded::Recorded,
    host_memory::{NoHostMemory, TryBox},
    sync::{AtomicU64, BriefGuard, BriefLock},
};

/// The submissions of a queue that have not been retired, and the buffers `B` in which the next one is built.
///
/// A submission that keeps resources alive leaves a [`Job`]. One that keeps nothing leaves only its number, for which it needs no
/// lock but that of the buffers. The lock of the jobs is taken once to begin a submission and once to end it. It is held for a few
/// steps only: never during an ioctl, and never while resources are dropped, because that may unbind and close BOs and notify
/// observers.
#[derive(Debug, Default)]
pub(in crate::cs) struct Jobs<B> {
    pub(super) buffers: Buffers<B>,
    state: BriefLock<State<B>>,
    /// The sequence number of the oldest job; 0 if there is none. Changes only under the lock of the state.
    oldest: AtomicU64,
    /// The last sequence number of a submission that left no job. Changes only while its submission has the buffers.
    last_without_job: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct State<B> {
    /// Jobs in the order of their sequence numbers.
    running: VecDeque<TryBox<Job>>,
    /// Places in `running` for submissions that have begun. A submission that the kernel has accepted must be kept, so its place is
    /// reserved before the ioctl.
    promised: usize,
    /// Empty containers of finished submissions, so that a steady sequence of submissions allocates nothing.
    pub(super) spare: Vec<TryBox<Job>>,
    /// The first submission that was lost, for a hang report.
    lost: Option<Stuck>,
    /// The last sequence number that the kernel assigned to a job.
    last: u64,
    /// The last sequence number of which it is known that its submission has ended, written or not.
    ended: u64,
    /// `true` if work was lost, so that running submissions may end without writing their sequence numbers.
    is_in_doubt: bool,
    /// Buffers of submissions that overtook another one.
    pub(super) overtaking: Vec<TryBox<B>>,
}

/// A submission at which a queue stopped: its sequence number, and its lists if it keeps them.
pub(in crate::cs) type Stuck = (u64, Vec<Arc<Recorded>>);

impl<B> Jobs<B> {
    /// Takes the buffers for a submission that keeps nothing, if no other submission has them. `waits` is `true` if the kernel may
    /// have to wait for sync objects of the submission.
    #[inline]
    pub(in crate::cs) fn take_buffers(&self, waits: bool) -> Option<Taken<'_, B>> {
        self.buffers.take_if_free(waits)
    }

    /// Ends a submission that keeps nothing, with the last sequence number that the kernel assigned to it.
    #[inline]
    pub(in crate::cs) fn end_without_job(&self, taken: Taken<'_, B>, sequence: u64) {
        self.last_without_job.store(sequence, Ordering::Release);
        drop(taken);
    }

    /// Returns `true` if there are jobs up to this sequence number.
    #[inline]
    pub(in crate::cs) fn has_job_up_to(&self, done: impl FnOnce() -> u64) -> bool {
        match self.oldest.load(Ordering::Relaxed) {
            0 => false,
            oldest => oldest <= done(),
        }
    }

    /// Calls `change` with the buffers when no submission has them. `change` must be short, because other submissions wait for it.
    pub(in crate::cs) fn change_buffers<R>(&self, change: impl FnOnce(&mut B) -> R) -> R {
        change(&mut self.buffers.take().parts().buffers)
    }

    /// Takes the buffers of submissions that overtook another one.
    pub(in crate::cs) fn take_overtaking(&self) -> Vec<TryBox<B>> {
        mem::take(&mut self.state().overtaking)
    }

    #[inline]
    pub(super) fn state(&self) -> BriefGuard<'_, State<B>> {
        self.state.lock()
    }

    /// Releases the lock after the jobs have changed.
    #[inline]
    pub(super) fn close(&self, state: BriefGuard<'_, State<B>>) {
        self.oldest.store(state.running.front().map_or(0, |job| job.sequence), Ordering::Relaxed);
        drop(state);
    }

    /// Drops the resources of submissions up to this sequence number.
    pub(in crate::cs) fn retire_up_to(&self, done: u64) {
        let mut state = self.state();
        let job = state.take_up_to(done);
        self.close(state);
        if let Some(job) = job {
            self.let_go_of(job, done);
        }
    }

    /// Drops the resources in `over`, and then those of further submissions up to this sequence number.
    #[inline]
    pub(in crate::cs) fn let_go(&self, over: &mut Over, done: u64) {
        // In place, because moving it after it was stored takes longer than storing it.
        if over.rest.is_some() {
            self.let_go_of_rest(over, done);
        }
        over.few = None;
    }

    #[cold]
    fn let_go_of_rest(&self, over: &mut Over, done: u64) {
        let Some(Rest { finished, reused, refused, changed, memory }) = over.rest.take() else { return };
        for job in [finished, reused, refused].into_iter().flatten() {
            self.let_go_of(job, done);
        }
        drop((changed, memory));
    }

    #[inline(never)]
    fn let_go_of(&self, job: TryBox<Job>, done: u64) {
        let mut next = Some(job);
        while let Some(mut job) = next {
            job.clear();
            let mut state = self.state();
            // If there is no memory to keep the container, it is dropped after the lock is released.
            let unkept = if state.spare.try_reserve(1).is_ok() {
                state.spare.push(job);
                None
            } else {
                Some(job)
            };
            next = state.take_up_to(done);
            self.close(state);
            drop(unkept);
        }
    }

    /// Notes that work was lost: running submissions may end without writing their sequence numbers.
    pub(in crate::cs) fn doubt(&self) {
        self.state().is_in_doubt = true;
    }

    /// Returns `true` if a submission after `done` runs that may end without writing its sequence number.
    pub(in crate::cs) fn are_in_doubt(&self, done: u64) -> bool {
        let state = self.state();
        state.is_in_doubt && (!state.running.is_empty() || self.last_of(&state) > state.ended.max(done))
    }

    /// Drops the resources of submissions up to `over`, all of which have ended. Those after `done` ended without writing their
    /// sequence numbers, so they were lost; the first of them is kept for a report.
    pub(in crate::cs) fn lose(&self, done: u64, over: u64) {
        self.retire_up_to(done);
        let mut state = self.state();
        state.is_in_doubt = false;
        if state.lost.is_none() && over > done {
            state.lost = self.first_after(&state, done);
        }
        state.ended = state.ended.max(over);
        drop(state);
        self.retire_up_to(over);
    }

    /// Returns the submission after `done` at which the queue stopped: the first lost one, otherwise the oldest running one.
    pub(in crate::cs) fn stuck_behind(&self, done: u64) -> Option<Stuck> {
        let state = self.state();
        if let Some(lost) = &state.lost {
            return Some(lost).filter(|(sequence, _)| *sequence > done).cloned();
        }
        self.first_after(&state, done)
    }

    /// Returns the oldest submission after `done` that has not ended.
    fn first_after(&self, state: &State<B>, done: u64) -> Option<Stuck> {
        let first = state.ended.max(done) + 1;
        match state.running.iter().find(|job| job.has(first)) {
            Some(job) => Some((job.sequence, job.lists.clone())),
            None => (self.last_of(state) >= first).then(|| (first, Vec::new())),
        }
    }

    /// Returns the last sequence number that the kernel assigned; 0 before the first.
    pub(in crate::cs) fn last(&self) -> u64 {
        self.last_of(&self.state())
    }

    fn last_of(&self, state: &State<B>) -> u64 {
        state.last.max(self.last_without_job.load(Ordering::Acquire))
    }

    /// Returns the number of jobs that have not been retired.
    pub(in crate::cs) fn job_count(&self) -> usize {
        self.state().running.len()
    }

    /// Returns the number of submissions after `done` that have not ended. A submission that leaves no job counts as often as it
    /// made kernel calls.
    pub(in crate::cs) fn count_after(&self, done: u64) -> usize {
        let state = self.state();
        let ended = state.ended.max(done);
        let (mut jobs, mut without_job) = (0, 0);
        // The numbers above this one have been examined.
        let mut rest = self.last_of(&state);
        for job in state.running.iter().rev().take_while(|job| job.sequence > ended) {
            jobs += 1;
            without_job += rest.saturating_sub(job.sequence);
            rest = rest.min(job.first.saturating_sub(1));
        }
        without_job += rest.saturating_sub(ended);
        jobs + usize::try_from(without_job).unwrap_or(usize::MAX)
    }

    /// Leaks the lists of jobs that still run and returns their number. Nothing will observe the end of these jobs, so their IBs
    /// must not be reused. The kernel's own references keep the memory until the jobs have ended.
    pub(in crate::cs) fn abandon(&self) -> usize {
        let mut state = self.state();
        let running = mem::take(&mut state.running);
        self.close(state);
        let count = running.len();
        for mut job in running {
            mem::forget(mem::take(&mut job.lists));
        }
        count
    }
}

impl<B> State<B> {
    /// Keeps buffers for the next submission that overtakes another one. Buffers that cannot be stored are returned.
    #[cold]
    pub(super) fn keep_for_overtaking(&mut self, buffers: TryBox<B>) -> Option<TryBox<B>> {
        if self.overtaking.try_reserve(1).is_err() {
            return Some(buffers);
        }
        self.overtaking.push(buffers);
        None
    }

    /// Takes the resources of a small finished job and keeps the job as spare. A large job, or further finished jobs, are put into
    /// `over` and emptied later.
    #[inline(never)]
    pub(super) fn empty(&mut self, mut finished: TryBox<Job>, done: u64, over: &mut Over) {
        let few = if self.spare.try_reserve(1).is_ok() { finished.take_few(Same::default()) } else { None };
        let Some(few) = few else {
            over.rest().finished = Some(finished);
            return;
        };
        over.few = Some(few);
        finished.sequence = 0;
        self.spare.push(finished);
        if let Some(further) = self.take_up_to(done) {
            over.rest().finished = Some(further);
        }
    }

    /// Reserves a place among the running submissions.
    #[inline]
    pub(super) fn promise(&mut self) -> Result<(), NoHostMemory> {
        self.running.try_reserve(self.promised + 1).map_err(|_| NoHostMemory)?;
        self.promised += 1;
        Ok(())
    }

    /// Adds a job that the kernel accepted in its reserved place and returns its sequence number. A job of which it accepted
    /// nothing is returned.
    #[inline]
    pub(super) fn add(&mut self, job: Option<TryBox<Job>>) -> (Option<u64>, Option<TryBox<Job>>) {
        self.promised = self.promised.saturating_sub(1);
        match job {
            Some(job) if job.sequence > 0 => {
                let sequence = job.sequence;
                if sequence > self.last {
                    self.last = sequence;
                    self.running.push_back(job);
                } else {
                    self.insert(job);
                }
                (Some(sequence), None)
            }
            job => (None, job),
        }
    }

    /// Inserts a submission that a submission of another thread has overtaken.
    #[cold]
    fn insert(&mut self, job: TryBox<Job>) {
        let at = self.running.partition_point(|other| other.sequence < job.sequence);
        self.running.insert(at, job);
    }

    /// Takes the oldest submission if its sequence number is at most `done`.
    #[inline]
    pub(super) fn take_up_to(&mut self, done: u64) -> Option<TryBox<Job>> {
        self.take_front_if(|job| job.sequence <= done)
    }

    /// Takes the oldest submission if it meets a condition. The standard library's function for this is not inlined.
    #[inline]
    pub(super) fn take_front_if(&mut self, is_wanted: impl FnOnce(&Job) -> bool) -> Option<TryBox<Job>> {
        if is_wanted(self.running.front()?) { self.running.pop_front() } else { None }
    }
}
