//! Images of every element size, kind and number of levels and layers, and the boxes of them that are copied.

use ash::vk::{self, Format as F};

use crate::gpu::{ImageKind, ImagePart, Shape, chroma_shift};

/// An image that is copied.
#[derive(Clone, Copy)]
pub(super) struct Case {
    /// The name for evidence.
    pub(super) name: &'static str,
    format: vk::Format,
    dimension: vk::ImageType,
    tiling: vk::ImageTiling,
    attachment: bool,
    shape: Shape,
    /// The aspect that is copied.
    pub(super) aspect: vk::ImageAspectFlags,
}

const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const STENCIL: vk::ImageAspectFlags = vk::ImageAspectFlags::STENCIL;

const fn flat(name: &'static str, format: vk::Format, size: [u32; 2], layers: u32, levels: u32) -> Case {
    let shape = Shape { extent: [size[0], size[1], 1], layers, levels, samples: 1 };
    let (dimension, tiling) = (vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL);
    let aspect = match format {
        F::D16_UNORM | F::D32_SFLOAT => DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    };
    Case { name, format, dimension, tiling, attachment: false, shape, aspect }
}

const fn row(name: &'static str, format: vk::Format, width: u32, layers: u32) -> Case {
    Case { dimension: vk::ImageType::TYPE_1D, ..flat(name, format, [width, 1], layers, 1) }
}

const fn volume(name: &'static str, format: vk::Format, extent: [u32; 3], levels: u32) -> Case {
    let shape = Shape { extent, layers: 1, levels, samples: 1 };
    Case { dimension: vk::ImageType::TYPE_3D, shape, ..flat(name, format, [1, 1], 1, 1) }
}

const fn part(aspect: vk::ImageAspectFlags, of: Case) -> Case {
    Case { aspect, ..of }
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
    // GFX9's engine takes rows of multiples of four elements. RADV 25.0.7 copies others through a temporary buffer, and of 96 bits only
    // the first third of each row (`radv_sdma_copy_buffer_image_unaligned` leaves out `texel_scale`).
    Case { tiling: vk::ImageTiling::LINEAR, ..flat("96 bits in rows", F::R32G32B32_SFLOAT, [304, 203], 1, 1) },
    part(STENCIL, flat("stencil", F::S8_UINT, [301, 203], 1, 1)),
    part(DEPTH, flat("depth beside stencil", F::D32_SFLOAT_S8_UINT, [301, 203], 1, 1)),
    part(STENCIL, flat("stencil beside depth", F::D32_SFLOAT_S8_UINT, [301, 203], 1, 1)),
    part(DEPTH, flat("layers with levels of depth", F::D32_SFLOAT_S8_UINT, [301, 203], 2, 4)),
    part(STENCIL, flat("layers with levels of stencil", F::D32_SFLOAT_S8_UINT, [301, 203], 2, 4)),
    part(vk::ImageAspectFlags::PLANE_0, flat("luma", F::G8_B8R8_2PLANE_420_UNORM, [302, 204], 1, 1)),
    part(vk::ImageAspectFlags::PLANE_1, flat("chroma", F::G8_B8R8_2PLANE_420_UNORM, [302, 204], 1, 1)),
    part(vk::ImageAspectFlags::PLANE_1, flat("chroma of 16 bits", F::G16_B16R16_2PLANE_420_UNORM, [302, 204], 1, 1)),
    part(
        vk::ImageAspectFlags::PLANE_2,
        flat("the last of three planes", F::G8_B8_R8_3PLANE_420_UNORM, [302, 204], 1, 1),
    ),
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

    /// Returns `true` if depths of 32 bits are copied.
    pub(super) fn has_float_depths(&self) -> bool {
        self.aspect == DEPTH && matches!(self.format, F::D32_SFLOAT | F::D32_SFLOAT_S8_UINT)
    }

    /// Returns the size of the image.
    pub(super) const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the texels of a level: of layers their number is the depth.
    fn extent(&self, level: u32) -> [u32; 3] {
        let [width, height, depth] = self.shape.extent.map(|size| (size >> level).max(1));
        let [x, y] = chroma_shift(self.aspect);
        [width >> x, height >> y, if self.dimension == vk::ImageType::TYPE_3D { depth } else { self.shape.layers }]
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
