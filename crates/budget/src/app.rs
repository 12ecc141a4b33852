//! The program: a command line around a source and a view.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use clap::Parser as _;

use crate::{
    cli::{Arguments, Colour, Command, Global, View},
    collect::{Collector, LookError, Wishes},
    command,
    exit::Exit,
    figures,
    machine::{Captured, Live, Machine, Simulated},
    model::{Gpu, Snapshot},
    recording::Recording,
    source::Source,
    text::{self, Style, ps},
};

/// Why a command ended early.
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
    /// A failure in words.
    pub fn failed(message: impl std::fmt::Display) -> Self {
        Self::Message(Exit::Failed, message.to_string())
    }
}

/// What a command gives.
pub type Outcome = Result<Exit, Stop>;

/// What the binary does with its arguments, the program's name first.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run(arguments, &mut io::stdout().lock()).into()
}

/// The same with an output of the caller's choice.
pub fn run(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write) -> Exit {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            // Nobody is left to tell when the terminal itself is gone.
            let _ = error.print();
            return Exit::Usage;
        }
        Err(help) => return ended(write!(out, "{help}").map(|()| Exit::Fine).map_err(Stop::from), false, "", out),
    };
    let quiet = arguments.global.quiet;
    let is_check = matches!(arguments.command, Some(Command::Check(_)));
    let outcome = command::execute(&arguments, out);
    match outcome {
        Err(Stop::Message(_, message)) if is_check => {
            // A plug-in says everything on standard output.
            ended(writeln!(out, "UNKNOWN - {message}").map(|()| Exit::Check(3)).map_err(Stop::from), quiet, "", out)
        }
        outcome => ended(outcome, quiet, "amdgpu-budget: ", out),
    }
}

fn ended(outcome: Outcome, quiet: bool, prefix: &str, out: &mut dyn Write) -> Exit {
    let flushed = |outcome: Outcome, out: &mut dyn Write| outcome.and_then(|exit| Ok(out.flush().map(|()| exit)?));
    let (exit, message) = match flushed(outcome, out) {
        Ok(exit) | Err(Stop::Exit(exit)) => return exit,
        Err(Stop::Message(exit, message)) => (exit, message),
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Exit::Fine,
        Err(Stop::Output(error)) => (Exit::NotWritten, format!("the output could not be written: {error}")),
    };
    if !quiet {
        let _ = writeln!(io::stderr(), "{prefix}{message}");
    }
    exit
}

/// The machine that the options name.
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

/// What of the machine is wanted.
pub fn wishes(global: &Global, per_client: bool) -> Wishes {
    Wishes { wake: global.wake, processes: !global.no_processes, per_client }
}

/// The source that the options name.
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

/// A recording.
///
/// # Errors
///
/// Those of opening it.
pub fn recording(path: &Path) -> Result<Recording, Stop> {
    Recording::open(path).map_err(|error| Stop::failed(format_args!("{}: {error}", path.display())))
}

/// The next snapshot, with the GPUs that are wanted.
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
            let _ = writeln!(io::stderr(), "amdgpu-budget: {}: no {}: {}", gpu.pci, missing.source, missing.reason);
        }
    }
    Ok(Some(snapshot))
}

/// The first snapshot.
///
/// # Errors
///
/// Those of [`next`]; an empty recording.
pub fn first(source: &mut dyn Source, global: &Global) -> Result<Snapshot, Stop> {
    next(source, global)?.ok_or_else(|| Stop::failed("the recording is empty"))
}

/// Whether `--gpu wanted` means this GPU.
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

/// How text looks on this output.
pub fn style(global: &Global) -> Style {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let terminal = io::stdout().is_terminal() && variable("TERM") != "dumb";
    let colour = match global.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if !variable("NO_COLOR").is_empty() => false,
        Colour::Auto => terminal || !matches!(variable("CLICOLOR_FORCE").as_str(), "" | "0"),
    };
    Style { units: global.units, ascii: global.ascii || is_ascii_only(), colour, header: !global.no_header }
}

/// Whether the locale knows no more than ASCII.
fn is_ascii_only() -> bool {
    let set =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()));
    set.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// A view of a snapshot.
#[derive(Clone, Debug)]
pub enum Shown {
    /// One of those without options.
    Plain(View),
    /// Processes.
    Ps(ps::Options),
    /// Heaps in the layout of vulkaninfo.
    AsVulkan,
    /// Explanations of the figures that begin so.
    Explain(Option<String>),
}

/// Writes a snapshot as the options say.
///
/// # Errors
///
/// Those of `out`.
pub fn render(
    snapshot: &Snapshot,
    shown: &Shown,
    global: &Global,
    is_first: bool,
    out: &mut dyn Write,
) -> Result<(), Stop> {
    if global.json || global.jsonl {
        return json(snapshot, shown, global.json, out);
    }
    if global.csv {
        if is_first && !global.no_header {
            write!(out, "{}\r\n", figures::CSV_HEADER)?;
        }
        return Ok(out.write_all(figures::csv(snapshot).as_bytes())?);
    }
    let style = style(global);
    match shown {
        Shown::Plain(View::Show) => text::show::write(snapshot, &style, out)?,
        Shown::Plain(View::List) => text::list::write(snapshot, &style, out)?,
        Shown::Plain(View::Ps) => ps::write(snapshot, &ps::Options::default(), &style, out)?,
        Shown::Plain(View::Heaps) => text::heaps::write(snapshot, &style, out)?,
        Shown::AsVulkan => text::heaps::write_as_vulkan(snapshot, out)?,
        Shown::Ps(options) => ps::write(snapshot, options, &style, out)?,
        Shown::Plain(View::Explain) => drop(text::explain::write(snapshot, None, &style, out)?),
        Shown::Explain(figure) => {
            if !text::explain::write(snapshot, figure.as_deref(), &style, out)? {
                let figure = figure.as_deref().unwrap_or_default();
                return Err(Stop::Message(Exit::Usage, format!("no figure's name begins with '{figure}'")));
            }
        }
    }
    Ok(())
}

/// A whole object with a newline, in one write.
fn json(snapshot: &Snapshot, shown: &Shown, indented: bool, out: &mut dyn Write) -> Result<(), Stop> {
    let mut snapshot = std::borrow::Cow::Borrowed(snapshot);
    if let Shown::Ps(options) = shown {
        for gpu in &mut snapshot.to_mut().gpus {
            gpu.processes = gpu
                .processes
                .take()
                .map(|list| options.choose(&list).into_iter().map(|(_, process)| process.clone()).collect());
        }
    }
    let text = if indented { serde_json::to_vec_pretty(&*snapshot) } else { serde_json::to_vec(&*snapshot) };
    let mut text = text.map_err(Stop::failed)?;
    text.push(b'\n');
    out.write_all(&text)?;
    Ok(out.flush()?)
}

/// Waits until the next look, where the source does not go on by itself.
pub fn pause(source: &dyn Source, seconds: f64) {
    if source.has_real_time() {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }
}
