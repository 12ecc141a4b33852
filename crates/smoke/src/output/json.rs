//! The report as JSON.

use crate::result::report::Report;

/// Returns the report in the schema [`SCHEMA`](crate::SCHEMA), followed by a line break.
pub(crate) fn document(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
