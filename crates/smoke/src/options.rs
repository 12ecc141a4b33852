//! Options of a run.

use crate::{
    choice::{BadFilter, Choice, Filter},
    gpu::test_context::Settings,
    level::Level,
    result::{baseline::Baseline, check_result::CheckResult, expectations::Expectations, resumed::Resumed},
};

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Level of testing.
    pub level: Level,
    /// Selection of checks within the level. A GPU that cannot be opened is always reported.
    pub choice: Choice,
    /// Seed of the random numbers. Zero is a valid seed.
    pub seed: u32,
    /// The most bytes that a check takes at once; half of what the fullest heap has left, 4 GiB at most, or 64 MiB of a
    /// simulated GPU's, when nothing is said.
    pub memory: Option<u64>,
    /// Go on after the GPU was lost or reset.
    pub keep_going: bool,
    /// `true` if each event of the hardware that is a warning otherwise fails its check.
    pub strict_hardware: bool,
    /// Checks that are known to fail, known to be flaky, or to be left out.
    pub expectations: Expectations,
    /// An earlier report that bandwidths are compared with.
    pub baseline: Option<Baseline>,
    /// The beginning of this run, if it is not to be repeated. Runs in this process ignore it.
    pub resumed: Option<Resumed>,
}

impl Options {
    /// Returns the default with checks whose ids the expression matches.
    ///
    /// # Errors
    ///
    /// The error in the expression.
    pub fn filtered(expression: &str) -> Result<Self, BadFilter> {
        let choice = Choice { filter: Some(Filter::new(expression)?), ..Choice::default() };
        Ok(Self { choice, ..Self::default() })
    }

    /// Writes into a result what the baseline and the user's lists say of it.
    pub(crate) fn judge(&self, result: &mut CheckResult) {
        if let Some(baseline) = &self.baseline {
            baseline.judge(result);
        }
        self.expectations.judge(result);
    }

    pub(crate) const fn settings(&self) -> Settings {
        Settings { seed: self.seed, memory: self.memory, pulse: None, progress: None }
    }
}
