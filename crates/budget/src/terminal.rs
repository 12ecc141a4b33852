//! Standard error of the program.

use std::io;

use amdgpu_output::Visible;

/// Returns standard error, on which control characters of foreign text are visible.
pub(crate) fn errors() -> Visible<io::StderrLock<'static>> {
    Visible::new(io::stderr().lock())
}
