//! Reports of a device's memory and of its addresses to the program.

mod addresses;
mod memory_id;
mod reports;
mod watch;

pub(crate) use self::{memory_id::MemoryId, reports::Reports, watch::Watch};
