//! The child process, which runs one check.

use std::{
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::{
    checks::{check::Body, inventory},
    choice::Choice,
    gpu::{
        target::Target,
        test_context::{Settings, TestContext},
    },
    hardware::watch::Watch,
    isolation::message::{Message, Planned},
    options::Options,
    plan::{self, PlannedCheck},
    result::{check_result::CheckResult, exit::Exit, status::Status, tested::Progress},
    run::{alone, in_context, judged, shielded},
};

/// The task of a child: the first child makes the plan, and each further child runs one check of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Plan,
    Try(String),
}

/// A fault to provoke in a child, to test that its parent copes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Trouble {
    /// Stops making progress, and ends on SIGTERM.
    Hang,
    /// It does not go on, and does not listen.
    Stubborn,
    /// It goes on for ever, and says so.
    Busy,
    /// It is killed by a signal.
    Abort,
    /// It ends without a word.
    Silence,
    /// It says what no parent understands.
    Babble,
}

/// Runs the task and reports to the parent.
pub(crate) fn work(task: &Task, target: &Target, options: &Options, trouble: Option<Trouble>) -> Exit {
    let began = Instant::now();
    if let (Task::Try(_), Some(trouble)) = (task, trouble) {
        cause(trouble);
    }
    let settings = Settings { pulse: Some(|| send(&Message::Alive)), progress: Some(progressed), ..options.settings() };
    // The state of a real GPU is watched by the parent, which also sees it when a check does not end.
    let mut watch = if target.gpu().simulated { Watch::new(target.monitor()) } else { Watch::none() };
    let test = shielded(|| TestContext::open(target, settings));
    match (test, task) {
        (Ok(test), Task::Plan) => {
            let gpu = target.gpu().with_facts(test.facts()).with_watched(watch.sources());
            let steps = plan::plan(&test.rings, options.level, &options.choice);
            let planned =
                steps.iter().map(|step| Planned { id: step.id.clone(), seconds: step.check.budget.as_secs() });
            send(&Message::Planned { gpu: Box::new(gpu), steps: planned.collect() });
            // Opening it was the first check of most plans.
            if let Some(open) = steps.iter().find(|step| step.id == inventory::OPEN) {
                report(in_context(&test, open, began, &mut watch, options));
            }
        }
        (Ok(test), Task::Try(id)) => match step(&test, options, id) {
            Some(step) if let Body::Alone(body) = step.check.body => {
                drop(test);
                report((alone(target, body, &step, began, &mut watch, options), None));
            }
            Some(step) => report(in_context(&test, &step, began, &mut watch, options)),
            None => report((CheckResult::new(id, Status::Crash, "the plan has no such check", began.elapsed()), None)),
        },
        (Err(broken), task) => {
            let id = match task {
                Task::Plan => inventory::OPEN,
                Task::Try(id) => id,
            };
            report((judged(id, began, Err(broken)), None));
        }
    }
    Exit::Pass
}

/// Returns the check, even if the user did not select it, because the parent runs the opening after every failure.
fn step(test: &TestContext<'_>, options: &Options, id: &str) -> Option<PlannedCheck> {
    plan::plan(&test.rings, options.level, &Choice::default()).into_iter().find(|step| step.id == id)
}

fn report((result, lost): (CheckResult, Option<String>)) {
    send(&Message::Result { result: Box::new(result), lost });
}

/// Reports each percent of progress to the parent once.
fn progressed(progress: Progress) {
    static REPORTED: AtomicU64 = AtomicU64::new(0);
    let percent = progress.percent();
    if REPORTED.swap(percent, Ordering::Relaxed) != percent {
        send(&Message::Progress(progress));
    }
}

fn send(message: &Message) {
    let mut out = io::stdout().lock();
    // A parent that is gone hears nothing.
    let _ = writeln!(out, "{}", message.line());
    let _ = out.flush();
}

fn cause(trouble: Trouble) {
    const LONG: Duration = Duration::from_hours(1);
    match trouble {
        Trouble::Hang => std::thread::sleep(LONG),
        Trouble::Stubborn => {
            let deaf = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            let _ = signal_hook::flag::register(signal_hook::consts::SIGTERM, deaf);
            send(&Message::Alive);
            let end = Instant::now() + LONG;
            while Instant::now() < end {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Trouble::Busy => {
            let end = Instant::now() + LONG;
            while Instant::now() < end {
                send(&Message::Alive);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Trouble::Abort => std::process::abort(),
        Trouble::Silence => std::process::exit(3),
        Trouble::Babble => {
            let _ = writeln!(io::stdout(), "this is not JSON");
        }
    }
}
