//! Output of command-line tools: text in which control characters are visible, [files] in folders that others can write, and, with
//! the feature `manual`, manual pages.
//!
//! A tool prints names of processes, titles and file names that others wrote. On a terminal, control characters in them move the
//! cursor, change titles or hide text. [`Visible`] is the last writer before standard output and standard error: it replaces each
//! control character with its number, such as `[U+001B]`, which is also valid inside the strings of JSON, XML and CSV. It cannot
//! tell foreign text from the tool's, so the tool marks its own escape sequences with [`styled`], with a mark that changes with
//! each process and that no file can contain.
//!
//! ```
//! use std::io::Write as _;
//! use amdgpu_output::{Visible, styled};
//!
//! let mut out = Visible::new(Vec::new());
//! write!(out, "{}{}{} ends", styled("[1m"), "a\x1b[31mb\u{202e}", styled("[0m"))?;
//! assert_eq!(out.into_inner()?, "\x1b[1ma[U+001B][31mb[U+202E]\x1b[0m ends".as_bytes());
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod files;
#[cfg(feature = "manual")]
pub mod manual;
mod mark;
mod writer;

use std::borrow::Cow;

pub use mark::styled;
pub use writer::Visible;

/// Returns `true` for characters that do not stand for themselves on a terminal: control characters (C0, DEL and C1), and those
/// that change the direction of text or break lines.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Returns the text with every such character replaced, also tabs and ends of lines: for names, which have neither.
///
/// ```
/// assert_eq!(amdgpu_output::name("a\nb\t\u{9b}"), "a[U+000A]b[U+0009][U+009B]");
/// ```
pub fn name(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_hidden(letter) {
            shown.push_str(&number(letter));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Returns what stands for a hidden character.
fn number(letter: char) -> String {
    format!("[U+{:04X}]", u32::from(letter))
}
