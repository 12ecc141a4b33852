//! Exit codes: those of IGT, so that its runners understand them.

use std::process::ExitCode;

use crate::result::report::Report;

/// The exit status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All checks that ran passed.
    Pass = 0,
    /// `diff` found something that was better before.
    Worse = 1,
    /// There is no device, or all checks were skipped.
    Skip = 77,
    /// The command line is invalid.
    Invalid = 79,
    /// At least one check failed.
    Fail = 98,
    /// The GPU was lost and the plan ended early. Later results on this machine are not reliable.
    Aborted = 112,
}

impl Exit {
    /// Every status with its meaning, for the manual page.
    pub(crate) const TABLE: [(Self, &'static str); 6] = [
        (Self::Pass, "Everything that ran passed, or failed as its list of expectations says."),
        (Self::Worse, "Only of diff: something was better in the old report."),
        (Self::Skip, "There is no device, or every check was skipped."),
        (Self::Invalid, "The command line or a file that it names makes no sense."),
        (Self::Fail, "At least one check failed."),
        (Self::Aborted, "The run was interrupted, or the GPU was lost and the plan ended early."),
    ];

    /// Returns the exit status of a run.
    pub fn of(report: &Report) -> Self {
        let summary = report.summary;
        let ran = summary.pass + summary.warn + summary.dmesg_warn + summary.expected;
        if report.aborted {
            Self::Aborted
        } else if report.results.iter().any(crate::CheckResult::is_failure) {
            Self::Fail
        } else if ran > 0 {
            Self::Pass
        } else {
            Self::Skip
        }
    }

    /// Returns the exit code of the process.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
