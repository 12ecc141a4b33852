//! What a run found.

use std::time::Duration;

use serde::Serialize;

/// The version of the JSON layout.
pub(crate) const SCHEMA: &str = "amdgpu-smoke/1";

/// One run over one GPU.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The version of this layout.
    pub(crate) schema: &'static str,
    /// Version of this program.
    pub(crate) version: &'static str,
    /// What was tested.
    pub(crate) gpu: Gpu,
    /// The level asked for.
    pub(crate) level: &'static str,
    /// One entry for each check, in order.
    pub(crate) results: Vec<CheckResult>,
    /// Whether the plan ended early because the GPU was lost.
    pub(crate) aborted: bool,
    /// How often each word occurs.
    pub(crate) summary: Summary,
}

/// What was tested.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gpu {
    /// Whether this is the simulator.
    pub(crate) simulated: bool,
    /// Where: a node with its PCI address, or the simulator's profile.
    pub(crate) location: String,
    /// Marketing name, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// RADV's name of the chip, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chip: Option<&'static str>,
    /// Graphics generation, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gfx_level: Option<&'static str>,
    /// Driver version, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) driver: Option<String>,
}

/// The outcome of one check, in IGT's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It could not be tried here; the reason says why.
    Skip,
    /// The check itself broke.
    Crash,
}

impl Word {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Skip => "skip",
            Self::Crash => "CRASH",
        }
    }
}

/// The outcome of one check.
#[derive(Debug, Serialize)]
pub(crate) struct CheckResult {
    /// `area.name`, stable.
    pub(crate) id: String,
    /// The outcome.
    pub(crate) word: Word,
    /// What was found: figures on a pass, evidence on a failure, the reason of a skip.
    pub(crate) detail: String,
    /// How long it took.
    #[serde(serialize_with = "milliseconds", rename = "ms")]
    pub(crate) time: Duration,
}

/// How often each word occurs.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Summary {
    pub(crate) pass: usize,
    pub(crate) fail: usize,
    pub(crate) skip: usize,
    pub(crate) crash: usize,
}

impl Summary {
    pub(crate) fn of(results: &[CheckResult]) -> Self {
        let count = |word| results.iter().filter(|result| result.word == word).count();
        Self {
            pass: count(Word::Pass),
            fail: count(Word::Fail),
            skip: count(Word::Skip),
            crash: count(Word::Crash),
        }
    }
}

fn milliseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    // Three digits after the point are what a clock can tell.
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}
