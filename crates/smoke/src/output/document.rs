//! Reports that consist of one document, such as JSON and JUnit. The file is complete at any time.

use crate::{
    output::sink::Sink,
    result::{
        check_result::CheckResult,
        report::{Gpu, Report, Summary},
    },
    run::Observer,
};

/// A report as a document. Whenever a check starts, its file is replaced with the report of the checks that have ended, so that a
/// killed run leaves a valid report.
pub(crate) struct Document {
    sink: Sink,
    write: fn(&Report) -> String,
    so_far: Report,
    planned: usize,
}

impl Document {
    /// Creates the report. `so_far` is the report before the run begins.
    pub(crate) fn new(sink: Sink, write: fn(&Report) -> String, so_far: Report) -> Self {
        Self { sink, write, so_far, planned: 0 }
    }

    fn replace(&mut self) {
        let notrun = self.planned.saturating_sub(self.so_far.results.len());
        self.so_far.summary = Summary::of(&self.so_far.results, notrun);
        self.sink.replace(&(self.write)(&self.so_far));
    }
}

impl Observer for Document {
    fn began(&mut self, gpu: &Gpu) {
        self.so_far.gpu = gpu.clone();
        self.replace();
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.so_far.gpu = gpu.clone();
        self.planned = ids.len();
    }

    fn started(&mut self, id: &str) {
        self.so_far.reason = Some(format!("the run was killed while {id} ran"));
        self.replace();
    }

    fn finished(&mut self, result: &CheckResult) {
        // Of each check of a soak the last result stays.
        self.so_far.results.retain(|earlier| earlier.id != result.id);
        self.so_far.results.push(result.clone());
    }

    fn ended(&mut self, report: &Report) {
        self.sink.write_whole(&(self.write)(report));
    }
}
