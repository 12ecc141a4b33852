//! The plan of a submission: what the kernel is told.
//!
//! This is the one cache of a queue. The plan of the last submission stays: if the next one has the same lists, sets, flags and start,
//! nothing is listed again. Submissions that are made at the same time have a plan each. Lists and the states of sets are identified by numbers that are never reused, and they are not kept
//! alive. As long as the list with a number exists, its IBs and its memory exist and do not change, and the same is true for the
//! members of a set.

use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use super::bo_list::BoListBuilder;
use crate::{
    cs::CommandList,
    host_memory::{NoHostMemory, extend},
    uapi::{CsChunkDep, CsChunkIb, CsChunkSyncobj, IbFlags},
    winsys::{ChunkScratch, Event},
};

/// The kernel calls of a submission, in containers that later submissions reuse.
#[derive(Debug, Default)]
pub(in crate::cs) struct Plan {
    /// The number of the plan, which is unique in the process and never reused, if `ibs`, `calls` and `bos` are those of `lists`,
    /// `flags`, `start` and the sets in `bos`, and of nothing else; otherwise 0.
    pub(super) number: u64,
    /// The numbers of the lists whose IBs and memory are listed.
    pub(super) lists: Vec<u64>,
    pub(super) flags: IbFlags,
    /// `None` if the calls do not begin with the preambles of the queue, otherwise whether those wait for shaders.
    pub(super) start: Option<bool>,
    pub(super) bos: BoListBuilder,
    /// The IBs of all calls, in order; `calls` has their ranges.
    pub(super) ibs: Vec<CsChunkIb>,
    pub(super) calls: Vec<Range<usize>>,
    pub(super) dependencies: Vec<CsChunkDep>,
    pub(super) scheduled: Vec<CsChunkDep>,
    pub(super) waits: Vec<CsChunkSyncobj>,
    pub(super) signals: Vec<CsChunkSyncobj>,
    pub(super) scratch: ChunkScratch,
    /// Events to report after the submission; empty without observers.
    pub(super) events: Vec<Event>,
    /// The number of times that the queue had forgotten its plans when this one was made. An older plan is dropped after its submission.
    pub(super) forgets: u64,
}

/// The number of the last plan.
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

impl Plan {
    /// Identifies the plan by these lists, flags and start, and by the sets in `bos`.
    pub(super) fn complete(
        &mut self,
        lists: &[&CommandList],
        flags: IbFlags,
        start: Option<bool>,
    ) -> Result<(), NoHostMemory> {
        self.lists.clear();
        extend(&mut self.lists, lists.iter().map(|list| list.recorded().number()))?;
        (self.flags, self.start, self.number) = (flags, start, LAST_NUMBER.fetch_add(1, Relaxed) + 1);
        Ok(())
    }

    /// Returns `true` if the plan is that of these lists with these flags and this start, apart from sets.
    #[inline]
    pub(super) fn is_of(&self, lists: &[&CommandList], flags: IbFlags, start: Option<bool>) -> bool {
        let same = |(number, list): (&u64, &&CommandList)| *number == list.recorded().number();
        self.number > 0
            && self.flags == flags
            && self.start == start
            && self.lists.len() == lists.len()
            && self.lists.iter().zip(lists).all(same)
    }
}
