//! The report of `amdgpu-smoke`: the kernel's messages during failed checks, and the checks themselves.

use serde_json::Value;

use super::message::short;

/// The start of a report's schema.
const SCHEMA: &str = "amdgpu-smoke/";

/// A failed check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    /// The ID and the reason.
    pub(crate) text: String,
    /// The ring in the ID, if any.
    pub(crate) ring: Option<String>,
    /// `true` if the check lost a job or a page fault was recorded.
    pub(crate) is_hang: bool,
    /// The packet at which the job was.
    pub(crate) packet: Option<String>,
    /// The page fault, as the check describes it.
    pub(crate) fault: Option<String>,
    /// The kernel's messages.
    pub(crate) messages: Vec<String>,
}

/// Returns `true` if a file may be a report, by its first bytes.
pub(crate) fn is_report(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.trim_start().starts_with('{') && text.contains("\"schema\"") && text.contains(SCHEMA)
}

/// Returns the failed checks of a report.
///
/// # Errors
///
/// The reason why the text is not a report.
pub(crate) fn failed(text: &str) -> Result<Vec<Failed>, String> {
    let report: Value =
        serde_json::from_str(text).map_err(|error| format!("not a whole report of amdgpu-smoke: {error}"))?;
    let results = report["results"].as_array().ok_or("a report of amdgpu-smoke without results")?;
    let is_bad = |result: &&Value| {
        matches!(
            result["word"].as_str(),
            Some("fail" | "crash" | "timeout" | "dmesg-warn" | "dmesg_fail" | "dmesg-fail")
        )
    };
    Ok(results.iter().filter(is_bad).map(failure).collect())
}

fn failure(result: &Value) -> Failed {
    let text = |value: &Value| value.as_str().map(short).unwrap_or_default();
    let lines = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(short).collect()
    };
    let (id, detail, evidence) = (text(&result["id"]), text(&result["detail"]), &result["evidence"]);
    let hang = lines(&evidence["hang"]);
    let last = id.rsplit('.').next().unwrap_or_default();
    let is_ring = ["gfx", "comp", "sdma", "vcn", "jpeg"].iter().any(|kind| last.starts_with(kind));
    Failed {
        ring: is_ring.then(|| last.to_owned()),
        is_hang: !hang.is_empty() || detail.contains("hang") || detail.contains("reset"),
        packet: hang
            .iter()
            .find(|line| line.contains("DISPATCH") || line.contains("DRAW") || line.contains("WAIT_REG_MEM"))
            .cloned(),
        fault: evidence["fault"].as_str().map(short),
        messages: lines(&evidence["messages"]),
        text: format!("{id}: {detail}"),
    }
}
