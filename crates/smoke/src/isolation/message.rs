//! Messages from a child to its parent: one JSON object per line on standard output.

use serde::{Deserialize, Serialize};

use crate::result::{check_result::CheckResult, report::Gpu, tested::Progress};

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Message {
    /// The GPU is open, and this is the plan.
    Planned { gpu: Box<Gpu>, steps: Vec<Planned> },
    /// A check is over.
    Result {
        result: Box<CheckResult>,
        /// The reason if the GPU can no longer be trusted.
        lost: Option<String>,
    },
    /// The child is at work: sent now and then while a check runs.
    Alive,
    /// A long check has come this far.
    Progress(Progress),
}

/// A check of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) id: String,
    /// Time limit, seconds.
    pub(crate) seconds: u64,
}

impl Message {
    /// The line, without its end.
    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
