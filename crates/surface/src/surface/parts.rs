//! Common types of descriptions and layouts, and their error.

use thiserror::Error;

use crate::error::AddrError;
use crate::modifier::MaxBlock;

/// An error of computing a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SurfaceError {
    /// No chip supports the description. The text names the invalid property.
    #[error("{0}")]
    Config(&'static str),
    /// addrlib rejects the description.
    #[error(transparent)]
    Addr(#[from] AddrError),
    /// addrlib rejects the description on GFX12. The driver returns the same number for all such errors.
    #[error("{0}")]
    Gfx12(AddrError),
}

impl SurfaceError {
    /// Returns the number that `ac_compute_surface` returns: -22 (EINVAL) or addrlib's number.
    pub const fn code(self) -> i32 {
        match self {
            Self::Config(_) => -22,
            Self::Addr(error) => error.code(),
            Self::Gfx12(_) => 1,
        }
    }
}

/// The maximum number of mip levels (`RADEON_SURF_MAX_LEVELS`).
pub(super) const MAX_LEVELS: usize = 15;

/// The compression settings of DCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DccSettings {
    /// `true` if the 64-byte parts of a block are compressed independently.
    pub independent_64b: bool,
    /// `true` if the 128-byte parts of a block are compressed independently.
    pub independent_128b: bool,
    /// The size of the largest compressed block.
    pub max_block: MaxBlock,
}

/// The location of a mip level in an image or in its metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelPlace {
    /// The offset of the level in bytes.
    pub offset: u64,
    /// The pitch in elements; for metadata, the size of the level in bytes.
    pub pitch: u32,
}

/// The locations of an image's levels.
pub type Levels = [LevelPlace; MAX_LEVELS];
