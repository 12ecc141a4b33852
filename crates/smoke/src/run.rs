//! Running a plan.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use crate::{
    checks::inventory,
    cli::Level,
    lab::Lab,
    outcome::Stop,
    plan::{self, Step},
    report::{CheckResult, Gpu, Report, SCHEMA, Summary, Word},
    target::Target,
};

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much.
    pub level: Level,
    /// Only checks whose id contains this text. Opening the GPU is always reported when it fails.
    pub filter: Option<String>,
}

/// Who wants to see a run while it goes on. `()` does not.
pub trait Observer {
    /// It begins; nothing was opened yet.
    fn began(&mut self, gpu: &Gpu) {
        let _ = gpu;
    }

    /// The GPU is open, or could not be opened; these checks follow.
    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        let _ = (gpu, ids);
    }

    /// A check has ended.
    fn finished(&mut self, result: &CheckResult) {
        let _ = result;
    }

    /// The run has ended.
    fn ended(&mut self, report: &Report) {
        let _ = report;
    }
}

impl Observer for () {}

/// Takes a GPU through the plan.
///
/// A check that panics is reported as crashed. When a check has failed and the GPU turns out to be lost, the rest of the
/// plan is not run: nothing it found could be trusted.
pub fn run(target: &Target, options: &Options, observer: &mut dyn Observer) -> Report {
    observer.began(target.gpu());
    let start = Instant::now();
    let opened = shielded(|| Lab::open(target));
    let filter = options.filter.as_deref();
    let mut report = match opened {
        Ok(lab) => {
            let gpu = Gpu { facts: Some(lab.facts()), ..target.gpu().clone() };
            let steps = plan::plan(&lab.rings, options.level, filter);
            observer.planned(&gpu, &steps.iter().map(|step| &*step.id).collect::<Vec<_>>());
            follow(&lab, gpu, &steps, start, observer)
        }
        Err(broken) => {
            let gpu = target.gpu().clone();
            observer.planned(&gpu, &[inventory::OPEN]);
            let result = judged(inventory::OPEN, start, Err(broken));
            observer.finished(&result);
            Report::new(gpu, vec![result], None)
        }
    };
    report.level = options.level.name();
    observer.ended(&report);
    report
}

/// Tries one step after the other, until the GPU is lost.
fn follow(lab: &Lab<'_>, gpu: Gpu, steps: &[Step], mut start: Instant, observer: &mut dyn Observer) -> Report {
    let mut results = Vec::with_capacity(steps.len());
    let mut notrun = None;
    for (step, left) in steps.iter().zip((0..steps.len()).rev()) {
        // The first check is the opening itself, which began when the run did.
        if step.id != inventory::OPEN {
            start = Instant::now();
        }
        let mut result = judged(&step.id, start, shielded(|| step.run(lab)));
        let lost = if matches!(result.word, Word::Fail | Word::Crash) { lab.lost() } else { None };
        if let Some(why) = &lost {
            result.detail = format!("{}; {why}", result.detail);
            notrun = Some(left);
        }
        observer.finished(&result);
        results.push(result);
        if lost.is_some() {
            break;
        }
    }
    Report::new(gpu, results, notrun)
}

/// Why there is no result.
enum Broken {
    Stopped(Stop),
    Panicked(String),
}

/// Runs something that may panic.
fn shielded<T>(body: impl FnOnce() -> Result<T, Stop>) -> Result<T, Broken> {
    // What a panic may leave half done is a check's own objects, which are dropped with it.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(outcome) => outcome.map_err(Broken::Stopped),
        Err(payload) => Err(Broken::Panicked(message(&*payload))),
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

fn judged(id: &str, start: Instant, outcome: Result<String, Broken>) -> CheckResult {
    let (word, detail) = match outcome {
        Ok(detail) => (Word::Pass, detail),
        Err(Broken::Stopped(Stop::Fail(evidence))) => (Word::Fail, evidence),
        Err(Broken::Stopped(Stop::Skip(reason))) => (Word::Skip, reason),
        Err(Broken::Panicked(message)) => (Word::Crash, message),
    };
    CheckResult { id: id.to_owned(), word, detail, time: start.elapsed() }
}

impl Report {
    /// `notrun` says how many checks an abort kept from running, if there was one.
    fn new(gpu: Gpu, results: Vec<CheckResult>, notrun: Option<usize>) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            gpu,
            level: Level::default().name(),
            summary: Summary::of(&results, notrun.unwrap_or(0)),
            results,
            aborted: notrun.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    fn word(body: impl FnOnce() -> Outcome) -> (Word, String) {
        let result = judged("a.check", Instant::now(), shielded(body));
        (result.word, result.detail)
    }

    #[test]
    fn every_way_to_end_has_its_word() {
        assert_eq!(word(|| Ok("figures".to_owned())), (Word::Pass, "figures".to_owned()));
        assert_eq!(word(|| crate::outcome::fail("evidence")), (Word::Fail, "evidence".to_owned()));
        assert_eq!(word(|| crate::outcome::skip("reason")), (Word::Skip, "reason".to_owned()));
    }

    #[test]
    fn a_panic_is_a_crash_of_the_check_and_not_of_the_program() {
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(word(|| panic!("at byte {}", 7)), (Word::Crash, "at byte 7".to_owned()));
        assert_eq!(word(|| panic!("plain")), (Word::Crash, "plain".to_owned()));
        let _ = std::panic::take_hook();
    }
}
