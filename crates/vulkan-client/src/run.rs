//! Selection and running of checks: each in a process of its own.

use std::{
    io::{self, Read},
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use crate::{
    checks::{self, PlannedCheck},
    cli::Arguments,
    exit::Exit,
    gpu::Gpu,
    images, jobs,
    outcome::{Outcome, Stop, say},
    peer, picture, random, speed,
};

/// Between two looks at whether a check's process has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Does what the command line says.
pub(crate) fn run(arguments: &Arguments) -> Exit {
    if arguments.peer {
        return peer::serve(arguments.any_device);
    }
    if arguments.list {
        for step in checks::plan() {
            say(&format!("{:<32} {}", step.id, step.proves));
        }
        return Exit::Pass;
    }
    if arguments.time_shaders {
        return speed::shaders(arguments.any_device);
    }
    if arguments.time_draws {
        return speed::draws(arguments.any_device);
    }
    if let Some(path) = &arguments.picture {
        return picture::save(path, arguments.any_device);
    }
    if let Some(path) = &arguments.images {
        return images::save(path, arguments.any_device);
    }
    if let Some(count) = arguments.random_shaders {
        return random::run(count, arguments);
    }
    if let Some(folder) = &arguments.shader_jobs {
        return jobs::run(folder, arguments);
    }
    match &arguments.only {
        Some(name) => only(name, arguments),
        None => all(arguments),
    }
}

/// One check, in this process.
fn only(name: &str, arguments: &Arguments) -> Exit {
    let Some(step) = checks::plan().into_iter().find(|step| step.id == name) else {
        eprintln!("no check is called {name} (--list names them)");
        return Exit::Invalid;
    };
    let outcome = Gpu::open(arguments.any_device).and_then(|gpu| step.run(&gpu));
    report(&step, &outcome)
}

/// All checks, each in a child of its own.
fn all(arguments: &Arguments) -> Exit {
    let mut steps = checks::plan();
    if let Some(prefix) = arguments.without.iter().find(|prefix| !steps.iter().any(|step| step.id.starts_with(*prefix)))
    {
        eprintln!("no check's name begins with {prefix:?} (--list names them)");
        return Exit::Invalid;
    }
    match Gpu::open(arguments.any_device) {
        Ok(gpu) => say(&format!("on {}", device_name(&gpu))),
        Err(Stop::Skip(reason)) => {
            say(&format!("skip  {reason}"));
            return Exit::Skip;
        }
        Err(Stop::Fail(evidence)) => {
            say(&format!("fail  {evidence}"));
            return Exit::Fail;
        }
    }
    steps.retain(|step| !arguments.without.iter().any(|prefix| step.id.starts_with(prefix)));
    steps.retain(|step| (arguments.provoke_hang || !step.disruptive) && !(arguments.in_order && step.unordered));
    let exits: Vec<_> = steps.iter().map(|step| in_child(step, arguments)).collect();
    let count = |exit| exits.iter().filter(|&&one| one == exit).count();
    let (passed, failed, skipped) = (count(Exit::Pass), count(Exit::Fail), count(Exit::Skip));
    say(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    Exit::of(passed, failed)
}

fn device_name(gpu: &Gpu) -> String {
    gpu.properties
        .device_name_as_c_str()
        .map_or_else(|_| "a nameless device".into(), |name| name.to_string_lossy().into())
}

/// Tries a check in a new process that prints its line; if it cannot, the line is printed here.
fn in_child(step: &PlannedCheck, arguments: &Arguments) -> Exit {
    let ended = start(step, arguments)
        .and_then(|mut child| Ok((wait(&mut child, Duration::from_secs(arguments.limit))?, complaint(&mut child))));
    let evidence = match ended {
        Ok((Some(status), complaint)) => match status.code().and_then(Exit::of_code) {
            Some(exit) => return exit,
            None => format!("{}{complaint}", how_it_ended(status)),
        },
        Ok((None, complaint)) => format!("no end within {} s{complaint}", arguments.limit),
        Err(error) => format!("starting a process of this program: {error}"),
    };
    report(step, &Err(Stop::Fail(evidence)))
}

fn start(step: &PlannedCheck, arguments: &Arguments) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    if arguments.any_device {
        command.arg("--any-device");
    }
    command.args(["--only", &step.id]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn()
}

/// Its status, or `None` if it had to be killed because it took too long.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// The last line it wrote to its standard error.
fn complaint(child: &mut Child) -> String {
    let mut text = Vec::new();
    if let Some(stderr) = &mut child.stderr {
        // A stream that breaks off leaves what was read before.
        let _: io::Result<usize> = stderr.read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    text.lines().last().map_or_else(String::new, |line| format!(": {line}"))
}

fn how_it_ended(status: ExitStatus) -> String {
    status.signal().map_or_else(|| format!("{status}"), |signal| format!("killed by signal {signal}"))
}

fn report(step: &PlannedCheck, outcome: &Outcome) -> Exit {
    let (word, text, exit) = match outcome {
        Ok(figures) => ("pass", figures, Exit::Pass),
        Err(Stop::Skip(reason)) => ("skip", reason, Exit::Skip),
        Err(Stop::Fail(evidence)) => ("fail", evidence, Exit::Fail),
    };
    say(&format!("{word}  {:<32} {text}", step.id));
    exit
}
