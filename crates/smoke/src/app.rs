//! The program: a command line that starts runs.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    os::fd::{AsFd, OwnedFd},
    path::Path,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use amdgpu_output::files;
use amdgpu_sim::Profile;
use amdgpu_winsys::winsys::Device;
use clap::{CommandFactory as _, Parser, error::ErrorKind};
use nix::sys::signal::Signal;

use crate::{
    capture,
    checks::process,
    choice::{Choice, Filter},
    cli::{Arguments, Collect, Command, RunArguments},
    collect::{self, Collection},
    diff, document,
    gpu::{
        host,
        target::{NoTarget, Target},
        test_context::TestContext,
    },
    identity::machine::Machine,
    isolation::{
        child::{self, Task},
        parent::Parent,
        soak,
    },
    level::Level,
    list,
    mode::{Mode, Test},
    multi_gpu,
    options::Options,
    output::{
        outputs::Reports,
        sink::{STDOUT, Sink, Troubles},
        terminal::{after_troubles, complain, print_lines, visible_errors, visible_output},
    },
    plan, recordings,
    result::{baseline::Baseline, exit::Exit, report::Report, resumed::Resumed},
    run::run,
};

/// Runs the program and returns its exit status. The first argument is the name of the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    log_to_stderr();
    let arguments: Vec<_> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| first == process::HELPER) {
        return help(arguments.get(2).map(Path::new)).into();
    }
    match Arguments::try_parse_from(&arguments) {
        Ok(Arguments { command: Some(command), .. }) => print_document(&command).into(),
        Ok(Arguments { command: None, run }) => execute(&run, &arguments).into(),
        Err(error) => {
            let error = without_false_subcommand(error);
            // An error of the terminal itself cannot be reported.
            let is_help = !error.use_stderr();
            let _ = if is_help { write!(visible_output(), "{error}") } else { write!(visible_errors(), "{error}") };
            if error.use_stderr() { Exit::Invalid.into() } else { Exit::Pass.into() }
        }
    }
}

/// Replaces the error about a word after options, which clap takes for a subcommand although there is none of this name.
fn without_false_subcommand(error: clap::Error) -> clap::Error {
    let text = error.to_string();
    let name = text.split_once("the subcommand '").and_then(|(_, rest)| rest.split_once('\'')).map(|(name, _)| name);
    match name {
        Some(name)
            if error.kind() == ErrorKind::ArgumentConflict && Arguments::command().find_subcommand(name).is_none() =>
        {
            Arguments::command().error(ErrorKind::UnknownArgument, format!("unexpected argument '{name}'"))
        }
        _ => error,
    }
}

/// Being the other process of a check.
fn help(node: Option<&Path>) -> Exit {
    let dma_buf: io::Result<OwnedFd> = io::stdin().as_fd().try_clone_to_owned();
    match dma_buf.map_err(|error| error.to_string()).and_then(|dma_buf| process::help(dma_buf, node)) {
        Ok(()) => Exit::Pass,
        Err(reason) => {
            complain(&reason);
            Exit::Fail
        }
    }
}

/// Prints the program's man page or shell completions.
fn print_document(command: &Command) -> Exit {
    let text = match command {
        Command::List { markdown: true, level } => list::markdown(*level).into_bytes(),
        Command::List { markdown: false, level } => (list::lines(*level, None).join("\n") + "\n").into_bytes(),
        Command::Capture { gpu, sim } => match captured(gpu.as_deref(), sim.as_deref()) {
            Ok(capture) => capture.into_bytes(),
            Err(exit) => return exit,
        },
        Command::Inventory { gpu, sim } => match opened(gpu.as_deref(), sim.as_deref()) {
            Ok((_, device)) => inventory(&device).into_bytes(),
            Err(exit) => return exit,
        },
        Command::Diff { old, new, tolerance, json } => {
            return match diff::diff(old, new, *tolerance) {
                Ok(diff) => match print(&if *json { diff.json() } else { diff.text() }) {
                    Exit::Pass if diff.is_worse() => Exit::Worse,
                    exit => exit,
                },
                Err(error) => {
                    complain(&error);
                    Exit::Invalid
                }
            };
        }
        Command::Collect(arguments) => return collected(arguments),
        Command::Man => document::man(),
        Command::Completions { shell } => document::completions(*shell),
    };
    print(&String::from_utf8_lossy(&text))
}

/// Merges reports, and writes what was asked for.
fn collected(arguments: &Collect) -> Exit {
    type Format = fn(&Collection) -> String;
    if let Some(trouble) = arguments.sqlite.as_deref().and_then(no_database) {
        complain(&trouble);
        return Exit::Invalid;
    }
    // With the signal caught, a file that is larger than the limit is an error of the write and not the end of the process.
    if let Err(error) = signal_hook::flag::register(Signal::SIGXFSZ as i32, Arc::default()) {
        complain(&error);
    }
    let collection = match collect::collect(&arguments.paths) {
        Ok(collection) => collection,
        Err(error) => {
            complain(&error);
            return Exit::Invalid;
        }
    };
    let troubles = Troubles::default();
    let files: [(_, Format); 3] =
        [(&arguments.json, Collection::json), (&arguments.html, Collection::html), (&arguments.sql, Collection::sql)];
    let mut is_text_wanted = true;
    for (path, content) in files {
        let Some(path) = path else { continue };
        is_text_wanted &= path.as_os_str() != STDOUT;
        match Sink::create(path, &troubles) {
            Ok(mut sink) => sink.write_whole(&content(&collection)),
            Err(error) => {
                complain(&error);
                return Exit::Invalid;
            }
        }
    }
    if let Some(path) = &arguments.sqlite {
        let written = collection.database().and_then(|database| {
            files::create_whole(path, database).map_err(|error| format!("{}: {error}", path.display()))
        });
        if let Err(trouble) = written {
            complain(&trouble);
            return Exit::Invalid;
        }
    }
    if is_text_wanted {
        Sink::stdout(&troubles).write(&collection.text());
    }
    after_troubles(if collection.is_empty() { Exit::Skip } else { Exit::Pass }, &troubles)
}

/// Returns the reason why no database can be written to a path, as far as that is known before the work.
fn no_database(path: &Path) -> Option<String> {
    if cfg!(not(feature = "sqlite")) {
        return Some(collect::WITHOUT_SQLITE.to_owned());
    }
    let is_there = path.symlink_metadata().is_ok();
    is_there.then(|| format!("{}: it already exists, and a database is written to a new file", path.display()))
}

/// The capture of a GPU, which is that of the simulator only if it is asked for.
fn captured(gpu: Option<&str>, sim: Option<&str>) -> Result<String, Exit> {
    let (target, device) = opened(gpu, sim)?;
    let profile = capture::capture(&device).map_err(|error| {
        complain(&error);
        Exit::Fail
    })?;
    Ok(Profile { sysfs: target.recorded_files(), ..profile }.to_capture())
}

/// Opens a GPU, which is that of the simulator only if it is asked for.
fn opened(gpu: Option<&str>, sim: Option<&str>) -> Result<(Target, Device), Exit> {
    let target = Target::choose(Some(gpu.unwrap_or("0")).filter(|_| sim.is_none()), sim).map_err(|error| {
        complain(&error);
        if error.is_usage() { Exit::Invalid } else { Exit::Skip }
    })?;
    let device = target.open().map_err(|error| {
        complain(&error);
        Exit::Fail
    })?;
    Ok((target, device))
}

/// The facts of a GPU as Mesa prints them: a section, and its fields indented.
fn inventory(device: &Device) -> String {
    let mut lines = Vec::new();
    for fields in device.info().radeon_info().chunk_by(|one, other| one.section == other.section) {
        lines.extend(fields.first().map(|first| format!("{}:\n", first.section)));
        lines.extend(fields.iter().map(|field| format!("    {field}\n")));
    }
    lines.concat()
}

/// Prints, and says whether that worked.
fn print(text: &str) -> Exit {
    let troubles = Troubles::default();
    Sink::stdout(&troubles).write(text);
    after_troubles(Exit::Pass, &troubles)
}

fn execute(arguments: &RunArguments, given: &[OsString]) -> Exit {
    if !parent_is_alive(arguments) {
        return Exit::Aborted;
    }
    match Mode::of(arguments) {
        Mode::ListProfiles => print_lines(amdgpu_sim::profiles().iter().map(|profile| profile.name.clone())),
        Mode::ListChecks => print_lines(list::lines(arguments.level, arguments.filter.as_ref()).into_iter()),
        Mode::Dump(path) => recordings::dump(path),
        Mode::Replay(path) => {
            recordings::replay(path, arguments.check.as_deref(), &options(arguments), |target, options| {
                reported(arguments, |reports| run(target, options, reports))
            })
        }
        Mode::Child => {
            let options = options(arguments);
            allowed(arguments, options.level).map_or_else(|exit| exit, |target| be_child(arguments, target, &options))
        }
        Mode::Several(test) => {
            multi_gpu::run(arguments, given, &interrupted()).unwrap_or_else(|| test_one(test, arguments, given))
        }
        Mode::One(test) => test_one(test, arguments, given),
    }
}

/// Returns `true` unless this process is the child of a run that has ended: a check does not outlive the report that it is for.
fn parent_is_alive(arguments: &RunArguments) -> bool {
    let Some(parent) = arguments.child.parent else { return true };
    // The parent may have ended before the request was made.
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    nix::unistd::getppid().as_raw() == parent
}

/// Tests the GPU that the arguments name.
fn test_one(test: Test<'_>, arguments: &RunArguments, given: &[OsString]) -> Exit {
    let mut options = options(arguments);
    let target = match allowed(arguments, options.level) {
        Ok(target) => target,
        Err(exit) => return exit,
    };
    let read = expectations(arguments, &target, &mut options);
    let read = read.and_then(|()| baseline(arguments, &target, &mut options));
    if let Err(error) = read.and_then(|()| resume(arguments, &target, &mut options)) {
        complain(&error);
        return Exit::Invalid;
    }
    // A GPU that cannot be opened fails its first check.
    options.hints = if arguments.hardware_hints { target.generation().ok() } else { None };
    let isolated = |soak: Option<Duration>| {
        // Without the path of this program its children cannot be started.
        let Ok(program) = std::env::current_exe() else {
            return reported(arguments, |reports| run(&target, &options, reports));
        };
        reported(arguments, |reports| {
            // The device that `target` would open is each child's own affair.
            let parent = Parent {
                program,
                arguments: for_children(given),
                check: arguments.timeout,
                silence: arguments.inactivity_timeout,
                overall: arguments.overall_timeout,
                grace: Duration::from_millis(arguments.child.grace),
                interrupted: interrupted(),
                monitor: target.monitor().clone(),
                strict_hardware: options.strict_hardware,
                recordings: reports.recordings(),
            };
            match soak {
                Some(time) => soak::run(&parent, time, target.gpu(), &options, reports),
                None => parent.run(target.gpu(), &options, reports),
            }
        })
    };
    match test {
        Test::DryRun => dry_run(&target, &options),
        Test::Record(path) => recordings::record(path, target, &options, |target| {
            reported(arguments, |reports| run(target, &options, reports))
        }),
        Test::InProcess => reported(arguments, |reports| run(&target, &options, reports)),
        Test::Isolated => isolated(None),
        Test::Soak(time) => isolated(Some(time)),
    }
}

fn options(arguments: &RunArguments) -> Options {
    Options {
        level: match arguments {
            RunArguments { read_only: true, .. } => Level::Inventory,
            RunArguments { until_stopped: true, .. } => Level::Stress,
            _ => arguments.level,
        },
        choice: Choice { filter: filter(arguments), shard: arguments.shard, repeat: arguments.repeat },
        seed: arguments.seed,
        memory: arguments.memory,
        keep_going: arguments.keep_going,
        may_suspend: arguments.i_accept_a_suspend,
        may_unplug: arguments.i_accept_an_unplug,
        strict_hardware: arguments.strict_hardware,
        machine: machine(arguments),
        ..Options::default()
    }
}

/// Returns the filter: with --until-stopped the test of the whole memory, if nothing else is chosen.
fn filter(arguments: &RunArguments) -> Option<Filter> {
    let whole = || Filter::exactly("memory.whole").ok().filter(|_| arguments.until_stopped);
    arguments.filter.clone().or_else(whole)
}

/// Returns the computer, for the report. A GPU that is simulated or whose answers are replayed is not in it.
fn machine(arguments: &RunArguments) -> Option<Machine> {
    match (&arguments.machine, &arguments.sim) {
        (None, Some(_)) => None,
        (None, None) if arguments.replay.is_some() => None,
        (name, None) => Some(Machine::read(Path::new("/"), name.clone())),
        (name, Some(_)) => Some(Machine { name: name.clone(), ..Machine::default() }),
    }
}

fn target(arguments: &RunArguments) -> Result<Target, Exit> {
    let chosen = match (&arguments.sim, arguments.mutate) {
        (Some(name), Some(mutant)) => Target::mutant(name, mutant),
        (Some(name), None) => Target::simulated_strictly(name, arguments.sim_strict.unwrap_or_default()),
        (sim, _) => match Target::choose(arguments.gpu.as_deref(), sim.as_deref()) {
            Err(NoTarget::NoRadeon) if arguments.or_simulated => Target::stand_in(),
            chosen => chosen,
        },
    };
    let target = chosen.map_err(|error| {
        complain(&error);
        if error.is_usage() { Exit::Invalid } else { Exit::Skip }
    })?;
    let target = match &arguments.child.chosen {
        Some(reason) => target.chosen_because(reason),
        None => target,
    };
    let beside: Vec<_> = arguments.child.beside.iter().map(|chip| &**chip).collect();
    let target = if beside.is_empty() { Ok(target) } else { target.beside(&beside) };
    let target = target.map_err(|error| {
        complain(&error);
        Exit::Invalid
    })?;
    Ok(target.with_peers_measured_by(arguments.child.peers_measured_by.clone()))
}

/// Returns the GPU that the arguments name, if they allow to test it at a level.
fn allowed(arguments: &RunArguments, level: Level) -> Result<Target, Exit> {
    let target = target(arguments)?.helped_by(std::env::current_exe().ok());
    may(arguments, &target, level)?;
    Ok(target)
}

/// Refuses a level that the user has not allowed for a real GPU.
fn may(arguments: &RunArguments, target: &Target, level: Level) -> Result<(), Exit> {
    if target.gpu().simulated {
        return Ok(());
    }
    if level >= Level::Destructive && !arguments.i_accept_a_gpu_reset {
        complain(&"the level destructive resets the GPU: it needs --i-accept-a-gpu-reset");
        return Err(Exit::Invalid);
    }
    let Some(device) = target.node().and_then(|node| host::device(Path::new("/"), node)) else {
        return Ok(());
    };
    if arguments.gpu.is_none() && host::sleeps(&device) {
        complain(&format_args!("{} sleeps, and is not woken up unless --gpu names it", target.gpu().location));
        return Err(Exit::Skip);
    }
    if level >= Level::Stress
        && !arguments.display_ok
        && let Some(connector) = host::display(&device)
    {
        let location = &target.gpu().location;
        complain(&format_args!(
            "{location} shows a picture at {connector}: the level {} needs --display-ok",
            level.name()
        ));
        return Err(Exit::Invalid);
    }
    Ok(())
}

fn be_child(arguments: &RunArguments, target: Target, options: &Options) -> Exit {
    let task = arguments.child.child.clone().map_or(Task::Plan, Task::Try);
    let trouble = arguments.child.trouble.iter().find(|(id, _)| task == Task::Try(id.clone()));
    let trouble = trouble.map(|(_, trouble)| *trouble);
    let id = arguments.child.child.as_deref().unwrap_or(crate::checks::inventory::OPEN);
    let Some(path) = &arguments.record else { return child::work(&task, &target, options, trouble) };
    // A recording of one check replays that check.
    let alone = Filter::exactly(id).ok();
    let noted = Options { choice: Choice { filter: alone, ..Choice::default() }, ..options.clone() };
    recordings::record(path, target, &noted, |target| child::work(&task, target, options, trouble))
}

fn expectations(arguments: &RunArguments, target: &Target, options: &mut Options) -> Result<(), String> {
    use crate::result::expectations::List;
    let lists = &arguments.lists;
    let files = [(List::Fails, &lists.fails), (List::Flakes, &lists.flakes), (List::Skips, &lists.skips)];
    let known = &mut options.expectations;
    for (list, path) in files.iter().flat_map(|(list, paths)| paths.iter().map(move |path| (*list, path))) {
        known.add(list, path).map_err(|error| error.to_string())?;
    }
    if let Some(directory) = &lists.expectations {
        if !directory.is_dir() {
            return Err(format!("{} is no directory", directory.display()));
        }
        // The lists are named after the chip, which only the GPU knows.
        let chip = target.chip().map_err(|error| error.to_string())?;
        known.add_directory(directory, &chip).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Reads the report to compare with, which has to be of the same GPU.
fn baseline(arguments: &RunArguments, target: &Target, options: &mut Options) -> Result<(), String> {
    let Some(path) = &arguments.baseline else { return Ok(()) };
    let mut baseline = Baseline::read(path, arguments.tolerance).map_err(|error| error.to_string())?;
    // A GPU that does not open fails its first check, and there is nothing to compare.
    if let Ok(test) = TestContext::open(target, options.settings()) {
        let facts = test.facts();
        let rings = facts.rings.clone();
        baseline.fits(&target.gpu().with_facts(facts)).map_err(|error| error.to_string())?;
        baseline = baseline.with_rings(rings);
    }
    options.baseline = Some(baseline);
    Ok(())
}

/// Reads the run to go on with, which has to be of the same GPU and plan.
fn resume(arguments: &RunArguments, target: &Target, options: &mut Options) -> Result<(), String> {
    let Some(path) = &arguments.resume else { return Ok(()) };
    let resumed = Resumed::read(path).map_err(|error| error.to_string())?;
    let plan = plan::ids(target, options).map_err(|error| error.to_string())?;
    resumed.fits(target.gpu(), &plan).map_err(|error| error.to_string())?;
    options.resumed = Some(resumed);
    Ok(())
}

fn dry_run(target: &Target, options: &Options) -> Exit {
    match plan::ids(target, options) {
        Ok(ids) => print_lines(ids.into_iter()),
        Err(error) => {
            complain(&error);
            Exit::Fail
        }
    }
}

/// Runs with all the reports that were asked for.
fn reported(arguments: &RunArguments, run: impl FnOnce(&mut Reports) -> Report) -> Exit {
    let hint = list::deeper(arguments.level, arguments.filter.as_ref());
    let Options { level, seed, machine, .. } = options(arguments);
    let mut reports = match Reports::new(&arguments.outputs, hint, &Report::before(level, seed, machine)) {
        Ok(reports) => reports,
        Err(error) => {
            complain(&error);
            return Exit::Invalid;
        }
    };
    let report = run(&mut reports);
    let is_compared = report.results.iter().any(|result| !result.bandwidths.is_empty());
    let exit = match Exit::of(&report) {
        Exit::Pass | Exit::Skip if arguments.baseline.is_some() && !is_compared => {
            complain(&"no bandwidth was measured that could be compared with the baseline: --level core measures them");
            Exit::Invalid
        }
        exit => exit,
    };
    after_troubles(exit, &reports.finish(&report))
}

/// Returns the arguments that the children need: all that are not about the report.
fn for_children(given: &[OsString]) -> Vec<String> {
    const WITH_VALUE: [&str; 19] = [
        "--machine",
        "--resume",
        "--parent",
        "--html",
        "--for",
        "--seed",
        "--tap-version",
        "--baseline",
        "--tolerance",
        "--junit",
        "--igt-results",
        "--bundle",
        "--fails",
        "--flakes",
        "--skips",
        "--expectations",
        "--timeout",
        "--overall-timeout",
        "--inactivity-timeout",
    ];
    const ALONE: [&str; 3] = ["--json", "--jsonl", "--tap"];
    let mut kept = Vec::new();
    let mut given = given.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = given.next() {
        let (name, has_value) = match argument.split_once('=') {
            Some((name, _)) => (name, true),
            None => (&*argument, false),
        };
        if ALONE.contains(&name) {
            continue;
        }
        if WITH_VALUE.contains(&name) {
            if !has_value {
                given.next();
            }
            continue;
        }
        kept.push(argument);
    }
    kept
}

/// Set by the first Ctrl-C, or SIGTERM; the second one ends the program.
fn interrupted() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without a handler the signal ends the program, as it did before. The order makes the first one only set the flag.
        let armed =
            signal_hook::flag::register_conditional_shutdown(signal, Exit::Aborted.code().into(), Arc::clone(&flag));
        if armed.is_ok() {
            let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
        }
    }
    flag
}

/// RUST_LOG turns the library's spans and events on.
fn log_to_stderr() {
    use tracing_subscriber::{Layer as _, filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _};
    let Ok(wanted) = std::env::var("RUST_LOG") else { return };
    // Targets and levels; the filter that also knows spans and fields brings an automaton of 300 KB.
    match wanted.parse::<Targets>() {
        Ok(filter) => {
            let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_filter(filter);
            // A second call in one process finds the first one's subscriber in place, which will do.
            drop(tracing_subscriber::registry().with(lines).try_init());
        }
        Err(error) => complain(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_get_the_target_and_not_the_report() {
        let given = [
            "amdgpu-smoke",
            "--sim",
            "navi21",
            "--json",
            "--tap=x",
            "--junit",
            "a.xml",
            "--fails=f",
            "--flakes",
            "l",
            "--level",
            "core",
            "--timeout",
            "3",
            "--seed=4",
        ];
        let given: Vec<_> = given.map(OsString::from).into();
        assert_eq!(for_children(&given), ["--sim", "navi21", "--level", "core"]);
    }
}
