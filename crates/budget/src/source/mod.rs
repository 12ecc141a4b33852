//! Sources of snapshots: machines and recordings.

pub mod recording;

use crate::{
    collect::{Collector, LookError},
    machine::Machine,
    snapshot::model::Snapshot,
    source::recording::Recording,
};

/// A source of consecutive snapshots: a machine or a recording.
pub trait Source {
    /// Returns the next snapshot; `None` at the end of the source.
    ///
    /// # Errors
    ///
    /// [`LookError`] if there is no GPU, none can be read, or the recording is damaged.
    fn next(&mut self) -> Result<Option<Snapshot>, LookError>;

    /// Returns `true` if the source has real time, so that the caller must wait before the next snapshot.
    fn has_real_time(&self) -> bool;
}

impl<M: Machine> Source for Collector<M> {
    fn next(&mut self) -> Result<Option<Snapshot>, LookError> {
        self.look()
    }

    fn has_real_time(&self) -> bool {
        self.machine().has_real_time()
    }
}

impl Source for Recording {
    fn next(&mut self) -> Result<Option<Snapshot>, LookError> {
        self.look()
    }

    fn has_real_time(&self) -> bool {
        false
    }
}
