//! Exit codes: those of IGT, so that its runners understand them.

use std::process::ExitCode;

use crate::report::{Report, Word};

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything that ran passed.
    Pass = 0,
    /// No device, or everything was skipped.
    Skip = 77,
    /// Bad usage.
    Invalid = 79,
    /// At least one check failed.
    Fail = 98,
    /// The machine cannot be trusted any more: the GPU was reset, and the plan ended early.
    Aborted = 112,
}

impl Exit {
    pub(crate) fn of(report: &Report) -> Self {
        let any = |word| report.results.iter().any(|result| result.word == word);
        if report.aborted {
            Self::Aborted
        } else if any(Word::Fail) || any(Word::Crash) {
            Self::Fail
        } else if any(Word::Pass) {
            Self::Pass
        } else {
            Self::Skip
        }
    }

    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
