//! The report of a run that is under way.

use std::time::{Duration, Instant};

use crate::result::{
    check_result::CheckResult,
    report::{Gpu, Report, Summary},
    status::Status,
};

/// The report of a run before its end: the document that a killed run leaves.
pub(crate) struct SoFar {
    report: Report,
    planned: Vec<String>,
    running: Option<(String, Instant)>,
}

impl SoFar {
    /// Begins with the report before the run.
    pub(crate) fn new(report: Report) -> Self {
        Self { report, planned: Vec::new(), running: None }
    }

    pub(crate) fn began(&mut self, gpu: &Gpu) {
        self.report.gpu = gpu.clone();
    }

    pub(crate) fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.report.gpu = gpu.clone();
        self.planned = ids.iter().map(|&id| id.to_owned()).collect();
    }

    pub(crate) fn started(&mut self, id: &str) {
        self.report.reason = Some(format!("the run was killed while {id} ran"));
        self.running = Some((id.to_owned(), Instant::now()));
    }

    pub(crate) fn finished(&mut self, result: &CheckResult) {
        self.running = None;
        // Of each check of a soak the last result stays.
        self.report.results.retain(|earlier| earlier.id != result.id);
        self.report.results.push(result.clone());
    }

    /// Returns the report of the checks that have ended. The one that runs is named by the reason alone, as `--resume` expects.
    pub(crate) fn ended_checks(&self) -> Report {
        let mut report = self.report.clone();
        let notrun = self.planned.len().saturating_sub(report.results.len());
        report.summary = Summary::of(&report.results, notrun);
        report
    }

    /// Returns the report with the check that runs as incomplete, and with the checks that were not run.
    pub(crate) fn all_checks(&self) -> Report {
        let mut report = self.report.clone();
        if let Some((id, since)) = &self.running {
            report.results.retain(|earlier| earlier.id != *id);
            let time = since.elapsed();
            report.results.push(CheckResult::new(id, Status::Incomplete, "the run was killed while it ran", time));
        }
        self.complete(report)
    }

    /// Adds the checks of the plan that a report has no result of.
    pub(crate) fn complete(&self, mut report: Report) -> Report {
        let has_run = |id: &String| report.results.iter().any(|result| result.id == *id);
        report.not_run = self.planned.iter().filter(|id| !has_run(id)).cloned().collect();
        report.summary = Summary::of(&report.results, report.not_run.len());
        report
    }
}

/// A limit on how often a document is written anew.
pub(crate) struct Pace {
    least: Duration,
    last: Option<Instant>,
}

impl Pace {
    pub(crate) const fn new(least: Duration) -> Self {
        Self { least, last: None }
    }

    /// Returns a limit after which nothing is written.
    pub(crate) fn never() -> Self {
        Self { least: Duration::MAX, last: Some(Instant::now()) }
    }

    /// Returns `true` if it is time again.
    pub(crate) fn is_due(&mut self) -> bool {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= self.least);
        if is_due {
            self.last = Some(Instant::now());
        }
        is_due
    }
}
