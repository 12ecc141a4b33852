//! Errors of assembling instructions.

use amdgpu_hw::GfxLevel;

/// The reason why a text is not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The generation has no operation with this name and suffix.
    #[error("{level} has no operation `{name}`")]
    UnknownName {
        /// The generation for which the text was assembled.
        level: GfxLevel,
        /// The unknown name.
        name: String,
    },
    /// An operand is missing, superfluous, or invalid at its position.
    #[error("`{text}`: {operand} does not fit")]
    Operand {
        /// The whole text of the instruction.
        text: String,
        /// The invalid operand, or the kind of the missing one.
        operand: String,
    },
    /// The operation does not have this modifier.
    #[error("`{text}`: modifier {modifier} does not fit")]
    Modifier {
        /// The whole text of the instruction.
        text: String,
        /// The unknown modifier.
        modifier: String,
    },
}
