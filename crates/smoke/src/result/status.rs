//! The outcome of a check in one word, and what was expected of it.

use serde::{Deserialize, Serialize};

/// The outcome of one check, in IGT's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It could not be tried here; the reason says why.
    Skip,
    /// The check itself broke.
    Crash,
    /// It holds, and something else happened that should not.
    Warn,
    /// It took longer than it may, and was ended.
    Timeout,
    /// It could not be ended, or the user ended the run.
    Incomplete,
    /// It holds, and the kernel complained of the GPU meanwhile.
    DmesgWarn,
}

impl Status {
    /// All there are.
    pub const ALL: [Self; 8] =
        [Self::Pass, Self::Fail, Self::Skip, Self::Crash, Self::Warn, Self::Timeout, Self::Incomplete, Self::DmesgWarn];

    /// Returns the name that IGT writes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::Crash => "crash",
            Self::Warn => "warn",
            Self::Timeout => "timeout",
            Self::Incomplete => "incomplete",
            Self::DmesgWarn => "dmesg-warn",
        }
    }

    /// Returns `true` if the GPU, or the check, did not do what it should.
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Timeout | Self::Incomplete)
    }
}

/// The expectation of the lists for a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// It fails as listed.
    Fail,
    /// It fails, and is known to do so now and then.
    Flake,
    /// It was left out.
    Skip,
    /// It is listed as failing, and passed.
    UnexpectedPass,
}
