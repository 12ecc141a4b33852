//! The status of a check, and the expectation for it.

use serde::{Deserialize, Serialize};

/// The status of a check, with IGT's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The check passed.
    Pass,
    /// The check failed.
    Fail,
    /// The check could not run on this GPU or system.
    Skip,
    /// The check crashed.
    Crash,
    /// The check passed, but something else went wrong.
    Warn,
    /// The check exceeded its time limit and was ended.
    Timeout,
    /// The check could not be ended, or the user ended the run.
    Incomplete,
    /// The check passed, but the kernel logged a warning about the GPU.
    DmesgWarn,
}

impl Status {
    /// All statuses.
    pub const ALL: [Self; 8] =
        [Self::Pass, Self::Fail, Self::Skip, Self::Crash, Self::Warn, Self::Timeout, Self::Incomplete, Self::DmesgWarn];

    /// Returns IGT's name of the status.
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

    /// Returns `true` if the status reports a fault of the GPU or of the check.
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Timeout | Self::Incomplete)
    }
}

/// The comparison of a result with the user's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// The check failed, as listed.
    Fail,
    /// The check failed, and is listed as failing sometimes.
    Flake,
    /// The check is listed to be skipped.
    Skip,
    /// The check passed, although it is listed as failing.
    UnexpectedPass,
}
