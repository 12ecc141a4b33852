//! The tiling of depth and stencil.

/// The HiZ or HiS buffer of a depth target on GFX12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HizHis {
    /// The offset in the buffer, in bytes.
    pub offset: u64,
    /// The width in tiles of 8x8 pixels.
    pub width: u32,
    /// The height in tiles of 8x8 pixels.
    pub height: u32,
    /// The swizzle mode of the buffer.
    pub mode: u32,
}

/// The tiling of a depth target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthTiling {
    /// The tiling of GFX6 to GFX8, given by tile modes.
    Legacy {
        /// The number of elements in a row of the level.
        blocks_x: u32,
        /// The number of rows of the level.
        blocks_y: u32,
        /// The index of depth into the table of tile modes.
        index: u32,
        /// The index of stencil into the table of tile modes.
        stencil_index: u32,
        /// The value of GB_TILE_MODE for depth's index (GFX7 and GFX8).
        tile_mode: u32,
        /// The value of GB_TILE_MODE for stencil's index (GFX7 and GFX8).
        stencil_tile_mode: u32,
        /// The value of GB_MACROTILE_MODE for depth (GFX7 and GFX8).
        macrotile_mode: u32,
    },
    /// The tiling of GFX9 and later, given by swizzle modes.
    Modern {
        /// The swizzle mode of depth.
        mode: u32,
        /// The swizzle mode of stencil.
        stencil_mode: u32,
        /// The epitch of depth, as addrlib computes it (GFX9).
        epitch: u32,
        /// The epitch of stencil, as addrlib computes it (GFX9).
        stencil_epitch: u32,
        /// The HiZ buffer, if there is one (GFX12).
        hiz: Option<HizHis>,
        /// The HiS buffer, if there is one (GFX12).
        his: Option<HizHis>,
    },
}
