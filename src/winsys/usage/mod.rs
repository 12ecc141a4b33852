//! Memory usage: the tracker of this device's BOs, and the kernel's counters.

mod statistics;
mod tracker;

pub use self::{
    statistics::{MoveCounters, Sensor, SystemUsage},
    tracker::{Account, Charge, OwnUsage, UsageEntry, UsageTracker},
};
