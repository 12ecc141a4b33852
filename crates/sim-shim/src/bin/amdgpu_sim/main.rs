//! The launcher: runs a command in a world of simulated AMD GPUs.

mod cli;
mod doctor;
mod document;
mod error;
mod reach;
mod run;
mod screenshot;
mod shell;
mod signals;

use std::process::ExitCode;

use clap::Parser as _;

use self::cli::{Cli, Task};

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Run(arguments) => run::run(&arguments),
        Task::Shell(arguments) => shell::shell(&arguments),
        Task::Doctor(arguments) => doctor::doctor(&arguments),
        Task::Profiles => cli::list_profiles(),
        Task::Census => run::census(),
        Task::Man => document::man(),
        Task::Completions { shell } => document::completions(shell),
    };
    result.unwrap_or_else(|error| {
        eprintln!("amdgpu-sim: {error}");
        ExitCode::from(run::CANNOT_RUN)
    })
}
