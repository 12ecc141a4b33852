//! The running submissions of a queue.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use parking_lot::{Condvar, Mutex};

use super::job::{Few, Job, Same};
use crate::{
    cs::record::list::recorded::Recorded,
    host_memory::{self, NoHostMemory, TryBox},
    sync::BriefLock,
    winsys::Binding,
};

/// The longest wait for another thread's submission before the state is checked again.
const LOOK: Duration = Duration::from_millis(1);

/// The submissions of a queue that have not been retired, and the buffers `B` in which the next one is built.
///
/// One submission has the buffers at a time. The lock inside is taken once to begin a submission and once to end it, and no other
/// lock is needed for a submission. It is held for a few steps only: never during an ioctl, and never while resources are dropped,
/// because that may unbind and close BOs and notify observers.
#[derive(Debug, Default)]
pub(in crate::cs) struct Jobs<B> {
    state: BriefLock<State<B>>,
    /// The lock of threads that wait for the buffers; it is taken before the lock of the state.
    waiting: Mutex<()>,
    given_back: Condvar,
}

#[derive(Debug, Default)]
struct State<B> {
    /// Jobs in the order of their sequence numbers.
    running: VecDeque<TryBox<Job>>,
    /// Places in `running` for submissions that have begun. A submission that the kernel has accepted must be kept, so its place is
    /// reserved before the ioctl.
    promised: usize,
    /// Empty containers of finished submissions, so that a steady sequence of submissions allocates nothing.
    spare: Vec<TryBox<Job>>,
    /// The first submission that was lost. Its lists are kept for a hang report.
    lost: Option<TryBox<Job>>,
    /// The last sequence number that the kernel assigned.
    last: u64,
    /// `true` if work was lost, so that running jobs may end without writing their sequence numbers.
    is_in_doubt: bool,
    /// The buffers; `None` while a submission has them, and before the first one.
    buffers: Option<TryBox<B>>,
    turn: Turn,
    /// Buffers of submissions that overtook another one.
    overtaking: Vec<TryBox<B>>,
    /// Number of threads that wait for the buffers.
    waiting: usize,
}

/// State of the buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// No submission has the buffers.
    #[default]
    Free,
    /// A submission has the buffers, and the kernel does not wait for sync objects in it.
    Taken,
    /// A submission has the buffers and waits for sync objects, for which the kernel may take seconds. Other submissions meanwhile
    /// use buffers of their own.
    Waiting,
}

/// The resources of jobs that have ended. Dropping the value drops them; [`Jobs::let_go`] also keeps the containers of large jobs.
#[derive(Debug, Default)]
pub(in crate::cs) struct Over {
    /// The resources of a small finished job.
    few: Option<Few>,
    rest: Option<Rest>,
}

/// Resources that only few submissions leave.
#[derive(Debug, Default)]
struct Rest {
    /// The oldest finished job, unless it was small. More finished jobs may follow it.
    finished: Option<TryBox<Job>>,
    /// A job whose lists are used again, but not its other resources.
    reused: Option<TryBox<Job>>,
    /// A job of which the kernel accepted nothing.
    refused: Option<TryBox<Job>>,
    /// Resources of the reused job that the submission does not use.
    changed: Option<Few>,
    memory: Vec<Binding>,
}

impl Over {
    /// Returns `true` if there are no resources to drop.
    #[inline]
    pub(in crate::cs) fn is_empty(&self) -> bool {
        self.few.is_none() && self.rest.is_none()
    }

    /// Adds resources of the reused job that the submission does not use.
    pub(in crate::cs) fn add_few(&mut self, few: Few) {
        self.rest().changed = Some(few);
    }

    /// Adds memory of the reused job, from index `from` on.
    #[cold]
    pub(in crate::cs) fn take_memory(&mut self, kept: &mut Vec<Binding>, from: usize) -> Result<(), NoHostMemory> {
        host_memory::extend(&mut self.rest().memory, kept.drain(from..))
    }

    #[cold]
    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }
}

/// A submission that is being made. When it ends, even by a panic of an observer, the resources that the kernel uses stay alive as
/// long as it runs, and the next submission gets the buffers.
///
/// Filled in place, because moving it after it is filled takes longer than filling it.
pub(in crate::cs) struct Underway<'q, B> {
    jobs: &'q Jobs<B>,
    /// `true` between `begin` and `end`.
    has_begun: bool,
    is_overtaking: bool,
    /// Taken only by `end`, like the buffers.
    job: Option<TryBox<Job>>,
    buffers: Option<TryBox<B>>,
}

impl<'q, B> Underway<'q, B> {
    /// Returns a submission that has not begun.
    #[inline]
    pub(in crate::cs) fn of(jobs: &'q Jobs<B>) -> Self {
        Self { jobs, has_begun: false, is_overtaking: false, job: None, buffers: None }
    }

    /// Returns the job and the buffers; never `None` between `begin` and `end`. The job is empty or a finished one.
    #[inline]
    pub(in crate::cs) fn parts(&mut self) -> Option<(&mut Job, &mut B)> {
        Some((self.job.as_deref_mut()?, self.buffers.as_deref_mut()?))
    }

    /// Continues with an empty job, because this one has too many resources that are not used again.
    #[cold]
    pub(in crate::cs) fn take_empty_job(&mut self, over: &mut Over) -> Result<(), NoHostMemory> {
        let spare = self.jobs.state.lock().spare.pop();
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
        let Self { jobs, has_begun, is_overtaking, job, buffers } = self;
        let (job, buffers) = (job.take(), buffers.take());
        *has_begun = false;
        let mut state = jobs.state.lock();
        let (sequence, refused) = state.add(job);
        if let Some(finished) = state.take_up_to(done) {
            state.empty(finished, done, over);
        }
        let (is_awaited, unkept) = state.give_back(buffers, *is_overtaking);
        drop(state);
        if is_awaited {
            jobs.notify();
        }
        if refused.is_some() {
            over.rest().refused = refused;
        }
        if let Some(unkept) = unkept {
            drop(unkept);
        }
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
        let mut state = jobs.state.lock();
        while !state.is_open() {
            drop(state);
            jobs.wait();
            state = jobs.state.lock();
        }
        state.promise()?;
        self.has_begun = true;
        (self.is_overtaking, self.buffers) = state.take_buffers(waits);
        match state.take_front_if(|job| job.sequence <= done && (job.is_empty() || is_same(job))) {
            Some(mut job) => {
                job.sequence = 0;
                self.job = Some(job);
            }
            None => self.job = state.spare.pop(),
        }
        drop(state);
        if self.job.is_none() || self.buffers.is_none() {
            self.make_containers()?;
        }
        Ok(())
    }

    #[cold]
    fn make_containers(&mut self) -> Result<(), NoHostMemory> {
        if self.job.is_none() {
            self.job = Some(TryBox::new(Job::default())?);
        }
        if self.buffers.is_none() {
            self.buffers = Some(TryBox::new(B::default())?);
        }
        Ok(())
    }
}

impl<B> Jobs<B> {
    /// Calls `change` with the buffers when no submission has them. `change` must be short, because the lock is held.
    pub(in crate::cs) fn change_buffers<R>(&self, change: impl FnOnce(&mut B) -> R) -> Option<R> {
        loop {
            let mut state = self.state.lock();
            if state.turn == Turn::Free {
                return state.buffers.as_deref_mut().map(change);
            }
            drop(state);
            self.wait();
        }
    }

    /// Takes the buffers of submissions that overtook another one.
    pub(in crate::cs) fn take_overtaking(&self) -> Vec<TryBox<B>> {
        mem::take(&mut self.state.lock().overtaking)
    }

    /// Waits until the buffers are returned, for a limited time: they may then belong to a submission that can be overtaken.
    #[cold]
    fn wait(&self) {
        let mut held = self.waiting.lock();
        let mut state = self.state.lock();
        if state.turn == Turn::Free {
            return;
        }
        state.waiting += 1;
        drop(state);
        // A thread that returns the buffers from here on must take `held` before it notifies.
        self.given_back.wait_for(&mut held, LOOK);
        self.state.lock().waiting -= 1;
    }

    #[cold]
    fn notify(&self) {
        drop(self.waiting.lock());
        self.given_back.notify_all();
    }

    /// Drops the resources of submissions up to this sequence number.
    pub(in crate::cs) fn retire_up_to(&self, done: u64) {
        let job = self.state.lock().take_up_to(done);
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
            let mut state = self.state.lock();
            // If there is no memory to keep the container, it is dropped after the lock is released.
            let unkept = if state.spare.try_reserve(1).is_ok() {
                state.spare.push(job);
                None
            } else {
                Some(job)
            };
            next = state.take_up_to(done);
            drop(state);
            drop(unkept);
        }
    }

    /// Notes that work was lost: running jobs may end without writing their sequence numbers.
    pub(in crate::cs) fn doubt(&self) {
        self.state.lock().is_in_doubt = true;
    }

    /// Returns `true` if a job runs that may end without writing its sequence number.
    pub(in crate::cs) fn are_in_doubt(&self) -> bool {
        let state = self.state.lock();
        state.is_in_doubt && !state.running.is_empty()
    }

    /// Drops the resources of submissions up to `over`, all of which have ended. Those after `done` ended without writing their
    /// sequence numbers, so they were lost; the first of them is kept for a report.
    pub(in crate::cs) fn lose(&self, done: u64, over: u64) {
        self.retire_up_to(done);
        let mut state = self.state.lock();
        state.is_in_doubt = false;
        let mut used = None;
        if state.lost.is_none() {
            state.lost = state.take_up_to(over).map(|mut job| {
                used = Some((mem::take(&mut job.memory), mem::take(&mut job.sets)));
                job
            });
        }
        drop(state);
        drop(used);
        self.retire_up_to(over);
    }

    /// Returns the sequence number and the lists of the submission after `done` at which the queue stopped: the first lost one,
    /// otherwise the oldest running one.
    pub(in crate::cs) fn stuck_behind(&self, done: u64) -> Option<(u64, Vec<Arc<Recorded>>)> {
        let state = self.state.lock();
        let stuck = state.lost.as_deref().or_else(|| state.running.front().map(|job| &**job));
        stuck.filter(|job| job.sequence > done).map(|job| (job.sequence, job.lists.clone()))
    }

    /// Returns the last sequence number that the kernel assigned; 0 before the first.
    pub(in crate::cs) fn last(&self) -> u64 {
        self.state.lock().last
    }

    /// Returns the number of jobs that have not been retired.
    pub(in crate::cs) fn len(&self) -> usize {
        self.state.lock().running.len()
    }

    /// Leaks the lists of jobs that still run and returns their number. Nothing will observe the end of these jobs, so their IBs
    /// must not be reused. The kernel's own references keep the memory until the jobs have ended.
    pub(in crate::cs) fn abandon(&self) -> usize {
        let running = mem::take(&mut self.state.lock().running);
        let count = running.len();
        for mut job in running {
            mem::forget(mem::take(&mut job.lists));
        }
        count
    }
}

impl<B> State<B> {
    /// Returns `true` if a submission can begin.
    #[inline]
    fn is_open(&self) -> bool {
        self.turn != Turn::Taken
    }

    /// Takes the buffers for a submission. While a submission that waits has them, takes buffers of an earlier overtaking
    /// submission instead. The flag tells whether the submission overtakes; `None` if buffers must be created.
    #[inline]
    fn take_buffers(&mut self, waits: bool) -> (bool, Option<TryBox<B>>) {
        if self.turn != Turn::Free {
            return (true, self.overtaking.pop());
        }
        self.turn = if waits { Turn::Waiting } else { Turn::Taken };
        (false, self.buffers.take())
    }

    /// Takes buffers back, and returns `true` if a thread waits for them. Buffers that cannot be stored are returned.
    #[inline]
    fn give_back(&mut self, buffers: Option<TryBox<B>>, is_overtaking: bool) -> (bool, Option<TryBox<B>>) {
        if is_overtaking {
            return (false, self.keep_for_overtaking(buffers));
        }
        self.turn = Turn::Free;
        // The replaced value is `None`.
        mem::forget(mem::replace(&mut self.buffers, buffers));
        (self.waiting > 0, None)
    }

    #[cold]
    fn keep_for_overtaking(&mut self, buffers: Option<TryBox<B>>) -> Option<TryBox<B>> {
        if self.overtaking.try_reserve(1).is_err() {
            return buffers;
        }
        self.overtaking.extend(buffers);
        None
    }

    /// Takes the resources of a small finished job and keeps the job as spare. A large job, or further finished jobs, are put into
    /// `over` and emptied later.
    #[inline(never)]
    fn empty(&mut self, mut finished: TryBox<Job>, done: u64, over: &mut Over) {
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
    fn promise(&mut self) -> Result<(), NoHostMemory> {
        self.running.try_reserve(self.promised + 1).map_err(|_| NoHostMemory)?;
        self.promised += 1;
        Ok(())
    }

    /// Adds a job that the kernel accepted in its reserved place and returns its sequence number. A job of which it accepted
    /// nothing is returned.
    #[inline]
    fn add(&mut self, job: Option<TryBox<Job>>) -> (Option<u64>, Option<TryBox<Job>>) {
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
    fn take_up_to(&mut self, done: u64) -> Option<TryBox<Job>> {
        self.take_front_if(|job| job.sequence <= done)
    }

    /// Takes the oldest submission if it meets a condition. The standard library's function for this is not inlined.
    #[inline]
    fn take_front_if(&mut self, is_wanted: impl FnOnce(&Job) -> bool) -> Option<TryBox<Job>> {
        if is_wanted(self.running.front()?) { self.running.pop_front() } else { None }
    }
}
