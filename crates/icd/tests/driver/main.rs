//! The driver's commands, called as the loader calls them, on simulated chips.
#![expect(unsafe_code, reason = "Vulkan's commands are unsafe")]

mod compressed;
mod every;
mod external;
mod faults;
mod gpu;
mod images;
mod memory;
mod others;
mod reports;
mod sync;
mod transfer;
