//! `watch`, `record`, `replay` and `wait`: looking again and again.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    cli::{Global, Record, Replay, Wait, Watch},
    exit::Exit,
    render::{self, Shown},
    session::{self, Outcome, Stop},
    snapshot::{
        metric::{Condition, Rates},
        model::Snapshot,
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

/// Repeats a view.
pub(super) fn watch(options: &Watch, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source(global, false)?;
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

/// Writes a recording.
pub(super) fn record(options: &Record, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source(global, false)?;
    let mut file;
    let out: &mut dyn Write = if options.output == Path::new("-") {
        out
    } else {
        let created = File::create(&options.output);
        let failed = |error| Stop::Message(Exit::NotWritten, format!("{}: {error}", options.output.display()));
        file = BufWriter::new(created.map_err(failed)?);
        &mut file
    };
    let lines = Global { jsonl: true, json: false, ..global.clone() };
    let mut looks = 0;
    while options.count.is_none_or(|count| looks < count) {
        if looks > 0 {
            session::pause(&*source, options.interval);
        }
        let Some(snapshot) = session::next(&mut *source, global)? else { break };
        // Every line is flushed: a recording that is cut off is whole up to there.
        render::render(&snapshot, &Shown::Plain(crate::cli::View::Show), &lines, looks == 0, out)?;
        looks += 1;
    }
    Ok(Exit::Fine)
}

/// Shows a recording in its own time.
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
pub(super) fn wait(options: &Wait, global: &Global) -> Outcome {
    let mut source = session::source(global, false)?;
    let (began, mut began_there, mut earlier) = (Instant::now(), None, None);
    while let Some(snapshot) = session::next(&mut *source, global)? {
        if holds(&options.condition, earlier.as_ref(), &snapshot) {
            return Ok(Exit::Fine);
        }
        let there = *began_there.get_or_insert(snapshot.monotonic_ns);
        let elapsed = if source.has_real_time() {
            began.elapsed()
        } else {
            Duration::from_nanos(snapshot.monotonic_ns.saturating_sub(there))
        };
        if options.timeout.is_some_and(|timeout| elapsed.as_secs_f64() >= timeout) {
            return Err(Stop::Message(Exit::TimedOut, format!("'{}' did not come to hold in time", options.condition)));
        }
        earlier = Some(snapshot);
        session::pause(&*source, options.interval);
    }
    Err(Stop::Message(Exit::TimedOut, format!("'{}' never holds in what there is to see", options.condition)))
}
