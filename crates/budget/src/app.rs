//! The program: a command line that connects a source with a view.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use amdgpu_output::Visible;
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::{
    cli::{Arguments, Command},
    command,
    exit::Exit,
    session::{Outcome, Stop},
    terminal::errors,
};

/// Runs the program and returns its exit status. The first argument is the name of the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run(arguments, &mut io::stdout().lock()).into()
}

/// Runs the program like [`main`], but writes to the given output. Control characters of foreign text are visible in it, unless the
/// output is a picture.
pub fn run(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write) -> Exit {
    let mut visible = Visible::new(&mut *out);
    let command = amdgpu_output::manual::compact(Arguments::command());
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            // An error of the terminal itself cannot be reported.
            let _ = write!(errors(), "{error}");
            return Exit::Usage;
        }
        Err(help) => {
            return ended(write!(visible, "{help}").map(|()| Exit::Fine).map_err(Stop::from), false, "", &mut visible);
        }
    };
    if matches!(&arguments.command, Some(Command::Plot(options)) if options.format.is_binary()) {
        drop(visible);
        return perform(&arguments, out);
    }
    perform(&arguments, &mut visible)
}

fn perform(arguments: &Arguments, out: &mut dyn Write) -> Exit {
    let quiet = arguments.global.quiet;
    let is_check = matches!(arguments.command, Some(Command::Check(_)));
    let outcome = command::execute(arguments, out);
    match outcome {
        Err(Stop::Message(_, message)) if is_check => {
            // A plug-in says everything on standard output.
            ended(writeln!(out, "UNKNOWN - {message}").map(|()| Exit::Check(3)).map_err(Stop::from), quiet, "", out)
        }
        outcome => ended(outcome, quiet, "amdgpu-budget: ", out),
    }
}

fn ended(outcome: Outcome, quiet: bool, prefix: &str, out: &mut dyn Write) -> Exit {
    let flushed = |outcome: Outcome, out: &mut dyn Write| outcome.and_then(|exit| Ok(out.flush().map(|()| exit)?));
    let (exit, message) = match flushed(outcome, out) {
        Ok(exit) | Err(Stop::Exit(exit)) => return exit,
        Err(Stop::Message(exit, message)) => (exit, message),
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Exit::Fine,
        Err(Stop::Output(error)) => (Exit::NotWritten, format!("the output could not be written: {error}")),
    };
    if !quiet {
        let _ = writeln!(errors(), "{prefix}{message}");
    }
    exit
}
