//! The order of jobs: which of them are over when another one starts.
//!
//! Jobs of a ring start one after the other, but the work of one may still run when the next one starts; jobs of several rings run at
//! the same time. A job is over for another one if that depends on it, or if the CPU knew that it was over and submitted the other one
//! then. Where it cannot be seen what the CPU knows, it knows all: after any request that waits for a fence or looks at one, after a
//! fence has left the device as a descriptor, and after jobs that store what the CPU can poll.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// The number of jobs whose order is known. Older ones are over.
const MOST_JOBS: u64 = 4096;

/// The last job of each ring that is over. Jobs of a ring end in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetiredJobs(BTreeMap<u32, u64>);

impl RetiredJobs {
    /// Adds a job, and those before it on its ring.
    pub(super) fn add(&mut self, ring: u32, job: u64) {
        let last = self.0.entry(ring).or_default();
        *last = job.max(*last);
    }

    fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|(ring, job)| self.add(*ring, *job));
    }

    /// Returns `true` if a job of a ring is over.
    pub(super) fn has(&self, ring: u32, job: u64) -> bool {
        self.0.get(&ring).is_some_and(|last| job <= *last)
    }
}

/// A submission to a ring, as far as its order matters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Submitted {
    /// The number of the submission, from [`Caches::number_submission`](super::Caches::number_submission).
    pub(crate) number: u64,
    /// The number of the ring on the device.
    pub(crate) ring: u32,
    /// The queue of a context.
    pub(crate) entity: usize,
    /// The address space's owner.
    pub(crate) vm: Option<u64>,
    /// The jobs that it depends on; 0 stands for work that is no job or is forgotten.
    pub(crate) dependencies: Vec<u64>,
    /// The jobs that were over when it was submitted, as far as the CPU knew.
    pub(crate) known: Arc<RetiredJobs>,
    /// `true` if it is one of several that run together, and order themselves.
    pub(crate) is_in_gang: bool,
    /// `true` if the CPU can poll a number that the end of the job stores.
    pub(crate) is_polled: bool,
}

/// The last job of a ring.
#[derive(Clone, Debug)]
struct Previous {
    job: u64,
    entity: usize,
    vm: Option<u64>,
    mappings: u64,
}

/// A job that has started.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub(super) ring: u32,
    pub(super) vm: Option<u64>,
    /// The jobs that were over before it started.
    over: RetiredJobs,
    is_in_gang: bool,
    is_polled: bool,
}

/// The jobs of a device.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    started: BTreeMap<u64, Started>,
    rings: BTreeMap<u32, Previous>,
}

impl Jobs {
    /// Starts a job. Returns `true` if the work of the job before it on its ring may still run.
    ///
    /// Source: Linux 6.12 `amdgpu_ib.c`, `amdgpu_ib_schedule`: the ring waits for the job before if this one has a dependency or if its
    /// address space needs a flush. A ring with the compute VM bug always waits.
    pub(super) fn start(&mut self, job: u64, new: &Submitted, knowledge: &Knowledge, always_waits: bool) -> bool {
        let mut over = RetiredJobs::clone(&new.known);
        for dependency in &new.dependencies {
            match self.started.get(dependency) {
                Some(started) => {
                    over.join(&started.over);
                    over.add(started.ring, *dependency);
                }
                None => over.join(&knowledge.ended.lock()),
            }
        }
        let mappings = knowledge.mappings.load(Ordering::Relaxed);
        let now = Previous { job, entity: new.entity, vm: new.vm, mappings };
        let overlaps = self.rings.insert(new.ring, now).is_some_and(|last| {
            let is_same = last.entity == new.entity && last.vm == new.vm && last.mappings == mappings;
            let overlaps = is_same && !always_waits && new.dependencies.is_empty() && !over.has(new.ring, last.job);
            if !overlaps {
                over.add(new.ring, last.job);
            }
            overlaps
        });
        let Submitted { ring, vm, is_in_gang, is_polled, .. } = *new;
        self.started.insert(job, Started { ring, vm, over, is_in_gang, is_polled });
        self.started.retain(|number, _| number + MOST_JOBS > job);
        overlaps
    }

    /// Ends a job.
    pub(super) fn end(&self, job: u64, knowledge: &Knowledge) {
        let Some(started) = self.started.get(&job) else { return };
        knowledge.ended.lock().add(started.ring, job);
        if started.is_polled {
            knowledge.of_cpu.lock().add(started.ring, job);
        }
    }

    /// Tells that the CPU can poll what a job stores.
    pub(super) fn can_be_polled(&mut self, job: u64) {
        if let Some(started) = self.started.get_mut(&job) {
            started.is_polled = true;
        }
    }

    /// Returns `true` if nothing orders a job of another ring before a job of the same address space.
    pub(super) fn is_apart(&self, earlier: u64, later: u64) -> bool {
        let (Some(before), Some(after)) = (self.started.get(&earlier), self.started.get(&later)) else { return false };
        before.ring != after.ring
            && before.vm == after.vm
            && !before.is_in_gang
            && !after.is_in_gang
            && !after.over.has(before.ring, earlier)
    }

    /// Returns `true` if an earlier job of the same ring may still have run when a job started.
    pub(super) fn is_before(&self, earlier: u64, later: u64) -> bool {
        let (Some(before), Some(after)) = (self.started.get(&earlier), self.started.get(&later)) else { return false };
        before.ring == after.ring && before.vm == after.vm && !after.over.has(before.ring, earlier)
    }
}

/// The jobs that have ended, and those of which the CPU knows it.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    ended: Mutex<RetiredJobs>,
    of_cpu: Mutex<RetiredJobs>,
    /// The number of changes to address spaces.
    mappings: AtomicU64,
    /// `true` if fences have left the device, and can be polled where the kernel does not see it.
    has_leaked: AtomicBool,
}

impl Knowledge {
    /// Returns the jobs of which the CPU knows that they are over, for a submission. One that depends on what `is_forgotten` knows all.
    pub(super) fn known(&self, is_forgotten: bool) -> RetiredJobs {
        let has_leaked = self.has_leaked.load(Ordering::Relaxed);
        if is_forgotten || has_leaked { self.ended.lock().clone() } else { self.of_cpu.lock().clone() }
    }

    /// Notes a request to the kernel that may tell about fences.
    pub(super) fn note(&self, request: u8) {
        match request {
            // GEM_WAIT_IDLE, WAIT_CS, WAIT_FENCES, USERQ_WAIT, and waits for sync objects and looks at them.
            0x47 | 0x49 | 0x52 | 0x58 | 0xc3 | 0xca | 0xcb => {
                let ended = self.ended.lock().clone();
                self.of_cpu.lock().join(&ended);
            }
            // GEM_VA.
            0x48 => {
                self.mappings.fetch_add(1, Ordering::Relaxed);
            }
            // FENCE_TO_HANDLE, sync objects as descriptors, and eventfds of them.
            0x54 | 0xc1 | 0xc2 | 0xcf => self.has_leaked.store(true, Ordering::Relaxed),
            _ => {}
        }
    }
}
