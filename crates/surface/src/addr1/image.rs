//! The description of an image, and the layout that follows.

use bitflags::bitflags;

use super::change::TileChange;
use super::mode::{TileMode, TileType};
use super::table::TileInfo;

/// The most mip levels.
pub const MAX_LEVELS: usize = 16;

/// The largest width, height or depth, in elements, for which sizes cannot overflow.
pub(crate) const MAX_EXTENT: u32 = 1 << 17;

bitflags! {
    /// The uses of an image that its layout depends on (addrlib's `ADDR_SURFACE_FLAGS`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Usage: u32 {
        /// Colour target.
        const COLOR = 1;
        /// Depth target.
        const DEPTH = 1 << 1;
        /// Stencil target.
        const STENCIL = 1 << 2;
        /// Scanned out by the display.
        const DISPLAY = 1 << 3;
        /// Partially resident.
        const PRT = 1 << 4;
        /// FMASK of a multisampled image.
        const FMASK = 1 << 5;
        /// Six faces.
        const CUBE = 1 << 6;
        /// A volume.
        const VOLUME = 1 << 7;
        /// Widths, heights and slices are powers of two, as mip chains need.
        const POW2_PAD = 1 << 8;
        /// Smaller tiles where larger ones waste memory.
        const OPT_4_SPACE = 1 << 9;
        /// Depth that HTILE compresses (GFX6).
        const COMPRESSED_DEPTH = 1 << 10;
        /// Depth without stencil.
        const NO_STENCIL = 1 << 11;
        /// Stencil must find a tile index with the same banks as depth (GFX7-8).
        const MATCH_STENCIL = 1 << 12;
        /// The texture units read the compressed image (GFX8).
        const TC_COMPATIBLE = 1 << 13;
        /// DCC is wanted (GFX8).
        const DCC = 1 << 14;
        /// Depth is not to be split.
        const NON_SPLIT = 1 << 15;
        /// DCC is worth a wider pitch where Fiji switches to four pipes.
        const DCC_PIPE_WORKAROUND = 1 << 16;
    }
}

/// An image whose tile mode is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Tile mode.
    pub mode: TileMode,
    /// Order of elements in a micro tile.
    pub tile_type: TileType,
    /// Bits of an element: 8 to 128.
    pub bits: u32,
    /// Elements are compressed blocks.
    pub block_compressed: bool,
    /// Width in elements.
    pub width: u32,
    /// Height in elements.
    pub height: u32,
    /// Array layers, or depth.
    pub slices: u32,
    /// Mip levels.
    pub levels: u32,
    /// Coverage samples.
    pub samples: u32,
    /// Number of stored fragments; 0 means the number of samples.
    pub fragments: u32,
    /// Uses.
    pub usage: Usage,
}

impl Image {
    /// Returns a colour image of one slice, level and sample.
    pub const fn new(mode: TileMode, tile_type: TileType, bits: u32, width: u32, height: u32) -> Self {
        Self {
            mode,
            tile_type,
            bits,
            block_compressed: false,
            width,
            height,
            slices: 1,
            levels: 1,
            samples: 1,
            fragments: 0,
            usage: Usage::COLOR,
        }
    }

    /// Returns the number of fragments that are stored.
    pub const fn stored(&self) -> u32 {
        let n = if self.fragments == 0 { self.samples } else { self.fragments };
        if n == 0 { 1 } else { n }
    }
}

/// One mip level, laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The tile mode that came out.
    pub mode: TileMode,
    /// Order of elements.
    pub tile_type: TileType,
    /// Index in the table of tile modes: -1 for none, -2 for linear images of unaligned pitch.
    pub tile_index: i32,
    /// Index in the table of macro tile modes (GFX7-8), -1 for none.
    pub macro_index: i32,
    /// Pipes and banks.
    pub info: TileInfo,
    /// Pitch in elements.
    pub pitch: u32,
    /// Height in elements.
    pub height: u32,
    /// Slices.
    pub depth: u32,
    /// Bytes of a slice.
    pub slice_bytes: u64,
    /// Bytes of the level.
    pub bytes: u64,
    /// Alignment of its address.
    pub base_align: u32,
    /// Alignment of its pitch, in elements.
    pub pitch_align: u32,
    /// Alignment of its height.
    pub height_align: u32,
    /// Alignment of its slices.
    pub depth_align: u32,
    /// Width and height of a macro tile, in elements; 0 without.
    pub macro_tile: [u32; 2],
    /// The texture units can read it compressed.
    pub tc_compatible: bool,
    /// DCC is impossible, as fewer pipes are used.
    pub no_dcc: bool,
    /// The tile index with which stencil matches depth; -1 for none.
    pub stencil_index: i32,
    /// The reason why the mode is another than the one asked for; `None` if it is that one.
    pub change: Option<TileChange>,
}

/// The layout of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    levels: [Option<(Level, u64)>; MAX_LEVELS],
    /// Bytes of all levels.
    pub bytes: u64,
}

impl Layout {
    pub(crate) const EMPTY: Self = Self { levels: [None; MAX_LEVELS], bytes: 0 };

    pub(crate) fn push(&mut self, index: usize, level: Level) {
        let align = u64::from(level.base_align);
        let offset = self.bytes.next_multiple_of(align.max(1));
        if let Some(slot) = self.levels.get_mut(index) {
            *slot = Some((level, offset));
            self.bytes = offset + level.bytes;
        }
    }

    /// Returns the levels, each with its offset from the start of the image.
    pub fn levels(&self) -> impl Iterator<Item = &(Level, u64)> {
        self.levels.iter().flatten()
    }

    /// Returns the largest level and its offset.
    pub fn level(&self, index: usize) -> Option<&(Level, u64)> {
        self.levels.get(index).and_then(Option::as_ref)
    }
}
