//! The values of a layout that only exist on GFX6 to GFX8.

use super::parts::{LevelPlace, MAX_LEVELS};

/// The tiling of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelMode {
    /// Linear rows of texels.
    #[default]
    Linear = 1,
    /// Rows of micro tiles.
    Tiled1d = 2,
    /// Macro tiles.
    Tiled2d = 3,
}

/// The layout of a level on GFX6 to GFX8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyLevel {
    /// The offset of the level in the image, in bytes.
    pub offset: u64,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The row pitch of the level in elements.
    pub pitch: u32,
    /// The height of the level in elements, including padding.
    pub height: u32,
    /// The tiling of the level.
    pub mode: LevelMode,
    /// The index into the table of tile modes.
    pub tile_index: i32,
}

/// The parameters of macro tiles: their distribution over pipes and banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyTiles {
    /// The bank width: the number of horizontally adjacent micro tiles in a bank.
    pub bank_width: u32,
    /// The bank height: the number of vertically adjacent micro tiles in a bank.
    pub bank_height: u32,
    /// The macro tile aspect: the factor by which a macro tile is wider than its default.
    pub aspect: u32,
    /// The tile split: the number of bytes after which the samples of a tile are split.
    pub tile_split: u32,
    /// The number of memory banks.
    pub banks: u32,
    /// The PIPE_CONFIG field of the tile mode register.
    pub pipe_config: u32,
}

impl LegacyTiles {
    /// Returns `true` if every parameter is 0, which means that it is not given, or a value that the tiling flags of a BO can hold.
    pub(super) const fn is_valid(&self) -> bool {
        const fn side(value: u32) -> bool {
            matches!(value, 0 | 1 | 2 | 4 | 8)
        }
        side(self.bank_width)
            && side(self.bank_height)
            && side(self.aspect)
            && matches!(self.tile_split, 0 | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096)
            && matches!(self.banks, 0 | 2 | 4 | 8 | 16)
            && self.pipe_config < 32
    }

    /// Returns `true` if all parameters that an import needs are set.
    pub(super) const fn is_complete(&self) -> bool {
        self.bank_width != 0 && self.bank_height != 0 && self.aspect != 0 && self.tile_split != 0
    }
}

/// The values of a layout that only exist on GFX6 to GFX8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legacy {
    /// The layout of each level of colour or depth.
    pub levels: [LegacyLevel; MAX_LEVELS],
    /// The layout of each level of stencil.
    pub stencil_levels: [LegacyLevel; MAX_LEVELS],
    /// The DCC of each level: its offset and size for fast clears, and the fast clear size of one slice.
    pub dcc_levels: [(LevelPlace, u32); MAX_LEVELS],
    /// The macro tile parameters of the image.
    pub tiles: LegacyTiles,
    /// The tile split of stencil: the number of bytes after which the samples of a tile are split.
    pub stencil_tile_split: u32,
    /// The index into the table of macro tile modes (GFX7-8).
    pub macro_index: u32,
    /// `true` if the pitch of stencil differs from the pitch of depth.
    pub stencil_adjusted: bool,
    /// The size of a CMASK slice in units of 128x128 pixels, minus one.
    pub cmask_slice_tile_max: u32,
    /// The size of an FMASK slice in tiles, minus one.
    pub fmask_slice_tile_max: u32,
    /// The index of FMASK into the table of tile modes.
    pub fmask_tile_index: i32,
    /// The bank height of FMASK.
    pub fmask_bank_height: u32,
    /// The pitch of FMASK in pixels.
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
