//! The report as JSON.

use crate::result::report::Report;

/// Returns the report, schema [`SCHEMA`](crate::SCHEMA), and a line end.
pub(crate) fn document(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
