//! A snapshot in the form that the options name.

use std::io::{self, IsTerminal as _, Write};

use crate::{
    cli::{Colour, Global, View},
    exit::Exit,
    session::Stop,
    snapshot::{figures, model::Snapshot, views},
    text::{self, Style, ps},
};

/// Returns the style of text for this output.
pub fn style(global: &Global) -> Style {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let terminal = io::stdout().is_terminal() && variable("TERM") != "dumb";
    let colour = match global.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if !variable("NO_COLOR").is_empty() => false,
        Colour::Auto => terminal || !matches!(variable("CLICOLOR_FORCE").as_str(), "" | "0"),
    };
    Style {
        units: global.units,
        ascii: global.ascii || is_ascii_only(),
        colour,
        header: !global.no_header,
        width: width(),
    }
}

/// Returns the width of the lines: that of `COLUMNS`, or of the terminal; `None` for a file or a pipe.
fn width() -> Option<usize> {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let terminal = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    variable.or_else(terminal).filter(|&columns| columns > 0)
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
    /// A view without options.
    Plain(View),
    /// The processes, with their selection and order.
    Ps(ps::Options),
    /// The Vulkan heaps, in the layout of vulkaninfo.
    AsVulkan,
    /// Explanations of the figures whose name begins with this text; of all figures if it is `None`.
    Explain(Option<String>),
}

/// Writes a snapshot in the format that the options select.
///
/// # Errors
///
/// The errors of writing to `out`.
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
        let kind = match shown {
            Shown::Plain(View::Ps) | Shown::Ps(_) => Some("process"),
            Shown::Plain(View::Heaps) | Shown::AsVulkan => Some("heap"),
            _ => None,
        };
        return Ok(out.write_all(figures::csv(snapshot, kind).as_bytes())?);
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
                let names = text::explain::names(snapshot).join(", ");
                let message = format!("no figure's name begins with '{figure}'; the figures are {names}");
                return Err(Stop::Message(Exit::Usage, message));
            }
        }
    }
    Ok(())
}

/// The whole snapshot, or the part of it that a view shows.
fn json(snapshot: &Snapshot, shown: &Shown, indented: bool, out: &mut dyn Write) -> Result<(), Stop> {
    match shown {
        Shown::Plain(View::Show) => object(snapshot, indented, out),
        Shown::Plain(View::List) => object(&views::list(snapshot), indented, out),
        Shown::Plain(View::Ps) => object(&views::processes(snapshot, &ps::Options::default()), indented, out),
        Shown::Ps(options) => object(&views::processes(snapshot, options), indented, out),
        Shown::Plain(View::Heaps) | Shown::AsVulkan => object(&views::heaps(snapshot), indented, out),
        Shown::Plain(View::Explain) => object(&views::explanations(snapshot, None), indented, out),
        Shown::Explain(figure) => object(&views::explanations(snapshot, figure.as_deref()), indented, out),
    }
}

/// Writes an object as JSON followed by a newline, in one write.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn object(value: &impl serde::Serialize, indented: bool, out: &mut dyn Write) -> Result<(), Stop> {
    let text = if indented { serde_json::to_vec_pretty(value) } else { serde_json::to_vec(value) };
    let mut text = text.map_err(Stop::failed)?;
    text.push(b'\n');
    out.write_all(&text)?;
    Ok(out.flush()?)
}
