//! The part of a layout that only images of GFX6 to GFX8 have.

use super::parts::{LevelPlace, MAX_LEVELS};

/// The tiling of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelMode {
    /// Rows.
    #[default]
    Linear = 1,
    /// Micro tiles in rows.
    Tiled1d = 2,
    /// Macro tiles.
    Tiled2d = 3,
}

/// A level of GFX6 to GFX8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyLevel {
    /// Offset in bytes.
    pub offset: u64,
    /// Bytes of a slice.
    pub slice_bytes: u64,
    /// Pitch in elements.
    pub pitch: u32,
    /// Height in elements.
    pub height: u32,
    /// Tiling.
    pub mode: LevelMode,
    /// Index in the table of tile modes.
    pub tile_index: i32,
}

/// Distribution of macro tiles over pipes and banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyTiles {
    /// Micro tiles next to each other in a bank.
    pub bank_width: u32,
    /// Micro tiles above each other in a bank.
    pub bank_height: u32,
    /// Aspect of a macro tile.
    pub aspect: u32,
    /// Bytes after which samples are split.
    pub tile_split: u32,
    /// Banks.
    pub banks: u32,
    /// PIPE_CONFIG of the register.
    pub pipe_config: u32,
}

impl LegacyTiles {
    /// Returns `true` if an import has all that it needs.
    pub(super) const fn is_complete(&self) -> bool {
        self.bank_width != 0 && self.bank_height != 0 && self.aspect != 0 && self.tile_split != 0
    }
}

/// The part of a layout that only images of GFX6 to GFX8 have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legacy {
    /// Levels.
    pub levels: [LegacyLevel; MAX_LEVELS],
    /// Levels of stencil.
    pub stencil_levels: [LegacyLevel; MAX_LEVELS],
    /// DCC of each level: its offset and the bytes that clear it; the bytes that clear one slice.
    pub dcc_levels: [(LevelPlace, u32); MAX_LEVELS],
    /// Pipes and banks.
    pub tiles: LegacyTiles,
    /// Bytes after which samples of stencil are split.
    pub stencil_tile_split: u32,
    /// Index in the table of macro tile modes (GFX7-8).
    pub macro_index: u32,
    /// The pitch of stencil is not that of depth.
    pub stencil_adjusted: bool,
    /// CMASK's size in units of 128x128 pixels, less one.
    pub cmask_slice_tile_max: u32,
    /// FMASK's size in tiles, less one.
    pub fmask_slice_tile_max: u32,
    /// FMASK's tile index.
    pub fmask_tile_index: i32,
    /// FMASK's bank height.
    pub fmask_bank_height: u32,
    /// FMASK's pitch in pixels.
    pub fmask_pitch: u32,
}

impl Legacy {
    pub(super) const EMPTY: Self = {
        let level =
            LegacyLevel { offset: 0, slice_bytes: 0, pitch: 0, height: 0, mode: LevelMode::Linear, tile_index: 0 };
        Self {
            levels: [level; MAX_LEVELS],
            stencil_levels: [level; MAX_LEVELS],
            dcc_levels: [(LevelPlace { offset: 0, pitch: 0 }, 0); MAX_LEVELS],
            tiles: LegacyTiles { bank_width: 0, bank_height: 0, aspect: 0, tile_split: 0, banks: 0, pipe_config: 0 },
            stencil_tile_split: 0,
            macro_index: 0,
            stencil_adjusted: false,
            cmask_slice_tile_max: 0,
            fmask_slice_tile_max: 0,
            fmask_tile_index: 0,
            fmask_bank_height: 0,
            fmask_pitch: 0,
        }
    };
}
