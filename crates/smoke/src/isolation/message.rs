//! Messages from a child to its parent: one JSON object per line on standard output.

use serde::{Deserialize, Serialize};

use crate::result::{check_result::CheckResult, report::Gpu, tested::Progress};

/// A message, which is one line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Message {
    /// The GPU was opened, and the plan was made.
    Planned { gpu: Box<Gpu>, steps: Vec<Planned> },
    /// A check has ended.
    Result {
        result: Box<CheckResult>,
        /// The reason why the GPU is no longer reliable, if so.
        lost: Option<String>,
    },
    /// The child is working. Sent periodically while a check runs.
    Alive,
    /// A long check has made progress.
    Progress(Progress),
}

/// A check of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) id: String,
    /// The time limit in seconds.
    pub(crate) seconds: u64,
}

impl Message {
    /// Returns the line, without the line break.
    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
