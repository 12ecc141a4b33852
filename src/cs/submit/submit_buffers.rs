//! The buffers in which submissions are built.

use std::ops::Range;

use crate::{
    cs::{CommandList, retire::working_set::WorkingSet},
    host_memory,
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
    /// Empty unless the buffers have exactly the IBs and memory of these lists, and members of sets.
    lists: Vec<u64>,
    is_secure: bool,
    is_preemptible: bool,
    /// `true` if none of the lists keeps sets.
    are_without_sets: bool,
}

impl Prepared {
    /// Returns `true` if the buffers have the IBs and the memory of the lists of a submission, and none of these lists keeps sets.
    #[inline]
    pub(super) fn is_of_plain(&self, lists: &[&CommandList], is_secure: bool, is_preemptible: bool) -> bool {
        self.are_without_sets && self.is_of(lists, is_secure, is_preemptible)
    }

    /// Returns `true` if the buffers have the IBs and the memory of the lists of a submission.
    #[inline]
    pub(super) fn is_of(&self, lists: &[&CommandList], is_secure: bool, is_preemptible: bool) -> bool {
        let is_same = |(number, list): (&u64, &&CommandList)| *number == list.recorded().number() && !is_chained(list);
        !lists.is_empty()
            && self.lists.len() == lists.len()
            && self.is_secure == is_secure
            && self.is_preemptible == is_preemptible
            && self.lists.iter().zip(lists).all(is_same)
    }

    /// Invalidates the lists, because the buffers change.
    pub(super) fn clear(&mut self) {
        self.lists.clear();
    }

    /// Stores, after [`Prepared::clear`], that the buffers have exactly the IBs and the memory of these lists, and members of sets.
    /// None of the lists may have another list chained to it. If there is no memory to store this, the next submission lists
    /// everything again.
    pub(super) fn note(&mut self, lists: &[&CommandList], is_secure: bool, is_preemptible: bool) {
        let numbers = lists.iter().map(|list| list.recorded().number());
        if host_memory::extend(&mut self.lists, numbers).is_ok() {
            (self.is_secure, self.is_preemptible) = (is_secure, is_preemptible);
            self.are_without_sets = lists.iter().all(|list| list.recorded().sets().is_empty());
        }
    }
}

#[inline]
fn is_chained(list: &CommandList) -> bool {
    list.recorded().is_chained()
}
