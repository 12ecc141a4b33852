//! Objects of JSON as lines: a line begins before each object, so that an array of a gigabyte on one line is read entry by entry.
//!
//! Entries of a log are numbered as lines then.

use std::io::{self, Read};

/// The bytes that are read at once.
const BLOCK: usize = 64 << 10;

/// Returns `true` if an input begins as objects of JSON with a text of a log do, in an array, in another object or one after another.
pub(super) fn is_sequence(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let is_open = |byte: &u8| matches!(byte, b'[' | b'{');
    head.trim_ascii_start().first().is_some_and(is_open) && head.contains(&b'{') && head.contains(&b'"')
}

/// A reader that begins a line before each object but the first of a line.
#[derive(Debug)]
pub(super) struct Objects<R> {
    inner: R,
    block: Vec<u8>,
    at: usize,
    len: usize,
    /// `true` between quotation marks.
    is_text: bool,
    /// `true` after a backslash between quotation marks.
    is_escaped: bool,
    /// `true` if an object began on this line.
    has_object: bool,
}

impl<R: Read> Objects<R> {
    /// Creates a reader.
    pub(super) fn new(inner: R) -> Self {
        Self { inner, block: vec![0; BLOCK], at: 0, len: 0, is_text: false, is_escaped: false, has_object: false }
    }

    /// Returns the number of the next bytes that belong to one line, and `true` if the line ends after them although no end is there.
    fn part(&mut self, most: usize) -> (usize, bool) {
        let bytes = &self.block[self.at..self.len];
        for (index, byte) in bytes.iter().enumerate().take(most) {
            match byte {
                // Texts have no ends of lines: what was cut off ends there.
                b'\n' => (self.is_text, self.is_escaped, self.has_object) = (false, false, false),
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.is_text,
                b'"' => self.is_text = !self.is_text,
                b'{' if !self.is_text && !self.has_object => self.has_object = true,
                b'{' if !self.is_text => {
                    self.has_object = false;
                    return (index, true);
                }
                _ => {}
            }
        }
        (bytes.len().min(most), false)
    }
}

impl<R: Read> Read for Objects<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < out.len() {
            if self.at == self.len {
                if written > 0 {
                    break;
                }
                (self.at, self.len) = (0, self.inner.read(&mut self.block)?);
                if self.len == 0 {
                    break;
                }
            }
            // A byte is left for the end of the line.
            let most = out.len() - written - 1;
            let (count, ends) = self.part(most.max(1));
            out[written..written + count].copy_from_slice(&self.block[self.at..self.at + count]);
            (self.at, written) = (self.at + count, written + count);
            if ends {
                out[written] = b'\n';
                written += 1;
            } else if most <= count {
                break;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives few bytes at once.
    struct Slow<'b>(&'b [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(out.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(text: &str, at_once: usize, room: usize) -> String {
        let mut reader = Objects::new(Slow(text.as_bytes(), at_once));
        let (mut all, mut buffer) = (Vec::new(), vec![0; room]);
        loop {
            let count = reader.read(&mut buffer).unwrap();
            if count == 0 {
                return String::from_utf8(all).unwrap();
            }
            all.extend_from_slice(&buffer[..count]);
        }
    }

    #[test]
    fn each_object_is_on_a_line_of_its_own_whatever_is_read_at_once() {
        let cases = [
            (r#"[{"a":"{"},{"b":"\"{"},{"c":[1]}]"#, "[{\"a\":\"{\"},\n{\"b\":\"\\\"{\"},\n{\"c\":[1]}]"),
            (r#"{"all":[{"a":1},{"b":2}]}"#, "{\"all\":[\n{\"a\":1},\n{\"b\":2}]}"),
            ("{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}\n"),
            // A text that was cut off ends with its line.
            ("{\"a\":\"x\n{\"b\":2}{\"c\":3}", "{\"a\":\"x\n{\"b\":2}\n{\"c\":3}"),
        ];
        for (text, expected) in cases {
            for at_once in [1, 2, 3, 7, 1000] {
                for room in [2, 3, 64] {
                    assert_eq!(lines(text, at_once, room), expected, "{at_once} {room}");
                }
            }
        }
    }

    #[test]
    fn only_json_is_a_sequence_of_objects() {
        for head in ["{\"MESSAGE\":\"x\"}", " [ {\"a\": 1}", "\u{feff}[{\"a\":1}]"] {
            assert!(is_sequence(head.as_bytes()), "{head}");
        }
        for head in ["", "[  12.3] amdgpu 0000:03:00.0: x", "text {\"a\"}", "[drm] x"] {
            assert!(!is_sequence(head.as_bytes()), "{head}");
        }
    }
}
