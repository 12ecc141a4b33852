//! Sources of snapshots: one trait over machines and recordings.

pub mod recording;

use crate::{
    collect::{Collector, LookError},
    machine::Machine,
    snapshot::model::Snapshot,
    source::recording::Recording,
};

/// Something that gives one snapshot after the other.
pub trait Source {
    /// The next one; `None` when there will be no other.
    ///
    /// # Errors
    ///
    /// [`LookError`].
    fn next(&mut self) -> Result<Option<Snapshot>, LookError>;

    /// Returns `true` if time passes by itself between two snapshots, so that the caller waits for the next.
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
