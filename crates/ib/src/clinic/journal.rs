//! The journal in its own formats: JSON, one object a line, and the export and verbose formats, one field a line. Objects that other
//! tools make of the kernel's log are read as well.

use std::time::Duration;

use serde_json::Value;

use super::{line::Stamp, scan};

/// An entry of the journal.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// The message.
    pub(crate) message: String,
    /// The time since boot.
    pub(crate) stamp: Option<Stamp>,
    /// `true` if the kernel wrote it.
    pub(crate) is_kernel: bool,
}

/// Parses a line of `journalctl -o json`, `json-seq` or `json-sse`; `None` for other lines.
pub(crate) fn json(line: &str) -> Option<Entry> {
    let line = object_of(line);
    // An object that was cut off may lack its writer. Most others are of programs, and of no interest.
    if !is_whole(line) || !line.contains("\"MESSAGE\":[") && !scan::has_content(line.as_bytes()) {
        return None;
    }
    entry(|name| value(line, name))
}

/// Returns `true` if a line is an object with a message of interest that was cut off.
pub(crate) fn is_cut(line: &str) -> bool {
    !is_whole(line) && line.contains("\"MESSAGE\":") && scan::has_content(line.as_bytes())
}

/// Returns `true` if an object has its end.
fn is_whole(line: &str) -> bool {
    line.trim_end_matches([',', ']', ' ', '\r', '\n']).ends_with('}')
}

/// Returns `true` if a line has an object of JSON, maybe as a part of an array or after the marks of `json-seq` and `json-sse`.
pub(crate) fn is_object(line: &str) -> bool {
    object_of(line).strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'))
}

/// Returns a line from its object on.
fn object_of(line: &str) -> &str {
    let line = line.trim_start_matches('\x1e');
    line.strip_prefix("data: ").unwrap_or(line).trim_start_matches(['[', ',', ' ', '\t'])
}

/// Returns the value of a field of an object without other objects in it. Quotation marks within texts have a backslash, so that a
/// name between such marks and before a colon is a name.
fn value(line: &str, name: &str) -> Option<Value> {
    let mut rest = line;
    loop {
        let at = rest.find(name)?;
        let is_begin = rest[..at].ends_with('"');
        rest = &rest[at + name.len()..];
        let after = rest.strip_prefix('"').filter(|_| is_begin).and_then(|rest| rest.trim_start().strip_prefix(':'));
        if let Some(after) = after {
            return serde_json::Deserializer::from_str(after).into_iter::<Value>().next()?.ok();
        }
    }
}

/// Returns the entry of an object of JSON.
fn entry(value: impl Fn(&str) -> Option<Value>) -> Option<Entry> {
    let text = |name: &str| match value(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let own = value("MESSAGE");
    let is_of_journal = own.is_some();
    let Some(message) = own.or_else(|| value("message")) else {
        // A record of dmesg has a priority. Logs of programs have texts of this name, too.
        let (message, _priority) = (text("msg")?, value("pri")?);
        let stamp = value("time").and_then(|time| time.as_f64()).map(Stamp::boot);
        return Some(Entry { message, stamp, is_kernel: true });
    };
    let message = match message {
        Value::String(text) => text,
        // A message that is not UTF-8 is an array of bytes.
        Value::Array(bytes) => {
            let bytes: Vec<u8> = bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => return None,
    };
    let micros = text("_SOURCE_MONOTONIC_TIMESTAMP").or_else(|| text("__MONOTONIC_TIMESTAMP"));
    let is_kernel = match text("_TRANSPORT") {
        Some(writer) => writer == "kernel",
        // Collectors of logs keep the texts of all programs.
        None => match text("SYSLOG_IDENTIFIER") {
            Some(name) => name == "kernel",
            None => is_of_journal,
        },
    };
    Some(Entry { message, stamp: micros.and_then(|micros| stamp(&micros)), is_kernel })
}

fn stamp(micros: &str) -> Option<Stamp> {
    Some(Stamp::boot(Duration::from_micros(micros.trim().parse().ok()?).as_secs_f64()))
}

/// Returns `true` if an input begins as a journal in JSON does that has a field on each line: `journalctl -o json-pretty`, and what
/// other tools make of `-o json`.
pub(crate) fn has_field_lines(head: &[u8]) -> bool {
    let is_break = |byte: &u8| matches!(byte, b'[' | b'{') || byte.is_ascii_whitespace();
    let start = head.iter().position(|byte| !is_break(byte)).unwrap_or(head.len());
    let (before, after) = head.split_at(start);
    let names: [&[u8]; 3] = [b"\"MESSAGE\"", b"\"__CURSOR\"", b"\"_TRANSPORT\""];
    let has = |name: &[u8]| after.windows(name.len()).any(|window| window == name);
    before.contains(&b'{') && before.contains(&b'\n') && after.starts_with(b"\"") && names.iter().any(|name| has(name))
}

/// A reader of a journal in JSON that has a field on each line.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    object: serde_json::Map<String, Value>,
    /// The number of the line with the message.
    number: u64,
}

impl Fields {
    /// Reads a line. Returns the entry that it ends, and the number of the line with its message.
    pub(crate) fn line(&mut self, line: &str, number: u64) -> Option<(Entry, u64)> {
        const NAMES: [&str; 5] =
            ["MESSAGE", "_SOURCE_MONOTONIC_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_TRANSPORT", "SYSLOG_IDENTIFIER"];
        if line.starts_with('}') {
            let object = std::mem::take(&mut self.object);
            return Some((entry(|name| object.get(name).cloned())?, self.number));
        }
        let (name, value) = line.strip_prefix('"')?.split_once('"')?;
        let value = value.trim_start().strip_prefix(':')?.trim().trim_end_matches(',');
        if NAMES.contains(&name)
            && let Ok(value) = serde_json::from_str(value)
        {
            if name == "MESSAGE" {
                self.number = number;
            }
            self.object.insert(name.to_owned(), value);
        }
        None
    }
}

/// A reader of the export format.
#[derive(Debug, Default)]
pub(crate) struct Export {
    entry: Entry,
    is_open: bool,
}

impl Export {
    /// Returns `true` within an entry.
    pub(crate) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Reads a line. Returns `true` if it is of this format, and the entry before if the line begins another one.
    pub(crate) fn line(&mut self, line: &str) -> (bool, Option<Entry>) {
        if line.starts_with("__CURSOR=") {
            return (true, self.end(true));
        }
        // journalctl -o verbose: a time, and the cursor in brackets. The fields are those of the export format, indented.
        if let Some((_, cursor)) = line.split_once(" [s=").filter(|_| line.ends_with(']')) {
            let before = self.end(true);
            let micros = cursor.split(';').find_map(|part| u64::from_str_radix(part.strip_prefix("m=")?, 16).ok());
            self.entry.stamp = micros.map(|micros| Stamp::boot(Duration::from_micros(micros).as_secs_f64()));
            return (true, before);
        }
        if !self.is_open {
            return (false, None);
        }
        if let Some(micros) = line.strip_prefix("__MONOTONIC_TIMESTAMP=") {
            self.entry.stamp = self.entry.stamp.or_else(|| stamp(micros));
        } else if let Some(micros) = line.strip_prefix("_SOURCE_MONOTONIC_TIMESTAMP=") {
            self.entry.stamp = stamp(micros).or(self.entry.stamp);
        } else if let Some(transport) = line.strip_prefix("_TRANSPORT=") {
            self.entry.is_kernel = transport == "kernel";
        } else if let Some(message) = line.strip_prefix("MESSAGE=") {
            message.clone_into(&mut self.entry.message);
        } else {
            let name = line.split('=').next().unwrap_or_default();
            let is_field = !name.is_empty() && name.len() < line.len();
            let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
            return (is_field && name.bytes().all(is_name), None);
        }
        (true, None)
    }

    /// Returns the last entry.
    pub(crate) fn end(&mut self, begins: bool) -> Option<Entry> {
        let entry = std::mem::take(&mut self.entry);
        let was_open = std::mem::replace(&mut self.is_open, begins);
        (was_open && !entry.message.is_empty()).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_kernel_and_of_programs_are_told_apart() {
        let line = r#"{"_TRANSPORT":"kernel","MESSAGE":"amdgpu: x","_SOURCE_MONOTONIC_TIMESTAMP":"5120101221"}"#;
        let entry = json(line).unwrap();
        assert_eq!(
            (entry.message.as_str(), entry.is_kernel, entry.stamp),
            ("amdgpu: x", true, Some(Stamp::boot(5_120.101_221)))
        );
        assert!(!json(r#"{"_TRANSPORT":"stdout","MESSAGE":"amdgpu: x"}"#).unwrap().is_kernel);
        assert_eq!(json(r#"{"MESSAGE":[97,255,98]}"#).unwrap().message, "a\u{fffd}b");
        assert_eq!(json("{\"MESSAGE\": "), None);
        // A text is no field, whatever stands in it, and a value no name.
        let evil =
            r#"{"SYSLOG_IDENTIFIER":"MESSAGE","MESSAGE":"amdgpu: \"_TRANSPORT\":\"kernel\" x","_TRANSPORT":"stdout"}"#;
        assert_eq!(json(evil).map(|entry| entry.is_kernel), Some(false));
        // The writer of an object that was cut off is not known.
        assert_eq!(json(&evil[..evil.len() - 1]), None);
    }

    #[test]
    fn the_export_format_is_read_whatever_the_order_of_its_fields() {
        let mut export = Export::default();
        let lines = [
            "__CURSOR=a",
            "MESSAGE=amdgpu: x",
            "_HOSTNAME=h",
            "_TRANSPORT=kernel",
            "__MONOTONIC_TIMESTAMP=2000000",
            "__CURSOR=b",
        ];
        let entries: Vec<_> = lines.iter().filter_map(|line| export.line(line).1).collect();
        assert_eq!(entries, [Entry { message: "amdgpu: x".into(), stamp: Some(Stamp::boot(2.0)), is_kernel: true }]);
        assert!(!Export::default().line("MESSAGE=x").0);
        let mut verbose = Export::default();
        let head = "Sun 2026-11-29 10:16:18.123456 UTC [s=ab;i=1;b=2;m=1e8480;t=4;x=5]";
        let lines = [head, "MESSAGE=amdgpu: x", "_TRANSPORT=kernel", head];
        let entries: Vec<_> = lines.iter().filter_map(|line| verbose.line(line).1).collect();
        assert_eq!(entries, [Entry { message: "amdgpu: x".into(), stamp: Some(Stamp::boot(2.0)), is_kernel: true }]);
    }
}
