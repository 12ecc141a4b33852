//! Errors of reading files with IBs.

use std::io;

/// The supported kinds of files, for messages.
const READABLE: &str =
    "recordings, devcoredumps, dumps of Mesa's drivers and of umr, hexadecimal text and raw dwords are read";

/// The reason why a file contains no IB. `name` is its path, or `standard input`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The file cannot be read.
    #[error("{name}: {error}")]
    Io {
        /// The name of the file.
        name: String,
        /// The I/O error.
        error: io::Error,
    },
    /// The path is that of a directory, such as the one in which the simulator keeps IBs.
    #[error("{name}: is a directory; name one of its files, or use check, which reads all of them")]
    Directory {
        /// The path of the directory.
        name: String,
    },
    /// The file is larger than any IB.
    #[error("{name}: found more than {most} bytes, which no IB has")]
    TooLong {
        /// The name of the file.
        name: String,
        /// The maximum size in bytes.
        most: u64,
    },
    /// The file is of another kind.
    #[error("{name}: found {found}; {READABLE}")]
    Foreign {
        /// The name of the file.
        name: String,
        /// A description of its kind.
        found: &'static str,
    },
    /// The file is binary and has no whole dwords.
    #[error("{name}: found {bytes} bytes of binary data, which are not a multiple of 4; {READABLE}")]
    NoDwords {
        /// The name of the file.
        name: String,
        /// The size of the file in bytes.
        bytes: usize,
    },
    /// A word of the text is not a dword.
    #[error("{name}: found text, of which line {line} has {word:?} where a hexadecimal dword belongs; {READABLE}")]
    NoNumber {
        /// The name of the file.
        name: String,
        /// The line number, from 1.
        line: usize,
        /// The word, or its beginning.
        word: String,
    },
    /// The file is a devcoredump without packets, which cannot be compared.
    #[error("{name}: found a devcoredump without packets: it has no IBs, and no ring with dwords to decode")]
    NoPackets {
        /// The name of the file.
        name: String,
    },
    /// The directory has no captured IBs.
    #[error("{name}: no IBs are kept here")]
    NoIbs {
        /// The path of the directory.
        name: String,
    },
}
