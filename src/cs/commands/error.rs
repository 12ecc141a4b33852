//! Errors of recording a command.

use crate::{
    cs::{self, EncodeError, Target},
    vamgr::GpuVa,
};

/// The result of recording a command.
pub type Result<T, E = CommandError> = std::result::Result<T, E>;

/// The reason why a command was not recorded. Except for [`CommandError::Stream`] the stream is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No bytes.
    #[error("{command} of nothing")]
    Empty {
        /// The command.
        command: &'static str,
    },

    /// A range that its memory does not have.
    #[error("{bytes} bytes from {offset:#x} on, the memory has {size}")]
    OutOfBounds {
        /// Start of the range in the memory, bytes.
        offset: u64,
        /// The range's length in bytes.
        bytes: u64,
        /// The memory's size in bytes.
        size: u64,
    },

    /// A range that runs over the end of the address space, or of its half.
    #[error("{bytes} bytes from {va} on leave the address space")]
    OutOfAddresses {
        /// Start of the range.
        va: GpuVa,
        /// Its length in bytes.
        bytes: u64,
    },

    /// An address or a length that is no multiple of what the engines work in.
    #[error("{command}: {value:#x} is no multiple of {multiple}")]
    Misaligned {
        /// The command.
        command: &'static str,
        /// The address or length.
        value: u64,
        /// Required multiple, bytes.
        multiple: u64,
    },

    /// Two ranges that should be of one length.
    #[error("{command} of {from} bytes to {to} bytes")]
    Lengths {
        /// The command.
        command: &'static str,
        /// Length of the source in bytes.
        from: u64,
        /// Length of the destination in bytes.
        to: u64,
    },

    /// Source and destination of a copy share bytes. The engines make no promise about their order then.
    #[error("a copy of {bytes} bytes from {from} to {to}, which overlap")]
    Overlap {
        /// Destination.
        to: GpuVa,
        /// Source.
        from: GpuVa,
        /// Length in bytes.
        bytes: u64,
    },

    /// Something that the ring cannot do.
    #[error("{what} is nothing that {target} does")]
    Unsupported {
        /// The unsupported feature.
        what: &'static str,
        /// The ring.
        target: Target,
    },

    /// The stream refused. It may have recorded a part of the command, and where it could not grow it is poisoned.
    #[error(transparent)]
    Stream(#[from] cs::Error),
}

impl From<EncodeError> for CommandError {
    fn from(error: EncodeError) -> Self {
        Self::Stream(error.into())
    }
}

/// `Ok` if `value` is a multiple of `multiple`.
pub(super) fn require_multiple(command: &'static str, value: u64, multiple: u64) -> Result<()> {
    if value.is_multiple_of(multiple) { Ok(()) } else { Err(CommandError::Misaligned { command, value, multiple }) }
}
