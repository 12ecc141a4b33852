//! Execution of draws.

mod format;

pub(crate) use format::is_known;
