//! A snapshot in the form that the options name.

use std::io::{self, IsTerminal as _, Write};

use crate::{
    cli::{Colour, Global, View},
    exit::Exit,
    session::Stop,
    snapshot::{figures, model::Snapshot},
    text::{self, Style, ps},
};

/// The look of text on this output.
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

/// Returns `true` if the locale has ASCII only.
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
