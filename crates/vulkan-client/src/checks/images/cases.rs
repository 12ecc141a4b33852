//! Images of every element size, kind and number of levels and layers, and the boxes of them that are copied.

use ash::vk::{self, Format as F};

use crate::gpu::{ImageKind, ImagePart, Shape};

/// An image that is copied.
pub(super) struct Case {
    /// The name for evidence.
    pub(super) name: &'static str,
    format: vk::Format,
    dimension: vk::ImageType,
    tiling: vk::ImageTiling,
    attachment: bool,
    shape: Shape,
}

const fn flat(name: &'static str, format: vk::Format, size: [u32; 2], layers: u32, levels: u32) -> Case {
    let shape = Shape { extent: [size[0], size[1], 1], layers, levels, samples: 1 };
    let (dimension, tiling) = (vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL);
    Case { name, format, dimension, tiling, attachment: false, shape }
}

const fn row(name: &'static str, format: vk::Format, width: u32, layers: u32) -> Case {
    Case { dimension: vk::ImageType::TYPE_1D, ..flat(name, format, [width, 1], layers, 1) }
}

const fn volume(name: &'static str, format: vk::Format, extent: [u32; 3], levels: u32) -> Case {
    let shape = Shape { extent, layers: 1, levels, samples: 1 };
    Case { dimension: vk::ImageType::TYPE_3D, shape, ..flat(name, format, [1, 1], 1, 1) }
}

/// The images.
pub(super) const CASES: &[Case] = &[
    flat("8 bits", F::R8_UNORM, [301, 203], 1, 1),
    flat("16 bits", F::R8G8_UNORM, [301, 203], 1, 1),
    flat("32 bits", F::R8G8B8A8_UNORM, [301, 203], 1, 1),
    flat("64 bits", F::R16G16B16A16_SFLOAT, [301, 203], 1, 1),
    flat("128 bits", F::R32G32B32A32_SFLOAT, [301, 203], 1, 1),
    flat("one texel", F::R8G8B8A8_UNORM, [1, 1], 1, 1),
    flat("a large image", F::R8G8B8A8_UNORM, [700, 520], 1, 1),
    flat("levels of 8 bits", F::R8_UNORM, [301, 203], 1, 9),
    flat("levels of 32 bits", F::R8G8B8A8_UNORM, [301, 203], 1, 9),
    flat("levels of 128 bits", F::R32G32B32A32_SFLOAT, [100, 203], 1, 8),
    flat("layers", F::R16_UNORM, [140, 60], 5, 1),
    flat("layers with levels", F::R8G8B8A8_UNORM, [140, 60], 3, 6),
    flat("compressed blocks of 64 bits", F::BC1_RGBA_UNORM_BLOCK, [302, 201], 1, 1),
    flat("levels of compressed blocks of 128 bits", F::BC7_UNORM_BLOCK, [302, 201], 2, 7),
    flat("depth of 16 bits", F::D16_UNORM, [301, 203], 1, 1),
    flat("depth of 32 bits", F::D32_SFLOAT, [301, 203], 1, 1),
    Case { attachment: true, ..flat("a small attachment", F::R8G8B8A8_UNORM, [500, 300], 1, 1) },
    Case { attachment: true, ..flat("a second small attachment", F::R16G16B16A16_SFLOAT, [500, 300], 2, 1) },
    Case { attachment: true, ..flat("a large attachment", F::R8G8B8A8_UNORM, [700, 520], 1, 1) },
    Case { tiling: vk::ImageTiling::LINEAR, ..flat("an image in rows", F::R8G8B8A8_UNORM, [301, 203], 1, 1) },
    row("one dimension", F::R8G8B8A8_UNORM, 1000, 1),
    row("layers of one dimension", F::R8_UNORM, 1000, 4),
    volume("a volume of 8 bits", F::R8_UNORM, [60, 50, 20], 1),
    volume("a volume of 32 bits", F::R8G8B8A8_UNORM, [60, 50, 20], 1),
    volume("a volume of 128 bits", F::R32G32B32A32_SFLOAT, [36, 27, 9], 1),
    volume("levels of a volume", F::R8G8B8A8_UNORM, [60, 50, 20], 6),
];

/// A box of an image, with the texels from one row, and the rows from one slice of the buffer, to the next.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) part: ImagePart,
    pub(super) rows: [u32; 2],
}

impl Case {
    /// Returns the kind of the image.
    pub(super) fn kind(&self) -> ImageKind {
        use vk::ImageUsageFlags as Usage;
        let mut usage = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        if self.attachment {
            usage |= Usage::COLOR_ATTACHMENT;
        }
        ImageKind {
            format: self.format,
            dimension: self.dimension,
            tiling: self.tiling,
            modifier: None,
            usage,
            flags: vk::ImageCreateFlags::empty(),
            exported: false,
        }
    }

    /// Returns the size of the image.
    pub(super) const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the texels of a level: of layers their number is the depth.
    fn extent(&self, level: u32) -> [u32; 3] {
        let [width, height, depth] = self.shape.extent.map(|size| (size >> level).max(1));
        [width, height, if self.dimension == vk::ImageType::TYPE_3D { depth } else { self.shape.layers }]
    }

    /// Returns each level whole, whose rows follow each other without a gap, and a box of each level that is large enough. Places are
    /// multiples of an element's columns and rows, and the box's rows lie multiples of 64 texels apart.
    pub(super) fn pieces(&self, [x, y]: [u32; 2]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for level in 0..self.shape.levels {
            let extent = self.extent(level);
            let [width, height, depth] = extent;
            let rows = [width.next_multiple_of(x), height.next_multiple_of(y)];
            pieces.push(Piece { part: ImagePart { level, first: [0; 3], extent }, rows });
            if width > 4 * x {
                let first = [width / 3 / x * x, height / 4 / y * y, depth / 3];
                let third = |size: u32, step: u32| (size / 3 / step).max(1) * step;
                let extent = [third(width, x), third(height, y).min(height), depth.div_ceil(2).min(depth - first[2])];
                // RADV's shaders take a buffer's slices of one-dimensional images for rows (`copy_image_to_buffer`).
                let height = if self.dimension == vk::ImageType::TYPE_1D { 1 } else { extent[1].next_multiple_of(16) };
                let rows = [extent[0].next_multiple_of(64), height];
                pieces.push(Piece { part: ImagePart { level, first, extent }, rows });
            }
        }
        pieces
    }
}
