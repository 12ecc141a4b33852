//! The description of metadata, and its sizes.

use crate::addr2::dimension::Dimension;
use crate::addr2::image::MAX_LEVELS;
use crate::addr2::mode::SwizzleMode;

/// A kind of metadata that is stored beside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaKind {
    /// DCC: one byte for 256 bytes of colour.
    Dcc,
    /// CMASK: four bits for 8x8 pixels of FMASK or colour.
    Cmask,
    /// HTILE: four bytes for 8x8 pixels of depth.
    Htile,
}

/// The description of metadata of an image with a given mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaImage {
    /// The kind of metadata to describe.
    pub kind: MetaKind,
    /// The mode of the image: of the colour, depth or FMASK surface.
    pub mode: SwizzleMode,
    /// The dimension of the image.
    pub dimension: Dimension,
    /// The size of an element in bits.
    pub bits: u32,
    /// The width of the image in elements.
    pub width: u32,
    /// The height of the image in elements.
    pub height: u32,
    /// The number of array layers, or the depth of a 3D image.
    pub slices: u32,
    /// The number of mip levels.
    pub levels: u32,
    /// The number of coverage samples.
    pub samples: u32,
    /// The number of stored fragments.
    pub fragments: u32,
    /// `true` if the metadata of an element is in the pipe of the element.
    pub pipe_aligned: bool,
    /// `true` if the metadata of an element is at the render backend of the element (GFX9).
    pub rb_aligned: bool,
    /// The first level in the mip tail of the image (GFX10 and later).
    pub first_tail: u32,
}

/// The layout of one level of metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaLevel {
    /// `true` if the level shares a meta block with smaller levels.
    pub in_tail: bool,
    /// The location of the level, in elements of the image (GFX9).
    pub start: [u32; 3],
    /// The padded size of the level, in elements of the image (GFX9).
    pub extent: [u32; 3],
    /// The offset in a slice, in bytes (GFX10 and later).
    pub offset: u32,
    /// The size of the level in a slice, in bytes; 0 for all levels of the tail but the first (GFX10 and later).
    pub bytes: u32,
}

/// The sizes of metadata. Lengths are in elements of the image (HTILE and CMASK: in pixels) unless the field says bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaLayout {
    /// The pitch in elements (HTILE and CMASK: in pixels), padded to a multiple of the meta block's width.
    pub pitch: u32,
    /// The height in elements (HTILE and CMASK: in pixels), padded to a multiple of the meta block's height.
    pub height: u32,
    /// The depth or number of layers, padded to a multiple of the meta block's depth.
    pub depth: u32,
    /// The size of a slice in bytes; for DCC on GFX9 the number of bytes that a fast clear writes.
    pub slice_bytes: u64,
    /// The size of all slices in bytes.
    pub bytes: u64,
    /// The alignment of the metadata's address in bytes.
    pub align: u32,
    /// The dimensions of the block of elements that one unit of metadata describes.
    pub compressed_block: [u32; 3],
    /// The dimensions of the meta block: the part of an image whose metadata is stored together.
    pub block: [u32; 3],
    /// The size of a meta block in bytes.
    pub block_bytes: u32,
    /// The number of meta blocks in a slice.
    pub blocks_per_slice: u32,
    /// The levels. Meaningless if the image has only one level.
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
