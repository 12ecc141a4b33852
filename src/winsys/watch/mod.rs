//! Events, their observers, and explanations of VM faults.

mod event;
mod fault_report;
mod history;
pub(super) mod observer;
mod page_fault;
mod va_map;

pub use self::{
    event::{Event, PressureLevel},
    fault_report::{FaultAccess, FaultHub, FaultReport, FaultStatus, NEAR, Verdict},
    history::{BoHistory, HistoryEntry},
    observer::Observer,
    page_fault::PageFault,
    va_map::{BoEntry, MappedRange, VaLookup, VaMap},
};
