//! Exit codes, on which scripts rely.

use std::process::ExitCode;

/// The exit status of a run. The numbers 64 to 77 are those of `sysexits.h`; `check` follows the monitoring plug-ins' convention
/// instead ([`Exit::Check`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The run succeeded. A reader that closes the output pipe also ends a run with this status.
    Fine,
    /// An error occurred during the run.
    Failed,
    /// The command line is invalid (EX_USAGE).
    Usage,
    /// There is no GPU with the amdgpu driver (EX_UNAVAILABLE).
    NoGpu,
    /// The output could not be written (EX_IOERR).
    NotWritten,
    /// There is a GPU, but the process has no permission to read its files (EX_NOPERM).
    NotReadable,
    /// `wait` reached its time limit. The number is that of `timeout(1)`.
    TimedOut,
    /// The result of `check`: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
    Check(u8),
}

impl Exit {
    /// All codes except those of `check`, with their meanings, for the man page.
    pub const TABLE: [(Self, &'static str); 7] = [
        (Self::Fine, "fine, also when the reader closed the pipe"),
        (Self::Failed, "failed while running; the reason is on standard error"),
        (Self::Usage, "the command line makes no sense"),
        (Self::NoGpu, "no amdgpu GPU, or none that --gpu selects"),
        (Self::NotWritten, "the output could not be written"),
        (Self::NotReadable, "nothing may be read (permission)"),
        (Self::TimedOut, "wait ran out of time"),
    ];

    /// Returns the process's exit status.
    pub const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Failed => 1,
            Self::Usage => 64,
            Self::NoGpu => 69,
            Self::NotWritten => 74,
            Self::NotReadable => 77,
            Self::TimedOut => 124,
            Self::Check(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
