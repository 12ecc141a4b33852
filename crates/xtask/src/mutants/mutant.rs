//! Mutants and the places they stand at.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

/// One change of one place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mutant {
    /// Its number in this build, from 1.
    pub(crate) number: u32,
    /// Its file, from the workspace's root.
    pub(crate) file: String,
    /// The line that it starts on, from 1.
    pub(crate) line: usize,
    /// The function that holds it, with the type that it belongs to.
    pub(crate) function: String,
    /// The place as the source has it, on one line.
    pub(crate) original: String,
    /// Its replacement, on one line.
    pub(crate) replacement: String,
    /// Counts mutants of one function that read alike, from 0.
    pub(crate) nth: usize,
    /// Belongs to a `const fn`, which tests may reach only while they are compiled.
    pub(crate) in_const_fn: bool,
}

impl Mutant {
    /// Returns the words that name this mutant as long as its function is not rewritten.
    pub(crate) fn key(&self) -> Key {
        Key {
            file: self.file.clone(),
            function: self.function.clone(),
            original: self.original.clone(),
            replacement: self.replacement.clone(),
            nth: self.nth,
        }
    }

    /// Returns `true` for `^` in place of `|`: the two differ only where both sides have a bit, and what this library joins
    /// with `|` are flags and fields that lie side by side.
    pub(crate) fn is_or_as_xor(&self) -> bool {
        let (original, replacement) = (self.original.as_bytes(), self.replacement.as_bytes());
        let at = original.iter().zip(replacement).position(|(a, b)| a != b);
        original.len() == replacement.len()
            && at.is_some_and(|at| {
                (original[at], replacement[at]) == (b'|', b'^') && original[at + 1..] == replacement[at + 1..]
            })
    }

    /// Returns the folder or file of `src` that it counts for, or the crate.
    pub(crate) fn module(&self) -> &str {
        let file = self.file.strip_prefix("src/").or_else(|| self.file.strip_prefix("crates/")).unwrap_or(&self.file);
        file.split('/').next().unwrap_or(file)
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}  =>  {}", self.file, self.line, self.function, self.original, self.replacement)
    }
}

/// Names a mutant across builds and small changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) original: String,
    pub(crate) replacement: String,
    #[serde(default)]
    pub(crate) nth: usize,
}

/// A place in a file that some mutants share.
#[derive(Debug)]
pub(crate) struct Site {
    /// The bytes of the file that are wrapped; empty where code is inserted.
    pub(crate) range: Range<usize>,
    /// The form of the switch.
    pub(crate) form: Form,
    /// The number of its first mutant.
    pub(crate) first: u32,
    /// The code of each of its mutants.
    pub(crate) variants: Vec<String>,
}

/// The form of a site's switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An expression: another one takes its place.
    Expression,
    /// The start of a function's body: it returns at once.
    Return,
    /// The end of a match arm's pattern: a guard that fails.
    Arm,
    /// A statement that is left out.
    Statement,
}
