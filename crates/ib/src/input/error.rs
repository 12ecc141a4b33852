//! Files that hold no IB.

use std::io;

/// Kinds of files with IBs, for messages.
const READABLE: &str = "recordings, devcoredumps, dumps of Mesa's drivers, hexadecimal text and raw dwords are read";

/// The reason why a file holds no IB. `name` is its path, or that of standard input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// It cannot be read.
    #[error("{name}: {error}")]
    Io {
        /// The file.
        name: String,
        /// The cause.
        error: io::Error,
    },
    /// It is longer than IBs are.
    #[error("{name}: found more than {most} bytes, which no IB has")]
    TooLong {
        /// The file.
        name: String,
        /// Length that is read at most, bytes.
        most: u64,
    },
    /// Its content is of another kind.
    #[error("{name}: found {found}; {READABLE}")]
    Foreign {
        /// The file.
        name: String,
        /// Its content, in words.
        found: &'static str,
    },
    /// It is binary and holds no whole dwords.
    #[error("{name}: found {bytes} bytes of binary data, which are not a multiple of 4; {READABLE}")]
    NoDwords {
        /// The file.
        name: String,
        /// Its length, bytes.
        bytes: usize,
    },
    /// A word of its text is not a dword.
    #[error("{name}: found text, of which line {line} has {word:?} where a hexadecimal dword belongs; {READABLE}")]
    NoNumber {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The word, or its beginning.
        word: String,
    },
    /// It is a devcoredump of an idle GPU.
    #[error("{name}: found a devcoredump without IBs, all of whose rings are idle")]
    Idle {
        /// The file.
        name: String,
    },
    /// A directory without kept IBs.
    #[error("{name}: no IBs are kept here")]
    NoIbs {
        /// The directory.
        name: String,
    },
}
