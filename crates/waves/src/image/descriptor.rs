//! Image descriptors (T#), and the addresses of their texels.

use amdgpu_descriptors::{ImageDescriptor, fields::image as f, view::ImageKind};
use amdgpu_hw::GfxLevel;
use amdgpu_surface::Chip;

use super::{
    compression::{
        Compression, Unit,
        code::{Coding, Kind},
    },
    error::ImageError,
    format::TexelFormat,
    layout::{Layout, Plane},
    reader::Reader,
    texel::Texel,
};

/// The number of faces of a cube.
const FACES: u32 = 6;

/// The maximum number of levels of an image.
const MAX_LEVELS: usize = 16;

/// A view of an image, prepared for computing addresses.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) kind: ImageKind,
    pub(crate) format: TexelFormat,
    /// The source of each component that a shader sees: 0 and 1 for constants, 4 to 7 for channels.
    pub(crate) selects: [u8; 4],
    /// The component of a border colour for each channel.
    pub(crate) border_order: [u8; 4],
    /// The size of level 0 in texels.
    extent: [u32; 3],
    pub(crate) first_layer: u32,
    pub(crate) last_layer: u32,
    pub(crate) base_level: u32,
    pub(crate) last_level: u32,
    pub(crate) samples: u32,
    /// The smallest level of detail, relative to level 0.
    pub(crate) min_lod: f32,
    /// `true` for a 3D image whose slices of one level are viewed as layers.
    pub(crate) slices_are_layers: bool,
    /// `None` without a format: such an image has no texels, and a view of it reads as zeros and ones.
    layout: Option<Layout>,
    compression: Option<Compression>,
    planes: [Option<Box<Plane>>; MAX_LEVELS],
}

/// The component of a border colour for each channel, by the value of `bc_swizzle`.
const BORDER_ORDERS: [[u8; 4]; 8] =
    [[0, 1, 2, 3], [0, 3, 1, 2], [3, 2, 1, 0], [3, 0, 1, 2], [2, 1, 0, 3], [1, 0, 3, 2], [0, 1, 2, 3], [0, 1, 2, 3]];

impl Image {
    /// Decodes a descriptor. Returns `None` for a descriptor that is not an image: loads return 0 and stores do nothing. An image of
    /// format 0 has no texels: loads return 0 and 1 as the view says, which is what drivers bind where nothing else is bound.
    ///
    /// Sources: the ISA guides, "Image Resource"; Mesa's `ac_build_texture_descriptor`, and `null_texture_descriptor` in
    /// `si_descriptors.c`.
    pub(crate) fn new(level: GfxLevel, words: [u32; 8], chip: Option<&Chip>) -> Result<Option<Self>, ImageError> {
        let reader = Reader { words: ImageDescriptor::from_words(words), level };
        let get = |field| reader.get(field);
        let Some(kind) = ImageKind::of(get(f::TYPE).into()) else { return Ok(None) };
        let has_format = reader.has_format();
        let format = if has_format { reader.format()? } else { TexelFormat::PLACEHOLDER };
        let (is_volume, is_flat) = (kind == ImageKind::D3, matches!(kind, ImageKind::D1 | ImageKind::D1Array));
        let samples = reader.words.samples(level).min(16);
        let single = matches!(kind, ImageKind::D2Msaa | ImageKind::D2MsaaArray);
        let depth = get(f::DEPTH);
        let has_layers = !matches!(kind, ImageKind::D1 | ImageKind::D2 | ImageKind::D2Msaa);
        let first_layer = get(f::BASE_ARRAY);
        let last_layer = match level {
            _ if !has_layers => first_layer,
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => get(f::LAST_ARRAY),
            _ => depth,
        };
        // A cube has all of its faces, whichever of them a view ends with: OpenGL's views of one cube end with the first.
        let last_layer = if kind == ImageKind::Cube {
            first_layer + (last_layer + 1).saturating_sub(first_layer).max(1).next_multiple_of(FACES) - 1
        } else {
            last_layer
        };
        let levels = |field| if single { 0 } else { get(field) };
        let sliced = level >= GfxLevel::Gfx10 && (get(f::ARRAY_PITCH) | get(f::UAV3D)) != 0;
        let bc_swizzle = get(f::BC_SWIZZLE) as usize;
        let (base_level, last_level) = (levels(f::BASE_LEVEL), levels(f::LAST_LEVEL));
        let layout = has_format.then(|| Layout::new(&reader, kind, format, samples, chip)).transpose()?;
        let compression = match &layout {
            Some(layout) => Compression::new(&reader, format, layout, chip)?,
            None => None,
        };
        Ok(Some(Self {
            kind,
            format,
            selects: [f::DST_SEL_X, f::DST_SEL_Y, f::DST_SEL_Z, f::DST_SEL_W].map(|field| get(field) as u8),
            border_order: BORDER_ORDERS[bc_swizzle & 7],
            extent: [
                get(f::WIDTH),
                if is_flat { 1 } else { get(f::HEIGHT) },
                if is_volume { depth.saturating_add(1) } else { 1 },
            ],
            first_layer: if is_volume && !sliced { 0 } else { first_layer },
            last_layer,
            base_level,
            last_level: last_level.max(base_level),
            samples,
            min_lod: get(f::MIN_LOD) as f32 / 256.0,
            slices_are_layers: is_volume && sliced,
            layout,
            compression,
            planes: [const { None }; MAX_LEVELS],
        }))
    }

    /// Returns the size of a level, counted from the view's first; 0 if the view lacks the level.
    pub(crate) fn size(&self, level: u32) -> [u32; 3] {
        let absolute = self.base_level.saturating_add(level);
        if absolute > self.last_level {
            return [0; 3];
        }
        let minify = |size: u32| size.checked_shr(absolute).unwrap_or(0).max(1);
        let [width, height, depth] = self.extent;
        [minify(width), minify(height), if self.slices_are_layers { 1 } else { minify(depth) }]
    }

    /// Returns the number of layers of the view, including all faces of cubes.
    pub(crate) fn layers(&self) -> u32 {
        (self.last_layer + 1).saturating_sub(self.first_layer).max(1)
    }

    /// Returns the number of levels of the view.
    pub(crate) fn levels(&self) -> u32 {
        self.last_level - self.base_level + 1
    }

    /// Returns `true` if z is a slice of a 3D image.
    pub(crate) fn is_volume(&self) -> bool {
        self.kind == ImageKind::D3 && !self.slices_are_layers
    }

    /// Returns the address of a texel's element; `None` outside the view.
    pub(crate) fn address(&mut self, texel: Texel) -> Result<Option<u64>, ImageError> {
        let [width, height, depth] = self.size(texel.level);
        let z_end = if self.is_volume() { depth } else { self.layers() };
        if texel.x >= width || texel.y >= height || texel.z >= z_end || texel.sample >= self.samples {
            return Ok(None);
        }
        let z = if self.is_volume() { texel.z } else { texel.z.saturating_add(self.first_layer) };
        let level = self.base_level + texel.level;
        let (Some(layout), Some(place)) = (&self.layout, self.planes.get_mut(level as usize)) else { return Ok(None) };
        let plane = match place {
            Some(plane) => plane,
            None => place.insert(Box::new(layout.plane(level)?)),
        };
        let texels = self.format.texels();
        plane.address(texel.x / texels, texel.y / texels, z, texel.sample).map(Some)
    }

    /// Returns `true` if the image has no format, and so no texels.
    pub(crate) const fn is_null(&self) -> bool {
        self.layout.is_none()
    }

    /// Returns the encoding of the metadata; `None` for an image without compression.
    pub(crate) fn coding(&self) -> Option<Coding> {
        self.compression.as_ref().map(|compression| compression.coding)
    }

    /// Returns `true` if stores must mark texels as uncompressed in the metadata.
    pub(crate) fn writes_metadata(&self) -> bool {
        self.compression.as_ref().is_some_and(|compression| compression.is_written)
    }

    /// Returns the metadata of a texel of the view with this element address; `None` if there is none.
    pub(crate) fn metadata(&mut self, texel: Texel, address: u64) -> Result<Option<Unit>, ImageError> {
        let z = texel.z.saturating_add(self.first_layer);
        let level = self.base_level + texel.level;
        // A tile of depth has one dword, but samples of it lie apart (GFX8).
        let is_of_tile = self.samples > 1
            && self.compression.as_ref().is_some_and(|compression| {
                let coding = compression.coding;
                coding.level <= GfxLevel::Gfx8 && matches!(coding.kind, Kind::Depth | Kind::Stencil)
            });
        let first = Texel { x: texel.x & !7, y: texel.y & !7, sample: 0, ..texel };
        let address = if is_of_tile { self.address(first)?.unwrap_or(address) } else { address };
        let (Some(compression), Some(layout)) = (&mut self.compression, &self.layout) else { return Ok(None) };
        let offset = address.wrapping_sub(layout.start_of_view(self.base_level));
        compression.places.unit(level, Texel { z, ..texel }, offset)
    }

    /// Returns the texel whose value all texels of its block have.
    pub(crate) fn first_of_block(&self, texel: Texel) -> Texel {
        let block = self.compression.as_ref().and_then(|compression| compression.places.block());
        let Some(block) = block else { return texel };
        let [x, y] = [texel.x & !(block.size[0] - 1), texel.y & !(block.size[1] - 1)];
        Texel { x, y, sample: if block.shares_samples { 0 } else { texel.sample }, ..texel }
    }

    /// Returns the texels that share metadata with a texel. Some may be outside the view.
    pub(crate) fn texels_of_block(&self, texel: Texel) -> impl Iterator<Item = Texel> + use<> {
        let block = self.compression.as_ref().and_then(|compression| compression.places.block());
        let (size, shares) = block.map_or(([1; 2], false), |block| (block.size, block.shares_samples));
        let (first, samples) = (self.first_of_block(texel), if shares { self.samples } else { 1 });
        (0..size[1]).flat_map(move |y| {
            (0..size[0]).flat_map(move |x| {
                (0..samples).map(move |sample| Texel {
                    x: first.x + x,
                    y: first.y + y,
                    sample: first.sample + sample,
                    ..first
                })
            })
        })
    }
}
