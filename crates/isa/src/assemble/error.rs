//! Errors of assembling.

use amdgpu_hw::GfxLevel;

/// A reason why a text is no instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// No operation of the generation has the name and suffix.
    #[error("{level} has no operation `{name}`")]
    UnknownName {
        /// The generation.
        level: GfxLevel,
        /// The name.
        name: String,
    },
    /// An operand is missing, superfluous, or not possible in its place.
    #[error("`{text}`: {operand} does not fit")]
    Operand {
        /// The whole text.
        text: String,
        /// The operand, or what is missing.
        operand: String,
    },
    /// A modifier is unknown to the operation.
    #[error("`{text}`: modifier {modifier} does not fit")]
    Modifier {
        /// The whole text.
        text: String,
        /// The modifier.
        modifier: String,
    },
}
