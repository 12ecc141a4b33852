//! Errors of captures and of chip names.

use std::{io, path::PathBuf};

use super::changes::ChangeError;

/// The reason why a text is not a capture of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The text is longer than a capture can be.
    #[error("the text is longer than {most} bytes")]
    TooLong {
        /// The maximum length in bytes.
        most: usize,
    },
    /// The text is not JSON.
    #[error("not JSON: {reason}")]
    Syntax {
        /// The parser's message, with line and column.
        reason: String,
    },
    /// RADV 25.0.7 does not know the chip, which is not taken for another one of its generation.
    #[error("chip unknown: family {family}, external revision {external_rev:#x}")]
    UnknownChip {
        /// The family.
        family: u32,
        /// The external revision.
        external_rev: u32,
    },
    /// The chip has a name, and its generation has no rules here.
    #[error("{later}: no rules of its generation are known, so it is not simulated")]
    LaterChip {
        /// The chip.
        later: amdgpu_hw::LaterChip,
    },
    /// A required key is missing or null.
    #[error("{key} is missing")]
    Missing {
        /// The path of the key, such as `dev_info.family`.
        key: String,
    },
    /// A value has the wrong type.
    #[error("{key} is {found}, not {expected}")]
    WrongType {
        /// The path of the key.
        key: String,
        /// The type that the key must have.
        expected: &'static str,
        /// The type that was found.
        found: &'static str,
    },
    /// A text has no known meaning.
    #[error("{key} is {text:?}: {reason}")]
    BadText {
        /// The path of the key.
        key: String,
        /// The start of the text.
        text: String,
        /// The rule that the text breaks.
        reason: &'static str,
    },
    /// A number is not possible for any GPU.
    #[error("{key} is {value:#x}: {reason}")]
    OutOfRange {
        /// The path of the key.
        key: String,
        /// The rejected value.
        value: u64,
        /// The rule that the value breaks.
        reason: &'static str,
    },
    /// A list has the wrong length.
    #[error("{key} has {count} entries, not {least} to {most}")]
    BadLength {
        /// The path of the key.
        key: String,
        /// The number of entries found.
        count: usize,
        /// The least number of entries.
        least: usize,
        /// The largest number of entries.
        most: usize,
    },
    /// Two values contradict each other.
    #[error("{key} contradicts {other}")]
    Contradiction {
        /// The path of the key.
        key: String,
        /// The path of the other key.
        other: &'static str,
    },
    /// A register that user space of the generation reads is missing from `mmr_regs`.
    #[error("mmr_regs lacks the register at dword {dword_offset:#x} for instance {instance:#x}")]
    NoRegister {
        /// The register's offset in dwords.
        dword_offset: u32,
        /// The instance, as in READ_MMR_REG.
        instance: u32,
    },
}

/// The reason why a name does not select a chip.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChipError {
    /// The text is neither the name of a known chip nor a path.
    #[error("no simulated chip is called {name:?}; there are {known}, and files with a slash or .json in their names")]
    NoSuchChip {
        /// The unknown name.
        name: String,
        /// The known names, as text.
        known: String,
    },
    /// The chip has a name, and its generation has no rules here.
    #[error("{later}: no rules of its generation are known, so it is not simulated")]
    LaterChip {
        /// The chip.
        later: amdgpu_hw::LaterChip,
    },
    /// The chip cannot be changed like this.
    #[error("{name}: {source}")]
    Changes {
        /// The name of the chip, or the path of its capture.
        name: String,
        /// The reason.
        source: ChangeError,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file is not a capture.
    #[error("{} is no capture of a GPU: {source}", path.display())]
    Capture {
        /// The path of the file.
        path: PathBuf,
        /// The error of the capture.
        source: CaptureError,
    },
}
