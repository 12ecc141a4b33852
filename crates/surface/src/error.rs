//! Errors of addrlib's computations, with the rejected value.

use thiserror::Error;

/// An error in the description of an image. [`AddrError::code`] returns addrlib's number of the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddrError {
    /// The parameters contradict each other or are invalid on the chip (addrlib's `ADDR_INVALIDPARAMS`).
    #[error("invalid: {0}")]
    Invalid(Cause),
    /// The combination is valid, but the hardware or addrlib does not support it (`ADDR_NOTSUPPORTED`).
    #[error("not supported: {0}")]
    NotSupported(Cause),
    /// The combination is not implemented for this hardware (`ADDR_NOTIMPLEMENTED`).
    #[error("not implemented: {0}")]
    NotImplemented(Cause),
}

impl AddrError {
    /// Returns addrlib's number of the error (`addrtypes.h`, `ADDR_E_RETURNCODE`).
    pub const fn code(self) -> i32 {
        match self {
            Self::Invalid(_) => 3,
            Self::NotSupported(_) => 4,
            Self::NotImplemented(_) => 5,
        }
    }

    /// Returns the rejected value.
    pub const fn cause(self) -> Cause {
        match self {
            Self::Invalid(cause) | Self::NotSupported(cause) | Self::NotImplemented(cause) => cause,
        }
    }
}

/// The value that caused an [`AddrError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Cause {
    /// A tile or swizzle mode that does not exist on the generation, or that this kind of image cannot have.
    #[error("mode {0} for this image")]
    Mode(u32),
    /// An element size, in bits, that the hardware or the mode does not support.
    #[error("elements of {0} bits")]
    ElementBits(u32),
    /// A width, in elements, that is zero or too large.
    #[error("a width of {0}")]
    Width(u32),
    /// A height, in elements, that this kind of image cannot have.
    #[error("a height of {0}")]
    Height(u32),
    /// A number of mip levels that this kind of image cannot have.
    #[error("{0} mip levels")]
    Levels(u32),
    /// A number of samples or fragments that the mode or this kind of image cannot have.
    #[error("{0} samples")]
    Samples(u32),
    /// A pitch, in elements, that is not aligned, or smaller than the width.
    #[error("a pitch of {0}")]
    Pitch(u32),
    /// A bank and pipe XOR for a mode that has none.
    #[error("a pipe and bank XOR of {0}")]
    PipeBankXor(u32),
    /// A use (depth, display, FMASK, ...) that this kind of image cannot have.
    #[error("this use of the image")]
    Usage,
    /// No mode satisfies all restrictions.
    #[error("no mode is left")]
    NothingLeft,
    /// Metadata, or addresses in metadata, that this configuration does not support.
    #[error("this metadata")]
    Metadata,
    /// A coordinate outside the image.
    #[error("a coordinate outside")]
    Coordinate,
    /// A size that exceeds 64 bits, or the 32 bits of a field.
    #[error("a size that overflows")]
    Overflow,
    /// A tile index that the chip's table does not contain.
    #[error("tile index {0}")]
    TileIndex(i32),
    /// A generation that this function does not support.
    #[error("this generation")]
    Generation,
}

pub(crate) const fn invalid<T>(cause: Cause) -> Result<T, AddrError> {
    Err(AddrError::Invalid(cause))
}
