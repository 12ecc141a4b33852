//! The description of an image, and its layout.

use bitflags::bitflags;

use super::change::TileChange;
use super::mode::{TileMode, TileType};
use super::table::TileInfo;

/// The maximum number of mip levels.
pub const MAX_LEVELS: usize = 16;

/// The largest width, height or depth, in elements, for which sizes cannot overflow.
pub(crate) const MAX_EXTENT: u32 = 1 << 17;

bitflags! {
    /// The uses of an image that its layout depends on (addrlib's `ADDR_SURFACE_FLAGS`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Usage: u32 {
        /// The image is a colour target.
        const COLOR = 1;
        /// The image is a depth target.
        const DEPTH = 1 << 1;
        /// The image is a stencil target.
        const STENCIL = 1 << 2;
        /// The display scans out the image.
        const DISPLAY = 1 << 3;
        /// The image is partially resident.
        const PRT = 1 << 4;
        /// The image is the FMASK of a multisampled image.
        const FMASK = 1 << 5;
        /// The image is a cube map.
        const CUBE = 1 << 6;
        /// The image is 3D.
        const VOLUME = 1 << 7;
        /// Widths, heights and slices are padded to powers of two, as mip chains require.
        const POW2_PAD = 1 << 8;
        /// Smaller tiles are preferred if larger ones waste memory.
        const OPT_4_SPACE = 1 << 9;
        /// The depth is compressed by HTILE (GFX6).
        const COMPRESSED_DEPTH = 1 << 10;
        /// The depth image has no stencil.
        const NO_STENCIL = 1 << 11;
        /// Stencil needs a tile index with the same banks as depth (GFX7-8).
        const MATCH_STENCIL = 1 << 12;
        /// The texture units read the compressed image (GFX8).
        const TC_COMPATIBLE = 1 << 13;
        /// The image should have DCC (GFX8).
        const DCC = 1 << 14;
        /// Tiles of depth must not be split.
        const NON_SPLIT = 1 << 15;
        /// The pitch may grow to keep DCC on Fiji, which otherwise switches to four pipes.
        const DCC_PIPE_WORKAROUND = 1 << 16;
    }
}

/// The description of an image with a given tile mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The requested tile mode.
    pub mode: TileMode,
    /// The order of elements in a micro tile.
    pub tile_type: TileType,
    /// The size of an element in bits: 8 to 128.
    pub bits: u32,
    /// `true` if elements are compressed blocks.
    pub block_compressed: bool,
    /// The width of level 0 in elements.
    pub width: u32,
    /// The height of level 0 in elements.
    pub height: u32,
    /// The number of array layers, or the depth of a 3D image.
    pub slices: u32,
    /// The number of mip levels.
    pub levels: u32,
    /// The number of coverage samples.
    pub samples: u32,
    /// The number of stored fragments; 0 for the number of samples.
    pub fragments: u32,
    /// The uses of the image.
    pub usage: Usage,
}

impl Image {
    /// Creates the description of a colour image with one slice, level and sample.
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

    /// Returns the number of stored fragments.
    pub const fn stored(&self) -> u32 {
        let n = if self.fragments == 0 { self.samples } else { self.fragments };
        if n == 0 { 1 } else { n }
    }
}

/// The layout of a mip level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The tile mode that addrlib chose.
    pub mode: TileMode,
    /// The order of elements in a micro tile.
    pub tile_type: TileType,
    /// The index into the table of tile modes: -1 for none, -2 for linear images with an unaligned pitch.
    pub tile_index: i32,
    /// The index into the table of macro tile modes (GFX7-8); -1 for none.
    pub macro_index: i32,
    /// The macro tile parameters of the level.
    pub info: TileInfo,
    /// The row pitch in elements, including padding.
    pub pitch: u32,
    /// The height in elements, including padding.
    pub height: u32,
    /// The number of slices or layers, including padding.
    pub depth: u32,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The size of the level in bytes.
    pub bytes: u64,
    /// The alignment of the level's address in bytes.
    pub base_align: u32,
    /// The alignment of the pitch in elements.
    pub pitch_align: u32,
    /// The alignment of the height in elements.
    pub height_align: u32,
    /// The alignment of the number of slices.
    pub depth_align: u32,
    /// The width and height of a macro tile in elements; 0 without macro tiles.
    pub macro_tile: [u32; 2],
    /// `true` if the texture units can read the compressed level.
    pub tc_compatible: bool,
    /// `true` if DCC is impossible because the level uses fewer pipes.
    pub no_dcc: bool,
    /// The tile index with which stencil matches depth; -1 for none.
    pub stencil_index: i32,
    /// The reason why addrlib replaced the requested mode; `None` if it kept the mode.
    pub change: Option<TileChange>,
}

/// The layout of an image with all its levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    levels: [Option<(Level, u64)>; MAX_LEVELS],
    /// The size of all levels in bytes.
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

    /// Returns the level with this index, and its offset in bytes; `None` if the image lacks it.
    pub fn level(&self, index: usize) -> Option<&(Level, u64)> {
        self.levels.get(index).and_then(Option::as_ref)
    }
}
