//! Devices: initialisation, the list of the process, names, and what initialisation collects.

mod device;
mod facts;
mod fault_report;
mod faults;
mod functions;
mod gpu_info;
mod initialize;
mod leaks;
mod list;
mod names;
mod node;
mod table;

pub(crate) use self::{
    device::{Count, Device, Opened},
    fault_report::report as report_fault,
    gpu_info::GpuInfo,
    table::Entries,
};
