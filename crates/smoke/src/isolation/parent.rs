//! Running a plan with a process for each check.
//!
//! The parent opens no GPU. A check that hangs in the kernel, kills its process or never ends affects only itself, and the report
//! is completed in any case.

use std::{
    collections::HashSet,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    checks::inventory,
    hardware::{source::Monitor, verdict, watch::Watch},
    isolation::{
        fork::{self, Ended, Limits, Why},
        message::{Message, Planned},
    },
    options::Options,
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
        status::{Expected, Status},
    },
    run::{Ending, Observer},
};

/// A parent that runs each check in a child process.
#[derive(Debug)]
pub(crate) struct Parent {
    /// The path of this program.
    pub(crate) program: PathBuf,
    /// The arguments of each child besides its task.
    pub(crate) arguments: Vec<String>,
    /// The time limit for every check, in addition to its own limit.
    pub(crate) check: Option<Duration>,
    /// The time limit without a message from a child.
    pub(crate) silence: Duration,
    /// The time limit for all checks together.
    pub(crate) overall: Option<Duration>,
    /// The time between SIGTERM and SIGKILL, and after SIGKILL.
    pub(crate) grace: Duration,
    /// Set when the user interrupts the run.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// The files that report the state of the GPU.
    pub(crate) monitor: Monitor,
    /// `true` if each event of the hardware fails its check.
    pub(crate) strict_hardware: bool,
    /// Folder of the children's recordings.
    pub(crate) recordings: Option<PathBuf>,
}

/// The conditions of one pass through the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass {
    /// Seed of the checks.
    pub(crate) seed: u32,
    /// The time after which no check begins.
    pub(crate) until: Option<Instant>,
    /// The checks whose recordings must not be overwritten.
    pub(crate) recorded: HashSet<String>,
}

/// The time limit of the first process, which makes the plan.
const PLANNING: Duration = Duration::from_mins(1);

/// The results of one process.
#[derive(Default)]
struct ChildResults {
    plan: Option<(Gpu, Vec<Planned>)>,
    result: Option<CheckResult>,
    lost: Option<String>,
    /// The reason why the remaining checks must not run, if so.
    abort: Option<String>,
}

/// Returns the name of the file with the recording of a check.
pub(crate) fn recording(id: &str) -> String {
    format!("{id}.rec")
}

impl Parent {
    /// Starts watching a real GPU. A simulated GPU is watched by each child, because it is in the child's process.
    pub(crate) fn watch(&self, gpu: &Gpu) -> Watch {
        if gpu.simulated { Watch::none() } else { Watch::new(&self.monitor) }
    }

    /// Executes the plan on a GPU.
    pub(crate) fn run(&self, gpu: &Gpu, options: &Options, observer: &mut dyn Observer) -> Report {
        observer.began(gpu);
        let mut watch = self.watch(gpu);
        let start = Instant::now();
        let pass = Pass { seed: options.seed, ..Pass::default() };
        let (gpu, plan, opened) = match self.plan(gpu, options, &pass, start, &mut watch, observer) {
            Ok(planned) => planned,
            Err(report) => return *report,
        };
        observer.planned(&gpu, &plan.iter().map(|step| &*step.id).collect::<Vec<_>>());
        let (results, ending) = self.follow(&plan, opened, options, &pass, start, &mut watch, observer);
        let report = Report::new(gpu, options, results, ending);
        observer.ended(&report);
        report
    }

    /// Opens the GPU, and returns it with its plan and the result of the opening.
    ///
    /// # Errors
    ///
    /// The report of a GPU that cannot be opened, which the observer has already received.
    pub(crate) fn plan(
        &self,
        gpu: &Gpu,
        options: &Options,
        pass: &Pass,
        start: Instant,
        watch: &mut Watch,
        observer: &mut dyn Observer,
    ) -> Result<(Gpu, Vec<Planned>, Option<CheckResult>), Box<Report>> {
        let limit = self.check.unwrap_or(PLANNING);
        let first = self.child(inventory::OPEN, &["--child-plan"], limit, pass, start, watch, observer);
        if let Some((gpu, plan)) = first.plan {
            return Ok((gpu.with_watched(watch.sources()), plan, first.result));
        }
        observer.planned(gpu, &[inventory::OPEN]);
        let results: Vec<_> = first.result.into_iter().collect();
        for result in &results {
            observer.finished(result);
        }
        let ending = Ending { reason: first.abort, notrun: 0 };
        let report = Report::new(gpu.clone(), options, results, ending);
        observer.ended(&report);
        Err(Box::new(report))
    }

    /// Runs each check of a plan once.
    #[expect(clippy::too_many_arguments, reason = "a round of a soak and a plain run differ in few of them")]
    pub(crate) fn follow(
        &self,
        plan: &[Planned],
        mut opened: Option<CheckResult>,
        options: &Options,
        pass: &Pass,
        start: Instant,
        watch: &mut Watch,
        observer: &mut dyn Observer,
    ) -> (Vec<CheckResult>, Ending) {
        let mut results = Vec::with_capacity(plan.len());
        for (step, left) in plan.iter().zip((0..plan.len()).rev()) {
            if let Some(why) = self.stops(start) {
                return (results, Ending { reason: Some(why.to_string()), notrun: left + 1 });
            }
            if pass.until.is_some_and(|until| Instant::now() >= until) {
                return (results, Ending::default());
            }
            let earlier = options.resumed.as_ref().and_then(|resumed| resumed.result(results.len()));
            if let Some(result) = earlier {
                observer.finished(result);
                results.push(result.clone());
                continue;
            }
            observer.started(&step.id);
            let child = match opened.take_if(|result| result.id == step.id) {
                Some(result) => ChildResults { result: Some(result), ..ChildResults::default() },
                None => self.step(step, options, pass, start, watch, observer),
            };
            let Some(mut result) = child.result else { continue };
            options.judge(&mut result);
            observer.finished(&result);
            results.push(result);
            let lost = child.lost.filter(|_| !options.keep_going);
            if let Some(why) = child.abort.or(lost) {
                return (results, Ending { reason: Some(why), notrun: left });
            }
        }
        (results, Ending::default())
    }

    fn step(
        &self,
        step: &Planned,
        options: &Options,
        pass: &Pass,
        start: Instant,
        watch: &mut Watch,
        observer: &mut dyn Observer,
    ) -> ChildResults {
        if options.expectations.skips(&step.id) {
            let mut result = CheckResult::new(&step.id, Status::Skip, "the user's lists leave it out", Duration::ZERO);
            result.expected = Some(Expected::Skip);
            return ChildResults { result: Some(result), ..ChildResults::default() };
        }
        let own = Duration::from_secs(step.seconds);
        let limit = self.check.map_or(own, |limit| limit.min(own));
        let mut child = self.child(&step.id, &["--child", &step.id], limit, pass, start, watch, observer);
        let ended_badly =
            child.result.as_ref().is_some_and(|result| matches!(result.status, Status::Timeout | Status::Crash));
        if ended_badly && child.abort.is_none() && !options.keep_going {
            // Is there still a GPU? Its result is thrown away, so events during it are left to the next check.
            let open = ["--child", inventory::OPEN];
            let unwatched = &mut Watch::none();
            let health = self.child(inventory::OPEN, &open, PLANNING, pass, start, unwatched, &mut ());
            let is_well = health.result.is_some_and(|result| result.status == Status::Pass);
            child.lost = (!is_well).then(|| format!("the GPU does not open any more after {}", step.id));
        }
        child
    }

    /// Returns `true` if the user has interrupted the run.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Acquire)
    }

    /// Returns the reason why no further check is started; `None` if the run continues.
    fn stops(&self, start: Instant) -> Option<Why> {
        if self.is_interrupted() {
            return Some(Why::Interrupted);
        }
        self.overall.is_some_and(|limit| start.elapsed() >= limit).then_some(Why::NoTimeLeft)
    }

    /// Runs one process, and converts its outcome to the result of the check.
    #[expect(clippy::too_many_arguments, reason = "the task, its limits, and who observes it")]
    fn child(
        &self,
        id: &str,
        task: &[&str],
        whole: Duration,
        pass: &Pass,
        start: Instant,
        watch: &mut Watch,
        observer: &mut dyn Observer,
    ) -> ChildResults {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(task).args(["--seed", &pass.seed.to_string()]);
        command.args(["--parent", &std::process::id().to_string()]);
        if let Some(directory) = self.recordings.as_ref().filter(|_| !pass.recorded.contains(id)) {
            command.arg("--record").arg(directory.join(recording(id)));
        }
        let limits = Limits { whole, silence: self.silence, grace: self.grace };
        let began = Instant::now();
        let mut child = ChildResults::default();
        watch.begin();
        let ended = fork::run(
            &mut command,
            limits,
            || self.stops(start),
            |message| match message {
                Message::Planned { gpu, steps } => child.plan = Some((*gpu, steps)),
                Message::Result { result, lost } => (child.result, child.lost) = (Some(*result), lost),
                Message::Alive => {}
                Message::Progress(progress) => observer.progressed(id, progress),
            },
        );
        let time = began.elapsed();
        let (status, detail) = match ended {
            Ok(Ended::Exited(_)) if child.result.is_some() || child.plan.is_some() => (None, String::new()),
            Ok(Ended::Exited(status)) => (Some(Status::Crash), fork::description(status)),
            Ok(Ended::Stopped(why)) => (Some(stopped(why)), why.to_string()),
            Ok(Ended::Stuck(why, state)) => {
                let detail = format!("{why}, and could not be killed: its process is in state {state}");
                child.abort = Some(detail.clone());
                (Some(Status::Incomplete), detail)
            }
            Err(error) => {
                let detail = format!("no process for it: {error}");
                child.abort = Some(detail.clone());
                (Some(Status::Incomplete), detail)
            }
        };
        if let Some(status) = status {
            child.result = Some(CheckResult::new(id, status, detail, time));
        }
        let seen = watch.end();
        if let Some(result) = &mut child.result {
            verdict::apply(result, seen, self.strict_hardware);
        }
        child
    }
}

const fn stopped(why: Why) -> Status {
    match why {
        Why::Time(_) | Why::Silence(_) => Status::Timeout,
        Why::NoTimeLeft | Why::Interrupted => Status::Incomplete,
        Why::Babble => Status::Crash,
    }
}
