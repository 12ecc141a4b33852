//! The writer.

use std::io::{self, Write};

use crate::{is_hidden, mark::mark, number};

/// A writer that shows hidden characters by their number. Ends of lines and tabs pass, also ends of lines with CR, and sequences
/// that were marked by [`styled`](crate::styled). Bytes that are not UTF-8 become `[U+FFFD]`.
///
/// The writer keeps the start of a character or a mark until the rest of it is written, or until it is flushed or dropped.
#[derive(Debug)]
pub struct Visible<W: Write> {
    /// `None` after [`into_inner`](Self::into_inner).
    inner: Option<W>,
    /// The bytes of an incomplete character, end of line or mark.
    kept: Vec<u8>,
}

impl<W: Write> Visible<W> {
    /// Creates a writer before another one.
    pub const fn new(inner: W) -> Self {
        Self { inner: Some(inner), kept: Vec::new() }
    }

    /// Returns the other writer after the last bytes were written to it.
    ///
    /// # Errors
    ///
    /// The error of the other writer.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.end()?;
        self.inner.take().ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Writes what was kept as it is shown when nothing follows.
    fn end(&mut self) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        let (shown, _) = shown(&kept, true);
        self.pass(shown.as_bytes())
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.inner {
            Some(inner) => inner.write_all(bytes),
            None => Ok(()),
        }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.kept.is_empty() && bytes.iter().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
            self.pass(bytes)?;
            return Ok(bytes.len());
        }
        let mut all = std::mem::take(&mut self.kept);
        all.extend_from_slice(bytes);
        let (shown, used) = shown(&all, false);
        self.kept = all.split_off(used);
        self.pass(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end()?;
        self.inner.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl<W: Write> Drop for Visible<W> {
    fn drop(&mut self) {
        // Errors of the last bytes cannot be reported here; who wants them flushes.
        let _ = self.end();
    }
}

/// Returns the text that is shown for bytes, and the number of bytes that it stands for. The rest may be the start of something,
/// unless it is the end.
fn shown(bytes: &[u8], is_end: bool) -> (String, usize) {
    let mut text = String::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        match next(rest) {
            Next::Shown(part, len) => {
                text.push_str(&part);
                at += len;
            }
            Next::Incomplete if !is_end => break,
            Next::Incomplete => {
                // ESC or CR alone, or the start of a character.
                let first = rest.first().copied().filter(u8::is_ascii).map_or(char::REPLACEMENT_CHARACTER, char::from);
                text.push_str(&number(first));
                at += 1;
            }
        }
    }
    (text, at)
}

enum Next {
    /// The text that stands for the first bytes, and their number.
    Shown(String, usize),
    Incomplete,
}

fn next(rest: &[u8]) -> Next {
    let mark = mark().as_bytes();
    if rest.starts_with(mark) {
        return Next::Shown("\x1b".to_owned(), mark.len());
    }
    if rest.first() == Some(&b'\x1b') && mark.starts_with(rest) {
        return Next::Incomplete;
    }
    match rest {
        [b'\r', b'\n', ..] => return Next::Shown("\r\n".to_owned(), 2),
        [b'\r'] => return Next::Incomplete,
        _ => {}
    }
    let Some(chunk) = rest.utf8_chunks().next() else { return Next::Incomplete };
    let Some(letter) = chunk.valid().chars().next() else {
        let is_cut = chunk.invalid().len() == rest.len() && rest.len() < 4 && is_start(rest);
        return if is_cut {
            Next::Incomplete
        } else {
            Next::Shown(number(char::REPLACEMENT_CHARACTER), chunk.invalid().len())
        };
    };
    if letter == '\n' || letter == '\t' || !is_hidden(letter) {
        // All that follows up to the next hidden character passes as well.
        let plain = chunk.valid();
        let len = plain.find(|letter| letter != '\n' && letter != '\t' && is_hidden(letter)).unwrap_or(plain.len());
        return Next::Shown(plain[..len].to_owned(), len);
    }
    Next::Shown(number(letter), letter.len_utf8())
}

/// Returns `true` if the bytes may be the start of a character, of which the rest is missing.
fn is_start(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::styled;

    fn through(parts: &[&[u8]]) -> String {
        let mut out = Visible::new(Vec::new());
        for part in parts {
            out.write_all(part).unwrap();
        }
        String::from_utf8(out.into_inner().unwrap()).unwrap()
    }

    #[test]
    fn hidden_characters_are_shown_and_ends_of_lines_pass() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a,b\r\nc\rd\r", "a,b\r\nc[U+000D]d[U+000D]"),
            ("\x1b]0;title\x07", "[U+001B]]0;title[U+0007]"),
            ("\u{7f}\u{9b}31m", "[U+007F][U+009B]31m"),
            ("\u{202e}txt.exe\u{2066}", "[U+202E]txt.exe[U+2066]"),
            ("naïve ▲ 日本", "naïve ▲ 日本"),
            ("end\x1b", "end[U+001B]"),
            ("\x1b_", "[U+001B]_"),
        ] {
            assert_eq!(through(&[text.as_bytes()]), expected);
        }
        assert_eq!(through(&[b"a\xffb\xe2\x82"]), "a[U+FFFD]b[U+FFFD][U+FFFD]");
    }

    #[test]
    fn only_marked_sequences_pass() {
        assert_eq!(through(&[styled("[31m").as_bytes(), b"\x1b[31m"]), "\x1b[31m[U+001B][31m");
        // A guess at the mark.
        assert_eq!(through(&[b"\x1b_0000\x1b\\[8m"]), "[U+001B]_0000[U+001B]\\[8m");
    }

    #[test]
    fn a_flush_shows_what_was_kept() {
        let mut out = Visible::new(Vec::new());
        out.write_all(b"\x1b").unwrap();
        out.flush().unwrap();
        assert_eq!(out.into_inner().unwrap(), b"[U+001B]");
    }

    proptest! {
        #[test]
        fn nothing_hidden_gets_through_and_the_parts_do_not_matter(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b'\r'), Just(0xe2), Just(0x80)], 0..80),
            cuts in prop::collection::vec(0_usize..80, 0..4),
        ) {
            let whole = through(&[&bytes]);
            let hidden = |letter: char| letter != '\n' && letter != '\t' && is_hidden(letter);
            prop_assert!(!whole.replace("\r\n", "").contains(hidden), "{whole:?}");
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
            cuts.sort_unstable();
            let parts: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(through(&parts), whole);
        }

        #[test]
        fn the_tools_own_sequences_survive_any_cut(cut in 0_usize..60) {
            let text = format!("a{}b{}", styled("[31m"), styled("[0m"));
            let (one, two) = text.as_bytes().split_at(cut.min(text.len()));
            prop_assert_eq!(through(&[one, two]), "a\x1b[31mb\x1b[0m");
        }
    }
}
