//! Errors of building.

use crate::{AssembleError, load::LoadError};

/// A reason why a program can not be built. The builder keeps the first one and reports it at the end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An instruction that the generation lacks or whose operands do not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// A load that can not be planned.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// All scalar registers are in use.
    #[error("no {0} scalar registers are left")]
    Scalars(u8),
    /// All vector registers are in use.
    #[error("no {0} vector registers are left")]
    Vectors(u8),
    /// A branch to a label that was never placed.
    #[error("label {0} is not placed")]
    Label(usize),
    /// A branch farther than its immediate reaches.
    #[error("a branch over {0} dwords; 32767 are possible")]
    Distance(i64),
    /// More user registers than a dispatch has.
    #[error("{0} user registers; 16 are possible")]
    User(u8),
    /// LDS or scratch memory beyond what a group or lane can have.
    #[error("{0} bytes of {1} memory")]
    Memory(u32, &'static str),
    /// A load or store that has no instruction here.
    #[error("{0}")]
    Missing(&'static str),
}
