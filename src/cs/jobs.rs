//! What running submissions use.

use std::{collections::VecDeque, sync::Arc};

use super::CommandList;
use crate::winsys::{Binding, Residents};

/// What one running submission uses.
#[derive(Debug, Default)]
pub(super) struct Job {
    pub(super) sequence: u64,
    pub(super) lists: Vec<CommandList>,
    pub(super) memory: Vec<Arc<Binding>>,
    pub(super) sets: Vec<Residents>,
}

impl Job {
    fn clear(&mut self) {
        self.lists.clear();
        self.memory.clear();
        self.sets.clear();
    }
}

/// The submissions of a queue that were not yet seen to be done.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    running: VecDeque<Job>,
    /// Emptied containers of finished submissions, so that a steady stream of submissions allocates nothing.
    spare: Vec<Job>,
    /// The first submission that was lost: its lists are kept, for those who want to know where it stopped.
    lost: Option<Job>,
    /// The last number that the kernel gave out.
    last: u64,
}

impl Jobs {
    /// An empty job; its containers may have been used before.
    pub(super) fn begin(&mut self) -> Job {
        self.spare.pop().unwrap_or_default()
    }

    /// The kernel took it.
    pub(super) fn add(&mut self, job: Job) {
        self.last = job.sequence;
        self.running.push_back(job);
    }

    /// The kernel did not take it.
    pub(super) fn abandon(&mut self, mut job: Job) {
        job.clear();
        self.spare.push(job);
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
        self.lost.as_ref().or_else(|| self.running.front())
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
