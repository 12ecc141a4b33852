//! The files below directories.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::collect::fleet::{LeftOut, Problem};

/// The extension of reports.
const EXTENSION: &str = "json";

/// The files that may be reports, in the order of their paths, and what could not be looked at.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<PathBuf>,
    pub(super) left_out: Vec<LeftOut>,
    /// Number of files with another extension.
    pub(super) others: usize,
}

/// Returns the files with the extension `.json` below directories, and the files that are named themselves. Links to directories
/// are not followed, as they may lead in a circle.
///
/// # Errors
///
/// The error of a path that is named itself and cannot be read.
pub(super) fn find(paths: &[PathBuf]) -> Result<Found, (PathBuf, io::Error)> {
    let mut found = Found::default();
    for path in paths {
        let refused = |error| (path.clone(), error);
        if fs::metadata(path).map_err(refused)?.is_dir() {
            // Before the walk, in which an error is one directory among many.
            fs::read_dir(path).map_err(refused)?;
            walk(path, &mut found);
        } else {
            found.files.push(path.clone());
        }
    }
    found.files.sort();
    found.files.dedup();
    Ok(found)
}

fn walk(root: &Path, found: &mut Found) {
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                found.left_out.push(LeftOut::new(&directory, Problem::Unreadable, error.to_string()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(path),
                Ok(_) if path.extension().is_some_and(|extension| extension == EXTENSION) => found.files.push(path),
                _ => found.others += 1,
            }
        }
    }
}
