//! The modes that the description and restrictions allow.

use amdgpu_hw::GfxLevel;

use super::kinds::{Blocks, Orders, Restrictions};
use super::sets::{BY_SIZE, modes_of};
use crate::addr2::dimension::Dimension;
use crate::addr2::image::{Format, Image, Usage};
use crate::addr2::mode::sets::{self, Sets};
use crate::addr2::mode::{SwizzleMode, display_modes};
use crate::chip::{Chip, Family};

/// Returns a mask of the modes that the description and restrictions allow.
pub(super) fn allowed(chip: &Chip, image: &Image, restrictions: &Restrictions, sets: &Sets) -> u32 {
    let volume = image.is_3d();
    let gfx9 = chip.level() == GfxLevel::Gfx9;
    let has_big = SwizzleMode::masked(28).block_bits(chip) != 0 && !gfx9;
    let mut modes = BY_SIZE
        .into_iter()
        .filter(|&block| !restrictions.forbidden.contains(block) && (block != Blocks::BIG || has_big))
        .fold(0, |modes, block| {
            // On GFX10, blocks of variable size are one set for all dimensions.
            let of_block = if block == Blocks::BIG && chip.level() < GfxLevel::Gfx11 {
                sets.block_big
            } else {
                modes_of(sets, volume, block)
            };
            modes | of_block
        });
    if !restrictions.preferred.is_empty() {
        for (order, mask) in sets.orders.into_iter().enumerate() {
            if !restrictions.preferred.contains(Orders::from_bits_truncate(1 << order)) {
                modes &= !mask;
            }
        }
    }
    if restrictions.no_xor {
        modes &= !sets.xor;
    }
    let limit = restrictions.max_align;
    if limit > 0 {
        let big = 1 << SwizzleMode::masked(28).block_bits(chip);
        for (size, set) in
            [(big, sets.block_big), (65536, sets.block_64k), (4096, sets.block_4k), (256, sets.block_256)]
        {
            if limit < size {
                modes &= !set;
            }
        }
    }
    if gfx9 { restrict_gfx9(chip, image, sets, modes) } else { restrict_gfx10(chip, image, sets, modes) }
}

fn by_dimension(image: &Image, sets: &Sets) -> u32 {
    match (image.dimension, image.usage.contains(Usage::PRT)) {
        (Dimension::D1, _) => sets.d1,
        (Dimension::D2, false) => sets.d2,
        (Dimension::D2, true) => sets.d2_prt,
        (Dimension::D3, false) => sets.d3,
        (Dimension::D3, true) => sets.d3_prt,
    }
}

fn restrict_gfx9(chip: &Chip, image: &Image, sets: &Sets, mut modes: u32) -> u32 {
    let has = |usage| image.usage.contains(usage);
    let [z, s, d, r] = sets.orders;
    let msaa = image.fragments > 1 || image.samples > 1;
    modes &= by_dimension(image, sets);
    match image.dimension {
        Dimension::D2 if image.bits > 64 => modes &= !(z | r),
        Dimension::D3 => {
            if image.levels > 1 && image.slices >= image.width && image.slices >= image.height {
                modes &= !d;
            }
            if image.bits == 128 && has(Usage::COLOR) {
                modes &= !s;
            }
            if has(Usage::VIEW_3D_AS_2D) {
                modes &= sets.d3_as_2d;
            }
        }
        _ => {}
    }
    match image.format {
        Format::Rgb96 => modes &= sets::LINEAR,
        Format::BlockCompressed => modes &= s | d | if has(Usage::TEXTURE) { 0 } else { sets::LINEAR },
        _ => {}
    }
    if image.format == Format::Packed422
        || (msaa && (image.bits > 32 || image.usage.intersects(Usage::COLOR | Usage::UNORDERED)))
    {
        modes &= !z;
    }
    if image.is_zbuffer() || has(Usage::FMASK) {
        modes &= z;
    }
    if !has(Usage::NO_METADATA) {
        let many = (image.bits == 16 && image.fragments >= 4) || (image.bits == 32 && image.fragments >= 2);
        if has(Usage::DEPTH) && has(Usage::TEXTURE) && many {
            // The texture unit would read the depth planes of such a surface from a wrong address.
            modes &= !sets.xor;
        }
        let aligned = !image.usage.intersects(Usage::META_RB_UNALIGNED | Usage::META_PIPE_UNALIGNED);
        if chip.htile_cache_rb_conflict() && image.is_zbuffer() && image.slices > 1 && aligned {
            modes &= !0x0ff0_0000;
        }
    }
    if msaa {
        modes &= sets.msaa;
    }
    if image.levels > 1 {
        modes &= !sets.block_256;
    }
    if image.usage.intersects(Usage::DISPLAY | Usage::ROTATED) {
        // Elements above 64 bits are treated like smaller ones here, although the display does not support them in any mode.
        modes &= display_modes(chip, if image.bits > 64 { 8 } else { image.bits });
    }
    modes
}

fn restrict_gfx10(chip: &Chip, image: &Image, sets: &Sets, mut modes: u32) -> u32 {
    let has = |usage| image.usage.contains(usage);
    let [z, s, d, _] = sets.orders;
    let msaa = image.fragments > 1 || image.samples > 1;
    modes &= by_dimension(image, sets);
    if image.is_3d() && has(Usage::VIEW_3D_AS_2D) {
        modes &= sets.d3_as_2d;
    }
    if matches!(image.format, Format::BlockCompressed | Format::Packed422)
        || image.bits > 64
        || (msaa && (image.bits > 32 || image.usage.intersects(Usage::COLOR | Usage::UNORDERED)))
    {
        modes &= !z;
    }
    if image.format == Format::Rgb96 {
        modes &= sets::LINEAR;
    }
    if msaa {
        modes &= sets.msaa;
    }
    if image.is_zbuffer() {
        modes &= z;
    }
    if has(Usage::DISPLAY) {
        modes &= display_modes(chip, image.bits);
    }
    if chip.level() >= GfxLevel::Gfx11 && has(Usage::NEED_METADATA) {
        modes &= !sets::LINEAR;
        if has(Usage::COLOR) {
            modes &= !(sets.block_256 | d | s);
        }
    }
    modes
}

impl Chip {
    /// Returns `true` for the Vega 12 configurations on which aligned HTILE of layered depth is not coherent.
    fn htile_cache_rb_conflict(&self) -> bool {
        let config = self.config;
        self.family == Family::Vega12
            && config.rbs_per_engine == 1
            && matches!((config.pipes, config.shader_engines), (1, 2 | 3) | (2, 1 | 2))
    }
}
