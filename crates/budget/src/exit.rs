//! Exit codes: what scripts rely on.

use std::process::ExitCode;

/// Exit status of a run. The numbers 64 to 77 are those of `sysexits.h`; `check` follows the monitoring plug-ins' convention
/// instead ([`Exit::Check`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Fine; also when the reader closed the pipe.
    Fine,
    /// Something failed while running.
    Failed,
    /// The command line makes no sense (EX_USAGE).
    Usage,
    /// There is no amdgpu GPU (EX_UNAVAILABLE).
    NoGpu,
    /// The output could not be written (EX_IOERR).
    NotWritten,
    /// There is something, but nothing of it may be read (EX_NOPERM).
    NotReadable,
    /// `wait` ran out of time, as `timeout(1)` says it.
    TimedOut,
    /// Result of `check`: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
    Check(u8),
}

impl Exit {
    /// Every code but those of `check`, with what it means: the table of the man page.
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
