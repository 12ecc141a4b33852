//! Buffers in which submissions are built.

use std::ops::Range;

use crate::{
    cs::retire::working_set::WorkingSet,
    uapi::{CsChunkDep, CsChunkIb, CsChunkSyncobj},
    winsys::{ChunkScratch, Event},
};

/// The object of an error without host memory.
pub(super) const SUBMISSION: &str = "a submission";

/// The containers in which submissions are put together, kept between them.
#[derive(Debug, Default)]
pub(in crate::cs) struct SubmitBuffers {
    pub(in crate::cs) working_set: WorkingSet,
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
