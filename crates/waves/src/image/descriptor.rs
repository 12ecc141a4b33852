//! Image descriptors (T#), and where the texels behind them lie.

use amdgpu_descriptors::{ImageDescriptor, fields::image as f, view::ImageKind};
use amdgpu_hw::GfxLevel;
use amdgpu_surface::Chip;

use super::{
    error::ImageError,
    format::TexelFormat,
    layout::{Layout, Plane},
    reader::Reader,
};

/// The most levels of an image.
const MAX_LEVELS: usize = 16;

/// A view of an image, ready for addresses.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) kind: ImageKind,
    pub(crate) format: TexelFormat,
    /// Sources of the components that a shader sees: 0 and 1 for constants, 4 to 7 for channels.
    pub(crate) selects: [u8; 4],
    /// The component of a border colour that each channel has.
    pub(crate) border_order: [u8; 4],
    /// Texels of level 0.
    extent: [u32; 3],
    pub(crate) first_layer: u32,
    pub(crate) last_layer: u32,
    pub(crate) base_level: u32,
    pub(crate) last_level: u32,
    pub(crate) samples: u32,
    /// The smallest level of detail, counted from level 0.
    pub(crate) min_lod: f32,
    /// A volume whose slices of one level are layers.
    pub(crate) slices_are_layers: bool,
    layout: Layout,
    planes: [Option<Box<Plane>>; MAX_LEVELS],
}

/// A texel: level, coordinates with the layer or slice in z, sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texel {
    /// Counted from the view's first level.
    pub(crate) level: u32,
    pub(crate) x: u32,
    pub(crate) y: u32,
    /// Slice of a volume, or layer counted from the view's first.
    pub(crate) z: u32,
    pub(crate) sample: u32,
}

/// The component of a border colour in each channel, by the number of `bc_swizzle`.
const BORDER_ORDERS: [[u8; 4]; 8] =
    [[0, 1, 2, 3], [0, 3, 1, 2], [3, 2, 1, 0], [3, 0, 1, 2], [2, 1, 0, 3], [1, 0, 3, 2], [0, 1, 2, 3], [0, 1, 2, 3]];

impl Image {
    /// Reads a descriptor. `None` for one that is no image, through which loads give 0 and stores do nothing.
    ///
    /// Sources: the ISA guides, "Image Resource"; Mesa's `ac_build_texture_descriptor`.
    pub(crate) fn new(level: GfxLevel, words: [u32; 8], chip: Option<&Chip>) -> Result<Option<Self>, ImageError> {
        let reader = Reader { words: ImageDescriptor::from_words(words), level };
        let get = |field| reader.get(field);
        let Some(kind) = ImageKind::of(get(f::TYPE).into()) else { return Ok(None) };
        // Compression is a property of pages on GFX12, behind which texels are plain here.
        if level < GfxLevel::Gfx12 && get(f::COMPRESSION_EN) != 0 {
            return Err(ImageError::Compressed);
        }
        let format = reader.format()?;
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
        let levels = |field| if single { 0 } else { get(field) };
        let sliced = level >= GfxLevel::Gfx10 && (get(f::ARRAY_PITCH) | get(f::UAV3D)) != 0;
        let bc_swizzle = get(f::BC_SWIZZLE) as usize;
        let (base_level, last_level) = (levels(f::BASE_LEVEL), levels(f::LAST_LEVEL));
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
            layout: Layout::new(&reader, kind, format, samples, chip)?,
            planes: [const { None }; MAX_LEVELS],
        }))
    }

    /// Returns the extent of a level, counted from the view's first; 0 for a level that the view lacks.
    pub(crate) fn size(&self, level: u32) -> [u32; 3] {
        let absolute = self.base_level.saturating_add(level);
        if absolute > self.last_level {
            return [0; 3];
        }
        let minify = |size: u32| size.checked_shr(absolute).unwrap_or(0).max(1);
        let [width, height, depth] = self.extent;
        [minify(width), minify(height), if self.slices_are_layers { 1 } else { minify(depth) }]
    }

    /// Returns the number of layers of the view, faces of cubes counted each.
    pub(crate) fn layers(&self) -> u32 {
        (self.last_layer + 1).saturating_sub(self.first_layer).max(1)
    }

    /// Returns the number of levels of the view.
    pub(crate) fn levels(&self) -> u32 {
        self.last_level - self.base_level + 1
    }

    /// Returns `true` if z counts slices of a volume.
    pub(crate) fn is_volume(&self) -> bool {
        self.kind == ImageKind::D3 && !self.slices_are_layers
    }

    /// Returns the address of the element of a texel; `None` outside of the view.
    pub(crate) fn address(&mut self, texel: Texel) -> Result<Option<u64>, ImageError> {
        let [width, height, depth] = self.size(texel.level);
        let z_end = if self.is_volume() { depth } else { self.layers() };
        if texel.x >= width || texel.y >= height || texel.z >= z_end || texel.sample >= self.samples {
            return Ok(None);
        }
        let z = if self.is_volume() { texel.z } else { texel.z.saturating_add(self.first_layer) };
        let level = self.base_level + texel.level;
        let Some(place) = self.planes.get_mut(level as usize) else { return Ok(None) };
        let plane = match place {
            Some(plane) => plane,
            None => place.insert(Box::new(self.layout.plane(level)?)),
        };
        let texels = self.format.texels();
        plane.address(texel.x / texels, texel.y / texels, z, texel.sample).map(Some)
    }
}
