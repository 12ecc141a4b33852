//! Errors: what addrlib refuses, with the value that it refuses.

use thiserror::Error;

/// The refusal of an image description. [`AddrError::code`] is the number with which addrlib answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddrError {
    /// The parameters contradict each other or the chip (addrlib's `ADDR_INVALIDPARAMS`).
    #[error("invalid: {0}")]
    Invalid(Cause),
    /// The combination is sound, but this hardware or library has no answer (`ADDR_NOTSUPPORTED`).
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

    /// Returns the value that was refused.
    pub const fn cause(self) -> Cause {
        match self {
            Self::Invalid(cause) | Self::NotSupported(cause) | Self::NotImplemented(cause) => cause,
        }
    }
}

/// The value that an [`AddrError`] refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Cause {
    /// A tile or swizzle mode that the generation lacks, or that this kind of image cannot have.
    #[error("mode {0} for this image")]
    Mode(u32),
    /// An element size that the hardware or the mode lacks, in bits.
    #[error("elements of {0} bits")]
    ElementBits(u32),
    /// A width of zero, or one too large, in elements.
    #[error("a width of {0}")]
    Width(u32),
    /// A height that the kind of image cannot have, in elements.
    #[error("a height of {0}")]
    Height(u32),
    /// A number of mip levels that the kind of image cannot have.
    #[error("{0} mip levels")]
    Levels(u32),
    /// A number of samples, or of fragments, that the mode or the kind of image cannot have.
    #[error("{0} samples")]
    Samples(u32),
    /// A pitch that is not aligned, or narrower than the image, in elements.
    #[error("a pitch of {0}")]
    Pitch(u32),
    /// A bank and pipe XOR value on a mode without it.
    #[error("a pipe and bank XOR of {0}")]
    PipeBankXor(u32),
    /// A use (depth, display, FMASK, ...) that the kind of image cannot have.
    #[error("this use of the image")]
    Usage,
    /// Nothing is left after all restrictions on modes.
    #[error("no mode is left")]
    NothingLeft,
    /// Metadata of this kind, or its addresses, in this configuration.
    #[error("this metadata")]
    Metadata,
    /// A coordinate outside of the image.
    #[error("a coordinate outside")]
    Coordinate,
    /// A size that does not fit 64 bits, or the 32 bits that a field has.
    #[error("a size that overflows")]
    Overflow,
    /// A tile index that the table of the chip does not hold.
    #[error("tile index {0}")]
    TileIndex(i32),
    /// A generation that this interface does not serve.
    #[error("this generation")]
    Generation,
}

pub(crate) const fn invalid<T>(cause: Cause) -> Result<T, AddrError> {
    Err(AddrError::Invalid(cause))
}
