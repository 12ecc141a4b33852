//! Recordings: a snapshot on each line, plain or compressed with gzip.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use amdgpu_output::name;
use flate2::bufread::MultiGzDecoder;
use serde_json::Value;

use crate::{
    collect::LookError,
    snapshot::model::{SCHEMA, Snapshot},
};

/// A line longer than this is no snapshot: five hundred processes take a quarter of a MiB.
const MOST_BYTES: u64 = 64 << 20;

/// The first bytes of a gzip member (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A reader of a recording.
pub struct Recording {
    input: BufReader<Box<dyn Read + Send>>,
    line: u64,
    /// The name of the input in errors.
    what: String,
}

impl Recording {
    /// Opens a recording in a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// The errors of opening the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let input: Box<dyn Read + Send> =
            if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
        let what = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        Ok(Self { what, ..Self::new(input)? })
    }

    /// Creates a reader of a recording from any input. Input that begins like a gzip file is decompressed.
    ///
    /// # Errors
    ///
    /// The errors of the first read.
    pub fn new(input: impl Read + Send + 'static) -> io::Result<Self> {
        let mut input = BufReader::new(Box::new(input) as Box<dyn Read + Send>);
        if input.fill_buf()?.starts_with(&GZIP) {
            let decoder = Box::new(MultiGzDecoder::new(input)) as Box<dyn Read + Send>;
            return Ok(Self { input: BufReader::new(decoder), line: 0, what: "the recording".to_owned() });
        }
        Ok(Self { input, line: 0, what: "the recording".to_owned() })
    }

    /// Returns the next snapshot; `None` at the end. The input may be JSON lines or a single indented document.
    ///
    /// # Errors
    ///
    /// [`LookError::Recording`] with the line and the reason, if a line cannot be read or parsed.
    pub fn look(&mut self) -> Result<Option<Snapshot>, LookError> {
        let what = self.what.clone();
        let bad = |line: u64, reason: String| LookError::Recording(format!("line {line} of {what}: {reason}"));
        loop {
            let mut text = Vec::new();
            self.line += 1;
            let read = (&mut self.input).take(MOST_BYTES).read_until(b'\n', &mut text);
            match read {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                // A compressed recording whose writer was killed ends after a whole line, without the end of gzip.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && text.is_empty() => return Ok(None),
                Err(error) => return Err(bad(self.line, error.to_string())),
            }
            if text.trim_ascii() == b"{" {
                // A document over several lines.
                let rest = (&mut self.input).take(MOST_BYTES).read_to_end(&mut text);
                rest.map_err(|error| bad(self.line, error.to_string()))?;
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            if self.line == 1 && !text.trim_ascii_start().starts_with(b"{") {
                let reason = "it does not begin with a JSON object";
                return Err(LookError::Recording(format!("{what} is not a recording of amdgpu-budget: {reason}")));
            }
            let snapshot = parse(&text).map_err(|error| bad(self.line, error.to_string()))?;
            if snapshot.schema != SCHEMA {
                return Err(bad(self.line, format!("the schema is '{}', not {SCHEMA}", snapshot.schema)));
            }
            return Ok(Some(snapshot));
        }
    }
}

/// Parses a snapshot. Its strings are what others wrote: characters in them that are hidden are shown by their numbers, as the
/// names of live processes are.
fn parse(text: &[u8]) -> serde_json::Result<Snapshot> {
    // JSON has C0 characters only behind a backslash, and no other hidden character in ASCII.
    if text.iter().all(|byte| byte.is_ascii() && !matches!(byte, b'\\' | 0x7f)) {
        return serde_json::from_slice(text);
    }
    let mut value = serde_json::from_slice(text)?;
    show_hidden(&mut value);
    serde_json::from_value(value)
}

fn show_hidden(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(shown) = name(text) {
                *text = shown;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(show_hidden),
        Value::Object(fields) => {
            for (key, mut value) in std::mem::take(fields) {
                show_hidden(&mut value);
                fields.insert(name(&key).into_owned(), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot { schema: SCHEMA.to_owned(), time: "now".to_owned(), ..Snapshot::default() }
    }

    #[test]
    fn lines_and_documents_are_read() {
        let line = serde_json::to_string(&snapshot()).unwrap();
        let mut lines = Recording::new(io::Cursor::new(format!("{line}\n\n{line}\n"))).unwrap();
        assert_eq!(lines.look().unwrap(), Some(snapshot()));
        assert_eq!(lines.look().unwrap(), Some(snapshot()));
        assert_eq!(lines.look().unwrap(), None);
        let indented = serde_json::to_string_pretty(&snapshot()).unwrap();
        let mut document = Recording::new(io::Cursor::new(indented)).unwrap();
        assert_eq!(document.look().unwrap(), Some(snapshot()));
    }

    #[test]
    fn damage_is_told_with_its_line() {
        let line = serde_json::to_string(&snapshot()).unwrap();
        let mut cut = Recording::new(io::Cursor::new(format!("{line}\n{}", &line[..line.len() / 2]))).unwrap();
        assert!(cut.look().unwrap().is_some());
        assert!(cut.look().unwrap_err().to_string().starts_with("line 2 of the recording: "));
        let other = line.replace("budget/1", "budget/2");
        let error = |text: String| Recording::new(io::Cursor::new(text)).unwrap().look().unwrap_err().to_string();
        assert!(error(other.clone()).contains("amdgpu-budget/2"), "{}", error(other));
        assert!(error("\u{7f}ELF".to_owned()).contains("is not a recording"), "{}", error("x".to_owned()));
    }

    #[test]
    fn a_compressed_recording_is_read_also_when_its_end_is_missing() {
        let line = serde_json::to_string(&snapshot()).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        for _ in 0..2 {
            io::Write::write_all(&mut encoder, format!("{line}\n").as_bytes()).unwrap();
            io::Write::flush(&mut encoder).unwrap();
        }
        let cut = encoder.get_ref().clone();
        for bytes in [encoder.finish().unwrap(), cut] {
            let mut read = Recording::new(io::Cursor::new(bytes)).unwrap();
            assert!(read.look().unwrap().is_some() && read.look().unwrap().is_some());
            assert_eq!(read.look().unwrap(), None);
        }
    }
}
