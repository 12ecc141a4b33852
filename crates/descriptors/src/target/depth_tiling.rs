//! Memory layout of depth and stencil.

/// HiZ or HiS of GFX12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HizHis {
    /// Bytes from the buffer's start.
    pub offset: u64,
    /// Width in tiles of 8x8 pixels.
    pub width: u32,
    /// Height in tiles of 8x8 pixels.
    pub height: u32,
    /// Swizzle mode.
    pub mode: u32,
}

/// The order of texels of a depth target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthTiling {
    /// GFX6 to GFX8.
    Legacy {
        /// Elements of a row of the level.
        blocks_x: u32,
        /// Rows of the level.
        blocks_y: u32,
        /// Index into the table of tile modes.
        index: u32,
        /// The same for stencil.
        stencil_index: u32,
        /// GB_TILE_MODE of the index (GFX7 and GFX8).
        tile_mode: u32,
        /// GB_TILE_MODE of stencil's index (GFX7 and GFX8).
        stencil_tile_mode: u32,
        /// GB_MACROTILE_MODE of depth (GFX7 and GFX8).
        macrotile_mode: u32,
    },
    /// GFX9 and later.
    Modern {
        /// Swizzle mode.
        mode: u32,
        /// Stencil's swizzle mode.
        stencil_mode: u32,
        /// The pitch as addrlib gives it (GFX9).
        epitch: u32,
        /// The same of stencil (GFX9).
        stencil_epitch: u32,
        /// HiZ (GFX12).
        hiz: Option<HizHis>,
        /// HiS (GFX12).
        his: Option<HizHis>,
    },
}
