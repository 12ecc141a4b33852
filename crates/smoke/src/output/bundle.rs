//! A bundle for a bug report: one file with the results, the description of the GPU, and the recorded kernel requests.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use amdgpu_output::files;
use nix::fcntl::{Flock, FlockArg};

use crate::{
    isolation::parent,
    output::{
        json,
        sink::Troubles,
        so_far::{Pace, SoFar},
        text::Text,
    },
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
        status::Status,
    },
    run::Observer,
};

/// A bundle in preparation: a directory for the recordings of child processes, and the file to write.
#[derive(Debug)]
pub(crate) struct Bundle {
    path: PathBuf,
    /// The open output, for one that is not a file.
    file: File,
    scratch: PathBuf,
    /// The lock of the directory while it is in use. The kernel releases it however this process ends.
    _lock: Flock<File>,
}

/// The prefix of the names of directories for recordings, and the name of the locked file in them.
const SCRATCH: &str = "amdgpu-smoke-";
const LOCK: &str = "lock";

impl Bundle {
    /// Creates the file immediately, so that an invalid path fails before any check runs. `so_far` is the report before the run
    /// begins, which a run leaves that is killed at once.
    pub(crate) fn create(path: &Path, so_far: &Report) -> io::Result<Self> {
        let file = files::create(path)?;
        let scratch = std::env::temp_dir().join(format!("{SCRATCH}{}", std::process::id()));
        fs::create_dir(&scratch)
            .map_err(|error| io::Error::new(error.kind(), format!("TMPDIR: {}: {error}", scratch.display())))?;
        let lock = files::create_new(&scratch.join(LOCK))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| io::Error::from(errno))?;
        if let Some(real) = regular(path) {
            files::replace(&real, pack(&scratch, so_far, "")?)?;
        }
        Ok(Self { path: path.to_owned(), file, scratch, _lock: lock })
    }

    /// Returns an observer that keeps the file whole while the run is under way: it is ten seconds old at most.
    pub(crate) fn unfinished(&self, text: &Text, troubles: &Troubles, so_far: &Report) -> Unfinished {
        Unfinished {
            path: self.path.clone(),
            scratch: self.scratch.clone(),
            text: text.clone(),
            troubles: troubles.clone(),
            so_far: SoFar::new(so_far.clone()),
            pace: Pace::new(Duration::from_secs(10)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder for recordings of checks.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Packs the bundle: `report.json`, `report.txt`, `device.json`, `dmesg.txt`, and in `recordings/` the kernel requests of the
    /// inventory and of each check that did not pass.
    pub(crate) fn finish(&self, report: &Report, text: &str) -> io::Result<()> {
        let packed = pack(&self.scratch, report, text)?;
        match regular(&self.path) {
            Some(real) => files::replace(&real, packed),
            None => (&self.file).write_all(&packed),
        }
    }
}

/// Returns the path of a regular file, which can be replaced as a whole. A symbolic link stays one.
fn regular(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|real| real.is_file())
}

/// Packs a bundle in memory, so that its file is whole at any time.
fn pack(scratch: &Path, report: &Report, text: &str) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let modified = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut add = |name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(modified);
        tar.append_data(&mut header, name, bytes)
    };
    add("report.json", json::document(report).as_bytes())?;
    add("report.txt", text.as_bytes())?;
    add("device.json", format!("{:#}\n", serde_json::json!(report.gpu)).as_bytes())?;
    let messages = report.results.iter().filter_map(|result| result.evidence.as_ref());
    let messages: Vec<_> = messages.flat_map(|evidence| evidence.messages.iter().cloned()).collect();
    add("dmesg.txt", messages.join("\n").as_bytes())?;
    for result in &report.results {
        let is_notable = result.status.is_bad() || matches!(result.status, Status::Warn | Status::DmesgWarn);
        if !is_notable && !result.id.starts_with("inventory.") {
            continue;
        }
        let name = parent::recording(&result.id);
        if let Ok(bytes) = fs::read(scratch.join(&name)) {
            add(&format!("recordings/{name}"), &bytes)?;
        }
    }
    tar.into_inner()
}

/// Keeps the bundle of a run that is under way.
pub(crate) struct Unfinished {
    path: PathBuf,
    scratch: PathBuf,
    text: Text,
    troubles: Troubles,
    so_far: SoFar,
    pace: Pace,
}

impl Observer for Unfinished {
    fn began(&mut self, gpu: &Gpu) {
        self.so_far.began(gpu);
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.so_far.planned(gpu, ids);
    }

    fn started(&mut self, id: &str) {
        self.so_far.started(id);
        // What is not a file takes the bundle once.
        let Some(real) = regular(&self.path).filter(|_| self.pace.is_due()) else { return };
        let packed = pack(&self.scratch, &self.so_far.ended_checks(), &self.text.get());
        if let Err(error) = packed.and_then(|packed| files::replace(&real, packed)) {
            self.troubles.note(&self.path.display().to_string(), &error);
            // A disk that is full is told of once.
            self.pace = Pace::never();
        }
    }

    fn finished(&mut self, result: &CheckResult) {
        self.so_far.finished(result);
    }
}

/// Removes the directories of killed runs, whose locks are free.
pub(crate) fn sweep(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(SCRATCH));
        let process = number.and_then(|number| number.parse::<u32>().ok());
        // The lock counts beside the number, which may be that of another process by now, or of another namespace.
        if process.is_none_or(|process| Path::new(&format!("/proc/{process}")).exists()) {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok() {
            // Another user's directory stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        // What is left in the directory for temporary files is removed with that directory's other files.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}
