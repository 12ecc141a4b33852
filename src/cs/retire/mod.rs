//! Resources that a submission keeps alive until the GPU has finished with them.

pub(super) mod job;
pub(super) mod jobs;
pub(super) mod resources;
pub(super) mod working_set;

#[cfg(test)]
mod tests;
