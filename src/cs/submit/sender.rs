//! What submissions are put together in.

use std::ops::Range;

use crate::{
    cs::retire::{jobs::Job, working_set::WorkingSet},
    uapi::{CsChunkDep, CsChunkIb, CsChunkSyncobj},
    winsys::{ChunkScratch, Event},
};

/// The containers in which submissions are put together, kept between them.
#[derive(Debug, Default)]
pub(super) struct Sender {
    /// Where the next submission notes what it uses.
    pub(super) spare: Option<Box<Job>>,
    pub(super) working_set: WorkingSet,
    pub(super) chunks: ChunkScratch,
    /// Those of one call after the other.
    pub(super) ibs: Vec<CsChunkIb>,
    pub(super) calls: Vec<Range<usize>>,
    pub(super) dependencies: Vec<CsChunkDep>,
    pub(super) scheduled: Vec<CsChunkDep>,
    pub(super) waits: Vec<CsChunkSyncobj>,
    pub(super) signals: Vec<CsChunkSyncobj>,
    /// What observers are to hear of, once the job is kept; empty without observers.
    pub(super) events: Vec<Event>,
}
