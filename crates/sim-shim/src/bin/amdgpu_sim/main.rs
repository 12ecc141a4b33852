//! The launcher: runs a command in a world of simulated AMD GPUs.

mod cli;
mod reach;
mod run;
mod signals;

use std::process::ExitCode;

use clap::Parser as _;

use self::{
    cli::{Cli, Task},
    run::Changes,
};

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Run { gpu, null, lockup_timeout, kernel_vram, wide_fills, shim, command } => {
            run::run(gpu.as_deref(), null, Changes { lockup_timeout, kernel_vram, wide_fills }, shim, &command)
        }
        Task::Profiles => cli::list_profiles(),
        Task::Census => run::census(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("amdgpu-sim: {error}");
        ExitCode::from(run::CANNOT_RUN)
    })
}
