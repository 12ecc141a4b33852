//! Packets that wait for the pipeline, write back or invalidate caches, and signal the completion of work.

mod acquire_mem;
mod caches;
mod end_of_pipe;
mod end_of_pipe_sequence;
mod event_write;
mod pfp_sync_me;

pub use acquire_mem::{AcquireMem, AcquireWait, CacheRange, PwsCounter, PwsStage};
pub use caches::{CacheActions, CoherCntl, Gcr, TcActions};
pub use end_of_pipe::{EndOfPipe, EopEvent, EopInterrupt, EopPath, EopStore};
pub use end_of_pipe_sequence::EndOfPipeSequence;
pub use event_write::{Event, EventWrite};
pub use pfp_sync_me::PfpSyncMe;
