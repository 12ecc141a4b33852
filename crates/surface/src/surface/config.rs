//! The description of an image.

use bitflags::bitflags;

use super::legacy::LegacyTiles;
use super::parts::{DccSettings, SurfaceError};
use crate::modifier::Modifier;

/// The dimension of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// One row.
    D1,
    /// Rows and columns.
    #[default]
    D2,
    /// A volume.
    D3,
    /// Six faces.
    Cube,
}

/// The tiling that the driver asks for. GFX9 and later know linear and tiled only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TilingMode {
    /// Rows.
    Linear,
    /// Micro tiles in rows.
    Tiled1d,
    /// Macro tiles, or the generation's blocks.
    #[default]
    Tiled2d,
}

/// The order of elements in a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MicroMode {
    /// For the display.
    #[default]
    Display = 0,
    /// Standard; thin on GFX6-8.
    Standard = 1,
    /// For depth.
    Depth = 2,
    /// Render target; rotated on GFX6-9.
    Render = 3,
    /// Thick tiles (GFX7-8).
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
        /// Scanned out by the display.
        const SCANOUT = 1;
        /// Depth.
        const ZBUFFER = 1 << 1;
        /// Stencil.
        const SBUFFER = 1 << 2;
        /// No DCC.
        const DISABLE_DCC = 1 << 3;
        /// HTILE that the texture units read.
        const TC_COMPATIBLE_HTILE = 1 << 4;
        /// The layout comes from another process.
        const IMPORTED = 1 << 5;
        /// The DCC of an array's layers lies in one piece.
        const CONTIGUOUS_DCC_LAYERS = 1 << 6;
        /// The image is shared with other processes.
        const SHAREABLE = 1 << 7;
        /// Never a render target.
        const NO_RENDER_TARGET = 1 << 8;
        /// The swizzle mode is given.
        const FORCE_SWIZZLE_MODE = 1 << 9;
        /// No FMASK.
        const NO_FMASK = 1 << 10;
        /// No HTILE.
        const NO_HTILE = 1 << 11;
        /// The order of elements is given.
        const FORCE_MICRO_TILE_MODE = 1 << 12;
        /// Partially resident.
        const PRT = 1 << 13;
        /// Shading rates.
        const VRS_RATE = 1 << 14;
        /// Never sampled.
        const NO_TEXTURE = 1 << 15;
        /// Stencil need not match the layout of depth (GFX6-8).
        const NO_STENCIL_ADJUST = 1 << 16;
        /// At most 4 KiB of alignment.
        const PREFER_4K_ALIGNMENT = 1 << 17;
        /// At most 64 KiB of alignment.
        const PREFER_64K_ALIGNMENT = 1 << 18;
        /// A reference picture of the video unit.
        const VIDEO_REFERENCE = 1 << 19;
    }
}

impl SurfaceUsage {
    /// Depth, stencil or both.
    pub const Z_OR_S: Self = Self::ZBUFFER.union(Self::SBUFFER);
    /// No DCC, FMASK or HTILE.
    pub const UNCOMPRESSED: Self = Self::DISABLE_DCC.union(Self::NO_FMASK).union(Self::NO_HTILE);
}

/// An image, as a driver describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceConfig {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Depth of a volume.
    pub depth: u32,
    /// Array layers.
    pub layers: u32,
    /// Mip levels.
    pub levels: u32,
    /// Samples.
    pub samples: u32,
    /// Stored samples of a colour image.
    pub storage_samples: u32,
    /// Bytes of an element.
    pub bytes: u32,
    /// Width and height of a compressed block in pixels, or of a pair that shares chroma; 1x1 else.
    pub block: (u32, u32),
    /// Channels of the format.
    pub channels: u32,
    /// Dimension.
    pub dimension: Dimension,
    /// Tiling.
    pub mode: TilingMode,
    /// Uses.
    pub usage: SurfaceUsage,
    /// The layout that a modifier names.
    pub modifier: Option<Modifier>,
    /// The number of this surface among those that spread over channels; `None` for no spreading.
    pub surface_index: Option<u32>,
    /// The same for FMASK.
    pub fmask_index: Option<u32>,
    /// The mode for [`SurfaceUsage::IMPORTED`] and [`SurfaceUsage::FORCE_SWIZZLE_MODE`] (GFX9 and later).
    pub swizzle_mode: u8,
    /// The order for [`SurfaceUsage::FORCE_MICRO_TILE_MODE`].
    pub micro_mode: MicroMode,
    /// DCC settings of an imported image.
    pub dcc: DccSettings,
    /// Pipes and banks of an imported image (GFX6-8).
    pub legacy: Option<LegacyTiles>,
}

impl SurfaceConfig {
    /// Returns a two-dimensional image of one layer, level and sample, with four channels.
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

    /// Refuses what no chip can do (`surf_config_sanity`).
    pub(super) fn check(&self) -> Result<(), SurfaceError> {
        let refuse = |what| Err(SurfaceError::Config(what));
        if self.width == 0 || self.height == 0 || self.depth == 0 || self.layers == 0 || self.levels == 0 {
            return refuse("a size of zero");
        }
        // Beyond all hardware, and where sums of sizes could overflow.
        let sides = [self.width, self.height, self.depth, self.layers];
        if sides.iter().any(|&side| side > 1 << 20)
            || sides.iter().map(|&side| u64::from(side.next_power_of_two().ilog2())).sum::<u64>() > 44
        {
            return refuse("a size beyond all hardware");
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

    /// Returns `true` if elements are compressed blocks.
    pub(super) const fn is_compressed(&self) -> bool {
        self.block.1 > 1 || self.block.0 > 2
    }

    /// Returns `true` if the image's layout must suit the display (`get_display_flag`).
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

    /// Returns `true` if the image has one of these uses.
    pub(super) fn has(&self, usage: SurfaceUsage) -> bool {
        self.usage.intersects(usage)
    }

    /// Returns array layers, faces, or depth.
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
