//! Resources of one submission.

use std::{array, mem, sync::Arc};

use crate::{
    cs::record::list::recorded::Recorded,
    winsys::{Binding, Residents},
};

/// Resources of one running submission. Boxed, because moving it by value right after filling it costs more than the
/// filling.
#[derive(Debug, Default)]
pub(in crate::cs) struct Job {
    /// The last number that the kernel gave it; 0 as long as it took no part of it.
    pub(in crate::cs) sequence: u64,
    /// Empty also while the lists of a submission are its caller's to keep.
    pub(in crate::cs) lists: Vec<Arc<Recorded>>,
    pub(in crate::cs) memory: Vec<Binding>,
    /// Those that have members.
    pub(in crate::cs) sets: Vec<Residents>,
}

impl Job {
    /// Returns `true` if it keeps nothing, as the job of a submission that leaves this to its caller.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.memory.is_empty() && self.sets.is_empty()
    }

    /// Takes out what it uses, but for what it has in common with the next submission, if that is little.
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

    /// Takes the sets away, to be dropped under no lock. The container stays unless there are more than two.
    pub(in crate::cs) fn take_sets(&mut self) -> Unkept {
        let mut unkept = Unkept::default();
        if self.sets.len() > unkept.few.len() {
            unkept.many = mem::take(&mut self.sets);
        } else {
            unkept.few = pop(&mut self.sets);
        }
        unkept
    }

    /// Lets go of everything, and keeps the containers.
    pub(super) fn clear(&mut self) {
        self.sequence = 0;
        self.lists.clear();
        self.memory.clear();
        self.sets.clear();
    }
}

/// Resources that a finished job has in common with the next submission. They stay in the job that serves it, because to move
/// them there takes no counting of references.
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

/// Sets that a submission has listed and does not keep.
#[derive(Debug, Default)]
pub(in crate::cs) struct Unkept {
    few: [Option<Residents>; 2],
    many: Vec<Residents>,
}

/// Resources of a small job. They are taken out of the job under the lock and dropped without it, while the job stays, so
/// that the lock need not be taken again to give the containers back.
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
