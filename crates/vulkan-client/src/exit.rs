//! Exit codes: those of IGT and of `amdgpu-smoke`, so that the same runners understand them.

use std::process::ExitCode;

/// Exit status of a run.
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
}

impl Exit {
    /// Returns the exit status of a run in which this many checks passed and failed.
    pub(crate) const fn of(passed: usize, failed: usize) -> Self {
        match (passed, failed) {
            (0, 0) => Self::Skip,
            (_, 0) => Self::Pass,
            _ => Self::Fail,
        }
    }

    /// The exit of a child that ran one check, if its status is one of ours.
    pub(crate) const fn of_code(code: i32) -> Option<Self> {
        match code {
            0 => Some(Self::Pass),
            77 => Some(Self::Skip),
            98 => Some(Self::Fail),
            _ => None,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn one_failure_outweighs_every_pass_and_nothing_run_is_a_skip() {
        assert_eq!(Exit::of(5, 1), Exit::Fail);
        assert_eq!(Exit::of(5, 0), Exit::Pass);
        assert_eq!(Exit::of(0, 0), Exit::Skip);
    }
}
