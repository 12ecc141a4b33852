//! Standard output and standard error of the launcher.

use std::io::{self, Write as _};

use amdgpu_output::Visible;

/// Returns standard output, on which control characters of names are visible.
pub(crate) fn output() -> Visible<io::StdoutLock<'static>> {
    Visible::new(io::stdout().lock())
}

/// Returns standard error, on which control characters of names are visible.
pub(crate) fn errors() -> Visible<io::StderrLock<'static>> {
    Visible::new(io::stderr().lock())
}

/// Prints a message to standard error.
pub(crate) fn complain(message: &str) {
    // A reader that closed it has no use for the message.
    let _ = writeln!(errors(), "amdgpu-sim: {message}");
}
