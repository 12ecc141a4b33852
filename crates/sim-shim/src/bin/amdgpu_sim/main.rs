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
mod terminal;

use std::{io::Write as _, process::ExitCode};

use clap::Parser as _;

use self::{
    cli::{Cli, Task},
    terminal::{complain, errors, output},
};

/// Returns the command line, or prints the help or the reason why there is none and ends.
fn command_line() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let is_help = !error.use_stderr();
        let text = error.to_string();
        let _ = if is_help { write!(output(), "{text}") } else { write!(errors(), "{text}") };
        std::process::exit(error.exit_code())
    })
}

fn main() -> ExitCode {
    let result = match command_line().task {
        Task::Run(arguments) => run::run(&arguments),
        Task::Shell(arguments) => shell::shell(&arguments),
        Task::Doctor(arguments) => doctor::doctor(&arguments),
        Task::Profiles => cli::list_profiles(),
        Task::Census => run::census(),
        Task::Man => document::man(),
        Task::Completions { shell } => document::completions(shell),
    };
    result.unwrap_or_else(|error| {
        complain(&error.to_string());
        ExitCode::from(run::CANNOT_RUN)
    })
}
