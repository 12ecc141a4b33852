//! Records of what went wrong: complaints about requests and packets, hangs, errors of the hardware, and events for user space.

pub(crate) mod complaints;
pub(crate) mod hangs;
pub(crate) mod health;
pub(crate) mod uevents;
