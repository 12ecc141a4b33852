//! Evidence that a failed check leaves for its investigation.

use serde::{Deserialize, Serialize};

use super::{cells::Cells, hint::Hint};

/// Details about a check that did not pass, in addition to its line in the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// The first bytes that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The request that the kernel refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The bytes of memory that did not hold their pattern, counted by bit, channel and row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Cells>,
    /// The page fault that occurred during the check, with the object at its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The rules of the strict mode that the failure fits on a real GPU, if hints are wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// The answers to reset and eviction queries that changed during the check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The kernel's events about resets of the GPU during the check, with the process whose job was stuck.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resets: Vec<String>,
    /// The library's hang report, if a job was lost or did not complete in time: the progress of its queue, the commands at that
    /// point with all fields, and the page fault with its object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hang: Vec<String>,
    /// The packets of the last command list that the check recorded, one per line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ib: Vec<String>,
    /// The kernel's messages during the check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
}

impl Evidence {
    /// Returns `true` if there is no evidence.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the evidence as lines of text, for text reports.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(Difference { offset, of, found, expected, bytes }) = &self.difference {
            lines.push(format!("first difference at byte {offset:#x} of {of:#x}, {bytes} bytes differ"));
            lines.push(format!("  expected {expected}"));
            lines.push(format!("  found    {found}"));
        }
        if let Some(Refusal { request, errno, name }) = &self.refusal {
            lines.push(format!("refused: {request}, errno {errno} ({name})"));
        }
        lines.extend(self.cells.iter().flat_map(Cells::lines));
        lines.extend(self.fault.iter().cloned());
        lines.extend(self.changes.iter().cloned());
        lines.extend(self.resets.iter().map(|event| format!("event of the kernel: {event}")));
        if !self.hints.is_empty() {
            lines.push("a real GPU fails like this if a stream breaks a rule of the strict mode:".to_owned());
            lines.extend(self.hints.iter().map(|hint| format!("  {}: {} ({})", hint.rule, hint.text, hint.mesa)));
        }
        if !self.hang.is_empty() {
            lines.push("hang report:".to_owned());
            lines.extend(self.hang.iter().map(|line| format!("  {line}")));
        }
        if !self.ib.is_empty() {
            lines.push("last command list:".to_owned());
            lines.extend(self.ib.iter().map(|line| format!("  {line}")));
        }
        if !self.messages.is_empty() {
            lines.push("kernel messages:".to_owned());
            lines.extend(self.messages.iter().map(|line| format!("  {line}")));
        }
        lines
    }
}

/// The first difference between two ranges of bytes that should be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The offset in bytes of the first difference from the start of the range.
    pub offset: u64,
    /// The number of compared bytes.
    pub of: u64,
    /// The number of bytes that differ.
    pub bytes: u64,
    /// The bytes found at that offset, in hexadecimal.
    pub found: String,
    /// The bytes expected at that offset, in hexadecimal.
    pub expected: String,
}

/// A request that the kernel refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The name of the ioctl, or of the query that it makes.
    pub request: String,
    /// The errno as a number.
    pub errno: i32,
    /// The name of the errno.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_evidence_is_no_lines() {
        assert!(Evidence::default().is_empty());
        assert_eq!(Evidence::default().lines(), Vec::<String>::new());
    }

    #[test]
    fn evidence_is_listed_from_the_bytes_to_the_kernel() {
        let evidence = Evidence {
            difference: Some(Difference {
                offset: 4,
                of: 16,
                bytes: 2,
                found: "00 01".to_owned(),
                expected: "02 03".to_owned(),
            }),
            ib: vec!["0  NOP".to_owned()],
            ..Evidence::default()
        };
        let expected = [
            "first difference at byte 0x4 of 0x10, 2 bytes differ",
            "  expected 02 03",
            "  found    00 01",
            "last command list:",
            "  0  NOP",
        ];
        assert_eq!(evidence.lines(), expected);
    }
}
