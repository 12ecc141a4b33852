//! The buffers in which submissions are built.

use std::ops::Range;

use crate::{
    cs::{CommandList, retire::working_set::WorkingSet},
    host_memory::{self, NoHostMemory},
    uapi::{CsChunkDep, CsChunkIb, CsChunkSyncobj},
    winsys::{ChunkScratch, Event},
};

/// The object name in out-of-memory errors.
pub(super) const SUBMISSION: &str = "a submission";

/// Containers in which submissions are built, reused by later submissions.
#[derive(Debug, Default)]
pub(in crate::cs) struct SubmitBuffers {
    pub(in crate::cs) working_set: WorkingSet,
    /// The lists whose IBs and memory the other fields contain.
    pub(super) prepared: Prepared,
    pub(super) chunks: ChunkScratch,
    /// The IBs of all calls, in order; `calls` has their ranges.
    pub(super) ibs: Vec<CsChunkIb>,
    pub(super) calls: Vec<Range<usize>>,
    pub(super) dependencies: Vec<CsChunkDep>,
    pub(super) scheduled: Vec<CsChunkDep>,
    pub(super) waits: Vec<CsChunkSyncobj>,
    pub(super) signals: Vec<CsChunkSyncobj>,
    /// Events to report when the job is kept; empty without observers.
    pub(super) events: Vec<Event>,
}

/// The lists whose IBs and memory are in the buffers, so that the next submission of the same lists can reuse them.
///
/// Lists are identified by their numbers and not kept alive. As long as the list with a number exists, its IBs and its memory exist
/// and do not change.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// The numbers of the lists that were added.
    lists: Vec<u64>,
    /// `true` if the buffers have exactly the IBs and memory of these lists, and members of sets.
    is_complete: bool,
    flags: Flags,
    /// `true` if none of the lists keeps sets.
    are_without_sets: bool,
}

/// Flags of a submission that change its IBs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) is_secure: bool,
    pub(super) is_preemptible: bool,
}

impl Prepared {
    /// Returns `true` if the buffers have the IBs and the memory of these lists, and none of them keeps sets.
    #[inline]
    pub(super) fn is_of_plain<'l>(&self, lists: impl Iterator<Item = Option<&'l CommandList>>, flags: Flags) -> bool {
        self.are_without_sets && self.is_of(lists, flags)
    }

    /// Returns `true` if the buffers have the IBs and the memory of these lists.
    #[inline]
    pub(super) fn is_of<'l>(&self, lists: impl Iterator<Item = Option<&'l CommandList>>, flags: Flags) -> bool {
        let mut numbers = self.lists.iter();
        if !self.is_complete || self.flags != flags {
            return false;
        }
        // Not `all`, whose closure would be called once for each part of a chained iterator.
        for list in lists {
            let Some(list) = list.map(CommandList::recorded) else { return false };
            if numbers.next() != Some(&list.number()) || list.is_chained() {
                return false;
            }
        }
        numbers.next().is_none()
    }

    /// Returns `true` if the buffers have the IBs and the memory of at least one list, and none keeps sets.
    pub(super) fn is_plain(&self) -> bool {
        self.is_complete && self.are_without_sets
    }

    /// Invalidates the note, because the buffers change.
    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.is_complete = false;
        self.are_without_sets = true;
    }

    /// Notes, after [`Prepared::clear`], that the IBs and the memory of a list are added to the buffers. No other list may be chained
    /// to it.
    #[inline]
    pub(super) fn add(&mut self, list: &CommandList) -> Result<(), NoHostMemory> {
        let recorded = list.recorded();
        self.are_without_sets &= recorded.sets().is_empty();
        host_memory::push(&mut self.lists, recorded.number())
    }

    /// Notes that the buffers have exactly the IBs and the memory of the added lists, and members of sets. There is at least one list.
    pub(super) fn end(&mut self, flags: Flags) {
        self.flags = flags;
        self.is_complete = !self.lists.is_empty();
    }
}
