//! The machine and source that the options select, and the outcomes of a command. All commands use this module.

use std::{
    io::{self, Write as _},
    path::Path,
    time::Duration,
};

use crate::{
    cli::Global,
    collect::{CollectOptions, Collector, LookError},
    exit::Exit,
    machine::{Captured, Live, Machine, Simulated},
    snapshot::model::{Gpu, Snapshot},
    source::{Source, recording::Recording},
    terminal::errors,
};

/// The reason why a command ended early.
#[derive(Debug)]
pub enum Stop {
    /// The command ends with this status and without a message.
    Exit(Exit),
    /// The command ends with this status and a message.
    Message(Exit, String),
    /// Writing to the output failed.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<LookError> for Stop {
    fn from(error: LookError) -> Self {
        let exit = match error {
            LookError::NoGpu(_) => Exit::NoGpu,
            LookError::NotReadable(_) => Exit::NotReadable,
            LookError::Recording(_) => Exit::Failed,
        };
        Self::Message(exit, error.to_string())
    }
}

impl Stop {
    /// Creates a failure with a message.
    pub fn failed(message: impl std::fmt::Display) -> Self {
        Self::Message(Exit::Failed, message.to_string())
    }
}

/// The result of a command.
pub type Outcome = Result<Exit, Stop>;

/// Returns the machine that the options select.
///
/// # Errors
///
/// [`Stop::Message`] if the chip or the directory does not exist or cannot be used.
pub fn machine(global: &Global) -> Result<Box<dyn Machine>, Stop> {
    machine_at(global, 1.0)
}

/// Returns the machine that the options select, of which snapshots are taken at an interval in seconds.
fn machine_at(global: &Global, interval: f64) -> Result<Box<dyn Machine>, Stop> {
    if let Some(chips) = &global.sim {
        let machine = Simulated::with_release(chips, global.sim_step, global.sim_linux);
        return machine
            .map(|machine| Box::new(machine.at_interval(interval)) as _)
            .map_err(|error| Stop::Message(Exit::Usage, error.to_string()));
    }
    if let Some(root) = &global.root {
        let machine = Captured::open(root);
        let exit = |error: &io::Error| {
            if error.kind() == io::ErrorKind::PermissionDenied { Exit::NotReadable } else { Exit::Failed }
        };
        return machine
            .map(|machine| Box::new(machine) as _)
            .map_err(|error| Stop::Message(exit(&error), format!("{}: {error}", root.display())));
    }
    Ok(Box::<Live>::default())
}

/// Returns the options for collecting snapshots.
pub fn wishes(global: &Global, per_client: bool) -> CollectOptions {
    CollectOptions { wake: global.wake, processes: !global.no_processes, per_client }
}

/// Returns the source of snapshots that the options select.
///
/// # Errors
///
/// The errors of [`machine`] and [`recording`].
pub fn source(global: &Global, per_client: bool) -> Result<Box<dyn Source>, Stop> {
    source_at(global, per_client, 1.0)
}

/// Returns the source of snapshots that the options select, taken at an interval in seconds: the step of a simulated computer.
///
/// # Errors
///
/// The errors of [`source`].
pub fn source_at(global: &Global, per_client: bool, interval: f64) -> Result<Box<dyn Source>, Stop> {
    match &global.from {
        Some(path) => Ok(Box::new(recording(path)?)),
        None => Ok(Box::new(Collector::new(machine_at(global, interval)?, wishes(global, per_client)))),
    }
}

/// Opens a recording.
///
/// # Errors
///
/// [`Stop::Message`] if the file cannot be opened.
pub fn recording(path: &Path) -> Result<Recording, Stop> {
    Recording::open(path).map_err(|error| Stop::failed(format_args!("{}: {error}", path.display())))
}

/// Returns the next snapshot, reduced to the GPUs that the options select; `None` at the end of the source.
///
/// # Errors
///
/// The errors of the source; a message with [`Exit::NoGpu`] if `--gpu` selects no GPU.
pub fn next(source: &mut dyn Source, global: &Global) -> Result<Option<Snapshot>, Stop> {
    let Some(mut snapshot) = source.next()? else { return Ok(None) };
    if !global.gpu.is_empty() {
        snapshot.gpus.retain(|gpu| global.gpu.iter().any(|wanted| is_meant(gpu, wanted)));
        let left: Vec<usize> = snapshot.gpus.iter().map(|gpu| gpu.index).collect();
        snapshot.warnings.retain(|warning| warning.gpu.is_none_or(|gpu| left.contains(&gpu)));
        if snapshot.gpus.is_empty() {
            let wanted = global.gpu.join(", ");
            return Err(Stop::Message(
                Exit::NoGpu,
                format!("no amdgpu GPU is called {wanted}; list shows what there is"),
            ));
        }
    }
    if global.no_processes {
        snapshot.gpus.iter_mut().for_each(|gpu| (gpu.processes, gpu.unattributed) = (None, None));
    }
    if global.verbose && !global.quiet {
        for (gpu, missing) in snapshot.gpus.iter().flat_map(|gpu| gpu.missing.iter().map(move |missing| (gpu, missing)))
        {
            let _ = writeln!(errors(), "amdgpu-budget: {}: {}: {}", gpu.pci, missing.source, missing.reason);
        }
    }
    Ok(Some(snapshot))
}

/// Returns the first snapshot of a source.
///
/// # Errors
///
/// The errors of [`next`]; a message if the recording is empty.
pub fn first(source: &mut dyn Source, global: &Global) -> Result<Snapshot, Stop> {
    next(source, global)?.ok_or_else(|| Stop::failed("the recording is empty"))
}

/// Returns `true` if `--gpu wanted` selects this GPU.
fn is_meant(gpu: &Gpu, wanted: &str) -> bool {
    let node = gpu.render.as_deref();
    let name = || gpu.name.as_deref().is_some_and(|name| name.to_lowercase().contains(&wanted.to_lowercase()));
    if let Ok(index) = wanted.parse::<usize>() {
        return gpu.index == index;
    }
    gpu.pci == wanted
        || gpu.pci.strip_prefix("0000:") == Some(wanted)
        || node == Some(wanted)
        || node.is_some_and(|node| node.strip_prefix("/dev/dri/") == Some(wanted))
        || gpu.chip.as_deref() == Some(wanted)
        || !wanted.is_empty() && name()
}

/// Waits the given number of seconds before the next snapshot if the source has real time.
pub fn pause(source: &dyn Source, seconds: f64) {
    if source.has_real_time() {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }
}
