//! The description of an image, and the layout that follows.

use bitflags::bitflags;

use super::dimension::Dimension;
use super::mode::SwizzleMode;

/// The most mip levels: 32768 elements down to one.
pub const MAX_LEVELS: usize = 16;

/// The largest width, height or depth, in elements, for which sizes cannot overflow.
pub(crate) const MAX_EXTENT: u32 = 1 << 20;

/// The property of a format that restricts modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Elements that are texels.
    #[default]
    Plain,
    /// Elements that are compressed blocks.
    BlockCompressed,
    /// Elements that are two texels which share chroma.
    Packed422,
    /// Elements of 96 bits.
    Rgb96,
}

bitflags! {
    /// The uses of an image that its mode depends on (addrlib's `ADDR2_SURFACE_FLAGS`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Usage: u32 {
        /// Colour target.
        const COLOR = 1;
        /// Depth target.
        const DEPTH = 1 << 1;
        /// Stencil target.
        const STENCIL = 1 << 2;
        /// Sampled image.
        const TEXTURE = 1 << 3;
        /// Scanned out by the display.
        const DISPLAY = 1 << 4;
        /// Partially resident.
        const PRT = 1 << 5;
        /// FMASK of a multisampled image.
        const FMASK = 1 << 6;
        /// A volume whose slices are viewed as layers.
        const VIEW_3D_AS_2D = 1 << 7;
        /// Unordered writes.
        const UNORDERED = 1 << 8;
        /// Smaller blocks are preferred when larger ones waste memory.
        const OPT_4_SPACE = 1 << 9;
        /// The smallest size is preferred.
        const MINIMIZE_ALIGN = 1 << 10;
        /// Metadata is required.
        const NEED_METADATA = 1 << 11;
        /// No metadata is used.
        const NO_METADATA = 1 << 12;
        /// Metadata is not aligned to pipes.
        const META_PIPE_UNALIGNED = 1 << 13;
        /// Metadata is not aligned to render backends.
        const META_RB_UNALIGNED = 1 << 14;
        /// GFX9: a rotated display surface.
        const ROTATED = 1 << 15;
    }
}

/// An image whose mode is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Swizzle mode.
    pub mode: SwizzleMode,
    /// Dimension.
    pub dimension: Dimension,
    /// Property of the format.
    pub format: Format,
    /// Bits of an element: 8 to 128.
    pub bits: u32,
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
    /// A pitch to use instead of the smallest one, in elements; 0 for none.
    pub pitch: u32,
}

impl Image {
    /// Returns a two-dimensional image of one layer, level and sample, used as a colour target and texture.
    pub const fn new(mode: SwizzleMode, bits: u32, width: u32, height: u32) -> Self {
        Self {
            mode,
            dimension: Dimension::D2,
            format: Format::Plain,
            bits,
            width,
            height,
            slices: 1,
            levels: 1,
            samples: 1,
            fragments: 0,
            usage: Usage::COLOR.union(Usage::TEXTURE),
            pitch: 0,
        }
    }

    pub(crate) fn normalised(&self) -> Self {
        let samples = self.samples.max(1);
        Self {
            width: self.width.max(1),
            height: self.height.max(1),
            slices: self.slices.max(1),
            levels: self.levels.max(1),
            samples,
            fragments: if self.fragments == 0 { samples } else { self.fragments },
            ..*self
        }
    }

    /// Returns the bytes of an element.
    pub(crate) const fn bytes(&self) -> u32 {
        self.bits >> 3
    }

    /// Returns the exponent of the bytes of an element.
    pub(crate) const fn bytes_log2(&self) -> u32 {
        crate::bits::log2(self.bits >> 3)
    }

    pub(crate) fn is_3d(&self) -> bool {
        self.dimension == Dimension::D3
    }

    pub(crate) fn is_zbuffer(&self) -> bool {
        self.usage.intersects(Usage::DEPTH.union(Usage::STENCIL))
    }
}

/// A mip level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Pitch in elements.
    pub pitch: u32,
    /// Height in elements, padded.
    pub height: u32,
    /// Depth or layers, padded.
    pub depth: u32,
    /// Offset in bytes as addrlib reports it: that of a level of all slices (GFX10 and later).
    pub offset: u64,
    /// Offset of the level's first block in a slice, in bytes.
    pub block_offset: u64,
    /// Offset inside the mip tail's block, in bytes; 0 outside of the tail.
    pub tail_offset: u32,
    /// Coordinates of the level inside the mip tail's block (GFX10 and later), in elements.
    pub tail: [u32; 3],
}

/// The levels of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    items: [Level; MAX_LEVELS],
    len: u32,
}

impl Levels {
    pub(crate) const fn new(len: u32) -> Self {
        const EMPTY: Level =
            Level { pitch: 0, height: 0, depth: 0, offset: 0, block_offset: 0, tail_offset: 0, tail: [0; 3] };
        Self { items: [EMPTY; MAX_LEVELS], len: if len as usize > MAX_LEVELS { MAX_LEVELS as u32 } else { len } }
    }

    /// Returns the levels, the largest first.
    pub fn as_slice(&self) -> &[Level] {
        &self.items[..self.len as usize]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Level] {
        &mut self.items[..self.len as usize]
    }
}

impl core::ops::Index<u32> for Levels {
    type Output = Level;

    fn index(&self, level: u32) -> &Level {
        &self.items[..self.len as usize][level as usize]
    }
}

/// Sizes of an image. All sizes are in elements unless they say bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Pitch of level 0.
    pub pitch: u32,
    /// Pitch in pixels: a third of `pitch` for elements of 96 bits.
    pub pixel_pitch: u32,
    /// Height of level 0.
    pub height: u32,
    /// Layers or depth, padded.
    pub slices: u32,
    /// Bytes of a slice, with all its levels.
    pub slice_bytes: u64,
    /// Bytes of the image.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Block dimensions.
    pub block: [u32; 3],
    /// Pitch of the sheet on which all levels lie (GFX9; later, as level 0).
    pub chain_pitch: u32,
    /// Height of that sheet.
    pub chain_height: u32,
    /// Slices of that sheet.
    pub chain_slices: u32,
    /// GFX9: the descriptor's pitch field holds a height.
    pub epitch_is_height: bool,
    /// The whole chain lies in one mip tail.
    pub chain_in_tail: bool,
    /// The first level in the mip tail; the number of levels when there is none.
    pub first_tail: u32,
    /// Levels.
    pub levels: Levels,
}
