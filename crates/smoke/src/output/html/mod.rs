//! The report as a single self-contained HTML page.

mod page;
mod picture;
mod sensors;

pub(crate) use self::page::STYLE;

use std::time::{Duration, Instant};

use self::picture::Span;
use crate::{
    output::{
        sink::Sink,
        so_far::{Pace, SoFar},
    },
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
    },
    run::Observer,
};

/// Writes the page. Its file has the page of the run so far, a second old at most.
pub(crate) struct Html {
    out: Sink,
    /// The start of the run.
    zero: Instant,
    started: Option<Instant>,
    spans: Vec<Span>,
    so_far: SoFar,
    pace: Pace,
}

impl Html {
    /// Creates the page. `so_far` is the report before the run begins.
    pub(crate) fn new(out: Sink, so_far: Report) -> Self {
        let (so_far, pace) = (SoFar::new(so_far), Pace::new(Duration::from_secs(1)));
        Self { out, zero: Instant::now(), started: None, spans: Vec::new(), so_far, pace }
    }

    fn milliseconds(&self, at: Instant) -> f64 {
        at.duration_since(self.zero).as_secs_f64() * 1e3
    }
}

impl Observer for Html {
    fn began(&mut self, gpu: &Gpu) {
        self.so_far.began(gpu);
        self.out.replace(&page::document(&self.so_far.all_checks(), &self.spans));
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.so_far.planned(gpu, ids);
    }

    fn started(&mut self, id: &str) {
        self.started = Some(Instant::now());
        self.so_far.started(id);
        if self.out.is_file() && self.pace.is_due() {
            self.out.replace(&page::document(&self.so_far.all_checks(), &self.spans));
        }
    }

    fn finished(&mut self, result: &CheckResult) {
        self.so_far.finished(result);
        // A soak tells of checks that have not just run.
        let Some(started) = self.started.take() else { return };
        let (start, end) = (self.milliseconds(started), self.milliseconds(Instant::now()));
        let hardware = result.hardware.clone();
        self.spans.push(Span { id: result.id.clone(), status: result.status, start, end, hardware });
    }

    fn ended(&mut self, report: &Report) {
        self.out.write_whole(&page::document(report, &self.spans));
    }
}
