//! Snapshots as text for people.

pub mod explain;
pub mod heaps;
pub mod list;
pub mod ps;
pub mod show;
mod table;

pub use self::table::Table;
use crate::snapshot::units::Units;

/// Style of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Of sizes.
    pub units: Units,
    /// Nothing but ASCII.
    pub ascii: bool,
    /// Escape sequences for colours.
    pub colour: bool,
    /// Headings of columns.
    pub header: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { units: Units::Auto, ascii: false, colour: false, header: true }
    }
}

impl Style {
    /// Writes text in a colour, given by its SGR number.
    pub fn paint(&self, colour: u8, text: &str) -> String {
        if self.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Draws a bar of `width` cells, filled in proportion; an unknown share is a row of question marks.
    pub fn bar(&self, part: Option<u64>, whole: Option<u64>, width: usize) -> String {
        let (full, empty) = if self.ascii { ("#", ".") } else { ("█", "░") };
        let (Some(part), Some(whole)) = (part, whole.filter(|&whole| whole > 0)) else { return "?".repeat(width) };
        let cells = usize::try_from(u128::from(part) * width as u128 / u128::from(whole)).unwrap_or(width).min(width);
        format!("{}{}", full.repeat(cells), empty.repeat(width - cells))
    }

    /// Returns a mark in front of a warning.
    pub const fn mark(&self) -> &'static str {
        if self.ascii { "!" } else { "▲" }
    }
}

/// Writes a value, and `-` for what is unknown.
pub fn known(text: Option<&str>) -> &str {
    text.unwrap_or("-")
}

/// Cuts a text to a maximum number of characters.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('~');
    short
}
