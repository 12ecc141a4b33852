//! `amdgpu-ib why`.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use super::terminal::{complain, output};
use crate::{
    cli::WhyArguments,
    clinic::{self, Clinic, Diagnosis},
    input::{InputError, name},
    outcome::{Error, Exit},
};

/// The most files of a folder that are read.
const MOST_FILES: usize = 1000;
/// Endings of files in folders that have no text.
const BINARY: &[&str] = &["ib", "bin", "spv", "png", "rec"];

/// Explains hangs.
pub(super) fn why(arguments: &WhyArguments) -> Result<u8, Error> {
    let mut out = output();
    if arguments.schema {
        write!(out, "{}", clinic::SCHEMA)?;
        out.flush()?;
        return Ok(Exit::Understood.code());
    }
    if arguments.follow {
        return super::follow::follow(arguments);
    }
    let mut clinic = Clinic::default();
    let mut failed = false;
    for path in &arguments.files {
        for error in read(&mut clinic, path) {
            complain(&error.to_string());
            failed = true;
        }
    }
    let diagnosis = clinic.finish();
    if arguments.json {
        writeln!(out, "{:#}", clinic::document(&diagnosis))?;
    } else {
        write!(out, "{}", clinic::page(&diagnosis, arguments.verbose))?;
    }
    out.flush()?;
    Ok(status(&diagnosis, failed, arguments.exit_class))
}

/// Returns the exit status: whether there was an incident, or the class of the first one.
fn status(diagnosis: &Diagnosis, failed: bool, by_class: bool) -> u8 {
    match diagnosis.incidents.first() {
        _ if failed => Exit::Usage.code(),
        None if !diagnosis.incomplete.is_empty() => Exit::Usage.code(),
        None => Exit::Understood.code(),
        Some(incident) if by_class => clinic::cause(incident).class.code(),
        Some(_) => Exit::Problems.code(),
    }
}

/// Reads a file, a folder or standard input. Returns the errors.
fn read(clinic: &mut Clinic, path: &Path) -> Vec<InputError> {
    let failed = |path: &Path, error| InputError::Io { name: name(path), error };
    if path == Path::new("-") {
        return clinic.read("standard input", io::stdin().lock()).err().into_iter().collect();
    }
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => folder(clinic, path),
        Ok(_) => match File::open(path) {
            Ok(file) => clinic.read(&short(path), file).err().into_iter().collect(),
            Err(error) => vec![failed(path, error)],
        },
        Err(error) => vec![failed(path, error)],
    }
}

/// Returns the name of a file without its folder, which often has the name of a user.
fn short(path: &Path) -> String {
    let file = path.file_name().map_or(path, Path::new);
    name(file)
}

/// Reads the files of a folder: RADV's report, or any others.
fn folder(clinic: &mut Clinic, path: &Path) -> Vec<InputError> {
    let failed = |error| vec![InputError::Io { name: name(path), error }];
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return failed(error),
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => files.push(entry.path()),
            Err(error) => return failed(error),
        }
    }
    files.sort();
    let folder_name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder_name = folder_name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let has_trace = files.iter().any(|file| file.file_name().is_some_and(|name| name == "trace.log"));
    let is_radv = has_trace || clinic::pid_of(&folder_name).is_some();
    let mut errors = Vec::new();
    let (mut read_files, mut skipped) = (0, 0);
    for file in files {
        let Ok(about) = fs::metadata(&file) else { continue };
        if about.is_dir() {
            let inner = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if clinic::pid_of(&inner).is_some() {
                errors.extend(folder(clinic, &file));
            }
            continue;
        }
        let is_binary = file.extension().is_some_and(|ending| BINARY.iter().any(|known| ending == *known));
        if is_binary || !about.is_file() || read_files == MOST_FILES {
            skipped += 1;
            continue;
        }
        read_files += 1;
        let opened = File::open(&file).map_err(|error| InputError::Io { name: name(&file), error });
        let done = opened.and_then(|opened| {
            let file = short(&file);
            if is_radv { clinic.read_radv(&folder_name, &file, opened) } else { clinic.read(&file, opened) }
        });
        errors.extend(done.err().filter(|error| !matches!(error, InputError::Foreign { .. })));
    }
    if read_files == 0 {
        clinic.note(format!("{}: no logs or dumps here ({skipped} other files)", name(path)));
    }
    errors
}
