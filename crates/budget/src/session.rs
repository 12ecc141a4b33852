//! The machine and source that the options name, and the ways a command ends; shared by all commands.

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
};

/// The reason a command ended early.
#[derive(Debug)]
pub enum Stop {
    /// With this exit, and nothing to say.
    Exit(Exit),
    /// With something to say.
    Message(Exit, String),
    /// The output took no more.
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
    /// Returns a failure in words.
    pub fn failed(message: impl std::fmt::Display) -> Self {
        Self::Message(Exit::Failed, message.to_string())
    }
}

/// The result of a command.
pub type Outcome = Result<Exit, Stop>;

/// Returns the machine that the options name.
///
/// # Errors
///
/// A chip or a directory that does not exist.
pub fn machine(global: &Global) -> Result<Box<dyn Machine>, Stop> {
    if let Some(chips) = &global.sim {
        let machine = Simulated::new(chips, global.sim_step);
        return machine
            .map(|machine| Box::new(machine) as _)
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

/// Returns the options of a collection from the machine.
pub fn wishes(global: &Global, per_client: bool) -> CollectOptions {
    CollectOptions { wake: global.wake, processes: !global.no_processes, per_client }
}

/// Returns the source that the options name.
///
/// # Errors
///
/// Those of [`machine`]; a recording that cannot be opened.
pub fn source(global: &Global, per_client: bool) -> Result<Box<dyn Source>, Stop> {
    match &global.from {
        Some(path) => Ok(Box::new(recording(path)?)),
        None => Ok(Box::new(Collector::new(machine(global)?, wishes(global, per_client)))),
    }
}

/// Returns a recording.
///
/// # Errors
///
/// Those of opening it.
pub fn recording(path: &Path) -> Result<Recording, Stop> {
    Recording::open(path).map_err(|error| Stop::failed(format_args!("{}: {error}", path.display())))
}

/// Returns the next snapshot, with the GPUs that are wanted.
///
/// # Errors
///
/// Those of the source; [`Exit::NoGpu`] when `--gpu` selects none.
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
            let _ = writeln!(io::stderr(), "amdgpu-budget: {}: {}: {}", gpu.pci, missing.source, missing.reason);
        }
    }
    Ok(Some(snapshot))
}

/// Returns the first snapshot.
///
/// # Errors
///
/// Those of [`next`]; an empty recording.
pub fn first(source: &mut dyn Source, global: &Global) -> Result<Snapshot, Stop> {
    next(source, global)?.ok_or_else(|| Stop::failed("the recording is empty"))
}

/// Returns `true` if `--gpu wanted` means this GPU.
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

/// Waits until the next look, where the source does not go on by itself.
pub fn pause(source: &dyn Source, seconds: f64) {
    if source.has_real_time() {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }
}
