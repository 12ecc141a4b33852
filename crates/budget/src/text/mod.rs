//! Snapshots as readable text.

pub mod buffers;
pub mod explain;
pub mod heaps;
pub mod list;
pub mod ps;
pub mod show;
mod table;
pub mod why;

pub use self::table::Table;
use crate::snapshot::units::Units;
use amdgpu_output::styled;

/// The style of text output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// The units of sizes.
    pub units: Units,
    /// `true` to use only ASCII characters.
    pub ascii: bool,
    /// `true` to use escape sequences for colours.
    pub colour: bool,
    /// `true` to write the headings of columns.
    pub header: bool,
    /// The number of columns that a line may have; `None` for no limit.
    pub width: Option<usize>,
}

impl Default for Style {
    fn default() -> Self {
        Self { units: Units::Auto, ascii: false, colour: false, header: true, width: None }
    }
}

impl Style {
    /// Returns text in a colour, which is given by its SGR number, for an [`amdgpu_output::Visible`] writer. Without colours, the
    /// text is unchanged.
    pub fn paint(&self, colour: u8, text: &str) -> String {
        if self.colour { [&styled(&format!("[{colour}m")), text, &styled("[0m")].concat() } else { text.to_owned() }
    }

    /// Returns a bar of `width` cells that is filled in proportion. If the share is unknown, the cells are question marks.
    pub fn bar(&self, part: Option<u64>, whole: Option<u64>, width: usize) -> String {
        let (full, empty) = if self.ascii { ("#", ".") } else { ("█", "░") };
        let (Some(part), Some(whole)) = (part, whole.filter(|&whole| whole > 0)) else { return "?".repeat(width) };
        let cells = usize::try_from(u128::from(part) * width as u128 / u128::from(whole)).unwrap_or(width).min(width);
        format!("{}{}", full.repeat(cells), empty.repeat(width - cells))
    }

    /// Returns the mark that precedes a warning.
    pub const fn mark(&self) -> &'static str {
        if self.ascii { "!" } else { "▲" }
    }
}

/// Returns a value as text, or `-` if it is unknown.
pub fn known(text: Option<&str>) -> &str {
    text.unwrap_or("-")
}

/// Truncates a text to a maximum number of characters.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('~');
    short
}
