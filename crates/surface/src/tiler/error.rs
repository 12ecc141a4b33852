//! Errors of copies.

use thiserror::Error;

use crate::error::AddrError;

/// The refusal of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TilerError {
    /// The image or level has no addresses.
    #[error(transparent)]
    Address(#[from] AddrError),
    /// The level or the sample does not exist.
    #[error("no {what} {number}: there are {count}")]
    Missing {
        /// `level` or `sample`.
        what: &'static str,
        /// The number asked for.
        number: u32,
        /// The number that there are.
        count: u32,
    },
    /// The region is not inside the level.
    #[error("{first} to {end} of {axis} is not inside {extent}")]
    Outside {
        /// `x`, `y` or `z`.
        axis: char,
        /// The first element.
        first: u32,
        /// The end, exclusive.
        end: u64,
        /// The padded extent of the level.
        extent: u32,
    },
    /// The bytes of the image end before the region does.
    #[error("the tiled image has {len} bytes, too few for byte {at}")]
    TiledTooShort {
        /// The bytes that there are.
        len: usize,
        /// A byte that is missing: the last one of the first cell, element or row that does not fit.
        at: u64,
    },
    /// The bytes of the rows end before the region does.
    #[error("the rows have {len} bytes, too few for byte {at}")]
    RowsTooShort {
        /// The bytes that there are.
        len: usize,
        /// A byte that is missing: the last one of the first cell, element or row that does not fit.
        at: u64,
    },
    /// Rows or slices overlap.
    #[error("{what} of {bytes} bytes overlap where each takes {least}")]
    Overlap {
        /// `rows` or `slices`.
        what: &'static str,
        /// The bytes from one to the next.
        bytes: usize,
        /// The bytes that one takes.
        least: u64,
    },
}
