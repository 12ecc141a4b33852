//! Starting a command in a world.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    mem,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::{self, PathBuf},
    process::{Command, ExitCode, ExitStatus},
    sync::Arc,
};

use amdgpu_sim::{KernelRelease, LockupTimeout, ShaderSink, ShaderWatch, shader_log};
use amdgpu_sim_world::{
    Call, Connection, DEFAULT_GPU, GPUS_VARIABLE, LOAD_VARIABLE, Layout, Message, NULL_VARIABLE, Server,
    WORLD_VARIABLE, WorldError, gpus, load, options,
};
use nix::{
    errno::Errno,
    sys::{
        prctl::set_pdeathsig,
        signal::{SigSet, Signal},
    },
    unistd::{Pid, getppid},
};

use crate::{reach::out_of_reach, signals};

/// Exit code of the launcher when it cannot run the command, as of `env` and `timeout`.
pub(crate) const CANNOT_RUN: u8 = 125;
/// The command was found and could not be executed.
const CANNOT_EXECUTE: u8 = 126;
/// The command was not found.
const NOT_FOUND: u8 = 127;
/// Exit codes of a command that a signal ended start here, as in shells.
const SIGNALLED: i32 = 128;
/// The preload library's file name.
const SHIM: &str = "libamdgpu_sim_shim.so";

/// The reason why a command was not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("no {SHIM} beside {} or in ../lib; name it with --shim", program.display())]
    NoShim { program: PathBuf },
    #[error("there is no {}", path.display())]
    NoSuchShim { path: PathBuf },
    #[error("a null kernel is one chip, not {chips}")]
    OneChip { chips: String },
    #[error("{WORLD_VARIABLE} is not set: this process is in no world")]
    NoWorld,
    #[error("the world does not answer: {0}")]
    Silent(Errno),
    #[error("cannot find out where this program is: {0}")]
    Lost(io::Error),
    #[error("cannot print: {0}")]
    Print(io::Error),
    #[error("cannot write {}: {error}", path.display())]
    Log { path: PathBuf, error: io::Error },
    #[error("cannot wait for the command: {0}")]
    Wait(io::Error),
}

/// Options of the devices that the command line sets.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) kernel: Option<KernelRelease>,
    pub(crate) lockup_timeout: Option<LockupTimeout>,
    pub(crate) kernel_vram: Option<u32>,
    pub(crate) wide_fills: bool,
    pub(crate) video: bool,
    /// The file of a load.
    pub(crate) load: Option<PathBuf>,
}

/// Observation of compute shaders.
#[derive(Clone, Debug)]
pub(crate) struct Watching {
    /// The file that all devices write to.
    pub(crate) log: PathBuf,
    pub(crate) watch: ShaderWatch,
}

impl Watching {
    fn log(&self) -> Result<ShaderSink, RunError> {
        let failed = |error| RunError::Log { path: self.log.clone(), error };
        let path = path::absolute(&self.log).map_err(failed)?;
        File::create(&path).map_err(failed)?;
        Ok(shader_log(LogFile { path, pending: Vec::new() }, true))
    }
}

/// Bytes of a log that are kept back before they are written.
const PENDING: usize = 1 << 20;

/// A log that is opened to be written: threads of the world have descriptors of their own, and not those of the launcher.
struct LogFile {
    path: PathBuf,
    pending: Vec<u8>,
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() > PENDING {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let pending = mem::take(&mut self.pending);
        File::options().append(true).open(&self.path)?.write_all(&pending)
    }
}

/// Runs a command in a world of its own; its exit code.
///
/// With `null`, the world is there for its paths only; each process answers its own requests.
pub(crate) fn run(
    (chips, null): (Option<&str>, bool),
    changes: Changes,
    watching: Option<&Watching>,
    shim: Option<PathBuf>,
    command: &[OsString],
) -> Result<ExitCode, RunError> {
    let Some((program, arguments)) = command.split_first() else { return Ok(ExitCode::from(CANNOT_RUN)) };
    let chips = chips.map(str::to_owned).or_else(|| env::var(GPUS_VARIABLE).ok().filter(|list| !list.is_empty()));
    let chips = absolute(&chips.unwrap_or_else(|| DEFAULT_GPU.to_owned()));
    if null && chips.contains(',') {
        return Err(RunError::OneChip { chips });
    }
    let shim = find_shim(shim)?;
    if let Some(reason) = out_of_reach(program) {
        eprintln!("amdgpu-sim: {} {reason}: it sees no simulated GPU", program.display());
    }
    let signals = signals::hold();
    let mut options = options(|name| env::var(name).ok())?;
    if let Some(kernel) = changes.kernel {
        (options.kernel, options.drm_minor) = (kernel, kernel.drm_minor());
    }
    options.lockup_timeout = changes.lockup_timeout.unwrap_or(options.lockup_timeout);
    options.kernel_vram = changes.kernel_vram.map_or(options.kernel_vram, |mebibytes| u64::from(mebibytes) << 20);
    options.wide_fills |= changes.wide_fills;
    options.video |= changes.video;
    let log = watching.map(Watching::log).transpose()?;
    let of_variable = || env::var_os(LOAD_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let load = changes.load.or_else(of_variable).map(|path| load(&path)).transpose()?;
    let world = Server::start(&gpus(&chips)?, options)?;
    if let Some(load) = &load {
        world.follow_load(load);
    }
    if let (Some(watching), Some(log)) = (watching, log) {
        world.devices().iter().for_each(|device| device.watch_shaders(watching.watch.clone(), Arc::clone(&log)));
    }
    let mut command = Command::new(program);
    if null {
        command.env(NULL_VARIABLE, &chips);
    }
    end_with_this_process(&mut command);
    let child = command
        .args(arguments)
        .env("LD_PRELOAD", preloads(shim.as_os_str(), env::var_os("LD_PRELOAD")))
        .env(GPUS_VARIABLE, &chips)
        .env(WORLD_VARIABLE, world.layout().directory())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!("amdgpu-sim: cannot run {}: {error}", program.display());
            let missing = error.kind() == io::ErrorKind::NotFound;
            return Ok(ExitCode::from(if missing { NOT_FOUND } else { CANNOT_EXECUTE }));
        }
    };
    signals.pass_on_to(child.id().cast_signed());
    let status = child.wait().map_err(RunError::Wait)?;
    drop(world);
    Ok(ExitCode::from(exit_code(status)))
}

/// The list of chips with its paths made absolute: the command may look at it from another directory.
fn absolute(chips: &str) -> String {
    let word = |word: &str| match path::absolute(word) {
        Ok(path) if amdgpu_sim::profile(word).is_none() && path.is_file() => path.to_string_lossy().into_owned(),
        _ => word.to_owned(),
    };
    chips.split(',').map(|chip| word(chip.trim())).collect::<Vec<_>>().join(",")
}

/// Makes a command end when the launcher is killed, with which its world ends. The signal must reach it, so the command does not
/// inherit that the launcher holds signals back.
#[expect(unsafe_code, reason = "runs between fork and exec")]
fn end_with_this_process(command: &mut Command) {
    let launcher = Pid::this();
    let arrange = move || {
        SigSet::empty().thread_set_mask()?;
        set_pdeathsig(Signal::SIGTERM)?;
        // It may be gone already, and then no signal is sent.
        if getppid() == launcher { Ok(()) } else { Err(Errno::ESRCH.into()) }
    };
    // SAFETY: the closure makes three system calls and allocates nothing, which is what a child of a process with threads may
    // do before exec. The thread that spawns, to whose end the signal is tied, is the main one.
    unsafe { command.pre_exec(arrange) };
}

/// The library comes first, so that it stands before others that wrap the same functions.
fn preloads(shim: &OsStr, others: Option<OsString>) -> OsString {
    let mut list = shim.to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

fn find_shim(named: Option<PathBuf>) -> Result<PathBuf, RunError> {
    if let Some(path) = named {
        return path.canonicalize().map_err(|_| RunError::NoSuchShim { path });
    }
    let program = env::current_exe().map_err(RunError::Lost)?;
    let beside = program.parent().map(|directory| [directory.join(SHIM), directory.join("../lib").join(SHIM)]);
    let found = beside.into_iter().flatten().find_map(|path| path.canonicalize().ok());
    found.ok_or(RunError::NoShim { program })
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(CANNOT_RUN)
}

/// Prints what is alive in the world around this process.
pub(crate) fn census() -> Result<ExitCode, RunError> {
    let directory = env::var_os(WORLD_VARIABLE).filter(|path| !path.is_empty()).ok_or(RunError::NoWorld)?;
    let connection = Connection::open(&Layout::new(directory.into()).socket()).map_err(RunError::Silent)?;
    let answer = connection.call(&Message::new(Call::Census, 0, [0; 3])).map_err(RunError::Silent)?;
    let text = answer.descriptor.ok_or(RunError::Silent(Errno::EPROTO))?;
    io::copy(&mut File::from(text), &mut io::stdout()).map_err(RunError::Print)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_is_written_where_it_is_flushed_and_where_it_grows() {
        let path = env::temp_dir().join(format!("amdgpu-sim-log-{}", std::process::id()));
        let watching = Watching { log: path.clone(), watch: ShaderWatch::default() };
        drop(watching.log().unwrap());
        let mut log = LogFile { path: path.clone(), pending: Vec::new() };
        log.write_all(b"first\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        log.flush().unwrap();
        log.write_all(&vec![b'x'; PENDING + 1]).unwrap();
        let written = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(written.starts_with(b"first\nx") && written.len() == 6 + PENDING + 1);
        let nowhere = Watching { log: path.join("below a file"), watch: ShaderWatch::default() };
        assert!(matches!(nowhere.log(), Err(RunError::Log { .. })));
    }
}
