//! `collect`: reports of many machines, merged, with what their failures have in common.
//!
//! Reports are read one after the other and forgotten; of each stays what it is compared by, a few hundred bytes. So a fleet needs
//! neither a database nor much memory here. `--sql` writes the merged tables for one, for questions of its own, and `--sqlite` the
//! database itself.

mod analysis;
mod document;
mod find;
mod fleet;
mod page;
mod read;
mod sql;
mod statistics;
mod text;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

pub(crate) use self::sql::WITHOUT_SQLITE;
use self::{
    analysis::Analysis,
    fleet::{Fleet, LeftOut, Problem, Reading},
};

/// Threads that read reports; more do not help, since one merges.
const READERS: usize = 8;
/// Reports that wait to be merged.
const WAITING: usize = 64;

/// The reports of many machines, merged and compared.
#[derive(Debug)]
pub(crate) struct Collection {
    fleet: Fleet,
    analysis: Analysis,
}

/// The error of a path that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub(crate) struct CollectError {
    path: PathBuf,
    source: io::Error,
}

/// Merges the reports in files and below directories.
///
/// # Errors
///
/// [`CollectError`] if one of the paths cannot be read. A file below a directory that is no report is counted and told.
pub(crate) fn collect(paths: &[PathBuf]) -> Result<Collection, CollectError> {
    let found = find::find(paths).map_err(|(path, source)| CollectError { path, source })?;
    let mut fleet = Fleet::new(found.left_out, found.others);
    each(&found.files, |path, read| match read {
        Ok(reading) => fleet.add(path, &reading),
        Err((problem, detail)) => fleet.left_out.push(LeftOut::new(path, problem, detail)),
    });
    fleet.finish();
    let analysis = analysis::analyse(&fleet);
    Ok(Collection { fleet, analysis })
}

/// Reads files with several threads, and gives each to a function in this one, in any order.
fn each(files: &[PathBuf], mut take: impl FnMut(&Path, Result<Reading, (Problem, String)>)) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    let readers = thread::available_parallelism().map_or(1, usize::from).min(READERS);
    thread::scope(|scope| {
        for _ in 0..readers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // The receiver lives as long as the scope.
                    let _ = sender.send((path, read::read(path)));
                }
            });
        }
        drop(sender);
        for (path, read) in receiver {
            take(path, read);
        }
    });
}

impl Collection {
    /// Returns `true` if there was no report at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.fleet.runs.is_empty()
    }

    /// Returns the text for people.
    pub(crate) fn text(&self) -> String {
        text::text(&self.fleet, &self.analysis)
    }

    /// Returns JSON in the schema `amdgpu-smoke-collect/1`.
    pub(crate) fn json(&self) -> String {
        document::json(&self.fleet, &self.analysis)
    }

    /// Returns a page that needs no other file.
    pub(crate) fn html(&self) -> String {
        page::page(&self.fleet, &self.analysis)
    }

    /// Returns the contents of a file with a database of SQLite; an error without the feature `sqlite`.
    pub(crate) fn database(&self) -> Result<Vec<u8>, String> {
        sql::database(&self.fleet).map_err(|error| format!("SQLite: {error}"))
    }

    /// Returns the merged tables as statements that SQLite runs.
    pub(crate) fn sql(&self) -> String {
        sql::statements(&self.fleet)
    }
}
