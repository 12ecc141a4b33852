//! Commands of extensions that are later than the registry from which the table of commands is generated, with their functions.

use super::command::{Command, Level::Device};
use crate::{
    border::{
        adapter::{Function, four, two},
        fault::{GetDebugInfo, GetReports},
    },
    entries::fault,
};

/// The extension of all of them.
const FAULT: &[&str] = &["VK_KHR_device_fault"];

/// The commands with their functions, by name.
pub(super) static LATER: [(Command, Function); 2] = [
    (row("vkGetDeviceFaultDebugInfoKHR"), two(fault::debug_info, None::<GetDebugInfo>)),
    (row("vkGetDeviceFaultReportsKHR"), four(fault::reports, None::<GetReports>)),
];

const fn row(name: &'static str) -> Command {
    Command { name, level: Device, alias: "", by: FAULT }
}
