//! Errors of decoding.

use amdgpu_hw::GfxLevel;

use crate::Format;

/// A reason why dwords are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There are no dwords.
    #[error("no dwords to decode")]
    Empty,
    /// No format has these identifying bits.
    #[error("{level} has no instruction format for {dword:#010x}")]
    UnknownFormat {
        /// The generation.
        level: GfxLevel,
        /// The first dword.
        dword: u32,
    },
    /// The format has no operation of this number.
    #[error("{level} has no operation {number} in format {}", format.name())]
    UnknownOpcode {
        /// The generation.
        level: GfxLevel,
        /// The format.
        format: Format,
        /// The operation's number.
        number: u32,
    },
    /// The instruction is longer than what is there.
    #[error("{} instruction of {needed} dwords is cut off after {found}", format.name())]
    Truncated {
        /// The format.
        format: Format,
        /// Dwords that the instruction has.
        needed: usize,
        /// Dwords that are there.
        found: usize,
    },
    /// The extra dword of this kind does not exist in this generation or format.
    #[error("{level} has no {} form of {name}", extension.name())]
    NoExtension {
        /// The generation.
        level: GfxLevel,
        /// The operation.
        name: &'static str,
        /// The kind of extra dword.
        extension: Format,
    },
}
