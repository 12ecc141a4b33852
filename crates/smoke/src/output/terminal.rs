//! Lines on standard output, and errors on standard error.

use std::io::{self, Write as _};

use amdgpu_output::Visible;

use crate::{
    output::sink::{Sink, Troubles},
    result::exit::Exit,
};

/// Returns standard output, on which control characters of foreign text are visible.
pub(crate) fn visible_output() -> Visible<io::StdoutLock<'static>> {
    Visible::new(io::stdout().lock())
}

/// Returns standard error, on which control characters of foreign text are visible.
pub(crate) fn visible_errors() -> Visible<io::StderrLock<'static>> {
    Visible::new(io::stderr().lock())
}

/// Prints lines until the reader closes the pipe.
pub(crate) fn print_lines(lines: impl Iterator<Item = String>) -> Exit {
    let troubles = Troubles::default();
    let mut out = Sink::stdout(&troubles);
    lines.for_each(|line| out.line(&line));
    after_troubles(Exit::Pass, &troubles)
}

/// Prints an error to standard error.
pub(crate) fn complain(error: &dyn std::fmt::Display) {
    let _ = writeln!(visible_errors(), "amdgpu-smoke: {error}");
}

/// Prints the write errors of a run, and returns its exit status: with an error, a passed or skipped run is
/// [`Exit::Invalid`].
pub(crate) fn after_troubles(exit: Exit, troubles: &Troubles) -> Exit {
    let all = troubles.all();
    for trouble in &all {
        complain(trouble);
    }
    if !all.is_empty() && matches!(exit, Exit::Pass | Exit::Skip) { Exit::Invalid } else { exit }
}
