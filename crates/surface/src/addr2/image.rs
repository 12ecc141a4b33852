//! The description of an image, and its layout.

use bitflags::bitflags;

use super::dimension::Dimension;
use super::mode::SwizzleMode;

/// The maximum number of mip levels: from 32768 elements down to one.
pub const MAX_LEVELS: usize = 16;

/// The largest width, height or depth, in elements, for which sizes cannot overflow.
pub(crate) const MAX_EXTENT: u32 = 1 << 20;

/// The class of a format, which restricts the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// The elements are texels.
    #[default]
    Plain,
    /// The elements are compressed blocks.
    BlockCompressed,
    /// The elements are pairs of texels with common chroma.
    Packed422,
    /// The elements have 96 bits.
    Rgb96,
}

bitflags! {
    /// The uses of an image that its mode depends on (addrlib's `ADDR2_SURFACE_FLAGS`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Usage: u32 {
        /// The image is a colour target.
        const COLOR = 1;
        /// The image is a depth target.
        const DEPTH = 1 << 1;
        /// The image is a stencil target.
        const STENCIL = 1 << 2;
        /// The texture units sample the image.
        const TEXTURE = 1 << 3;
        /// The display scans out the image.
        const DISPLAY = 1 << 4;
        /// The image is partially resident.
        const PRT = 1 << 5;
        /// The image is the FMASK of a multisampled image.
        const FMASK = 1 << 6;
        /// The image is 3D, and its slices are viewed as layers.
        const VIEW_3D_AS_2D = 1 << 7;
        /// Shaders write to the image in any order.
        const UNORDERED = 1 << 8;
        /// Smaller blocks are preferred if larger ones waste memory.
        const OPT_4_SPACE = 1 << 9;
        /// The smallest size is preferred.
        const MINIMIZE_ALIGN = 1 << 10;
        /// The image must have metadata.
        const NEED_METADATA = 1 << 11;
        /// The image has no metadata.
        const NO_METADATA = 1 << 12;
        /// The metadata is not aligned to pipes.
        const META_PIPE_UNALIGNED = 1 << 13;
        /// The metadata is not aligned to render backends.
        const META_RB_UNALIGNED = 1 << 14;
        /// The display rotates the image (GFX9).
        const ROTATED = 1 << 15;
    }
}

/// The description of an image with a given swizzle mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The swizzle mode of the image.
    pub mode: SwizzleMode,
    /// The dimension of the image: 1D, 2D or 3D.
    pub dimension: Dimension,
    /// The class of the format, which restricts the modes.
    pub format: Format,
    /// The size of an element in bits: 8 to 128.
    pub bits: u32,
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
    /// A pitch to use instead of the minimum, in elements; 0 for the minimum.
    pub pitch: u32,
}

impl Image {
    /// Creates the description of a 2D image with one layer, level and sample, for use as a colour target and texture.
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

    /// Returns the size of an element in bytes.
    pub(crate) const fn bytes(&self) -> u32 {
        self.bits >> 3
    }

    /// Returns the number of units of a pitch in an element: elements of 96 bits are laid out as three of 32 bits.
    pub(crate) const fn expansion(&self) -> u32 {
        if self.bits == 96 { 3 } else { 1 }
    }

    /// Returns the base-2 logarithm of the size of an element in bytes.
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

/// The layout of a mip level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// The row pitch of the level in elements.
    pub pitch: u32,
    /// The height of the level in elements, including padding.
    pub height: u32,
    /// The padded depth or number of layers.
    pub depth: u32,
    /// The offset in bytes that addrlib reports. On GFX10 and later this is the offset of the level with all its slices.
    pub offset: u64,
    /// The offset of the level's first block in a slice, in bytes.
    pub block_offset: u64,
    /// The offset inside the mip tail's block, in bytes; 0 for levels outside the tail.
    pub tail_offset: u32,
    /// The coordinates of the level inside the mip tail's block, in elements (GFX10 and later).
    pub tail: [u32; 3],
}

/// The levels of a mip chain.
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

/// The sizes of an image. Sizes are in elements unless the field says bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The row pitch of level 0.
    pub pitch: u32,
    /// The pitch in pixels: a third of `pitch` for elements of 96 bits.
    pub pixel_pitch: u32,
    /// The height of level 0, including padding.
    pub height: u32,
    /// The padded number of layers or slices.
    pub slices: u32,
    /// The size of a slice with all its levels, in bytes.
    pub slice_bytes: u64,
    /// The size of the image in bytes.
    pub bytes: u64,
    /// The alignment of the image's address in bytes.
    pub align: u32,
    /// The width, height and depth of a block.
    pub block: [u32; 3],
    /// The pitch of the mip chain with all levels (GFX9); later the pitch of level 0.
    pub chain_pitch: u32,
    /// The height of the mip chain (GFX9); later the height of level 0.
    pub chain_height: u32,
    /// The number of slices of the mip chain (GFX9); later of level 0.
    pub chain_slices: u32,
    /// `true` if the pitch field of the descriptor contains a height (GFX9).
    pub epitch_is_height: bool,
    /// `true` if the whole chain is in one mip tail.
    pub chain_in_tail: bool,
    /// The first level in the mip tail; the number of levels if there is no mip tail.
    pub first_tail: u32,
    /// The layout of each mip level, the largest first.
    pub levels: Levels,
}
