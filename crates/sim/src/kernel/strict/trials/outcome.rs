//! The outcome of a trial.

use crate::kernel::strict::report::HazardKind;

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrialOutcome {
    /// The model reported a hazard of this kind.
    Reported(HazardKind),
    /// Nothing in the stream needed what was missing: no two accesses are in conflict without it.
    Redundant,
    /// Two accesses, as text, are in conflict without it, and the model did not report them.
    Missed(String),
}

/// A trial: what became of a stream without one of its cache operations or waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrialReport {
    /// The chip.
    pub chip: String,
    /// The missing effect.
    pub without: String,
    /// The packet that had it.
    pub place: String,
    /// The name of the packet.
    pub packet: &'static str,
    /// The outcome.
    pub outcome: TrialOutcome,
}

impl TrialReport {
    /// Returns the trial as a line of JSON, with `trial` for the outcome.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self { chip, without, place, packet, outcome } = self;
        let (trial, kind, conflict) = match outcome {
            TrialOutcome::Reported(kind) => ("reported", Some(kind.name()), None),
            TrialOutcome::Redundant => ("redundant", None, None),
            TrialOutcome::Missed(conflict) => ("missed", None, Some(conflict)),
        };
        serde_json::json!({
            "trial": trial, "chip": chip, "without": without, "packet": packet, "place": place, "kind": kind,
            "conflict": conflict,
        })
        .to_string()
    }
}
