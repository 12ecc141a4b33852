//! Reports of a device's memory to the program.

mod memory_id;
mod reports;
mod watch;

pub(crate) use self::{memory_id::MemoryId, reports::Reports, watch::Watch};
