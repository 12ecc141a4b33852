//! The commands.

mod check;
mod diff;
mod disassemble;
mod document;
mod dump;
mod follow;
mod recorded;
mod terminal;
mod why;

use std::{ffi::OsString, io::Write};

use clap::Parser as _;

use self::terminal::{complain, errors, output};
use crate::{
    cli::{Cli, Task},
    outcome::{Error, Exit},
};

/// Runs the command line. Returns the exit status.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let is_help = !error.use_stderr();
            // A reader that closed our output has no use for the message.
            let mut shown: Box<dyn Write> = if is_help { Box::new(output()) } else { Box::new(errors()) };
            let _ = write!(shown, "{error}").and_then(|()| shown.flush());
            return if is_help { Exit::Understood } else { Exit::Usage }.code();
        }
    };
    let done = match &cli.task {
        Task::Why(arguments) => {
            return why::why(arguments).unwrap_or_else(|error| end(&cli.task, &error).code());
        }
        Task::Dump(arguments) => dump::dump(arguments),
        Task::Diff(arguments) => diff::diff(arguments),
        Task::Disassemble { file, chip, wave, json } => disassemble::disassemble(file, chip.as_deref(), *wave, *json),
        Task::Check { directories, named, chip } => check::check(directories, chip.as_deref(), *named),
        Task::Man => document::man(),
        Task::Completions { shell } => document::completions(*shell),
    };
    done.unwrap_or_else(|error| end(&cli.task, &error)).code()
}

/// Prints an error, unless the reader of the output has closed it, and returns the status.
fn end(task: &Task, error: &Error) -> Exit {
    let exit = error.exit();
    if exit != Exit::Understood {
        complain(&error.to_string());
    }
    // As in diff(1), all errors of a comparison have status 2.
    if exit == Exit::Input && matches!(task, Task::Diff(_) | Task::Why(_)) { Exit::Usage } else { exit }
}
