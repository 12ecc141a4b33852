//! The layouts of images, and what copies leave in them.

use std::cell::Cell;

use amdgpu_descriptors::{
    format::Format,
    vulkan::{ImageMemory, VulkanImage},
};
use amdgpu_surface::{
    Chip, GfxLevel,
    surface::{Dimension, SurfaceLayout, SurfaceUsage},
    tiler::{Region, Rows, Subresource, TilerError},
};
use ash::vk;

use super::cases::{Case, Piece};
use crate::{
    gpu::{Gpu, ImageKind, Importer, aspect_format, chroma_shift, planes},
    outcome::{ErrorContext, Stop, fail},
};

/// The first major release of RADV after 25.0 whose layouts are known. On GFX11 and later its images of one sample have no blocks of
/// 256 KiB (Mesa 26.2.6, `gfx9_get_preferred_swizzle_mode` and `gfx12_select_swizzle_mode`), and on all generations depth that is not
/// drawn to has no HTILE, so that GFX8 need not lay it out for texture units that read HTILE.
const NEWER: u32 = 26;

/// The layouts of a device's images, in the order of their creation.
pub(super) struct Layouts {
    chip: Chip,
    /// `true` if the driver spreads images over channels, each in another way.
    spreads: bool,
    /// Images so far that took a number for that: RADV counts them for each device.
    spread: Cell<u32>,
    /// `true` if the driver is RADV 26 or later.
    is_newer: bool,
}

/// The texels of an image.
pub(super) struct Texels {
    format: Format,
    bytes: u64,
    /// The offset of the copied plane.
    offset: u64,
    /// `true` if the image has compression metadata.
    pub(super) compressed: bool,
    levels: Vec<Subresource>,
}

impl Layouts {
    /// Finds the chip; `None` where the device is none of those whose layouts are known.
    pub(super) fn new(gpu: &Gpu) -> Option<Self> {
        let chip = Importer::new(gpu)?.chip()?;
        let is_newer = gpu.radv_release().is_some_and(|release| release >= NEWER);
        Some(Self { chip, spreads: gpu.is_radv(), spread: Cell::new(0), is_newer })
    }

    /// Returns the generation of the chip.
    pub(super) const fn level(&self) -> GfxLevel {
        self.chip.level()
    }

    /// Lays the image of a case out.
    ///
    /// # Errors
    ///
    /// [`Stop::Fail`] for an image that there is no layout for.
    pub(super) fn texels(&self, case: &Case) -> Result<Texels, Stop> {
        let kind = case.kind();
        let parts = match planes(kind.format) {
            [] => &[case.aspect],
            planes => planes,
        };
        let (mut bytes, mut found) = (0, None);
        for &aspect in parts {
            let texels = self.part(case, &kind, aspect, bytes)?;
            bytes = texels.offset + texels.bytes;
            if aspect == case.aspect {
                found = Some(texels);
            }
        }
        match found {
            Some(texels) => Ok(Texels { bytes, ..texels }),
            None => fail(format!("{} has no {:?}", case.name, case.aspect)),
        }
    }

    /// Lays an aspect out, behind the `start` bytes of planes before it.
    fn part(&self, case: &Case, kind: &ImageKind, aspect: vk::ImageAspectFlags, start: u64) -> Result<Texels, Stop> {
        let shape = case.shape();
        let Some(format) = aspect_format(kind.format, aspect) else {
            return fail(format!("{:?} has no layout of ours", kind.format));
        };
        let is_plane = !planes(kind.format).is_empty();
        let image = VulkanImage {
            format: if is_plane { format } else { format_of(kind.format)? },
            dimension: match kind.dimension {
                vk::ImageType::TYPE_1D => Dimension::D1,
                vk::ImageType::TYPE_3D => Dimension::D3,
                _ => Dimension::D2,
            },
            extent: shape.extent,
            layers: shape.layers,
            levels: shape.levels,
            samples: shape.samples,
            linear: kind.tiling == vk::ImageTiling::LINEAR,
            usage: kind.usage.as_raw(),
        };
        let index = (self.spreads && !image.format.is_depth_or_stencil()).then(|| self.spread.get());
        let mut config = image.surface_in(self.chip.level(), &ImageMemory::default(), index);
        if self.is_newer && shape.samples == 1 {
            config.usage |= SurfaceUsage::PREFER_64K_ALIGNMENT;
        }
        if self.is_newer && !kind.usage.contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT) {
            config.usage |= SurfaceUsage::NO_HTILE;
            config.usage.remove(SurfaceUsage::TC_COMPATIBLE_HTILE);
        }
        if is_plane {
            // Source: Mesa 25.0.7 `radv_image_create_layout`.
            let [x, y] = chroma_shift(aspect);
            (config.width, config.height) = (config.width.div_ceil(1 << x), config.height.div_ceil(1 << y));
            config.usage |= SurfaceUsage::UNCOMPRESSED;
            config.channels = format.channel_count();
        }
        let mut layout = SurfaceLayout::new(&self.chip, &config).context(case.name)?;
        if layout.takes_index {
            self.spread.set(self.spread.get() + 1);
        }
        if self.is_newer
            && self.chip.level() >= GfxLevel::Gfx12
            && let Some(index) = config.surface_index
            && layout.takes_index
        {
            // RADV 25.0.7 has as many numbers as pipes allow. 26.2.6 told numbers up to 13 in blocks of 4 KiB and up to 21 in blocks
            // of 64 KiB (`RADV_DEBUG=img`), so that a block seems to have one for each of its 256 bytes.
            layout.tile_swizzle = index & ((1 << (layout.align_log2 - 8)) - 1);
        }
        let levels = (0..shape.levels).map(|level| match aspect {
            vk::ImageAspectFlags::STENCIL => layout.stencil_texels(&self.chip, &config, level),
            _ => layout.texels(&self.chip, &config, level),
        });
        let levels = levels.collect::<Result<_, _>>().context(case.name)?;
        let compressed = layout.meta.is_some_and(|meta| meta.bytes > 0);
        let offset = start.next_multiple_of(1 << layout.total_align_log2);
        Ok(Texels { format, bytes: layout.bytes, offset, compressed, levels })
    }
}

/// Returns the format of a Vulkan format.
///
/// # Errors
///
/// [`Stop::Fail`] for a format that images have no layouts for.
fn format_of(format: vk::Format) -> Result<Format, Stop> {
    match u32::try_from(format.as_raw()).ok().and_then(Format::of_vulkan) {
        Some(format) => Ok(format),
        None => fail(format!("{format:?} has no layout of ours")),
    }
}

impl Texels {
    /// Returns the bytes of the image without metadata.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Returns the columns and rows of texels in an element.
    pub(super) fn block(&self) -> [u32; 2] {
        self.format.block().into()
    }

    /// Returns the distances of a box's rows and slices in its buffer, and the bytes of the buffer.
    pub(super) fn rows(&self, piece: &Piece) -> (Rows, usize) {
        let [x, y] = self.block();
        let pitch = piece.rows[0].div_ceil(x) as usize * self.format.bytes() as usize;
        let slice = pitch * piece.rows[1].div_ceil(y) as usize;
        (Rows { pitch, slice }, slice * piece.part.extent[2] as usize)
    }

    fn region(&self, piece: &Piece) -> Region {
        let ([x, y], part) = (self.block(), &piece.part);
        let ([left, top, front], [width, height, depth]) = (part.first, part.extent);
        Region { first: [left / x, top / y, front], extent: [width.div_ceil(x), height.div_ceil(y), depth], sample: 0 }
    }

    fn level(&self, piece: &Piece) -> Result<&Subresource, TilerError> {
        let (number, count) = (piece.part.level, self.levels.len() as u32);
        self.levels.get(number as usize).ok_or(TilerError::Missing { what: "level", number, count })
    }

    /// Copies rows into the expected memory of the image.
    ///
    /// # Errors
    ///
    /// [`TilerError`] for a box that the image does not have.
    pub(super) fn tile(&self, piece: &Piece, rows: &[u8], tiled: &mut [u8]) -> Result<(), TilerError> {
        let (at, len) = (self.offset as usize, tiled.len());
        let tiled = tiled.get_mut(at..).ok_or(TilerError::TiledTooShort { len, at: self.offset })?;
        self.level(piece)?.tile(&self.region(piece), rows, self.rows(piece).0, tiled)
    }

    /// Copies rows out of the memory of the image.
    ///
    /// # Errors
    ///
    /// [`TilerError`] for a box that the image does not have.
    pub(super) fn detile(&self, piece: &Piece, tiled: &[u8], rows: &mut [u8]) -> Result<(), TilerError> {
        let (at, len) = (self.offset as usize, tiled.len());
        let tiled = tiled.get(at..).ok_or(TilerError::TiledTooShort { len, at: self.offset })?;
        self.level(piece)?.detile(&self.region(piece), tiled, rows, self.rows(piece).0)
    }
}
