//! The program: a command line around a run.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use crate::{
    cli::Arguments,
    exit::Exit,
    human::{self, Human},
    json, plan, recordings,
    run::{Options, run},
    target::Target,
};

/// What the binary does with its arguments, the program's name first; its exit status tells how the run ended.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    log_to_stderr();
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => execute(&arguments).into(),
        Err(error) => {
            // Nobody is left to tell when the terminal itself is gone.
            let _ = error.print();
            if error.use_stderr() { Exit::Invalid.into() } else { Exit::Pass.into() }
        }
    }
}

fn execute(arguments: &Arguments) -> Exit {
    if arguments.list_profiles {
        return list(amdgpu_sim::profiles().iter().map(|profile| profile.name.to_owned()));
    }
    if arguments.list_checks {
        let level = |check: &&plan::Check| check.level <= arguments.level;
        let wanted = |id: &str| arguments.filter.as_deref().is_none_or(|text| id.contains(text));
        let checks = plan::all().filter(level).filter(|check| wanted(&check.pattern()));
        return list(
            checks.map(|check| format!("{:<18} {:<9}  {}", check.pattern(), check.level.name(), check.proves)),
        );
    }
    if let Some(path) = &arguments.dump {
        return recordings::dump(path);
    }
    if let Some(path) = &arguments.replay {
        return recordings::replay(path, |target, options| test(target, options, arguments.json));
    }
    match Target::choose(arguments.gpu.as_deref(), arguments.sim.as_deref()) {
        Ok(target) => {
            let options = Options { level: arguments.level, filter: arguments.filter.clone() };
            match &arguments.record {
                Some(path) => {
                    recordings::record(path, target, &options, |target| test(target, &options, arguments.json))
                }
                None => test(&target, &options, arguments.json),
            }
        }
        Err(error) => {
            complain(&error);
            if error.is_usage() { Exit::Invalid } else { Exit::Skip }
        }
    }
}

fn test(target: &Target, options: &Options, as_json: bool) -> Exit {
    let stdout = io::stdout();
    let report = if as_json {
        let report = run(target, options, &mut ());
        if let Err(error) = json::write(&report, stdout.lock()) {
            complain(&error);
        }
        report
    } else {
        run(target, options, &mut Human::new(stdout.lock(), human::stdout_takes_colours()))
    };
    Exit::of(&report)
}

/// Prints lines as long as somebody reads them.
pub(crate) fn list(mut lines: impl Iterator<Item = String>) -> Exit {
    let mut out = io::stdout().lock();
    let _ = lines.try_for_each(|line| writeln!(out, "{line}"));
    Exit::Pass
}

pub(crate) fn complain(error: &dyn std::fmt::Display) {
    let _ = writeln!(io::stderr(), "amdgpu-smoke: {error}");
}

/// RUST_LOG turns the library's spans and events on.
fn log_to_stderr() {
    use tracing_subscriber::EnvFilter;
    if std::env::var_os(EnvFilter::DEFAULT_ENV).is_none() {
        return;
    }
    match EnvFilter::try_from_default_env() {
        // A second call in one process finds the first one's subscriber in place, which will do.
        Ok(filter) => drop(tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).try_init()),
        Err(error) => complain(&error),
    }
}
