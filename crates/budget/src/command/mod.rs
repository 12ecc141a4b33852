//! The commands.

mod advise;
mod buffers;
mod capture;
mod check;
mod diff;
mod doctor;
mod document;
mod dump;
mod export;
mod facts;
mod record;
mod serve;
mod va;
mod watch;
mod why;

use std::io::Write;

#[cfg(feature = "tui")]
use crate::screen;
use crate::{
    cli::{Arguments, Command, Global, View},
    exit::Exit,
    plot,
    render::{self, Shown},
    session::{self, Outcome, Stop},
    text::ps,
};

/// Does what the command line says.
///
/// # Errors
///
/// [`Stop`], which says how the program ends.
pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Outcome {
    let global = &arguments.global;
    let command = arguments.command.as_ref().unwrap_or(&Command::Show);
    refuse_formats(command, global)?;
    match command {
        Command::Show => once(arguments, &Shown::Plain(View::Show), false, out),
        Command::List(options) if options.facts => facts::run(global, out),
        Command::List(_) => once(arguments, &Shown::Plain(View::List), false, out),
        Command::Ps(options) => once(arguments, &Shown::Ps(ps_options(options)), options.clients, out),
        Command::Heaps(options) if options.as_vulkan => once(arguments, &Shown::AsVulkan, false, out),
        Command::Heaps(_) => once(arguments, &Shown::Plain(View::Heaps), false, out),
        Command::Explain { figure } => once(arguments, &Shown::Explain(figure.clone()), false, out),
        #[cfg(feature = "tui")]
        Command::Top(options) => screen::run(options, global, out),
        Command::Watch(options) => watch::watch(options, global, out),
        Command::Record(options) => record::record(options, global, out),
        Command::Replay(options) => watch::replay(options, global, out),
        Command::Plot(options) => plot::run(options, global, out),
        Command::Check(options) => check::run(options, global, out),
        Command::Wait(options) => watch::wait(options, global, out),
        Command::Serve(options) => serve::run(options, global, out),
        Command::Diff { before, after } => diff::run(before, after.as_deref(), global, out),
        Command::Va { dump } => va::run(dump, global, out),
        Command::Export { format, dump } => export::run(*format, dump.as_deref(), global, out),
        Command::Advise(options) => advise::run(options, global, out),
        Command::Buffers(options) => buffers::run(options, global, out),
        Command::Why(options) => why::run(options, global, out),
        Command::Doctor => doctor::run(global, out),
        Command::Capture { directory, names } => capture::run(directory, *names, global, out),
        Command::Completions { shell } => document::completions(*shell, out),
        Command::Man => document::man(out),
    }
}

/// Refuses a format that a command does not print, instead of printing another one.
fn refuse_formats(command: &Command, global: &Global) -> Result<(), Stop> {
    let (name, json, csv) = match command {
        Command::List(options) if options.facts => ("list --facts", true, false),
        Command::Show
        | Command::List(_)
        | Command::Ps(_)
        | Command::Heaps(_)
        | Command::Watch(_)
        | Command::Replay(_) => {
            return Ok(());
        }
        Command::Explain { .. } => ("explain", true, false),
        Command::Check(_) => ("check", true, false),
        Command::Wait(_) => ("wait", true, false),
        Command::Advise(_) => ("advise", true, false),
        Command::Why(_) => ("why", true, false),
        Command::Buffers(_) => ("buffers", true, false),
        Command::Doctor => ("doctor", true, false),
        Command::Record(_) => ("record", true, false),
        #[cfg(feature = "tui")]
        Command::Top(_) => ("top", false, false),
        Command::Plot(_) => ("plot", false, false),
        Command::Serve(_) => ("serve", false, false),
        Command::Diff { .. } => ("diff", false, false),
        Command::Va { .. } => ("va", false, false),
        Command::Export { .. } => ("export", true, false),
        Command::Capture { .. } => ("capture", false, false),
        Command::Completions { .. } => ("completions", false, false),
        Command::Man => ("man", false, false),
    };
    let refused = |format: &str| Stop::Message(Exit::Usage, format!("{name} prints no {format}"));
    match (global.json || global.jsonl, global.csv) {
        (true, _) if !json => Err(refused("JSON")),
        (_, true) if !csv => Err(refused("CSV")),
        _ => Ok(()),
    }
}

fn once(arguments: &Arguments, shown: &Shown, per_client: bool, out: &mut dyn Write) -> Outcome {
    let global = &arguments.global;
    let mut source = session::source(global, per_client)?;
    let snapshot = session::first(&mut *source, global)?;
    render::render(&snapshot, shown, global, true, out)?;
    Ok(Exit::Fine)
}

fn ps_options(options: &crate::cli::Ps) -> ps::Options {
    ps::Options {
        sort: options.sort,
        reverse: options.reverse,
        tree: options.tree,
        clients: options.clients,
        pids: options.pid.clone(),
        name: options.name.clone(),
        user: options.user.clone(),
        cgroup: options.cgroup.clone(),
        limit: None,
    }
}
