//! The resources that one submission keeps alive.

use std::{array, mem, sync::Arc};

use crate::{
    cs::record::list::recorded::Recorded,
    winsys::{Binding, Residents},
};

/// The resources of one running submission. Boxed, because moving it by value after it is filled costs more than filling it.
#[derive(Debug, Default)]
pub(in crate::cs) struct Job {
    /// The last sequence number that the kernel assigned to the submission; 0 while the kernel has accepted none of it.
    pub(in crate::cs) sequence: u64,
    /// The first one, if the kernel has accepted any of it.
    pub(in crate::cs) first: u64,
    /// Also empty if the caller keeps the lists alive.
    pub(in crate::cs) lists: Vec<Arc<Recorded>>,
    pub(in crate::cs) memory: Vec<Binding>,
    /// The sets that have members.
    pub(in crate::cs) sets: Vec<Residents>,
}

impl Job {
    /// Stores the sequence number that the kernel assigned to the next call of the submission.
    #[inline]
    pub(in crate::cs) fn accept(&mut self, sequence: u64) {
        if self.sequence == 0 {
            self.first = sequence;
        }
        self.sequence = sequence;
    }

    /// Returns `true` if a sequence number is that of a call of the submission, or lies between those of two calls.
    pub(super) fn has(&self, sequence: u64) -> bool {
        (self.first..=self.sequence).contains(&sequence)
    }

    /// Returns `true` if the job keeps nothing, because the submission leaves this to its caller.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.memory.is_empty() && self.sets.is_empty()
    }

    /// Takes the resources that the next submission does not use. Returns `None` if there are too many for [`Few`].
    #[inline]
    pub(in crate::cs) fn take_few(&mut self, same: Same) -> Option<Few> {
        let fits = (same.lists || self.lists.len() <= Few::LISTS)
            && (same.memory || self.memory.len() <= Few::MEMORY)
            && (same.sets || self.sets.len() <= Few::SETS);
        if !fits {
            return None;
        }
        Some(Few {
            lists: if same.lists { Default::default() } else { pop(&mut self.lists) },
            memory: if same.memory { Default::default() } else { pop(&mut self.memory) },
            sets: if same.sets { Default::default() } else { pop(&mut self.sets) },
        })
    }

    /// Takes the sets, to be dropped without a lock. Keeps the container if it has at most two sets.
    pub(in crate::cs) fn take_sets(&mut self) -> Unkept {
        let mut unkept = Unkept::default();
        if self.sets.len() > unkept.few.len() {
            unkept.many = mem::take(&mut self.sets);
        } else {
            unkept.few = pop(&mut self.sets);
        }
        unkept
    }

    /// Drops all resources and keeps the containers.
    pub(in crate::cs) fn clear(&mut self) {
        self.sequence = 0;
        self.lists.clear();
        self.memory.clear();
        self.sets.clear();
    }
}

/// Resources that a finished job has in common with the next submission. The next submission reuses the job with these resources in
/// it, which takes no reference counting.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cs) struct Same {
    /// `true` if the lists are the same.
    pub(in crate::cs) lists: bool,
    /// `true` if the memory is the same.
    pub(in crate::cs) memory: bool,
    /// `true` if the sets are the same.
    pub(in crate::cs) sets: bool,
}

impl Same {
    /// Returns `true` if everything is the same.
    #[inline]
    pub(in crate::cs) fn is_all(self) -> bool {
        self.lists & self.memory & self.sets
    }
}

/// Sets that a submission has listed and does not keep alive.
#[derive(Debug, Default)]
pub(in crate::cs) struct Unkept {
    few: [Option<Residents>; 2],
    many: Vec<Residents>,
}

/// The resources of a small job. They are taken out under the lock and dropped without it. The job itself stays in the queue, so
/// that the lock need not be taken again to return the containers.
#[derive(Debug)]
#[expect(dead_code, reason = "what is in it is only dropped")]
pub(in crate::cs) struct Few {
    lists: [Option<Arc<Recorded>>; Self::LISTS],
    memory: [Option<Binding>; Self::MEMORY],
    sets: [Option<Residents>; Self::SETS],
}

impl Few {
    const LISTS: usize = 2;
    const MEMORY: usize = 1;
    const SETS: usize = 1;
}

/// Takes the last elements.
#[inline]
fn pop<T, const N: usize>(from: &mut Vec<T>) -> [Option<T>; N] {
    array::from_fn(|_| from.pop())
}
