//! The description of an image for which a layout is computed.

use bitflags::bitflags;

use super::legacy::LegacyTiles;
use super::parts::{DccSettings, SurfaceError};
use crate::modifier::Modifier;

/// The dimension of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// A 1D image.
    D1,
    /// A 2D image.
    #[default]
    D2,
    /// A 3D image.
    D3,
    /// A cube map with six faces.
    Cube,
}

/// The tiling that a driver requests. GFX9 and later only distinguish linear from tiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TilingMode {
    /// Linear rows of texels.
    Linear,
    /// Rows of micro tiles.
    Tiled1d,
    /// Macro tiles; on GFX9 and later the swizzle blocks of the generation.
    #[default]
    Tiled2d,
}

/// The order of elements in a micro tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MicroMode {
    /// The order that the display reads.
    #[default]
    Display = 0,
    /// The standard order; the thin order on GFX6-8.
    Standard = 1,
    /// The order for depth and stencil images.
    Depth = 2,
    /// The order for render targets; the rotated order on GFX6-9.
    Render = 3,
    /// The order in thick tiles (GFX7-8).
    Thick = 4,
}

impl MicroMode {
    pub(super) const fn of(number: u32) -> Self {
        match number {
            0 => Self::Display,
            1 => Self::Standard,
            2 => Self::Depth,
            3 => Self::Render,
            _ => Self::Thick,
        }
    }
}

bitflags! {
    /// The uses and restrictions of an image (`RADEON_SURF_*`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct SurfaceUsage: u32 {
        /// The display scans out the image.
        const SCANOUT = 1;
        /// The image has depth.
        const ZBUFFER = 1 << 1;
        /// The image has stencil.
        const SBUFFER = 1 << 2;
        /// Disables DCC.
        const DISABLE_DCC = 1 << 3;
        /// The texture units read HTILE.
        const TC_COMPATIBLE_HTILE = 1 << 4;
        /// Another process chose the layout.
        const IMPORTED = 1 << 5;
        /// The DCC of the layers of an array must be contiguous.
        const CONTIGUOUS_DCC_LAYERS = 1 << 6;
        /// The image is shared with other processes.
        const SHAREABLE = 1 << 7;
        /// The image is never a render target.
        const NO_RENDER_TARGET = 1 << 8;
        /// The swizzle mode is given by [`SurfaceConfig::swizzle_mode`].
        const FORCE_SWIZZLE_MODE = 1 << 9;
        /// Disables FMASK.
        const NO_FMASK = 1 << 10;
        /// Disables HTILE.
        const NO_HTILE = 1 << 11;
        /// The order of elements is given by [`SurfaceConfig::micro_mode`].
        const FORCE_MICRO_TILE_MODE = 1 << 12;
        /// The image is partially resident.
        const PRT = 1 << 13;
        /// The image contains shading rates.
        const VRS_RATE = 1 << 14;
        /// The image is never sampled.
        const NO_TEXTURE = 1 << 15;
        /// Stencil need not have the same layout as depth (GFX6-8).
        const NO_STENCIL_ADJUST = 1 << 16;
        /// Prefers an alignment of at most 4 KiB.
        const PREFER_4K_ALIGNMENT = 1 << 17;
        /// Prefers an alignment of at most 64 KiB.
        const PREFER_64K_ALIGNMENT = 1 << 18;
        /// The image is a reference picture of the video unit.
        const VIDEO_REFERENCE = 1 << 19;
    }
}

impl SurfaceUsage {
    /// The flags of depth and stencil images.
    pub const Z_OR_S: Self = Self::ZBUFFER.union(Self::SBUFFER);
    /// Disables DCC, FMASK and HTILE.
    pub const UNCOMPRESSED: Self = Self::DISABLE_DCC.union(Self::NO_FMASK).union(Self::NO_HTILE);
}

/// The description of an image for which a layout is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceConfig {
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The depth of a 3D image; 1 otherwise.
    pub depth: u32,
    /// The number of array layers.
    pub layers: u32,
    /// The number of mip levels.
    pub levels: u32,
    /// The number of samples.
    pub samples: u32,
    /// The number of stored samples of a colour image.
    pub storage_samples: u32,
    /// The size of an element in bytes.
    pub bytes: u32,
    /// The width and height, in pixels, of a compressed block or of a pair of pixels with common chroma; 1x1 otherwise.
    pub block: (u32, u32),
    /// The number of channels of the format.
    pub channels: u32,
    /// The dimension of the image.
    pub dimension: Dimension,
    /// The requested tiling.
    pub mode: TilingMode,
    /// The uses and restrictions.
    pub usage: SurfaceUsage,
    /// The format modifier, if the layout is given by one.
    pub modifier: Option<Modifier>,
    /// The index that determines the tile swizzle, which spreads images over the memory channels; `None` for no tile swizzle.
    pub surface_index: Option<u32>,
    /// The index that determines the tile swizzle of FMASK; `None` for no tile swizzle.
    pub fmask_index: Option<u32>,
    /// The swizzle mode for [`SurfaceUsage::IMPORTED`] and [`SurfaceUsage::FORCE_SWIZZLE_MODE`] (GFX9 and later).
    pub swizzle_mode: u8,
    /// The order of elements for [`SurfaceUsage::FORCE_MICRO_TILE_MODE`].
    pub micro_mode: MicroMode,
    /// The DCC settings of an imported image.
    pub dcc: DccSettings,
    /// The macro tile parameters of an imported image (GFX6-8).
    pub legacy: Option<LegacyTiles>,
}

impl SurfaceConfig {
    /// Creates the description of a 2D image with one layer, level and sample, and four channels.
    pub fn new(width: u32, height: u32, bytes: u32) -> Self {
        Self {
            width,
            height,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            storage_samples: 1,
            bytes,
            block: (1, 1),
            channels: 4,
            dimension: Dimension::D2,
            mode: TilingMode::Tiled2d,
            usage: SurfaceUsage::empty(),
            modifier: None,
            surface_index: None,
            fmask_index: None,
            swizzle_mode: 0,
            micro_mode: MicroMode::Display,
            dcc: DccSettings::default(),
            legacy: None,
        }
    }

    /// Rejects images that no chip supports (`surf_config_sanity`).
    pub(super) fn check(&self) -> Result<(), SurfaceError> {
        let refuse = |what| Err(SurfaceError::Config(what));
        if self.width == 0 || self.height == 0 || self.depth == 0 || self.layers == 0 || self.levels == 0 {
            return refuse("a size of zero");
        }
        // These sizes exceed those of all hardware; beyond them sums of sizes could overflow.
        let sides = [self.width, self.height, self.depth, self.layers];
        if sides.iter().any(|&side| side > 1 << 20)
            || sides.iter().map(|&side| u64::from(side.next_power_of_two().ilog2())).sum::<u64>() > 44
        {
            return refuse("the size exceeds the hardware limit");
        }
        let z_or_s = self.usage.intersects(SurfaceUsage::Z_OR_S);
        match self.samples {
            0 | 1 | 2 | 4 | 8 => {}
            16 if !z_or_s => {}
            _ => return refuse("this number of samples"),
        }
        if !z_or_s && !matches!(self.storage_samples, 0 | 1 | 2 | 4 | 8) {
            return refuse("this number of stored samples");
        }
        if self.dimension == Dimension::D3 && self.layers > 1 {
            return refuse("layers of a volume");
        }
        if self.dimension == Dimension::Cube && self.depth > 1 {
            return refuse("depth of a cube");
        }
        if !matches!(self.bytes, 1 | 2 | 4 | 8 | 12 | 16) {
            return refuse("this element size");
        }
        if self.block.0 == 0 || self.block.1 == 0 || self.block.0 > 12 || self.block.1 > 12 {
            return refuse("this block size");
        }
        Ok(())
    }

    /// Returns `true` if the format is block-compressed.
    pub(super) const fn is_compressed(&self) -> bool {
        self.block.1 > 1 || self.block.0 > 2
    }

    /// Returns `true` if the layout must be readable by the display (`get_display_flag`).
    pub(super) fn is_display(&self) -> bool {
        if self.modifier.is_some()
            || !self.usage.contains(SurfaceUsage::SCANOUT)
            || self.usage.intersects(SurfaceUsage::Z_OR_S)
            || self.dimension != Dimension::D2
            || self.samples > 1
            || self.block.0 > 2
            || self.block.1 > 1
        {
            return false;
        }
        self.block.0 == 2
            || match self.bytes {
                4 | 8 => self.channels == 4,
                2 => self.channels >= 3,
                1 => self.channels == 1,
                _ => false,
            }
    }

    /// Returns `true` if the image has any of these uses.
    pub(super) fn has(&self, usage: SurfaceUsage) -> bool {
        self.usage.intersects(usage)
    }

    /// Returns the number of array layers, faces or slices.
    pub(super) const fn slices(&self) -> u32 {
        match self.dimension {
            Dimension::D3 => self.depth,
            Dimension::Cube => 6,
            _ => self.layers,
        }
    }

    pub(super) const fn fragments(&self) -> u32 {
        let samples = if self.usage.intersects(SurfaceUsage::Z_OR_S) { self.samples } else { self.storage_samples };
        if samples == 0 { 1 } else { samples }
    }
}
