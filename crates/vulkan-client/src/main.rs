//! `amdgpu-vulkan-client`: what a Vulkan driver and the kernel beneath it do with memory, queues and time, checked.
//!
//! It runs on RADV above the simulated GPU as well as on a Radeon. Commands for which RADV draws on a graphics queue are left out there,
//! since the simulator does not draw.
//!
//! - [`gpu`] owns the Vulkan objects: all the unsafe code is there, and what it hands out is safe to use in any order.
//! - [`checks`] are what is proved, one function each.
//! - [`jobs`] runs compute shaders of a folder and judges their outputs, on request.
//! - [`images`] asks about images of every kind, on request.
//! - [`peer`] is the other process of the checks that share something.
//! - [`picture`] is one that a compute shader makes, on request; [`speed`] times shaders.
//! - [`random`] makes compute shaders by a grammar, to compare two drivers.
//! - [`run`] tries the checks, each in a process of its own, so that a crash or a hang of the driver costs one line.

mod checks;
mod cli;
mod exit;
#[expect(unsafe_code, reason = "Vulkan's functions are C functions")]
mod gpu;
mod images;
mod jobs;
mod outcome;
mod peer;
mod picture;
mod random;
mod run;
mod speed;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Arguments::try_parse() {
        Ok(arguments) => run::run(&arguments).into(),
        Err(usage) => {
            let code = if usage.use_stderr() { exit::Exit::Invalid } else { exit::Exit::Pass };
            // PANIC: none; a closed stream makes printing the usage an error, and there is no one left to tell.
            let _ = usage.print();
            code.into()
        }
    }
}
