//! Runs that are written down, and runs of what was.

use std::path::Path;

use amdgpu_layers::{
    Recording, Replay,
    format::{FileError, Reader},
};
use clap::ValueEnum;

use crate::{
    choice::{Choice, Filter},
    gpu::target::Target,
    level::Level,
    options::Options,
    output::terminal::{complain, print_lines},
    result::exit::Exit,
};

/// Notes of a recording.
const LEVEL: &str = "level";
const FILTER: &str = "filter";
const SEED: &str = "seed";

/// Runs a test and records it.
pub(crate) fn record(path: &Path, target: Target, options: &Options, test: impl FnOnce(&Target) -> Exit) -> Exit {
    let recording = match Recording::create(path) {
        Ok(recording) => recording,
        Err(error) => return refuse(path, &error),
    };
    recording.note(LEVEL, options.level.name());
    recording.note(SEED, &options.seed.to_string());
    if let Some(filter) = &options.choice.filter {
        recording.note(FILTER, filter.as_str());
    }
    let target = target.recorded(&recording);
    let exit = test(&target);
    drop(target);
    match recording.finish() {
        Ok(_) => exit,
        Err(error) => refuse(path, &error),
    }
}

/// Runs the test of a recording. The client's requests must be the recorded ones, to the end.
pub(crate) fn replay(path: &Path, given: &Options, test: impl FnOnce(&Target, &Options) -> Exit) -> Exit {
    let replay = match Replay::open(path) {
        Ok(replay) => replay,
        Err(error) => return refuse(path, &error),
    };
    let level = replay.note(LEVEL).and_then(|name| Level::from_str(name, false).ok());
    let filter = match replay.note(FILTER).map(Filter::new).transpose() {
        Ok(filter) => filter,
        Err(error) => return refuse(path, &error),
    };
    let options = Options {
        level: level.unwrap_or_default(),
        choice: Choice { filter, ..Choice::default() },
        seed: replay.note(SEED).and_then(|seed| seed.parse().ok()).unwrap_or_default(),
        ..given.clone()
    };
    let target = Target::replayed(&replay);
    let exit = test(&target, &options);
    drop(target);
    match replay.finish() {
        Ok(()) => exit,
        Err(error) => {
            complain(&format_args!("{}: {error}", path.display()));
            Exit::Aborted
        }
    }
}

/// Prints a recording as far as it can be read.
pub(crate) fn dump(path: &Path) -> Exit {
    let reader = match Reader::open(path) {
        Ok(reader) => reader,
        Err(error) => return refuse(path, &error),
    };
    let mut trouble: Option<FileError> = None;
    let mut calls = 0_u64;
    print_lines(reader.map_while(|record| match record {
        Ok(record) => {
            let is_call = matches!(record, amdgpu_layers::format::Record::Call(_));
            let line = if is_call { format!("{calls:5} {record}") } else { format!("      {record}") };
            calls += u64::from(is_call);
            Some(line)
        }
        Err(error) => {
            trouble = Some(error);
            None
        }
    }));
    trouble.map_or(Exit::Pass, |error| refuse(path, &error))
}

fn refuse(path: &Path, error: &dyn std::fmt::Display) -> Exit {
    complain(&format_args!("{}: {error}", path.display()));
    Exit::Invalid
}
