//! Open files of a device, and their jobs.

pub(crate) mod file;
pub(crate) mod jobs;
