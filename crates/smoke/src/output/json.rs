//! The report as JSON.

use crate::{output::sink::Sink, result::report::Report, run::Observer};

/// Writes the report, schema [`SCHEMA`](crate::SCHEMA), when the run has ended.
pub(crate) struct Json(pub(crate) Sink);

impl Observer for Json {
    fn ended(&mut self, report: &Report) {
        self.0.write(&document(report));
    }
}

/// The report and a line end.
pub(crate) fn document(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
