//! Errors of captures and of names of chips.

use std::{io, path::PathBuf};

/// The reason why a text is no capture of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The text is longer than any capture.
    #[error("the text is longer than {most} bytes")]
    TooLong {
        /// The limit, bytes.
        most: usize,
    },
    /// The text is not JSON.
    #[error("not JSON: {reason}")]
    Syntax {
        /// The parser's words, with line and column.
        reason: String,
    },
    /// A key that every capture has is missing, or is null.
    #[error("{key} is missing")]
    Missing {
        /// Path of the key, such as `dev_info.family`.
        key: String,
    },
    /// A value is of another type.
    #[error("{key} is {found}, not {expected}")]
    WrongType {
        /// Path of the key.
        key: String,
        /// The type that the form asks for.
        expected: &'static str,
        /// The type that was found.
        found: &'static str,
    },
    /// A text stands for nothing that is known.
    #[error("{key} is {text:?}: {reason}")]
    BadText {
        /// Path of the key.
        key: String,
        /// The beginning of the text.
        text: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A number that no GPU has there.
    #[error("{key} is {value:#x}: {reason}")]
    OutOfRange {
        /// Path of the key.
        key: String,
        /// The value.
        value: u64,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A list of another length.
    #[error("{key} has {count} entries, not {least} to {most}")]
    BadLength {
        /// Path of the key.
        key: String,
        /// Entries found.
        count: usize,
        /// Entries at least.
        least: usize,
        /// Entries at most.
        most: usize,
    },
    /// Two values contradict each other.
    #[error("{key} contradicts {other}")]
    Contradiction {
        /// Path of the key.
        key: String,
        /// Path of the other key.
        other: &'static str,
    },
    /// A register that user space of the generation reads is not among `mmr_regs`.
    #[error("mmr_regs lacks the register at dword {dword_offset:#x} for instance {instance:#x}")]
    NoRegister {
        /// Offset in dwords.
        dword_offset: u32,
        /// The instance, as READ_MMR_REG takes it.
        instance: u32,
    },
}

/// The reason why a word stands for no chip.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChipError {
    /// Neither a known name nor a path.
    #[error("no simulated chip is called {name:?}; there are {known}, and files with a slash or .json in their names")]
    NoSuchChip {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file is no capture.
    #[error("{} is no capture of a GPU: {source}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// The capture's fault.
        source: CaptureError,
    },
}
