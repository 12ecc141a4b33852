//! Colours of a dump.

use std::{
    env,
    io::{self, IsTerminal as _},
};

use amdgpu_output::styled;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// Conditions of colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Columns before the fields of a packet.
const INDENT: &str = "            ";
const TITLE: Style = Style::new().bold();
const NAME: Style = AnsiColor::Cyan.on_default().bold();
const PROBLEM: Style = AnsiColor::Red.on_default().bold();
const REGISTER: Style = AnsiColor::Green.on_default();
const FIELD: Style = AnsiColor::Yellow.on_default();
const FAINT: Style = Style::new().dimmed();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// Colours, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    is_on: bool,
}

impl Paint {
    /// Decides for standard output.
    pub(crate) fn new(when: When) -> Self {
        let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_on = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => io::stdout().is_terminal() && !set("NO_COLOR") && !is_dumb,
        };
        Self { is_on }
    }

    fn styled(self, style: Style, text: &str) -> String {
        if !self.is_on || text.is_empty() {
            return text.to_owned();
        }
        // A sequence may have several parts, each of which begins with ESC.
        let own = |sequence: String| sequence.split('\x1b').skip(1).map(styled).collect::<String>();
        [own(style.render().to_string()), text.to_owned(), own(style.render_reset().to_string())].concat()
    }

    /// Paints a heading.
    pub(super) fn title(self, line: &str) -> String {
        self.styled(TITLE, line)
    }

    /// Paints what stands for something that is left out.
    pub(super) fn faint(self, line: &str) -> String {
        self.styled(FAINT, line)
    }

    /// Paints the first line of a packet: place and header, name, and the problem.
    pub(super) fn head(self, line: &str) -> String {
        let (known, problem) = line.split_at(line.find("  !! ").unwrap_or(line.len()));
        // Place, header and name are apart by two spaces.
        let at = known.rfind("  ").map_or(0, |at| at + 2);
        let (place, name) = known.split_at(at);
        [self.faint(place), self.styled(NAME, name), self.styled(PROBLEM, problem)].concat()
    }

    /// Paints a line below a packet's name.
    pub(super) fn body(self, line: &str) -> String {
        let Some(text) = line.strip_prefix(INDENT) else { return line.to_owned() };
        let split = |sign: &str, style| {
            let (name, rest) = text.split_at(text.find(sign)?);
            (!name.contains(' ')).then(|| [INDENT, &self.styled(style, name), rest].concat())
        };
        let painted = split(" <- ", REGISTER).or_else(|| split(" = ", FIELD));
        painted.unwrap_or_else(|| line.to_owned())
    }

    /// Paints a line that only the first of two files has.
    pub(crate) fn removed(self, line: &str) -> String {
        self.styled(REMOVED, line)
    }

    /// Paints a line that only the second of two files has.
    pub(crate) fn added(self, line: &str) -> String {
        self.styled(ADDED, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_add_nothing_but_their_sequences() {
        let lines = [
            "       0: c0004600  EVENT_WRITE [compute]",
            "       2: c0000500  ?  !! opcode 0x05 is not known here",
            "            event_type = 7 (cs_partial_flush)",
            "            SPI_SHADER_PGM_LO_PS <- 0x1000",
            "            annotation: a = b",
        ];
        for line in lines {
            let paint = Paint { is_on: true };
            let painted = if line.starts_with(INDENT) { paint.body(line) } else { paint.head(line) };
            let mut out = amdgpu_output::Visible::new(Vec::new());
            std::io::Write::write_all(&mut out, painted.as_bytes()).unwrap();
            let shown = String::from_utf8(out.into_inner().unwrap()).unwrap();
            let plain: String = shown
                .split('\x1b')
                .enumerate()
                .map(|(at, part)| if at == 0 { part } else { part.split_once('m').map_or(part, |(_, text)| text) })
                .collect();
            assert_eq!(plain, line);
            assert_eq!(painted != line, !line.contains("annotation"), "{painted:?}");
            let off = Paint { is_on: false };
            assert_eq!(if line.starts_with(INDENT) { off.body(line) } else { off.head(line) }, line);
        }
    }
}
