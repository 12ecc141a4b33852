//! A run of a program, observed.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs, io,
    os::{
        fd::AsFd as _,
        unix::{ffi::OsStrExt as _, process::CommandExt as _},
    },
    path::Path,
    process::{Child, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use amdgpu_sim_world::Traffic;
use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use super::loading::{self, Libraries};
use crate::{error::RunError, run::Prepared};

/// Folder of the world's directory that dynamic linkers write to.
const FOLDER: &str = "doctor";
/// Time between two looks at the processes.
const STEP: Duration = Duration::from_millis(5);
/// Time that a program has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Observations of a run.
#[derive(Debug, Default)]
pub(super) struct Observation {
    /// The reason why the program was not executed.
    pub(super) refused: Option<io::ErrorKind>,
    /// Libraries of each process whose dynamic linker wrote any.
    pub(super) processes: Vec<Libraries>,
    /// File name of the preload library.
    pub(super) shim: String,
    /// Names of processes that were started without the preload library.
    pub(super) scrubbed: BTreeSet<String>,
    pub(super) traffic: Traffic,
    /// The end of the program; `None` if it was ended after its time.
    pub(super) status: Option<ExitStatus>,
}

/// Runs a program in a world for some time.
pub(super) fn observe(
    prepared: &Prepared,
    program: &OsStr,
    arguments: &[OsString],
    time: Duration,
) -> Result<Observation, RunError> {
    let folder = prepared.world.layout().directory().join(FOLDER);
    let failed = |error| RunError::Log { path: folder.clone(), error };
    fs::create_dir(&folder).map_err(failed)?;
    // Our own output is the report.
    let output = io::stderr().as_fd().try_clone_to_owned().map_err(RunError::Print)?;
    let mut command = prepared.command(program, arguments, Signal::SIGKILL);
    command.stdin(Stdio::null()).stdout(output).process_group(0);
    command.env("LD_DEBUG", loading::DEBUG).env("LD_DEBUG_OUTPUT", folder.join("ld"));
    let shim = prepared.shim.file_name().unwrap_or_default();
    let mut seen = Observation { shim: shim.to_string_lossy().into_owned(), ..Observation::default() };
    match command.spawn() {
        Err(error) => seen.refused = Some(error.kind()),
        Ok(mut child) => {
            let mut scrubbed = Scrubbed::default();
            seen.status = watch(&mut child, shim, time, &mut scrubbed).map_err(RunError::Wait)?;
            seen.scrubbed = scrubbed.names;
        }
    }
    seen.processes = loading::processes(&folder).map_err(failed)?;
    seen.traffic = prepared.world.traffic();
    Ok(seen)
}

/// Waits for a program, and ends its process group when its time is over. Returns its status if it ended by itself.
fn watch(child: &mut Child, shim: &OsStr, time: Duration, scrubbed: &mut Scrubbed) -> io::Result<Option<ExitStatus>> {
    let group = Pid::from_raw(child.id().cast_signed());
    let started = Instant::now();
    while started.elapsed() < time {
        scrubbed.look(group.as_raw(), shim);
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(STEP);
    }
    let end = |signal| match killpg(group, signal) {
        // It may have ended meanwhile.
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(io::Error::from(errno)),
    };
    end(Signal::SIGTERM)?;
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if child.try_wait()?.is_some() {
            return Ok(None);
        }
        thread::sleep(STEP);
    }
    end(Signal::SIGKILL)?;
    child.wait()?;
    Ok(None)
}

/// Processes that were seen without the preload library.
#[derive(Debug, Default)]
struct Scrubbed {
    /// Those that were seen so once: in the middle of `execve` a process has no environment.
    suspects: BTreeSet<libc::pid_t>,
    names: BTreeSet<String>,
}

impl Scrubbed {
    /// Looks at a process and at those below it.
    fn look(&mut self, pid: libc::pid_t, shim: &OsStr) {
        let process = Path::new("/proc").join(pid.to_string());
        // A process that has ended, or is of another user, has nothing to tell.
        let environment = fs::read_link(process.join("exe")).and_then(|_| fs::read(process.join("environ")));
        match environment {
            Ok(environment) if !has_preload(&environment, shim) => {
                if !self.suspects.insert(pid)
                    && let Ok(name) = fs::read_to_string(process.join("comm"))
                {
                    self.names.insert(name.trim_end().to_owned());
                }
            }
            _ => {
                self.suspects.remove(&pid);
            }
        }
        let children = fs::read_to_string(process.join("task").join(pid.to_string()).join("children"));
        for child in children.unwrap_or_default().split_whitespace().filter_map(|child| child.parse().ok()) {
            self.look(child, shim);
        }
    }
}

/// Returns `true` if an environment preloads the library.
fn has_preload(environment: &[u8], shim: &OsStr) -> bool {
    let has_shim = |value: &[u8]| {
        value
            .split(|byte| matches!(byte, b':' | b' '))
            .any(|path| Path::new(OsStr::from_bytes(path)).file_name() == Some(shim))
    };
    let mut variables = environment.split(|&byte| byte == 0);
    variables.any(|variable| variable.strip_prefix(b"LD_PRELOAD=").is_some_and(has_shim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_preloads_what_its_list_has() {
        let shim = OsStr::new("shim.so");
        assert!(has_preload(b"A=1\0LD_PRELOAD=/x/other.so:/y/shim.so\0", shim));
        for other in [&b"A=1\0"[..], b"LD_PRELOAD=/y/shim.so.1\0", b"OLD_LD_PRELOAD=/y/shim.so\0"] {
            assert!(!has_preload(other, shim));
        }
    }
}
