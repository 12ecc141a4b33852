//! Errors of copies.

use thiserror::Error;

use crate::error::AddrError;

/// An error of a copy between rows and a tiled image, or of preparing a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TilerError {
    /// Addresses cannot be computed for the image or level.
    #[error(transparent)]
    Address(#[from] AddrError),
    /// The image does not have the level or sample.
    #[error("no {what} {number}: there are {count}")]
    Missing {
        /// The kind of number: `level` or `sample`.
        what: &'static str,
        /// The requested level or sample.
        number: u32,
        /// The number of levels or samples of the image.
        count: u32,
    },
    /// The region is not inside the level.
    #[error("{first} to {end} of {axis} is not inside {extent}")]
    Outside {
        /// The axis: `x`, `y` or `z`.
        axis: char,
        /// The index of the region's first element along the axis.
        first: u32,
        /// The end of the region along the axis, exclusive.
        end: u64,
        /// The extent of the level along the axis, including padding.
        extent: u32,
    },
    /// The buffer of the image ends before the region does.
    #[error("the tiled image has {len} bytes, too few for byte {at}")]
    TiledTooShort {
        /// The size of the buffer in bytes.
        len: usize,
        /// The offset in bytes of the last byte of the first cell, element or row that does not fit.
        at: u64,
    },
    /// The buffer of the rows ends before the region does.
    #[error("the rows have {len} bytes, too few for byte {at}")]
    RowsTooShort {
        /// The size of the buffer in bytes.
        len: usize,
        /// The offset in bytes of the last byte of the first cell, element or row that does not fit.
        at: u64,
    },
    /// Rows or slices would overlap.
    #[error("{what} of {bytes} bytes overlap where each takes {least}")]
    Overlap {
        /// The overlapping unit: `rows` or `slices`.
        what: &'static str,
        /// The given distance between them in bytes.
        bytes: usize,
        /// The smallest valid distance in bytes.
        least: u64,
    },
}
