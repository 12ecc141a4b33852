//! The watch on the hardware's state around each check.

pub(crate) mod kernel_log;
pub(crate) mod reading;
pub(crate) mod resets;
pub(crate) mod rules;
pub(crate) mod source;
pub(crate) mod state;
pub(crate) mod verdict;
pub(crate) mod watch;
