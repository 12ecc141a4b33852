//! Memory usage: the accounts of this device's BOs, and the kernel's counters.

mod ledger;
mod statistics;

pub use self::{
    ledger::{Account, Charge, Ledger, LedgerEntry, OwnUsage},
    statistics::{MoveCounters, Sensor, SystemUsage},
};
