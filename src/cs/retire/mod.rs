//! What a submission keeps alive until the GPU is done with it.

pub(super) mod jobs;
pub(super) mod working_set;
