//! Options of a run.

use amdgpu_winsys::winsys::GfxLevel;

use crate::{
    choice::{BadFilter, Choice, Filter},
    gpu::test_context::Settings,
    identity::machine::Machine,
    level::Level,
    result::{baseline::Baseline, check_result::CheckResult, expectations::Expectations, hints, resumed::Resumed},
};

/// The options of a run.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with each other")]
pub struct Options {
    /// The level of testing.
    pub level: Level,
    /// The selection of checks within the level. A GPU that cannot be opened is always reported.
    pub choice: Choice,
    /// The seed of the random numbers. Zero is a valid seed.
    pub seed: u32,
    /// The maximum number of bytes that a check allocates at once. `None` means half of the free memory of the fullest heap, but at
    /// most 4 GiB, or 64 MiB on a simulated GPU.
    pub memory: Option<u64>,
    /// `true` to continue after the GPU was lost or reset.
    pub keep_going: bool,
    /// `true` if hardware events that are otherwise warnings make their check fail.
    pub strict_hardware: bool,
    /// `true` if the check `power.suspend` may suspend this computer, with a GPU that is not simulated.
    pub may_suspend: bool,
    /// `true` if the check `device.unplug` may take the GPU away from all its users, if it is not simulated.
    pub may_unplug: bool,
    /// The generation for which failed checks get hints; `None` for none.
    pub hints: Option<GfxLevel>,
    /// The checks that are known to fail, known to be flaky, or to be skipped.
    pub expectations: Expectations,
    /// The computer, for the report.
    pub machine: Option<Machine>,
    /// An earlier report with which bandwidths are compared.
    pub baseline: Option<Baseline>,
    /// The results of an interrupted run, which are not repeated. Runs in this process ignore it.
    pub resumed: Option<Resumed>,
}

impl Options {
    /// Returns the default options with a filter for the IDs of checks.
    ///
    /// # Errors
    ///
    /// [`BadFilter`](crate::BadFilter) with the error in the expression.
    pub fn filtered(expression: &str) -> Result<Self, BadFilter> {
        let choice = Choice { filter: Some(Filter::new(expression)?), ..Choice::default() };
        Ok(Self { choice, ..Self::default() })
    }

    /// Writes into a result what the baseline and the user's lists say of it, and the hints that are wanted.
    pub(crate) fn judge(&self, result: &mut CheckResult) {
        if let Some(baseline) = &self.baseline {
            baseline.judge(result);
        }
        self.expectations.judge(result);
        let hints = self.hints.map(|level| hints::of(level, result)).unwrap_or_default();
        if !hints.is_empty() {
            result.evidence.get_or_insert_default().hints = hints;
        }
    }

    pub(crate) const fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            memory: self.memory,
            may_suspend: self.may_suspend,
            may_unplug: self.may_unplug,
            pulse: None,
            progress: None,
        }
    }
}
