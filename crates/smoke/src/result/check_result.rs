//! The outcome of one check.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    hardware::state::{Hardware, HardwareRule},
    result::{
        bandwidth::Bandwidth,
        evidence::Evidence,
        peers::PeerCopy,
        status::{Expected, Status},
        tested::Tested,
    },
};

/// The result of a check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckResult {
    /// The stable ID of the check, `area.name`. The name of the ring follows if the check is for one ring.
    pub id: String,
    /// The status of the check.
    pub status: Status,
    /// The figures of a passed check, the evidence of a failure, or the reason for a skip.
    pub detail: String,
    /// The duration of the check; in JSON in milliseconds.
    #[serde(with = "milliseconds", rename = "ms")]
    pub time: Duration,
    /// The bandwidths that the check measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bandwidths: Vec<Bandwidth>,
    /// The copies between GPUs that the check measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerCopy>,
    /// The memory that the check tested, if it is a memory test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<Tested>,
    /// Additional evidence of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// The state of the hardware during the check, if the hardware is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<Hardware>,
    /// The expectation for the check, if the user's lists name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}

impl CheckResult {
    pub(crate) fn new(id: &str, status: Status, detail: impl Into<String>, time: Duration) -> Self {
        let (id, detail) = (id.to_owned(), detail.into());
        let (bandwidths, peers) = (Vec::new(), Vec::new());
        Self {
            id,
            status,
            detail,
            time,
            bandwidths,
            peers,
            tested: None,
            evidence: None,
            hardware: None,
            expected: None,
        }
    }

    /// Returns the evidence and the hardware's events as lines of text. Errors of the kernel's log are among the evidence.
    pub(crate) fn evidence_lines(&self) -> Vec<String> {
        let mut lines = self.evidence.as_ref().map(|evidence| evidence.lines()).unwrap_or_default();
        let events = self.hardware.iter().flat_map(|hardware| &hardware.events);
        lines.extend(events.filter(|event| event.rule != HardwareRule::KernelError).map(ToString::to_string));
        lines
    }

    /// Returns `true` if the result makes the run fail.
    pub fn is_failure(&self) -> bool {
        match self.expected {
            Some(Expected::Fail | Expected::Flake) => false,
            Some(Expected::UnexpectedPass) => true,
            _ => self.status.is_bad(),
        }
    }
}

mod milliseconds {
    //! A time as milliseconds with three digits after the point, the resolution of the clock.

    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Duration, D::Error> {
        let milliseconds = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(milliseconds / 1e3).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_comes_back_from_json() {
        let result = CheckResult::new("a.b", Status::DmesgWarn, "detail", Duration::from_micros(1500));
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["ms"], 1.5);
        let back: CheckResult = serde_json::from_value(json).unwrap();
        assert_eq!((back.id, back.status, back.time), (result.id, result.status, result.time));
    }
}
