//! The choice of a swizzle mode on GFX12. Source: `gfx12_select_swizzle_mode`, `ac_estimate_size`.

use super::config::{SurfaceConfig, SurfaceUsage};
use super::reason::{Estimate, ModeReason};
use crate::addr2::{Dimension, Format};
use crate::addr3::{self, Image, Mode};
use crate::bits::log2;
use crate::chip::Chip;
use crate::error::AddrError;

/// Limits on the ratio of a size to the unpadded size. The driver stores these constants in single precision and compares in double
/// precision.
mod limits {
    pub(super) const D3_256K: f64 = 1.1f32 as f64;
    pub(super) const D3_64K: f64 = 1.2f32 as f64;
    pub(super) const D3_4K: f64 = 2.0;
    pub(super) const D2_256K: f64 = 1.1f32 as f64;
    pub(super) const D2_64K: f64 = 1.3f32 as f64;
    pub(super) const D2_4K: f64 = 2.0;
    pub(super) const D2_256B: f64 = 3.0;
}

/// Estimates the size of an image with blocks of a size. The estimate must match the driver's, which is inexact for mip chains,
/// because it decides the layout.
///
/// The first argument is the number of slices, samples and levels, and `true` for a 3D image.
pub(super) fn estimate_size(
    (slices, samples, levels, volume): (u32, u32, u32, bool),
    pixels: [u32; 2],
    unit: [u32; 2],
    bytes: u32,
    [w, h, d]: [u32; 3],
) -> f64 {
    let mut width = u64::from(pixels[0]).next_multiple_of(u64::from(w * unit[0]));
    let mut height = u64::from(pixels[1]).next_multiple_of(u64::from(h * unit[1]));
    let mut depth = u64::from(slices).next_multiple_of(u64::from(d));
    let element = u64::from(samples) * u64::from(bytes);
    let block = u64::from(w) * u64::from(h) * u64::from(d) * element;
    if levels > 1 && h > 1 {
        width = width.next_power_of_two();
        height = height.next_power_of_two();
    }
    let mut size = 0u64;
    for _ in 0..levels {
        // Invalid images may have huge sizes; their estimate only has to be large.
        let level = width
            .div_ceil(u64::from(unit[0]))
            .saturating_mul(height.div_ceil(u64::from(unit[1])))
            .saturating_mul(depth)
            .saturating_mul(element);
        size = size.saturating_add(level);
        if block >= 4096 && level <= block / 2 {
            break;
        }
        width = (width >> 1).max(1);
        height = (height >> 1).max(1);
        if volume {
            depth = (depth >> 1).max(1);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "the driver divides sizes as doubles")]
    let size = size as f64;
    size
}

/// Chooses a mode and gives the reason. `texels` is `false` for HiZ and HiS, whose blocks do not depend on the format.
pub(super) fn choose(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    texels: bool,
) -> Result<(Mode, ModeReason), AddrError> {
    let mut limit = if chip.info.has_dedicated_vram { 256 * 1024 } else { 64 * 1024 };
    if config.usage.contains(SurfaceUsage::PREFER_4K_ALIGNMENT) {
        limit = 4096;
    } else if config.usage.contains(SurfaceUsage::PREFER_64K_ALIGNMENT) {
        limit = limit.min(65536);
    }
    let mut modes = addr3::possible_modes(image, limit)?;
    if image.format == Format::BlockCompressed {
        modes &= !Mode::Linear.bit();
    }
    let can = |mode: Mode| modes & mode.bit() != 0;
    let unit = if texels { [config.block.0, config.block.1] } else { [1, 1] };
    let pixels = if texels { [config.width, config.height] } else { [image.width, image.height] };
    let bytes = image.bits / 8;
    let facts = (image.slices, image.samples, image.levels, image.dimension == Dimension::D3);
    let size = |block| estimate_size(facts, pixels, unit, bytes, block);
    let (element, samples) = (log2(bytes).min(4), log2(image.samples));
    let ideal = size([1, 1, 1]);
    let of = |mode: Mode| size(mode.block(element, if mode.is_3d() { 0 } else { samples }));
    // A possible mode is taken if its size is within the limit, or if `only` says that no smaller block is possible.
    let take = |mode: Mode, limit: f64, tight: f64, only: bool| {
        if !can(mode) {
            return None;
        }
        let estimate = Estimate { bytes: of(mode), tight, limit };
        if estimate.bytes / tight <= limit {
            Some((mode, ModeReason::LargestBlock(estimate)))
        } else {
            only.then_some((mode, ModeReason::LastBlock { modes }))
        }
    };
    let deep = || {
        let deep = can(Mode::D3_4K) && image.slices >= Mode::D3_4K.block(element, 0)[2] * 3;
        deep.then_some((Mode::D3_4K, ModeReason::DeepVolume))
    };
    let volume = || {
        take(Mode::D3_256K, limits::D3_256K, ideal, !can(Mode::D3_64K))
            .or_else(|| take(Mode::D3_64K, limits::D3_64K, ideal, !can(Mode::D3_4K)))
            .or_else(|| take(Mode::D3_4K, limits::D3_4K, ideal, false))
            .or_else(deep)
    };
    let smaller = can(Mode::D2_256B) || can(Mode::Linear);
    let flat = || {
        take(Mode::D2_256K, limits::D2_256K, ideal, !can(Mode::D2_64K))
            .or_else(|| take(Mode::D2_64K, limits::D2_64K, ideal, !can(Mode::D2_4K)))
            .or_else(|| take(Mode::D2_4K, limits::D2_4K, ideal, !smaller))
            .or_else(|| take(Mode::D2_256B, limits::D2_256B, size([256 >> element, 1, 1]), !can(Mode::Linear)))
            .unwrap_or((Mode::Linear, ModeReason::EveryBlockWastes))
    };
    let found = if image.dimension == Dimension::D3 { volume() } else { None };
    Ok(found.unwrap_or_else(flat))
}
