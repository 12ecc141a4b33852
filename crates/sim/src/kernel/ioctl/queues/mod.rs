//! Requests about contexts and submissions.

pub(crate) mod context;
pub(crate) mod sched;
pub(crate) mod submit;
pub(crate) mod wait;
