//! `watch`, `replay` and `wait`: one snapshot after the other.

use std::{
    collections::BTreeMap,
    io::Write,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    cli::{Global, Replay, Wait, Watch},
    exit::Exit,
    render::{self, Shown},
    session::{self, Outcome, Stop},
    snapshot::{
        metric::{Condition, Metric, Rates},
        model::{Gpu, Snapshot},
        units::Units,
    },
};

/// Returns `true` if a condition holds on any GPU of a snapshot.
fn holds(condition: &Condition, earlier: Option<&Snapshot>, snapshot: &Snapshot) -> bool {
    holding(condition, earlier, snapshot).next().is_some()
}

/// The GPUs on which it holds, by PCI address.
fn holding<'s>(
    condition: &'s Condition,
    earlier: Option<&'s Snapshot>,
    snapshot: &'s Snapshot,
) -> impl Iterator<Item = &'s str> {
    snapshot.gpus.iter().filter_map(move |gpu| {
        let rates = earlier.map(|earlier| Rates::between(earlier, snapshot, &gpu.pci)).unwrap_or_default();
        condition.holds(gpu, &rates).filter(|&holds| holds).map(|_| gpu.pci.as_str())
    })
}

/// Returns the figures that a condition compares, of each GPU, such as "free is 206 MiB on GPU 0".
fn values(condition: &Condition, earlier: Option<&Snapshot>, snapshot: &Snapshot) -> String {
    let of_gpu = |gpu: &Gpu| {
        let rates = earlier.map(|earlier| Rates::between(earlier, snapshot, &gpu.pci)).unwrap_or_default();
        let text = |(metric, value): (&Metric, Option<u64>)| {
            let value = match value {
                Some(bytes) if metric.is_bytes => Units::Auto.text(bytes),
                Some(number) => number.to_string(),
                None => "unknown".to_owned(),
            };
            format!("{} is {value}", metric.name)
        };
        let all: Vec<_> = condition.values(gpu, &rates).into_iter().map(text).collect();
        format!("{} on GPU {}", all.join(", "), gpu.index)
    };
    snapshot.gpus.iter().map(of_gpu).collect::<Vec<_>>().join("; ")
}

/// Repeats a view.
pub(super) fn watch(options: &Watch, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source_at(global, false, options.interval)?;
    let (mut earlier, mut looks) = (None, 0);
    let mut crossed = BTreeMap::new();
    while options.count.is_none_or(|count| looks < count) {
        if looks > 0 {
            session::pause(&*source, options.interval);
        }
        let Some(snapshot) = session::next(&mut *source, global)? else { break };
        if looks > 0 && !(global.json || global.jsonl || global.csv) {
            writeln!(out)?;
        }
        render::render(&snapshot, &Shown::Plain(options.view), &compact(global), looks == 0, out)?;
        out.flush()?;
        if let (Some(condition), Some(command)) = (&options.when, &options.on_cross) {
            alert(condition, command, earlier.as_ref(), &snapshot, &mut crossed)?;
        }
        if options.until.as_ref().is_some_and(|until| holds(until, earlier.as_ref(), &snapshot)) {
            break;
        }
        looks += 1;
        earlier = Some(snapshot);
    }
    Ok(Exit::Fine)
}

/// One object a line: a stream of indented objects is no format.
fn compact(global: &Global) -> Global {
    Global { jsonl: global.json || global.jsonl, json: false, ..global.clone() }
}

/// Runs the command for each GPU on which the condition begins to hold: once for each crossing, not for each look.
fn alert(
    condition: &Condition,
    command: &str,
    earlier: Option<&Snapshot>,
    snapshot: &Snapshot,
    crossed: &mut BTreeMap<String, bool>,
) -> Result<(), Stop> {
    let now: Vec<&str> = holding(condition, earlier, snapshot).collect();
    for gpu in &snapshot.gpus {
        let holds = now.contains(&gpu.pci.as_str());
        let held = crossed.insert(gpu.pci.clone(), holds).unwrap_or(false);
        if holds && !held {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", command]).env("AMDGPU_BUDGET_GPU", &gpu.pci);
            shell.env("AMDGPU_BUDGET_CONDITION", condition.to_string());
            // What the command prints is no part of the view.
            shell.stdout(std::process::Stdio::null());
            shell.status().map_err(|error| Stop::failed(format_args!("/bin/sh: {error}")))?;
        }
    }
    Ok(())
}

/// Shows a recording at the speed at which it was recorded.
pub(super) fn replay(options: &Replay, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::recording(&options.file)?;
    let mut earlier: Option<u64> = None;
    while let Some(snapshot) = session::next(&mut source, global)? {
        if let Some(was) = earlier
            && options.speed > 0.0
        {
            let between = Duration::from_nanos(snapshot.monotonic_ns.saturating_sub(was)).as_secs_f64() / options.speed;
            std::thread::sleep(Duration::from_secs_f64(between.min(86_400.0)));
        }
        if earlier.is_some() && !(global.json || global.jsonl || global.csv) {
            writeln!(out)?;
        }
        render::render(&snapshot, &Shown::Plain(options.view), &compact(global), earlier.is_none(), out)?;
        out.flush()?;
        earlier = Some(snapshot.monotonic_ns);
    }
    Ok(Exit::Fine)
}

/// Blocks until a condition holds on a GPU. The time is that of the source: a simulated second is one.
pub(super) fn wait(options: &Wait, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source_at(global, false, options.interval)?;
    let (began, mut began_there, mut earlier) = (Instant::now(), None, None);
    let mut answer = |holds: bool, elapsed: Duration| {
        if !(global.json || global.jsonl) {
            return Ok(());
        }
        let object = serde_json::json!({
            "schema": "amdgpu-budget-wait/1", "condition": options.condition.to_string(), "holds": holds,
            "waited_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        });
        render::object(&object, global.json, out)
    };
    let mut elapsed = Duration::ZERO;
    while let Some(snapshot) = session::next(&mut *source, global)? {
        let there = *began_there.get_or_insert(snapshot.monotonic_ns);
        elapsed = if source.has_real_time() {
            began.elapsed()
        } else {
            Duration::from_nanos(snapshot.monotonic_ns.saturating_sub(there))
        };
        if holds(&options.condition, earlier.as_ref(), &snapshot) {
            answer(true, elapsed)?;
            return Ok(Exit::Fine);
        }
        if options.timeout.is_some_and(|timeout| elapsed.as_secs_f64() >= timeout) {
            answer(false, elapsed)?;
            let values = values(&options.condition, earlier.as_ref(), &snapshot);
            let message = format!("timed out: '{}' does not hold; {values}", options.condition);
            return Err(Stop::Message(Exit::TimedOut, message));
        }
        earlier = Some(snapshot);
        session::pause(&*source, options.interval);
    }
    answer(false, elapsed)?;
    Err(Stop::Message(Exit::TimedOut, format!("'{}' holds nowhere in the recording", options.condition)))
}
