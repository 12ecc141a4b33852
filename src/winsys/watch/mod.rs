//! Events, their observers, and explanations of page faults.

mod address_book;
mod event;
mod fault_report;
mod history;
pub(super) mod observer;
mod page_fault;

pub use self::{
    address_book::{AddressBook, BoEntry, Finding, Place},
    event::{Event, PressureLevel},
    fault_report::{FaultAccess, FaultHub, FaultReport, FaultStatus, NEAR, Verdict},
    history::{BoHistory, HistoryEntry},
    observer::Observer,
    page_fault::PageFault,
};
