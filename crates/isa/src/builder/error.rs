//! Errors of building programs.

use crate::{AssembleError, load::LoadError};

/// The reason why a program cannot be built. The builder stores the first error and returns it at the end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The generation lacks an instruction, or its operands do not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// A load cannot be planned.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There are not enough free scalar registers for this number.
    #[error("no {0} scalar registers are left")]
    Scalars(u8),
    /// There are not enough free vector registers for this number.
    #[error("no {0} vector registers are left")]
    Vectors(u8),
    /// A branch refers to a label that was never placed.
    #[error("label {0} is not placed")]
    Label(usize),
    /// The distance of a branch in dwords exceeds its immediate.
    #[error("a branch over {0} dwords; 32767 are possible")]
    Distance(i64),
    /// The program has more user registers than a dispatch supports.
    #[error("{0} user registers; 16 are possible")]
    User(u8),
    /// The size in bytes of LDS or scratch memory exceeds the limit.
    #[error("{0} bytes of {1} memory")]
    Memory(u32, &'static str),
    /// The generation does not execute an operation correctly, whatever surrounds it.
    #[error("{0}")]
    Hazard(&'static str),
    /// The generation has no instruction for a load or store.
    #[error("{0}")]
    Missing(&'static str),
}
