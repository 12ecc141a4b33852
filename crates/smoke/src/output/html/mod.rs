//! The report as a single self-contained HTML page.

mod page;
mod picture;
mod sensors;

use std::time::Instant;

use self::picture::Span;
use crate::{
    output::sink::Sink,
    result::{check_result::CheckResult, report::Report},
    run::Observer,
};

/// Writes the page when the run has ended.
pub(crate) struct Html {
    out: Sink,
    /// The start of the run.
    zero: Instant,
    started: Option<Instant>,
    spans: Vec<Span>,
}

impl Html {
    pub(crate) fn new(out: Sink) -> Self {
        Self { out, zero: Instant::now(), started: None, spans: Vec::new() }
    }

    fn milliseconds(&self, at: Instant) -> f64 {
        at.duration_since(self.zero).as_secs_f64() * 1e3
    }
}

impl Observer for Html {
    fn started(&mut self, _: &str) {
        self.started = Some(Instant::now());
    }

    fn finished(&mut self, result: &CheckResult) {
        // A soak tells of checks that have not just run.
        let Some(started) = self.started.take() else { return };
        let (start, end) = (self.milliseconds(started), self.milliseconds(Instant::now()));
        let hardware = result.hardware.clone();
        self.spans.push(Span { id: result.id.clone(), word: result.word, start, end, hardware });
    }

    fn ended(&mut self, report: &Report) {
        self.out.write(&page::document(report, &self.spans));
    }
}
