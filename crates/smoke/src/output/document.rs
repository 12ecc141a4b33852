//! Reports that consist of one document, such as JSON, JUnit and IGT's results. The file is complete at any time.

use crate::{
    output::{sink::Sink, so_far::SoFar},
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
    },
    run::Observer,
};

/// A report as a document. Whenever a check starts, its file is replaced with the report so far, so that a killed run leaves a valid
/// report, which says that it was killed.
pub(crate) struct Document<W> {
    sink: Sink,
    write: W,
    so_far: SoFar,
    /// `true` if the document has a place for checks that have not ended.
    has_all_checks: bool,
}

impl<W: Fn(&Report) -> String> Document<W> {
    /// Creates the report of checks that have ended. `so_far` is the report before the run begins.
    pub(crate) fn new(sink: Sink, write: W, so_far: Report) -> Self {
        Self { sink, write, so_far: SoFar::new(so_far), has_all_checks: false }
    }

    /// Creates the report of all planned checks: also of the one that runs, and of those that were not run.
    pub(crate) fn with_all_checks(sink: Sink, write: W, so_far: Report) -> Self {
        Self { has_all_checks: true, ..Self::new(sink, write, so_far) }
    }

    fn replace(&mut self) {
        let report = if self.has_all_checks { self.so_far.all_checks() } else { self.so_far.ended_checks() };
        self.sink.replace(&(self.write)(&report));
    }
}

impl<W: Fn(&Report) -> String> Observer for Document<W> {
    fn began(&mut self, gpu: &Gpu) {
        self.so_far.began(gpu);
        self.replace();
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.so_far.planned(gpu, ids);
    }

    fn started(&mut self, id: &str) {
        self.so_far.started(id);
        self.replace();
    }

    fn finished(&mut self, result: &CheckResult) {
        self.so_far.finished(result);
    }

    fn ended(&mut self, report: &Report) {
        let report = if self.has_all_checks { self.so_far.complete(report.clone()) } else { report.clone() };
        self.sink.write_whole(&(self.write)(&report));
    }
}
