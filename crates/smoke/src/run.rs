//! Running a plan in this process.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use crate::{
    checks::{check::Body, inventory},
    gpu::{
        target::Target,
        test_context::{Settings, TestContext},
    },
    hardware::{verdict, watch::Watch},
    level::Level,
    options::Options,
    plan::{self, PlannedCheck},
    result::{
        check_result::CheckResult,
        conclusion::Conclusion,
        outcome::{Failure, Outcome, Stop},
        report::{Gpu, Report, SCHEMA, Summary, now},
        soak::Soak,
        status::{Expected, Status},
        tested::Progress,
    },
};

/// An observer of a run in progress. The implementation for `()` ignores all events.
pub trait Observer {
    /// The run begins. No GPU has been opened yet.
    fn began(&mut self, gpu: &Gpu) {
        let _ = gpu;
    }

    /// The GPU was opened, or could not be opened. `ids` are the IDs of the checks that follow.
    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        let _ = (gpu, ids);
    }

    /// The check with this ID begins.
    fn started(&mut self, id: &str) {
        let _ = id;
    }

    /// The running check has made progress.
    fn progressed(&mut self, id: &str, progress: Progress) {
        let _ = (id, progress);
    }

    /// A check has ended.
    fn finished(&mut self, result: &CheckResult) {
        let _ = result;
    }

    /// A round of a soak has ended. `soak` contains the results so far.
    fn soaked(&mut self, soak: &Soak) {
        let _ = soak;
    }

    /// The run has ended.
    fn ended(&mut self, report: &Report) {
        let _ = report;
    }
}

impl Observer for () {}

/// Executes the plan on a GPU, in this process, and returns the report.
///
/// A check that panics is reported as crashed. If a check fails and the GPU is lost, the plan ends early, because later results
/// would not be reliable, unless [`Options::keep_going`] is set.
pub fn run(target: &Target, options: &Options, observer: &mut dyn Observer) -> Report {
    observer.began(target.gpu());
    let start = Instant::now();
    let mut watch = Watch::new(target.monitor());
    let opened = shielded(|| TestContext::open(target, options.settings()));
    let report = match opened {
        Ok(test) => {
            let gpu = target.gpu().with_facts(test.facts()).with_watched(watch.sources());
            let steps = plan::plan(&test.rings, options.level, &options.choice);
            observer.planned(&gpu, &steps.iter().map(|step| &*step.id).collect::<Vec<_>>());
            follow(test, gpu, &steps, start, &mut watch, options, observer)
        }
        Err(broken) => {
            let gpu = target.gpu().clone();
            observer.planned(&gpu, &[inventory::OPEN]);
            let result = judged(inventory::OPEN, start, Err(broken));
            observer.finished(&result);
            Report::new(gpu, options, vec![result], Ending::default())
        }
    };
    observer.ended(&report);
    report
}

/// Tries one step after the other, until the GPU is lost.
fn follow(
    test: TestContext<'_>,
    gpu: Gpu,
    steps: &[PlannedCheck],
    start: Instant,
    watch: &mut Watch,
    options: &Options,
    observer: &mut dyn Observer,
) -> Report {
    let mut results = Vec::with_capacity(steps.len());
    let mut ending = Ending::default();
    let mut shared = Some(test);
    let mut start = Some(start);
    for (step, left) in steps.iter().zip((0..steps.len()).rev()) {
        observer.started(&step.id);
        // The first check is the opening itself, which began when the run did.
        let began = start.take().filter(|_| step.id == inventory::OPEN).unwrap_or_else(Instant::now);
        let (mut result, lost) = tried(&mut shared, step, began, watch, options);
        options.judge(&mut result);
        observer.finished(&result);
        results.push(result);
        if let Some(why) = lost
            && !options.keep_going
        {
            ending = Ending { reason: Some(why), notrun: left };
            break;
        }
    }
    Report::new(gpu, options, results, ending)
}

/// Tries a step, and looks whether the GPU is still there. Checks that reset the GPU have a file of their own.
fn tried(
    shared: &mut Option<TestContext<'_>>,
    step: &PlannedCheck,
    began: Instant,
    watch: &mut Watch,
    options: &Options,
) -> (CheckResult, Option<String>) {
    if options.expectations.skips(&step.id) {
        let mut result = CheckResult::new(&step.id, Status::Skip, "the user's lists leave it out", began.elapsed());
        result.expected = Some(Expected::Skip);
        return (result, None);
    }
    let Some(test) = shared.as_ref() else {
        return (CheckResult::new(&step.id, Status::Skip, "", began.elapsed()), None);
    };
    if let Body::Alone(body) = step.check.body {
        let target = test.target;
        *shared = None;
        let result = alone(target, body, step, began, watch, options);
        let opened = shielded(|| TestContext::open(target, options.settings()));
        *shared = opened.ok();
        let lost = shared.is_none().then(|| format!("the GPU does not open any more after {}", step.id));
        return (result, lost);
    }
    if step.check.level < Level::Destructive {
        return in_context(test, step, began, watch, options);
    }
    match shielded(|| TestContext::open(test.target, options.settings())) {
        Ok(own) => in_context(&own, step, began, watch, options),
        Err(broken) => (judged(&step.id, began, Err(broken)), None),
    }
}

/// Tries a step that needs the GPU for itself.
pub(crate) fn alone(
    target: &Target,
    body: fn(&Target, Settings) -> Outcome,
    step: &PlannedCheck,
    began: Instant,
    watch: &mut Watch,
    options: &Options,
) -> CheckResult {
    watch.begin();
    let mut result = judged(&step.id, began, shielded(|| body(target, options.settings())));
    verdict::apply(&mut result, watch.end(), options.strict_hardware);
    result
}

/// Tries a step with an open device: its result, and why the GPU cannot be trusted afterwards, if so.
pub(crate) fn in_context(
    test: &TestContext<'_>,
    step: &PlannedCheck,
    began: Instant,
    watch: &mut Watch,
    options: &Options,
) -> (CheckResult, Option<String>) {
    let is_destructive = step.check.level == Level::Destructive;
    test.rewind();
    watch.begin();
    let before = test.condition();
    let hazards = test.target.hazards().len();
    let mut result = judged(&step.id, began, shielded(|| step.run(test)));
    result.bandwidths = test.take_bandwidths();
    result.peers = test.take_peers();
    result.tested = test.take_tested();
    let mut lost = None;
    if result.status.is_bad() {
        let mut evidence = test.evidence_since(&before);
        if let Some(own) = result.evidence.take() {
            (evidence.difference, evidence.refusal, evidence.cells) = (own.difference, own.refusal, own.cells);
        }
        result.evidence = (!evidence.is_empty()).then(|| Box::new(evidence));
        lost = test.lost();
    } else if !is_destructive && result.status == Status::Pass {
        lost = test.lost();
        if lost.is_some() {
            result.status = Status::Fail;
        } else if let Some(fault) = test.fault_since(&before) {
            result.status = Status::Warn;
            result.detail = format!("{}; {fault}", result.detail);
        }
    }
    if let Some(why) = &lost {
        result.detail = format!("{}; {why}", result.detail);
    }
    if let [first, more @ ..] = &test.target.hazards().get(hazards..).unwrap_or_default() {
        if !result.status.is_bad() {
            result.status = Status::Fail;
        }
        result.detail = format!("{}; {first}; {} more hazards", result.detail, more.len());
    }
    verdict::apply(&mut result, watch.end(), options.strict_hardware);
    // A check that is there to reset the GPU may have done so.
    (result, lost.filter(|_| !is_destructive))
}

/// The reason why there is no result.
pub(crate) enum Broken {
    Stopped(Stop),
    Panicked(String),
}

/// Runs something that may panic.
pub(crate) fn shielded<T>(body: impl FnOnce() -> Result<T, Stop>) -> Result<T, Broken> {
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

pub(crate) fn judged(id: &str, start: Instant, outcome: Result<String, Broken>) -> CheckResult {
    let result = |status, detail: String| CheckResult::new(id, status, detail, start.elapsed());
    match outcome {
        Ok(detail) => result(Status::Pass, detail),
        Err(Broken::Stopped(Stop::Fail(failure))) => {
            let Failure { detail, difference, refusal, cells } = *failure;
            let evidence = crate::result::evidence::Evidence { difference, refusal, cells, ..Default::default() };
            CheckResult { evidence: Some(Box::new(evidence)), ..result(Status::Fail, detail) }
        }
        Err(Broken::Stopped(Stop::Skip(reason))) => result(Status::Skip, reason),
        Err(Broken::Panicked(message)) => result(Status::Crash, message),
    }
}

/// The end of a run before its plan was done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ending {
    /// The reason, if it ended early.
    pub(crate) reason: Option<String>,
    /// Number of checks that were not run because of it.
    pub(crate) notrun: usize,
}

impl Report {
    pub(crate) fn new(gpu: Gpu, options: &Options, results: Vec<CheckResult>, ending: Ending) -> Self {
        let report = Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            made: now(),
            // A simulated GPU is not in this computer, but a name that the user gives is its own.
            machine: options.machine.clone().map(|machine| if gpu.simulated { machine.named() } else { machine }),
            gpu,
            level: options.level.name(),
            seed: options.seed,
            summary: Summary::of(&results, ending.notrun),
            results,
            aborted: ending.reason.is_some(),
            reason: ending.reason,
            soak: None,
            conclusion: None,
            not_run: Vec::new(),
        };
        Self { conclusion: Conclusion::of(&report.results), ..report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(body: impl FnOnce() -> Outcome) -> (Status, String) {
        let result = judged("a.check", Instant::now(), shielded(body));
        (result.status, result.detail)
    }

    #[test]
    fn every_way_to_end_has_its_word() {
        assert_eq!(status(|| Ok("figures".to_owned())), (Status::Pass, "figures".to_owned()));
        assert_eq!(status(|| crate::result::outcome::fail("evidence")), (Status::Fail, "evidence".to_owned()));
        assert_eq!(status(|| crate::result::outcome::skip("reason")), (Status::Skip, "reason".to_owned()));
    }

    #[test]
    fn a_panic_is_a_crash_of_the_check_and_not_of_the_program() {
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(status(|| panic!("at byte {}", 7)), (Status::Crash, "at byte 7".to_owned()));
        assert_eq!(status(|| panic!("plain")), (Status::Crash, "plain".to_owned()));
        let _ = std::panic::take_hook();
    }
}
