//! The description of metadata, and the sizes that follow.

use crate::addr2::dimension::Dimension;
use crate::addr2::image::MAX_LEVELS;
use crate::addr2::mode::SwizzleMode;

/// A kind of metadata that lies beside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaKind {
    /// One byte for 256 bytes of colour.
    Dcc,
    /// Four bits for 8x8 pixels of FMASK or colour.
    Cmask,
    /// Four bytes for 8x8 pixels of depth.
    Htile,
}

/// Metadata of an image whose mode is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaImage {
    /// Kind of metadata.
    pub kind: MetaKind,
    /// Mode of the image: of the colour, the depth or the FMASK surface.
    pub mode: SwizzleMode,
    /// Dimension of the image.
    pub dimension: Dimension,
    /// Bits of an element.
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
    /// Stored fragments.
    pub fragments: u32,
    /// The metadata of an element lies in the pipe of the element.
    pub pipe_aligned: bool,
    /// The metadata of an element lies with the render backend of the element (GFX9).
    pub rb_aligned: bool,
    /// The first level of the image that lies in its mip tail (GFX10 and later).
    pub first_tail: u32,
}

/// A level of metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaLevel {
    /// The level shares a meta block with smaller ones.
    pub in_tail: bool,
    /// GFX9: where the level begins, in elements of the image.
    pub start: [u32; 3],
    /// GFX9: the level's padded size, in elements of the image.
    pub extent: [u32; 3],
    /// GFX10 and later: offset in a slice, in bytes.
    pub offset: u32,
    /// GFX10 and later: bytes of the level in a slice; 0 for levels in the tail but the first.
    pub bytes: u32,
}

/// Sizes of metadata. Lengths are in elements of the image (HTILE, CMASK: pixels) unless they say bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaLayout {
    /// Pitch, padded to meta blocks.
    pub pitch: u32,
    /// Height, padded.
    pub height: u32,
    /// Depth or layers, padded.
    pub depth: u32,
    /// Bytes of a slice (GFX9 DCC: the bytes that a fast clear writes).
    pub slice_bytes: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// The block of elements that one unit of metadata describes.
    pub compressed_block: [u32; 3],
    /// The meta block: the part of an image whose metadata is stored together.
    pub block: [u32; 3],
    /// Bytes of a meta block.
    pub block_bytes: u32,
    /// Meta blocks of a slice.
    pub blocks_per_slice: u32,
    /// Levels; meaningful when the image has more than one.
    pub levels: [MetaLevel; MAX_LEVELS],
}

impl MetaImage {
    pub(super) fn bytes_log2(&self) -> u32 {
        crate::bits::log2(self.bits >> 3)
    }

    pub(super) fn normalised(&self) -> Self {
        Self {
            width: self.width.max(1),
            height: self.height.max(1),
            slices: self.slices.max(1),
            levels: self.levels.max(1),
            samples: self.samples.max(1),
            fragments: self.fragments.max(1),
            ..*self
        }
    }
}
