//! Resources of running submissions.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

use crate::{
    cs::CommandList,
    winsys::{Binding, Residents},
};

/// Resources of one running submission. Boxed, because moving it by value right after filling it costs more than the
/// filling.
#[derive(Debug, Default)]
pub(in crate::cs) struct Job {
    /// The last number that the kernel gave it; 0 as long as it took no part of it.
    pub(in crate::cs) sequence: u64,
    pub(in crate::cs) lists: Vec<CommandList>,
    pub(in crate::cs) memory: Vec<Arc<Binding>>,
    pub(in crate::cs) sets: Vec<Residents>,
}

impl Job {
    /// Moves what it uses to `few`, and returns `true`, if there is room for all of it.
    fn move_to(&mut self, few: &mut Few) -> bool {
        let fits = self.lists.len() <= few.lists.len()
            && self.memory.len() <= few.memory.len()
            && self.sets.len() <= few.sets.len();
        if fits {
            self.sequence = 0;
            drain(&mut self.lists, &mut few.lists);
            drain(&mut self.memory, &mut few.memory);
            drain(&mut self.sets, &mut few.sets);
        }
        fits
    }

    /// Takes the sets away, to be dropped under no lock. The container stays unless there are more than two.
    pub(in crate::cs) fn take_sets(&mut self) -> Unkept {
        let mut unkept = Unkept::default();
        if self.sets.len() > unkept.few.len() {
            unkept.many = std::mem::take(&mut self.sets);
        } else {
            drain(&mut self.sets, &mut unkept.few);
        }
        unkept
    }

    /// Lets go of everything, and keeps the containers.
    fn clear(&mut self) {
        self.sequence = 0;
        self.lists.clear();
        self.memory.clear();
        self.sets.clear();
    }
}

/// Sets that a submission has listed and does not keep.
#[derive(Debug, Default)]
pub(in crate::cs) struct Unkept {
    few: [Option<Residents>; 2],
    many: Vec<Residents>,
}

/// Resources of a small job. They are taken out of the job under the lock and dropped without it, while the job stays, so
/// that the lock need not be taken again to give the containers back.
#[derive(Debug, Default)]
struct Few {
    lists: [Option<CommandList>; 4],
    memory: [Option<Arc<Binding>>; 2],
    sets: [Option<Residents>; 2],
}

fn drain<T>(from: &mut Vec<T>, into: &mut [Option<T>]) {
    for place in into {
        let Some(used) = from.pop() else { return };
        *place = Some(used);
    }
}

/// The submissions of a queue that were not yet seen to be done.
///
/// The lock inside is held for a few steps at a time, and never while a job lets go of what it used: that can unbind and
/// close BOs, and tell observers.
#[derive(Debug, Default)]
pub(in crate::cs) struct Jobs(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// In the order of their numbers.
    running: VecDeque<Box<Job>>,
    /// Emptied containers of finished submissions, so that a steady stream of submissions allocates nothing.
    #[expect(clippy::vec_box, reason = "they come from `running` and go there again")]
    spare: Vec<Box<Job>>,
    /// The first submission that was lost: its lists are kept, for those who want to know where it stopped.
    lost: Option<Box<Job>>,
    /// The last number that the kernel gave out.
    last: u64,
    /// `true` if work was lost, so that some running jobs may have ended without writing their number.
    is_in_doubt: bool,
}

/// Leftovers of a submission after its way to the kernel has ended.
pub(in crate::cs) struct Ended {
    /// The last number that the kernel gave it, if it took any of it.
    pub(in crate::cs) sequence: Option<u64>,
    /// An empty job for the next submission.
    pub(in crate::cs) spare: Option<Box<Job>>,
}

/// Resources of jobs that have ended. Dropping it drops them; [`Jobs::let_go`] also keeps the containers.
#[derive(Debug, Default)]
pub(in crate::cs) struct Over {
    few: Few,
    /// A job that has finished, or one of which the kernel took nothing.
    job: Option<Box<Job>>,
}

/// A submission on its way to the kernel. However the way ends, in a panic of an observer too, what the kernel took stays
/// alive as long as it runs.
pub(in crate::cs) struct Underway<'q> {
    jobs: &'q Jobs,
    /// Taken only by the end.
    job: Option<Box<Job>>,
}

impl Underway<'_> {
    /// The job; `None` never before the end.
    pub(in crate::cs) fn job(&mut self) -> Option<&mut Job> {
        self.job.as_deref_mut()
    }

    /// The kernel was asked. `done` is the last number that the GPU has written. What is to be [let go of](Jobs::let_go) comes
    /// to lie in `over`.
    pub(in crate::cs) fn end(mut self, done: u64, over: &mut Over) -> Ended {
        match self.job.take() {
            Some(job) if job.sequence > 0 => self.jobs.add(job, done, over),
            job => {
                over.job = job;
                Ended { sequence: None, spare: None }
            }
        }
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        if let Some(job) = self.job.take_if(|job| job.sequence > 0) {
            self.jobs.add(job, 0, &mut Over::default());
        }
    }
}

impl Jobs {
    /// Begins a submission, in a container that was emptied.
    pub(in crate::cs) fn begin(&self, spare: Option<Box<Job>>) -> Underway<'_> {
        Underway { jobs: self, job: Some(spare.unwrap_or_default()) }
    }

    fn add(&self, job: Box<Job>, done: u64, over: &mut Over) -> Ended {
        let mut state = self.0.lock();
        let sequence = Some(job.sequence);
        state.last = job.sequence;
        state.running.push_back(job);
        let mut emptied = None;
        if let Some(mut job) = state.take_up_to(done) {
            if job.move_to(&mut over.few) {
                emptied = Some(job);
                over.job = state.take_up_to(done);
            } else {
                over.job = Some(job);
            }
        }
        Ended { sequence, spare: emptied.or_else(|| state.spare.pop()) }
    }

    /// Lets go of what submissions up to this number used.
    pub(in crate::cs) fn retire_up_to(&self, done: u64) {
        let job = self.0.lock().take_up_to(done);
        self.let_go(Over { few: Few::default(), job }, done);
    }

    /// Lets go of what jobs used that are over, and then of what submissions up to this number used.
    pub(in crate::cs) fn let_go(&self, over: Over, done: u64) {
        let Over { few, job: mut next } = over;
        drop(few);
        while let Some(mut job) = next {
            job.clear();
            let mut state = self.0.lock();
            state.spare.push(job);
            next = state.take_up_to(done);
        }
    }

    /// Work was lost: what still runs may end without writing its number.
    pub(in crate::cs) fn doubt(&self) {
        self.0.lock().is_in_doubt = true;
    }

    /// Returns `true` if a job runs that may end without writing its number.
    pub(in crate::cs) fn are_in_doubt(&self) -> bool {
        let state = self.0.lock();
        state.is_in_doubt && !state.running.is_empty()
    }

    /// Lets go of what submissions up to `over` used, for all of them have ended; those behind `done` did so without writing
    /// their numbers, so they were lost. The first of these is remembered.
    pub(in crate::cs) fn lose(&self, done: u64, over: u64) {
        self.retire_up_to(done);
        let mut state = self.0.lock();
        state.is_in_doubt = false;
        let mut used = None;
        if state.lost.is_none() {
            state.lost = state.take_up_to(over).map(|mut job| {
                used = Some((std::mem::take(&mut job.memory), std::mem::take(&mut job.sets)));
                job
            });
        }
        drop(state);
        drop(used);
        self.retire_up_to(over);
    }

    /// The submission behind `done` that keeps the queue from going on, with its lists: the first that was lost, else the
    /// oldest that runs.
    pub(in crate::cs) fn stuck_behind(&self, done: u64) -> Option<(u64, Vec<CommandList>)> {
        let state = self.0.lock();
        let stuck = state.lost.as_deref().or_else(|| state.running.front().map(Box::as_ref));
        stuck.filter(|job| job.sequence > done).map(|job| (job.sequence, job.lists.clone()))
    }

    /// The last number that the kernel gave out; 0 before the first.
    pub(in crate::cs) fn last(&self) -> u64 {
        self.0.lock().last
    }

    /// Returns the number of jobs.
    pub(in crate::cs) fn len(&self) -> usize {
        self.0.lock().running.len()
    }

    /// Keeps what still runs for ever: nobody will ask again whether it has ended.
    pub(in crate::cs) fn abandon(&self) -> usize {
        let running = std::mem::take(&mut self.0.lock().running);
        let count = running.len();
        std::mem::forget(running);
        count
    }
}

impl State {
    /// The oldest submission, if its number is not above this one.
    fn take_up_to(&mut self, done: u64) -> Option<Box<Job>> {
        self.running.pop_front_if(|job| job.sequence <= done)
    }
}
