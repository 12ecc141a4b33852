//! Resources that a submission keeps alive until the GPU has finished with them.

pub(super) mod buffers;
pub(super) mod job;
pub(super) mod jobs;
pub(super) mod over;
pub(super) mod resources;
pub(super) mod underway;
pub(super) mod working_set;

#[cfg(test)]
mod tests;
