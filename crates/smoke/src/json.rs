//! The report as JSON.

use std::io::{self, Write};

use crate::report::Report;

/// Writes the report, schema [`SCHEMA`](crate::SCHEMA), and a line end.
pub(crate) fn write(report: &Report, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, report)?;
    writeln!(out)?;
    out.flush()
}
