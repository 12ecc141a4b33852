//! Views of block-compressed images as uncompressed images, with an element for each block.
//!
//! Source: `ac_surface_compute_nbc_view`, `Gfx10Lib`, `Gfx11Lib` and `Gfx12Lib::HwlComputeNonBlockCompressedView`.

use super::config::{Dimension, SurfaceConfig};
use super::layout::SurfaceLayout;
use crate::addr2::{self, Format, Image, Levels, SwizzleMode, Usage};
use crate::addr3;
use crate::bits::{align, shift_up};
use crate::chip::Chip;
use crate::error::{AddrError, Cause, invalid};
use amdgpu_hw::GfxLevel;

/// A view of one level and layer of a compressed image as an uncompressed image. Lengths are in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbcView {
    /// The width of level 0 of the view.
    pub width: u32,
    /// The height of level 0 of the view.
    pub height: u32,
    /// The level of the view that shows the requested level.
    pub level: u32,
    /// The number of levels of the view.
    pub levels: u32,
    /// The tile swizzle of the layer.
    pub tile_swizzle: u32,
    /// The offset of the view in the image, in bytes.
    pub offset: u64,
}

struct Chain {
    levels: Levels,
    first_tail: u32,
    slice_bytes: u64,
    block: [u32; 3],
    swizzle: u32,
    tiled: bool,
}

fn chain(chip: &Chip, surface: &SurfaceLayout, config: &SurfaceConfig, layer: u32) -> Result<Chain, AddrError> {
    let dimension = match config.dimension {
        Dimension::D3 => addr2::Dimension::D3,
        Dimension::D1 => addr2::Dimension::D1,
        _ => addr2::Dimension::D2,
    };
    let (width, height) = (config.width.div_ceil(config.block.0), config.height.div_ceil(config.block.1));
    let bits = config.bytes * 8;
    if chip.level() == GfxLevel::Gfx12 {
        let Some(mode) = addr3::Mode::new(surface.swizzle_mode) else {
            return invalid(Cause::Mode(u32::from(surface.swizzle_mode)));
        };
        let image = addr3::Image {
            dimension,
            format: Format::BlockCompressed,
            slices: config.layers,
            levels: config.levels,
            ..addr3::Image::new(mode, bits, width, height)
        };
        let layout = addr3::layout(chip, &image)?;
        return Ok(Chain {
            levels: layout.levels,
            first_tail: layout.first_tail,
            slice_bytes: layout.slice_bytes,
            block: layout.block,
            swizzle: surface.tile_swizzle,
            tiled: !mode.is_linear(),
        });
    }
    let mode = SwizzleMode::masked(u32::from(surface.swizzle_mode));
    let image = Image {
        dimension,
        format: Format::BlockCompressed,
        slices: config.layers,
        levels: config.levels,
        usage: Usage::TEXTURE,
        ..Image::new(mode, bits, width, height)
    };
    let layout = addr2::layout(chip, &image)?;
    Ok(Chain {
        levels: layout.levels,
        first_tail: layout.first_tail,
        slice_bytes: layout.slice_bytes,
        block: layout.block,
        swizzle: addr2::slice_xor(chip, &image, surface.tile_swizzle, layer).unwrap_or(surface.tile_swizzle),
        tiled: !mode.is_linear(),
    })
}

impl SurfaceLayout {
    /// Returns the view of a level and layer of a block-compressed image (GFX10 and later).
    ///
    /// # Errors
    /// [`AddrError`] if the image is not block-compressed, if it lacks the level or layer, or if the generation is older than
    /// GFX10.
    pub fn nbc_view(&self, chip: &Chip, config: &SurfaceConfig, level: u32, layer: u32) -> Result<NbcView, AddrError> {
        if chip.level() < GfxLevel::Gfx10 {
            return Err(AddrError::NotSupported(Cause::Generation));
        }
        if !config.is_compressed() || !matches!(config.bytes, 8 | 16) {
            return Err(AddrError::NotSupported(Cause::ElementBits(config.bytes * 8)));
        }
        if level >= config.levels || layer >= config.slices() {
            return invalid(Cause::Coordinate);
        }
        let chain = chain(chip, self, config, layer)?;
        let (block_w, block_h) = config.block;
        let width_of = |level: u32| (config.width >> level).max(1).div_ceil(block_w);
        let height_of = |level: u32| (config.height >> level).max(1).div_ceil(block_h);
        let (w, h) = (width_of(level), height_of(level));
        let (full_w, full_h) = (width_of(0), height_of(0));
        let offset = u64::from(layer) * chain.slice_bytes + chain.levels[level].block_offset;
        let mut view = NbcView { width: w, height: h, level: 0, levels: 1, tile_swizzle: chain.swizzle, offset };
        let [unit_w, unit_h, _] = chain.block;
        if chain.tiled && level >= chain.first_tail {
            // The mip tail is treated as a separate mip chain, whose first level is at most as large as the tail.
            view.level = level - chain.first_tail;
            view.levels = config.levels - chain.first_tail;
            view.width = (w << view.level).min(unit_w / 2);
            view.height = (h << view.level).min(unit_h);
        } else if w << level != full_w {
            // Rounding lost blocks of the smaller levels: the requested level becomes level 1 of a view whose level 0 has enough
            // blocks.
            let (upper_w, upper_h) = (width_of(level - 1), height_of(level - 1));
            let avoid_tail = chain.tiled && w <= unit_w / 2 && h <= unit_h;
            let needs = |upper: u32, own: u32, full: u32, unit: u32| {
                upper < own * 2
                    || (upper == own * 2 && (avoid_tail || align(shift_up(full, level), unit) > align(own, unit)))
            };
            view.level = 1;
            view.levels = 2;
            view.width = upper_w + u32::from(needs(upper_w, w, full_w, unit_w));
            view.height = upper_h + u32::from(needs(upper_h, h, full_h, unit_h));
        }
        Ok(view)
    }
}
