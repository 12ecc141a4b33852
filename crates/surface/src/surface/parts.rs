//! Pieces of descriptions and layouts, and the refusal of both.

use thiserror::Error;

use crate::error::AddrError;
use crate::modifier::MaxBlock;

/// The refusal of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SurfaceError {
    /// A description that no chip can do.
    #[error("{0}")]
    Config(&'static str),
    /// A description that addrlib refuses.
    #[error(transparent)]
    Addr(#[from] AddrError),
    /// A description that GFX12 refuses, for which the driver has one number.
    #[error("{0}")]
    Gfx12(AddrError),
}

impl SurfaceError {
    /// Returns the number that `ac_compute_surface` answers with: -22 (EINVAL) or addrlib's.
    pub const fn code(self) -> i32 {
        match self {
            Self::Config(_) => -22,
            Self::Addr(error) => error.code(),
            Self::Gfx12(_) => 1,
        }
    }
}

/// The most mip levels (`RADEON_SURF_MAX_LEVELS`).
pub(super) const MAX_LEVELS: usize = 15;

/// Compression settings of DCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DccSettings {
    /// `true` if 64-byte parts of a block can be read by themselves.
    pub independent_64b: bool,
    /// `true` if 128-byte parts of a block can be read by themselves.
    pub independent_128b: bool,
    /// Largest compressed block.
    pub max_block: MaxBlock,
}

/// Place of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelPlace {
    /// Offset in bytes.
    pub offset: u64,
    /// Pitch in elements; for metadata, bytes of the level.
    pub pitch: u32,
}

/// Levels of an image.
pub type Levels = [LevelPlace; MAX_LEVELS];
