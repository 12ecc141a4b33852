//! Buffers in which submissions are built.

use std::ops::Range;

use crate::{
    cs::{CommandList, retire::working_set::WorkingSet},
    host_memory,
    uapi::{CsChunkDep, CsChunkIb, CsChunkSyncobj},
    winsys::{ChunkScratch, Event},
};

/// The object of an error without host memory.
pub(super) const SUBMISSION: &str = "a submission";

/// The containers in which submissions are put together, kept between them.
#[derive(Debug, Default)]
pub(in crate::cs) struct SubmitBuffers {
    pub(in crate::cs) working_set: WorkingSet,
    /// The lists whose IBs and memory the other fields have.
    pub(super) prepared: Prepared,
    pub(super) chunks: ChunkScratch,
    /// Those of one call after the other.
    pub(super) ibs: Vec<CsChunkIb>,
    pub(super) calls: Vec<Range<usize>>,
    pub(super) dependencies: Vec<CsChunkDep>,
    pub(super) scheduled: Vec<CsChunkDep>,
    pub(super) waits: Vec<CsChunkSyncobj>,
    pub(super) signals: Vec<CsChunkSyncobj>,
    /// Events to report once the job is kept; empty without observers.
    pub(super) events: Vec<Event>,
}

/// The lists whose IBs and memory are in the buffers, for the next submission of the same lists to find them there.
///
/// Lists are known by their numbers and not kept alive. As long as a list of a number exists, so do its IBs and its memory, and both
/// are what they were.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// None unless the buffers have just what these need, and members of sets.
    lists: Vec<u64>,
    is_secure: bool,
    is_preemptible: bool,
}

impl Prepared {
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

    /// Notes that the buffers change.
    pub(super) fn clear(&mut self) {
        self.lists.clear();
    }

    /// Notes, after [`Prepared::clear`], that the buffers have the IBs and the memory of a submission's lists and nothing else but members
    /// of sets. None of the lists has another behind it. Without memory for that, the next submission looks at its lists again.
    pub(super) fn note(&mut self, lists: &[&CommandList], is_secure: bool, is_preemptible: bool) {
        let numbers = lists.iter().map(|list| list.recorded().number());
        if host_memory::extend(&mut self.lists, numbers).is_ok() {
            (self.is_secure, self.is_preemptible) = (is_secure, is_preemptible);
        }
    }
}

#[inline]
fn is_chained(list: &CommandList) -> bool {
    list.recorded().is_chained()
}
