//! Resources that a submission keeps alive until the GPU has finished with them.

pub(super) mod jobs;
pub(super) mod working_set;
