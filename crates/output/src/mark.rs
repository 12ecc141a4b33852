//! The mark of a process's own escape sequences.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

/// The mark before an escape sequence of this process: an escape sequence that terminals ignore, with a random number.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let random = || RandomState::new().hash_one(0_u8);
    format!("\x1b_{:016x}{:016x}\x1b\\", random(), random())
});

/// Returns an escape sequence of the tool itself, which [`Visible`](crate::Visible) lets pass. `rest` is the sequence after ESC,
/// such as `[31m`.
///
/// Text with such a sequence is for a [`Visible`](crate::Visible) writer alone.
pub fn styled(rest: &str) -> String {
    [mark(), rest].concat()
}

/// Returns the mark.
pub(crate) fn mark() -> &'static str {
    &MARK
}
