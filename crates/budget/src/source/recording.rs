//! Recordings: a snapshot a line.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use crate::{
    collect::LookError,
    snapshot::model::{SCHEMA, Snapshot},
};

/// A line longer than this is no snapshot: five hundred processes take a quarter of a MiB.
const MOST_BYTES: u64 = 64 << 20;

/// A recording that is being read.
pub struct Recording {
    input: BufReader<Box<dyn Read + Send>>,
    line: u64,
}

impl Recording {
    /// Reads a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// Those of opening it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let input: Box<dyn Read + Send> =
            if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
        Ok(Self { input: BufReader::new(input), line: 0 })
    }

    /// Reads from anything.
    pub fn new(input: impl Read + Send + 'static) -> Self {
        Self { input: BufReader::new(Box::new(input)), line: 0 }
    }

    /// The next snapshot; `None` at the end. Both JSON lines and a single indented document are understood.
    ///
    /// # Errors
    ///
    /// [`LookError::Recording`] with the line and the reason.
    pub fn look(&mut self) -> Result<Option<Snapshot>, LookError> {
        let bad = |line: u64, reason: String| LookError::Recording(format!("line {line} of the recording: {reason}"));
        loop {
            let mut text = Vec::new();
            self.line += 1;
            let read = (&mut self.input).take(MOST_BYTES).read_until(b'\n', &mut text);
            if read.map_err(|error| bad(self.line, error.to_string()))? == 0 {
                return Ok(None);
            }
            if text.trim_ascii() == b"{" {
                // A document over several lines.
                let rest = (&mut self.input).take(MOST_BYTES).read_to_end(&mut text);
                rest.map_err(|error| bad(self.line, error.to_string()))?;
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            let snapshot: Snapshot =
                serde_json::from_slice(&text).map_err(|error| bad(self.line, error.to_string()))?;
            if snapshot.schema != SCHEMA {
                return Err(bad(self.line, format!("the schema is '{}', not {SCHEMA}", snapshot.schema)));
            }
            return Ok(Some(snapshot));
        }
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
        let mut lines = Recording::new(io::Cursor::new(format!("{line}\n\n{line}\n")));
        assert_eq!(lines.look().unwrap(), Some(snapshot()));
        assert_eq!(lines.look().unwrap(), Some(snapshot()));
        assert_eq!(lines.look().unwrap(), None);
        let mut document = Recording::new(io::Cursor::new(serde_json::to_string_pretty(&snapshot()).unwrap()));
        assert_eq!(document.look().unwrap(), Some(snapshot()));
    }

    #[test]
    fn damage_is_told_with_its_line() {
        let line = serde_json::to_string(&snapshot()).unwrap();
        let mut cut = Recording::new(io::Cursor::new(format!("{line}\n{}", &line[..line.len() / 2])));
        assert!(cut.look().unwrap().is_some());
        assert!(cut.look().unwrap_err().to_string().starts_with("line 2 of the recording: "));
        let other = line.replace("budget/1", "budget/2");
        let error = Recording::new(io::Cursor::new(other)).look().unwrap_err().to_string();
        assert!(error.contains("amdgpu-budget/2"), "{error}");
    }
}
