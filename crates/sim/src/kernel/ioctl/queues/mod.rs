//! Requests about contexts, submissions and user queues.

pub(crate) mod context;
pub(crate) mod sched;
pub(crate) mod submit;
pub(crate) mod userq;
pub(crate) mod userq_fences;
pub(crate) mod wait;
