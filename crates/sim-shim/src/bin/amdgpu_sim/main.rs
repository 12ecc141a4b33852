//! The launcher: runs a command in a world of simulated AMD GPUs.

mod cli;
mod doctor;
mod document;
mod error;
mod hang_report;
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
        // The statuses of `run` and `shell` are those of commands, of which 2 may be one: as of env(1), a wrong command line is 125.
        let is_run =
            std::env::args_os().nth(1).is_some_and(|task| task == "run" || task == "shell" || task == "doctor");
        std::process::exit(if is_run && !is_help { run::CANNOT_RUN.into() } else { error.exit_code() })
    })
}

fn main() -> ExitCode {
    let result = match command_line().task {
        Task::Run(arguments) => run::run(&arguments),
        Task::Shell(arguments) => shell::shell(&arguments),
        Task::Doctor(arguments) => doctor::doctor(&arguments),
        Task::List { variants } => cli::list(variants),
        Task::Census => run::census(),
        Task::Man => document::man(),
        Task::Completions { shell } => document::completions(shell),
    };
    result.unwrap_or_else(|error| {
        complain(&error.to_string());
        ExitCode::from(run::CANNOT_RUN)
    })
}
