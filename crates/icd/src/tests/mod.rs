//! Programs on a kernel that fails when it is told to.
#![expect(unsafe_code, reason = "Vulkan's commands are unsafe")]

mod engine;
mod lost;
mod opened;
mod results;
mod strict;
mod sweep;
