//! The plan of a submission: what the kernel is told.
//!
//! This is the one cache of a queue. The plan of the last submission stays: if the next one has the same lists, sets, flags and
//! start,
//! nothing is listed again. Lists and the states of sets are identified by numbers that are never reused, and they are not kept
//! alive. As long as the list with a number exists, its IBs and its memory exist and do not change, and the same is true for the
//! members of a set.

use std::ops::Range;

use super::bo_list::BoListBuilder;
use crate::{
    cs::{CommandList, Target},
    uapi::{CsChunkDep, CsChunkIb, CsChunkSyncobj, IbFlags},
    winsys::{ChunkScratch, Event, Ip},
};

/// The kernel ring that a queue submits to.
#[derive(Clone, Copy, Debug)]
pub(in crate::cs) struct Ring {
    pub(in crate::cs) ip: Ip,
    pub(in crate::cs) index: u32,
    pub(in crate::cs) target: Target,
    /// The maximum number of IBs in one call.
    pub(super) most_ibs: usize,
}

/// The preambles of the queue with which the kernel calls of a submission begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Start {
    /// None: the submission has its own, or the queue has none.
    #[default]
    Nothing,
    /// An invalidation of the caches.
    Acquire,
    /// A wait for shaders, and an invalidation of the caches.
    FullFlush,
}

/// The kernel calls of a submission, in containers that later submissions reuse.
#[derive(Debug, Default)]
pub(in crate::cs) struct Plan {
    /// The numbers of the lists whose IBs and memory are listed.
    pub(super) lists: Vec<u64>,
    pub(super) flags: IbFlags,
    pub(super) start: Start,
    /// `true` if `ibs`, `calls` and `bos` are those of `lists`, `flags`, `start` and the sets in `bos`, and of nothing else.
    pub(super) is_complete: bool,
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
    /// The sequence number of the first submission of this plan, which identifies it; 0 before that.
    pub(super) first: u64,
    /// `true` if a submission has made it that overtook another one.
    pub(super) is_own: bool,
}

impl Plan {
    /// Returns `true` if the plan is that of these lists with these flags and this start, apart from sets.
    #[inline]
    pub(super) fn is_of(&self, lists: &[&CommandList], flags: IbFlags, start: Start) -> bool {
        let same = |(number, list): (&u64, &&CommandList)| *number == list.recorded().number();
        self.is_complete
            && self.flags == flags
            && self.start == start
            && self.lists.len() == lists.len()
            && self.lists.iter().zip(lists).all(same)
    }
}
