//! What running submissions use.

use std::{collections::VecDeque, sync::Arc};

use super::CommandList;
use crate::winsys::{Binding, Residents};

/// What one running submission uses. It is moved about as a box, for a move of all of it, right after it was filled, takes
/// longer than the filling.
#[derive(Debug, Default)]
pub(super) struct Job {
    pub(super) sequence: u64,
    pub(super) lists: Vec<CommandList>,
    pub(super) memory: Vec<Arc<Binding>>,
    pub(super) sets: Vec<Residents>,
}

impl Job {
    /// Lets go of everything, and keeps the containers.
    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.memory.clear();
        self.sets.clear();
    }
}

/// The submissions of a queue that were not yet seen to be done.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    running: VecDeque<Box<Job>>,
    /// Emptied containers of finished submissions, so that a steady stream of submissions allocates nothing.
    #[expect(clippy::vec_box, reason = "they come from `running` and go there again")]
    spare: Vec<Box<Job>>,
    /// The first submission that was lost: its lists are kept, for those who want to know where it stopped.
    lost: Option<Box<Job>>,
    /// The last number that the kernel gave out.
    last: u64,
}

impl Jobs {
    /// An empty job whose containers were used before, if there is one.
    pub(super) fn spare(&mut self) -> Option<Box<Job>> {
        self.spare.pop()
    }

    /// The kernel took it.
    pub(super) fn add(&mut self, job: Box<Job>) {
        self.last = job.sequence;
        self.running.push_back(job);
    }

    /// Lets go of what submissions up to this number used.
    pub(super) fn retire_up_to(&mut self, done: u64) {
        while let Some(mut job) = self.running.pop_front_if(|job| job.sequence <= done) {
            job.clear();
            self.spare.push(job);
        }
    }

    /// What submissions behind `done` used is used no more, for they are lost. The first of them is remembered.
    pub(super) fn lose(&mut self, done: u64) {
        self.retire_up_to(done);
        if self.lost.is_none() {
            self.lost = self.running.pop_front().map(|mut job| {
                job.memory.clear();
                job.sets.clear();
                job
            });
        }
        self.retire_up_to(u64::MAX);
    }

    /// The submission that keeps the queue from going on: the first that was lost, else the oldest that runs.
    pub(super) fn stuck(&self) -> Option<&Job> {
        self.lost.as_deref().or_else(|| self.running.front().map(Box::as_ref))
    }

    /// The last number that the kernel gave out; 0 before the first.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.running.len()
    }
}
