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

/// Returns the failed checks of a report, and where it was cut off if it was: the results before are whole.
///
/// # Errors
///
/// The reason why the text is not a report.
pub(crate) fn failed(text: &str) -> Result<(Vec<Failed>, Option<String>), String> {
    let (results, cut) = match serde_json::from_str::<Value>(text) {
        Ok(report) => {
            let results = report["results"].as_array().ok_or("a report of amdgpu-smoke without results")?;
            (results.clone(), None)
        }
        Err(error) if error.is_eof() => {
            let (results, last) = begun(text);
            let last = last.map(|id| format!(" in the result of {id}")).unwrap_or_default();
            let whole = if results.len() == 1 {
                "1 whole result".to_owned()
            } else {
                format!("{} whole results", results.len())
            };
            (results, Some(format!("not a whole report of amdgpu-smoke: it ends{last}, after {whole}")))
        }
        Err(error) => return Err(format!("not a whole report of amdgpu-smoke: {error}")),
    };
    let is_bad = |result: &&Value| {
        matches!(
            result["status"].as_str(),
            Some("fail" | "crash" | "timeout" | "dmesg-warn" | "dmesg_fail" | "dmesg-fail")
        )
    };
    Ok((results.iter().filter(is_bad).map(failure).collect(), cut))
}

/// Returns the whole results of a report that was cut off, and the check of the one that is not whole.
fn begun(text: &str) -> (Vec<Value>, Option<String>) {
    let array = text.split_once("\"results\"").and_then(|(_, rest)| rest.split_once('[')).map(|(_, rest)| rest);
    let mut rest = array.unwrap_or_default();
    let mut whole = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\n', '\r', '\t']);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { break };
        rest = &rest[values.byte_offset()..];
        whole.push(value);
    }
    let id = rest.split_once("\"id\"").and_then(|(_, rest)| rest.split('"').nth(1)).map(short);
    (whole, id.filter(|id| !id.is_empty()))
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
