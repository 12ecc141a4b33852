//! Starting a command in a world.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Write},
    mem,
    os::unix::{
        fs::OpenOptionsExt as _,
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{self, Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
    sync::Arc,
};

use amdgpu_output::files;
use amdgpu_sim::{Changes, IBS_VARIABLE, KEPT_VARIABLE, ShaderSink, ShaderWatch, SimDevice, TracedWaves, shader_log};
use amdgpu_sim_world::{
    Call, Connection, DEFAULT_GPU, FEATURES_VARIABLE, GPUS_VARIABLE, KERNEL_VARIABLE, LOAD_VARIABLE, LOCKUP_VARIABLE,
    Layout, Message, NULL_VARIABLE, Running, Server, WORLD_VARIABLE, gpus, load, options,
};
use nix::{
    errno::Errno,
    fcntl::OFlag,
    sys::{
        prctl::set_pdeathsig,
        signal::{SigSet, Signal},
    },
    unistd::{Pid, getppid},
};

use crate::{
    cli::{Run, World},
    error::{RunError, SHIM},
    hang_report, reach, screenshot,
    signals::{self, Held},
};

/// Exit code of the launcher when it cannot run the command, as of `env` and `timeout`.
pub(crate) const CANNOT_RUN: u8 = 125;
/// A job hung and the command succeeded, with `--fail-on-hang`.
const HUNG: u8 = 124;
/// The command was found and could not be executed.
const CANNOT_EXECUTE: u8 = 126;
/// The command was not found.
const NOT_FOUND: u8 = 127;
/// Exit codes of a command that a signal ended start here, as in shells.
const SIGNALLED: i32 = 128;

/// Makes the file of what compute shaders do, which all devices write to.
fn shader_file(path: &Path) -> Result<ShaderSink, RunError> {
    let failed = |error| RunError::Log { path: path.to_owned(), error };
    let path = path::absolute(path).map_err(failed)?;
    files::create(&path).map_err(failed)?;
    Ok(shader_log(LogFile { path, pending: Vec::new() }, true))
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
        File::options().append(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(&self.path)?.write_all(&pending)
    }
}

/// A world that a command can be started in.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) world: Running,
    /// The chips, as the environment of commands has them.
    pub(crate) chips: String,
    pub(crate) shim: PathBuf,
    null: bool,
    /// The file of what the strict mode finds.
    hazards: Option<PathBuf>,
}

/// Starts a world as the command line says. With `null` it is there for its paths only.
pub(crate) fn prepare(arguments: &World, null: bool) -> Result<Prepared, RunError> {
    let chips = arguments.gpu.clone().or_else(|| env::var(GPUS_VARIABLE).ok().filter(|list| !list.is_empty()));
    let chips = with_changes(&absolute(&chips.unwrap_or_else(|| DEFAULT_GPU.to_owned())), &arguments.changes());
    if null && chips.contains(',') {
        return Err(RunError::OneChip { chips });
    }
    let shim = find_shim(arguments.shim.as_deref())?;
    check_captures()?;
    // The default and the meaning of later settings depend on the kernel, so arguments about it take the place of variables.
    let mut options = options(|name| {
        let argument = match name {
            KERNEL_VARIABLE => arguments.kernel.map(|kernel| kernel.to_string()),
            FEATURES_VARIABLE => arguments.kernel_features.clone(),
            LOCKUP_VARIABLE => arguments.lockup_timeout.clone(),
            _ => None,
        };
        argument.or_else(|| env::var(name).ok())
    })?;
    options.display = arguments.display.or(options.display);
    options.kernel_vram = arguments.kernel_vram.map_or(options.kernel_vram, |mebibytes| u64::from(mebibytes) << 20);
    options.shader_instructions = arguments.shader_instructions.unwrap_or(options.shader_instructions);
    options.shader_threads = arguments.shader_threads.map_or(options.shader_threads, usize::from);
    options.wide_fills |= arguments.wide_fills;
    options.video |= arguments.video;
    options.ras |= arguments.ras;
    options.runtime_pm |= arguments.runtime_pm;
    options.user_queues |= arguments.user_queues;
    options.strictness = arguments.strict.unwrap_or(options.strictness);
    let first = TracedWaves::One { group: [0; 3], wave: 0 };
    let watch = ShaderWatch {
        trace: arguments.trace_wave.map_or(Some(first), |traced| traced.0),
        stores: arguments.break_on_store.map(|address| address..address.saturating_add(4)),
        races: arguments.find_races,
        waits: arguments.check_waits,
        hazards: arguments.check_hazards,
        without: Vec::new(),
    };
    let log = arguments.trace_shader.as_deref().map(shader_file).transpose()?;
    let of_variable = || env::var_os(LOAD_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let load = arguments.load.clone().or_else(of_variable).map(|path| load(&path)).transpose()?;
    let world = Server::start(&gpus(&chips)?, options)?;
    if let Some(load) = &load {
        world.follow_load(load);
    }
    if let Some(log) = log {
        world.devices().iter().for_each(|device| device.watch_shaders(watch.clone(), Arc::clone(&log)));
    }
    let absolute = |path: &PathBuf| path::absolute(path).map_err(|error| RunError::Log { path: path.clone(), error });
    let hazards = arguments.strict_report.as_ref().map(absolute).transpose()?;
    Ok(Prepared { world, chips, shim, null, hazards })
}

impl Prepared {
    /// Prints what the strict mode has found, one hazard a line, or writes it to its file.
    pub(crate) fn tell_hazards(&self) -> Result<(), RunError> {
        let devices = self.world.devices();
        let hazards = devices.iter().flat_map(SimDevice::hazards);
        let Some(path) = &self.hazards else {
            hazards.for_each(|hazard| crate::terminal::complain(&hazard.to_string()));
            return Ok(());
        };
        let mut lines = String::new();
        let trials = devices.iter().flat_map(SimDevice::trials).map(|trial| trial.to_json());
        for line in hazards.map(|hazard| hazard.to_json()).chain(trials) {
            lines.push_str(&line);
            lines.push('\n');
        }
        files::write(path, &lines).map_err(|error| RunError::Log { path: path.clone(), error })
    }

    /// Prints the draws that were not executed, one reason a line.
    pub(crate) fn print_skipped(&self) {
        for skipped in self.world.devices().iter().flat_map(SimDevice::skipped_draws) {
            crate::terminal::complain(&skipped.to_string());
        }
    }

    /// Returns a command that starts in the world, and is sent `end` when the launcher is killed, with which the world ends.
    pub(crate) fn command(&self, program: &OsStr, arguments: &[OsString], end: Signal) -> Command {
        let mut command = Command::new(program);
        if self.null {
            command.env(NULL_VARIABLE, &self.chips);
        }
        end_with_this_process(&mut command, end);
        command
            .args(arguments)
            .env("LD_PRELOAD", preloads(self.shim.as_os_str(), env::var_os("LD_PRELOAD")))
            .env(GPUS_VARIABLE, &self.chips)
            .env(WORLD_VARIABLE, self.world.layout().directory());
        command
    }
}

/// Runs a command in a world of its own, and returns its exit code. With `--null`, the world is there for its paths only; each
/// process answers its own requests.
pub(crate) fn run(arguments: &Run) -> Result<ExitCode, RunError> {
    let Some((program, rest)) = arguments.command.split_first() else { return Ok(ExitCode::from(CANNOT_RUN)) };
    // The threads of the world hold signals back, too.
    let signals = signals::hold();
    let prepared = prepare(&arguments.world, arguments.null)?;
    if let Err(reason) = reach::look(program) {
        crate::terminal::complain(&format!("{} {reason}: it sees no simulated GPU", program.display()));
    }
    let command = prepared.command(program, rest, Signal::SIGTERM);
    let code = wait_for(command, signals)?;
    prepared.world.print_complaints();
    let devices = prepared.world.devices();
    let hangs = hang_report::summary(&devices);
    if let Some(text) = &hangs {
        crate::terminal::complain(text);
    }
    if let Some(folder) = &arguments.hang_report {
        let given = arguments.world.lockup_timeout.clone().or_else(|| env::var(LOCKUP_VARIABLE).ok());
        let given = given.as_deref().filter(|text| !text.is_empty());
        hang_report::write(folder, &devices, (&kernel_of(&arguments.world), given))
            .map_err(|error| RunError::Log { path: folder.clone(), error })?;
    }
    if let Some(path) = &arguments.screenshot {
        let failed = |reason| RunError::Screenshot { path: path.clone(), reason };
        screenshot::write(path, &prepared.world.layout().socket()).map_err(failed)?;
    }
    prepared.tell_hazards()?;
    prepared.print_skipped();
    let is_failed = arguments.fail_on_hang && hangs.is_some() && code == ExitCode::SUCCESS;
    Ok(if is_failed { ExitCode::from(HUNG) } else { code })
}

/// Returns the release that the command line or the environment names.
fn kernel_of(arguments: &World) -> String {
    let of_variable = || env::var(KERNEL_VARIABLE).ok().filter(|kernel| !kernel.is_empty());
    let named = arguments.kernel.map(|kernel| kernel.to_string()).or_else(of_variable);
    named.unwrap_or_else(|| amdgpu_sim_world::DEFAULT_KERNEL.to_string())
}

/// Looks whether IBs can be kept, before a program runs for nothing.
fn check_captures() -> Result<(), RunError> {
    let set = |name| env::var_os(name).filter(|text| !text.is_empty());
    let Some(folder) = set(IBS_VARIABLE).map(PathBuf::from) else { return Ok(()) };
    if let Some(kept) = set(KEPT_VARIABLE)
        && kept.to_str().and_then(|kept| kept.parse::<u64>().ok()).is_none()
    {
        return Err(RunError::Kept { variable: KEPT_VARIABLE, text: kept.to_string_lossy().into_owned() });
    }
    let failed = |error| RunError::Log { path: folder.clone(), error };
    fs::create_dir_all(&folder).map_err(failed)?;
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    files::create_new(&probe).map_err(failed)?;
    fs::remove_file(&probe).map_err(failed)
}

/// Starts a command and waits for it. Returns its exit code.
pub(crate) fn wait_for(mut command: Command, signals: Held) -> Result<ExitCode, RunError> {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            crate::terminal::complain(&format!("cannot run {}: {error}", command.get_program().display()));
            let missing = error.kind() == io::ErrorKind::NotFound;
            return Ok(ExitCode::from(if missing { NOT_FOUND } else { CANNOT_EXECUTE }));
        }
    };
    signals.pass_on_to(child.id().cast_signed());
    let status = child.wait().map_err(RunError::Wait)?;
    Ok(ExitCode::from(exit_code(status)))
}

/// The list of chips, each with the changes. Those of a chip's own come first, so that an option wins.
fn with_changes(chips: &str, changes: &Changes) -> String {
    if changes.is_empty() {
        return chips.to_owned();
    }
    chips.split(',').map(|chip| format!("{chip}:{changes}")).collect::<Vec<_>>().join(",")
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
fn end_with_this_process(command: &mut Command, end: Signal) {
    let launcher = Pid::this();
    let arrange = move || {
        SigSet::empty().thread_set_mask()?;
        set_pdeathsig(end)?;
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

fn find_shim(named: Option<&Path>) -> Result<PathBuf, RunError> {
    if let Some(path) = named {
        let found = path.canonicalize().map_err(|_| RunError::NoSuchShim { path: path.to_owned() })?;
        // Any other library would load, and the program would run without a simulated GPU.
        let bytes = fs::read(&found).map_err(|error| RunError::Log { path: found.clone(), error })?;
        let has = bytes.windows(WORLD_VARIABLE.len()).any(|part| part == WORLD_VARIABLE.as_bytes());
        return if has { Ok(found) } else { Err(RunError::OtherShim { path: found, symbol: WORLD_VARIABLE }) };
    }
    let program = env::current_exe().map_err(RunError::Lost)?;
    let places = ["", "../lib", "../lib/amdgpu-sim"];
    let beside = program.parent().map(|directory| places.map(|place| directory.join(place).join(SHIM)));
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
    let mut out = crate::terminal::output();
    io::copy(&mut File::from(text), &mut out).and_then(|_| out.flush()).map_err(RunError::Print)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_written_where_it_is_flushed_and_where_it_grows() {
        let path = env::temp_dir().join(format!("amdgpu-sim-log-{}", std::process::id()));
        drop(shader_file(&path).unwrap());
        let mut log = LogFile { path: path.clone(), pending: Vec::new() };
        log.write_all(b"first\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        log.flush().unwrap();
        log.write_all(&vec![b'x'; PENDING + 1]).unwrap();
        let written = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(written.starts_with(b"first\nx") && written.len() == 6 + PENDING + 1);
        assert!(matches!(shader_file(&path.join("below a file")), Err(RunError::Log { .. })));
    }
}
