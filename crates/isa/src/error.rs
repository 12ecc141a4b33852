//! Errors of decoding instructions.

use amdgpu_hw::GfxLevel;

use crate::Format;

/// The reason why dwords are not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There are no dwords to decode.
    #[error("no dwords to decode")]
    Empty,
    /// The identifying bits of the first dword match no format.
    #[error("{level} has no instruction format for {dword:#010x}")]
    UnknownFormat {
        /// The generation for which the dwords were decoded.
        level: GfxLevel,
        /// The first dword.
        dword: u32,
    },
    /// The format has no operation with this number.
    #[error("{level} has no operation {number} in format {}", format.name())]
    UnknownOpcode {
        /// The generation for which the dwords were decoded.
        level: GfxLevel,
        /// The format of the instruction.
        format: Format,
        /// The number of the operation.
        number: u32,
    },
    /// There are fewer dwords than the instruction has.
    #[error("{} instruction of {needed} dwords is cut off after {found}", format.name())]
    Truncated {
        /// The format of the instruction.
        format: Format,
        /// The number of dwords of the instruction.
        needed: usize,
        /// The number of dwords that were given.
        found: usize,
    },
    /// The generation or format does not support this kind of extra dword.
    #[error("{level} has no {} form of {name}", extension.name())]
    NoExtension {
        /// The generation for which the dwords were decoded.
        level: GfxLevel,
        /// The name of the operation.
        name: &'static str,
        /// The kind of extra dword.
        extension: Format,
    },
}
