//! Tests of several GPUs at once: a run of this program for each GPU, with separate reports.

use std::{
    collections::HashSet,
    ffi::OsString,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use amdgpu_winsys::winsys::Node;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{
    cli::{Outputs, RunArguments},
    gpu::host,
    output::{
        sink::{STDOUT, Sink, Troubles},
        terminal::{after_troubles, complain},
    },
    result::exit::Exit,
};

/// The value of `--gpu` that names all GPUs.
const ALL: &str = "all";

/// One of the GPUs to test.
#[derive(Debug)]
struct One {
    /// The name of the GPU in file names and before each line of text.
    name: String,
    /// The arguments that select the GPU.
    chosen_by: [String; 2],
    /// The reason why the GPU is tested.
    reason: String,
}

/// Runs the test on all requested GPUs at the same time; `None` if only one GPU is requested.
///
/// Text has the GPU's name before each line. Every file has it before its extension.
pub(crate) fn run(arguments: &RunArguments, given: &[OsString], interrupted: &AtomicBool) -> Option<Exit> {
    let wanted = arguments.gpu.as_deref() == Some(ALL);
    let simulated: Vec<&str> = arguments.sim.iter().flat_map(|names| names.split(',')).collect();
    // A comma may be a part of a file's name.
    let is_file = arguments.sim.as_ref().is_some_and(|name| Path::new(name).exists());
    if !wanted && (simulated.len() < 2 || is_file) {
        return None;
    }
    if arguments.record.is_some() || on_stdout(&arguments.outputs) {
        complain(
            &"several GPUs have several reports: --json, --jsonl and --tap need a file, and --record takes one GPU",
        );
        return Some(Exit::Invalid);
    }
    let gpus = if wanted { present() } else { Ok(named(&simulated)) };
    Some(match gpus {
        Ok(gpus) if gpus.is_empty() => {
            complain(&"no AMD GPU that is awake: --sim A,B tests simulated ones");
            Exit::Skip
        }
        Ok(gpus) => together(arguments, given, &gpus, interrupted),
        Err(error) => {
            complain(&format_args!("cannot look for render nodes: {error}"));
            Exit::Skip
        }
    })
}

fn on_stdout(outputs: &Outputs) -> bool {
    [&outputs.json, &outputs.jsonl, &outputs.tap].into_iter().flatten().any(|path| path.as_os_str() == STDOUT)
}

/// Returns the GPUs of this computer, without suspended ones.
fn present() -> std::io::Result<Vec<One>> {
    let nodes = Node::enumerate(Path::new("/"))?;
    let count = nodes.len();
    let mut gpus = Vec::new();
    for node in nodes {
        let name = node.pci.to_string();
        if host::device(Path::new("/"), &node.path).is_some_and(|device| host::sleeps(&device)) {
            complain(&format_args!("{name} is not tested: it sleeps, and is not woken up unless --gpu names it"));
            continue;
        }
        let chosen_by = ["--gpu".to_owned(), node.path.display().to_string()];
        gpus.push(One { name, chosen_by, reason: format!("--gpu all takes every AMD GPU that is awake, of {count}") });
    }
    Ok(gpus)
}

fn named(simulated: &[&str]) -> Vec<One> {
    let mut seen = HashSet::new();
    let mut gpus = Vec::new();
    for (name, number) in simulated.iter().zip(1..) {
        let stem = Path::new(name).file_stem().map_or((*name).into(), |stem| stem.to_string_lossy());
        // Two of the same chip are two GPUs.
        let unique = if seen.insert(stem.clone()) { stem.into_owned() } else { format!("{stem}-{number}") };
        let chosen_by = ["--sim".to_owned(), (*name).to_owned()];
        gpus.push(One { name: unique, chosen_by, reason: "--sim names it".to_owned() });
    }
    gpus
}

fn together(arguments: &RunArguments, given: &[OsString], gpus: &[One], interrupted: &AtomicBool) -> Exit {
    let troubles = Troubles::default();
    let out = Arc::new(Mutex::new(Sink::stdout(&troubles)));
    let line = |text: &str| out.lock().unwrap_or_else(PoisonError::into_inner).line(text);
    let mut running = Vec::new();
    for gpu in gpus {
        match start(arguments, given, gpu, gpus) {
            Ok(mut child) => {
                let text = child.stdout.take().map(|text| relay(&gpu.name, text, &out));
                running.push((gpu, child, text));
            }
            Err(error) => {
                complain(&format_args!("{}: no process for it: {error}", gpu.name));
                return Exit::Aborted;
            }
        }
    }
    let mut exits = Vec::new();
    let mut is_passed_on = false;
    while let Some((_, child, _)) = running.first_mut() {
        if interrupted.load(Ordering::Acquire) && !is_passed_on {
            is_passed_on = true;
            // A terminal's interrupt goes to this process alone, since each child is a group of its own.
            for (_, child, _) in &running {
                let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT);
            }
            continue;
        }
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK),
            ended => {
                let (gpu, _, text) = running.remove(0);
                // All that it printed comes before its end.
                let _ = text.map(std::thread::JoinHandle::join);
                exits.push((gpu, ended.ok().flatten().and_then(|status| status.code())));
            }
        }
    }
    line("");
    for (gpu, code) in &exits {
        let ending = code.map_or_else(|| "killed by a signal".to_owned(), |code| format!("exit status {code}"));
        line(&format!("{}: {ending}", gpu.name));
    }
    after_troubles(worst(&exits.iter().map(|(_, code)| *code).collect::<Vec<_>>()), &troubles)
}

/// The time between two checks of the child processes.
const LOOK: Duration = Duration::from_millis(20);

/// Returns the exit status of all runs together: the worst one, and 77 only if all runs were skipped.
fn worst(codes: &[Option<i32>]) -> Exit {
    let has = |exit: Exit| codes.contains(&Some(exit.code().into()));
    let known = [Exit::Pass, Exit::Skip, Exit::Invalid, Exit::Fail, Exit::Aborted].map(|exit| Some(exit.code().into()));
    if !codes.iter().all(|code| known.contains(code)) {
        return Exit::Aborted;
    }
    let order = [Exit::Aborted, Exit::Fail, Exit::Invalid, Exit::Pass];
    order.into_iter().find(|exit| has(*exit)).unwrap_or(Exit::Skip)
}

/// Starts the run of one GPU.
fn start(arguments: &RunArguments, given: &[OsString], gpu: &One, all: &[One]) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(&gpu.chosen_by).args(for_one(given));
    // The copies between GPUs are measured once, by the run of the first.
    match all.split_first() {
        Some((first, others)) if first.name == gpu.name && arguments.sim.is_some() => {
            // One that is no chip fails its own run, and no other.
            let known = others.iter().map(|other| &other.chosen_by[1]).filter(|chip| amdgpu_sim::chip(chip).is_ok());
            command.args(known.map(|chip| format!("--beside={chip}")));
        }
        Some((first, _)) if first.name != gpu.name => {
            command.arg(format!("--peers-measured-by={}", first.name));
        }
        _ => {}
    }
    let outputs = &arguments.outputs;
    let files = [
        ("--json", &outputs.json),
        ("--jsonl", &outputs.jsonl),
        ("--tap", &outputs.tap),
        ("--junit", &outputs.junit),
        ("--html", &outputs.html),
        ("--igt-results", &outputs.igt_results),
        ("--bundle", &outputs.bundle),
        ("--baseline", &arguments.baseline),
        ("--resume", &arguments.resume),
    ];
    for (option, path) in files {
        if let Some(path) = path {
            let mut argument = OsString::from(format!("{option}="));
            argument.push(named_after(path, &gpu.name));
            command.arg(argument);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    command.arg(format!("--chosen={}", gpu.reason));
    command.args(["--parent", &std::process::id().to_string()]).spawn()
}

/// Prints each line of a run with the name of its GPU before it.
fn relay(name: &str, text: impl std::io::Read + Send + 'static, out: &Arc<Mutex<Sink>>) -> std::thread::JoinHandle<()> {
    let (name, out) = (name.to_owned(), Arc::clone(out));
    std::thread::spawn(move || {
        for line in BufReader::new(text).lines().map_while(Result::ok) {
            out.lock().unwrap_or_else(PoisonError::into_inner).line(&format!("{name}: {line}"));
        }
    })
}

/// Returns the path with the GPU's name before the extension: `r.json` is `r.0000-03-00.0.json`.
fn named_after(path: &Path, name: &str) -> PathBuf {
    let name = name.replace([':', '/'], "-");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.extension() {
        Some(extension) => path.with_file_name(format!("{stem}.{name}.{}", extension.to_string_lossy())),
        None => path.with_file_name(format!("{stem}.{name}")),
    }
}

/// Returns the arguments that do not choose the GPU or name a file for its report.
fn for_one(given: &[OsString]) -> Vec<OsString> {
    const WITH_VALUE: [&str; 8] =
        ["--gpu", "--sim", "--junit", "--html", "--igt-results", "--bundle", "--baseline", "--resume"];
    const WITH_EQUALS: [&str; 3] = ["--json", "--jsonl", "--tap"];
    let mut kept = Vec::new();
    let mut given = given.iter().skip(1);
    while let Some(argument) = given.next() {
        let text = argument.to_string_lossy();
        let (name, has_value) = text.split_once('=').map_or((&*text, false), |(name, _)| (name, true));
        if WITH_VALUE.contains(&name) {
            if !has_value {
                given.next();
            }
        } else if !WITH_EQUALS.contains(&name) {
            kept.push(argument.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_gpu() {
        for (path, named) in [
            ("r.json", "r.0000-03-00.0.json"),
            ("/a.b/report.tar", "/a.b/report.0000-03-00.0.tar"),
            ("a.b/igt", "a.b/igt.0000-03-00.0"),
        ] {
            assert_eq!(named_after(Path::new(path), "0000:03:00.0"), Path::new(named));
        }
    }

    #[test]
    fn the_worst_run_is_the_status_of_all() {
        for (codes, exit) in [
            (&[Some(0), Some(77)][..], Exit::Pass),
            (&[Some(77), Some(77)], Exit::Skip),
            (&[Some(0), Some(98), Some(79)], Exit::Fail),
            (&[Some(0), Some(79)], Exit::Invalid),
            (&[Some(98), Some(112)], Exit::Aborted),
            (&[Some(0), None], Exit::Aborted),
            (&[Some(0), Some(101)], Exit::Aborted),
        ] {
            assert_eq!(worst(codes), exit, "{codes:?}");
        }
    }

    #[test]
    fn two_of_a_chip_have_two_names() {
        let names: Vec<_> = named(&["navi21", "navi21", "/a/mine.json"]).into_iter().map(|gpu| gpu.name).collect();
        assert_eq!(names, ["navi21", "navi21-2", "mine"]);
    }

    #[test]
    fn each_run_gets_the_arguments_that_are_not_of_the_gpu() {
        let given = [
            "amdgpu-smoke",
            "--gpu",
            "all",
            "--level",
            "core",
            "--json=r",
            "--junit",
            "j.xml",
            "--sim=a,b",
            "--seed=4",
        ];
        let given: Vec<_> = given.map(OsString::from).into();
        assert_eq!(for_one(&given), ["--level", "core", "--seed=4"]);
    }
}
