//! Recording of runs, and replay of recorded runs.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Cursor, Read},
    path::Path,
};

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

/// The keys of notes in a recording.
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

/// Replays a recorded test. The client must make exactly the recorded requests. For a bundle, replays the recording of `check`, or
/// of the only check that did not pass.
pub(crate) fn replay(
    path: &Path,
    check: Option<&str>,
    given: &Options,
    test: impl FnOnce(&Target, &Options) -> Exit,
) -> Exit {
    let opened = match unpacked(path, check) {
        Ok(Some(bytes)) => Replay::new(Cursor::new(bytes)),
        Ok(None) => Replay::open(path),
        Err(error) => return refuse(path, &error),
    };
    let replay = match opened {
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

/// The reason why no recording can be taken from a bundle.
#[derive(Debug, thiserror::Error)]
enum NoRecording {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("a bundle without recordings")]
    Empty,
    #[error("the bundle has no recording of {wanted:?}; it has {}", present.join(", "))]
    NoSuchCheck { wanted: String, present: Vec<String> },
    #[error("the bundle has recordings of several checks, --check chooses one: {}", .0.join(", "))]
    Several(Vec<String>),
    #[error("--check chooses from a bundle, and this is none")]
    NoBundle,
}

/// Returns the bytes of a recording in a bundle; `None` if the file is not a tar file.
fn unpacked(path: &Path, check: Option<&str>) -> Result<Option<Vec<u8>>, NoRecording> {
    // A POSIX header has its magic at byte 257 (IEEE Std 1003.1, pax: ustar interchange format).
    let mut head = Vec::new();
    File::open(path)?.take(512).read_to_end(&mut head)?;
    if head.get(257..262) != Some(b"ustar") {
        return if check.is_some() { Err(NoRecording::NoBundle) } else { Ok(None) };
    }
    let mut recordings = BTreeMap::new();
    for entry in tar::Archive::new(BufReader::new(File::open(path)?)).entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        let id = name.strip_prefix("recordings/").and_then(|name| name.strip_suffix(".rec"));
        if let Some(id) = id {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            recordings.insert(id.to_owned(), bytes);
        }
    }
    let present: Vec<String> = recordings.keys().cloned().collect();
    let wanted = if let Some(check) = check {
        check.to_owned()
    } else {
        let bad: Vec<_> = present.iter().filter(|id| !id.starts_with("inventory.")).collect();
        match (&bad[..], &present[..]) {
            ([id], _) => (*id).clone(),
            ([], [id]) => id.clone(),
            (_, []) => return Err(NoRecording::Empty),
            _ => return Err(NoRecording::Several(present)),
        }
    };
    match recordings.remove(&wanted) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(NoRecording::NoSuchCheck { wanted, present }),
    }
}

fn refuse(path: &Path, error: &dyn std::fmt::Display) -> Exit {
    complain(&format_args!("{}: {error}", path.display()));
    Exit::Invalid
}
