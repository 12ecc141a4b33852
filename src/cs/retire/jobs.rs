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

/// Interval at which a thread that waits for another's submission looks whether that one may take long.
const LOOK: Duration = Duration::from_millis(1);

/// The submissions of a queue that were not yet seen to be done, and the buffers `B` in which the next one is built.
///
/// One submission has the buffers at a time. The lock inside is taken once to begin a submission and once to end it, so that
/// nothing else need be locked for one. It is held for a few steps at a time, and never during a request, nor while a job lets go
/// of what it used: that can unbind and close BOs, and tell observers.
#[derive(Debug, Default)]
pub(in crate::cs) struct Jobs<B> {
    state: BriefLock<State<B>>,
    /// Lock of those who wait for the buffers: held before that of the state.
    waiting: Mutex<()>,
    given_back: Condvar,
}

#[derive(Debug, Default)]
struct State<B> {
    /// In the order of their numbers.
    running: VecDeque<TryBox<Job>>,
    /// Places in `running` for submissions that have begun. A submission that the kernel has taken must be kept, so there is room
    /// for it before the kernel is asked.
    promised: usize,
    /// Emptied containers of finished submissions, so that a steady stream of submissions allocates nothing.
    spare: Vec<TryBox<Job>>,
    /// The first submission that was lost: its lists are kept, for those who want to know where it stopped.
    lost: Option<TryBox<Job>>,
    /// The last number that the kernel gave out.
    last: u64,
    /// `true` if work was lost, so that some running jobs may have ended without writing their number.
    is_in_doubt: bool,
    /// The buffers, unless a submission has them, or none has begun yet.
    buffers: Option<TryBox<B>>,
    turn: Turn,
    /// Buffers of submissions that overtook one.
    overtaking: Vec<TryBox<B>>,
    /// Number of threads that wait for the buffers.
    waiting: usize,
}

/// State of the buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// No submission has them.
    #[default]
    Free,
    /// A submission has them, for which the kernel does not wait.
    Taken,
    /// A submission has them that waits for sync objects, which the kernel may take seconds for. Others then go on with buffers of
    /// their own.
    Waiting,
}

/// Resources of jobs that have ended. Dropping it drops them; [`Jobs::let_go`] also keeps the containers of large jobs.
#[derive(Debug, Default)]
pub(in crate::cs) struct Over {
    /// Those of a small job that has finished.
    few: Option<Few>,
    rest: Option<Rest>,
}

/// Resources that few submissions leave.
#[derive(Debug, Default)]
struct Rest {
    /// The oldest job that has finished, unless it was small; there may be more behind it.
    finished: Option<TryBox<Job>>,
    /// A job whose lists are used again, but not the rest.
    reused: Option<TryBox<Job>>,
    /// A job of which the kernel took nothing.
    refused: Option<TryBox<Job>>,
    /// Resources that the job of the submission had, and the submission does not use.
    changed: Option<Few>,
    memory: Vec<Binding>,
}

impl Over {
    /// Returns `true` if there is nothing to let go of.
    #[inline]
    pub(in crate::cs) fn is_empty(&self) -> bool {
        self.few.is_none() && self.rest.is_none()
    }

    /// Adds resources of the job that serves the submission, which are not used again.
    pub(in crate::cs) fn add_few(&mut self, few: Few) {
        self.rest().changed = Some(few);
    }

    /// Adds memory of that job, from the given number on.
    #[cold]
    pub(in crate::cs) fn take_memory(&mut self, kept: &mut Vec<Binding>, from: usize) -> Result<(), NoHostMemory> {
        host_memory::extend(&mut self.rest().memory, kept.drain(from..))
    }

    #[cold]
    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }
}

/// A submission on its way to the kernel. However the way ends, in a panic of an observer too, what the kernel took stays
/// alive as long as it runs, and the next submission gets the buffers.
///
/// It is filled in where it stands, because to move it right after it was filled takes longer than the filling.
pub(in crate::cs) struct Underway<'q, B> {
    jobs: &'q Jobs<B>,
    /// `true` from the begin to the end.
    has_begun: bool,
    is_overtaking: bool,
    /// Taken only by the end, like the buffers.
    job: Option<TryBox<Job>>,
    buffers: Option<TryBox<B>>,
}

impl<'q, B> Underway<'q, B> {
    /// Returns a submission that has not begun.
    #[inline]
    pub(in crate::cs) fn of(jobs: &'q Jobs<B>) -> Self {
        Self { jobs, has_begun: false, is_overtaking: false, job: None, buffers: None }
    }

    /// The job and the buffers; `None` never between the begin and the end. The job is empty, or one that has finished.
    #[inline]
    pub(in crate::cs) fn parts(&mut self) -> Option<(&mut Job, &mut B)> {
        Some((self.job.as_deref_mut()?, self.buffers.as_deref_mut()?))
    }

    /// Goes on with another job, which is empty, because this one has too much that is not used again.
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

    /// The kernel was asked. Returns the last number that it gave the submission, if it took any of it. The resources to [let go
    /// of](Jobs::let_go), those of jobs up to `done` among them, are moved to `over`.
    #[inline]
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

/// Ends a submission in a panic, or before it had a job.
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
    /// Begins the submission as soon as it can have buffers, and takes a place among the running ones: from here on it can be kept
    /// without memory. `waits` is `true` if the kernel may have to wait for sync objects of the submission.
    ///
    /// `done` is the last number that the GPU has written. If the oldest job has finished and keeps nothing, it serves the submission;
    /// also if `is_same` says that the submission runs the same lists, so that no references are counted. Any other stays where it is: a
    /// thread that waited for its end can have its lists back at once, also while this submission is made.
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
        match state.running.pop_front_if(|job| job.sequence <= done && (job.is_empty() || is_same(job))) {
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
    /// Changes the buffers, as soon as no submission has them. `change` is a few steps.
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

    /// Takes away the buffers of submissions that overtook one.
    pub(in crate::cs) fn take_overtaking(&self) -> Vec<TryBox<B>> {
        mem::take(&mut self.state.lock().overtaking)
    }

    /// Waits until the buffers are given back, but not long: they may be in a submission by then that can be overtaken.
    #[cold]
    fn wait(&self) {
        let mut held = self.waiting.lock();
        let mut state = self.state.lock();
        if state.turn == Turn::Free {
            return;
        }
        state.waiting += 1;
        drop(state);
        // Whoever gives them back from here on waits for `held` before it notifies.
        self.given_back.wait_for(&mut held, LOOK);
        self.state.lock().waiting -= 1;
    }

    #[cold]
    fn notify(&self) {
        drop(self.waiting.lock());
        self.given_back.notify_all();
    }

    /// Lets go of what submissions up to this number used.
    pub(in crate::cs) fn retire_up_to(&self, done: u64) {
        let job = self.state.lock().take_up_to(done);
        if let Some(job) = job {
            self.let_go_of(job, done);
        }
    }

    /// Lets go of what jobs used that are over, and then of what submissions up to this number used, if there are more.
    #[inline]
    pub(in crate::cs) fn let_go(&self, over: &mut Over, done: u64) {
        // In place, because to move it right after it was stored takes longer than the storing.
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
            // Without room for it the container goes, once the lock is free.
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

    /// Work was lost: what still runs may end without writing its number.
    pub(in crate::cs) fn doubt(&self) {
        self.state.lock().is_in_doubt = true;
    }

    /// Returns `true` if a job runs that may end without writing its number.
    pub(in crate::cs) fn are_in_doubt(&self) -> bool {
        let state = self.state.lock();
        state.is_in_doubt && !state.running.is_empty()
    }

    /// Lets go of what submissions up to `over` used, for all of them have ended; those behind `done` did so without writing
    /// their numbers, so they were lost. The first of these is remembered.
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

    /// The submission behind `done` that keeps the queue from going on, with its lists: the first that was lost, else the
    /// oldest that runs.
    pub(in crate::cs) fn stuck_behind(&self, done: u64) -> Option<(u64, Vec<Arc<Recorded>>)> {
        let state = self.state.lock();
        let stuck = state.lost.as_deref().or_else(|| state.running.front().map(|job| &**job));
        stuck.filter(|job| job.sequence > done).map(|job| (job.sequence, job.lists.clone()))
    }

    /// The last number that the kernel gave out; 0 before the first.
    pub(in crate::cs) fn last(&self) -> u64 {
        self.state.lock().last
    }

    /// Returns the number of jobs.
    pub(in crate::cs) fn len(&self) -> usize {
        self.state.lock().running.len()
    }

    /// Leaks the lists of jobs that still run, because their end will not be asked for again, and their IBs must not be
    /// rewritten. The kernel's own references keep the memory until it has.
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

    /// Takes the buffers for a submission, or those of an earlier one that overtook another. `None` for buffers that are to be made.
    #[inline]
    fn take_buffers(&mut self, waits: bool) -> (bool, Option<TryBox<B>>) {
        if self.turn != Turn::Free {
            return (true, self.overtaking.pop());
        }
        self.turn = if waits { Turn::Waiting } else { Turn::Taken };
        (false, self.buffers.take())
    }

    /// Takes buffers back, and returns `true` if a thread waits for them. Those that there is no room for come back.
    #[inline]
    fn give_back(&mut self, buffers: Option<TryBox<B>>, is_overtaking: bool) -> (bool, Option<TryBox<B>>) {
        if is_overtaking {
            return (false, self.keep_for_overtaking(buffers));
        }
        self.turn = Turn::Free;
        // There were none.
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

    /// Takes out what a finished job used, and keeps the job; a large one, or one that is not the only one, is to be emptied later.
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

    /// Keeps a place among the running submissions.
    #[inline]
    fn promise(&mut self) -> Result<(), NoHostMemory> {
        self.running.try_reserve(self.promised + 1).map_err(|_| NoHostMemory)?;
        self.promised += 1;
        Ok(())
    }

    /// Keeps a job that the kernel took, in its promised place, and returns its number. One of which it took nothing comes back.
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

    /// Adds a submission that another thread's has overtaken.
    #[cold]
    fn insert(&mut self, job: TryBox<Job>) {
        let at = self.running.partition_point(|other| other.sequence < job.sequence);
        self.running.insert(at, job);
    }

    /// The oldest submission, if its number is not above this one.
    #[inline]
    fn take_up_to(&mut self, done: u64) -> Option<TryBox<Job>> {
        self.running.pop_front_if(|job| job.sequence <= done)
    }
}
