//! Validation of images, with and without regard to their mode.
//!
//! Source: `Gfx{9,10,11}Lib::ValidateNonSwModeParams`, `ValidateSwModeParams`.

use amdgpu_hw::GfxLevel;

use super::dimension::Dimension;
use super::image::{Format, Image, Usage};
use super::mode::{Order, display_modes, sets_of};
use crate::chip::Chip;
use crate::error::{AddrError, Cause, invalid};

fn ensure(condition: bool, cause: Cause) -> Result<(), AddrError> {
    if condition { Ok(()) } else { invalid(cause) }
}

/// Rejects descriptions that no mode supports.
pub(super) fn without_mode(chip: &Chip, image: &Image) -> Result<(), AddrError> {
    let level = chip.level();
    let use_has = |usage| image.usage.intersects(usage);
    ensure(matches!(image.bits, 8 | 16 | 32 | 64 | 128), Cause::ElementBits(image.bits))?;
    ensure(matches!(image.samples, 1 | 2 | 4 | 8 | 16), Cause::Samples(image.samples))?;
    ensure(matches!(image.fragments, 1 | 2 | 4 | 8), Cause::Samples(image.fragments))?;
    if level >= GfxLevel::Gfx11 {
        ensure(!use_has(Usage::FMASK), Cause::Usage)?;
        ensure(image.samples <= 8, Cause::Samples(image.samples))?;
        ensure(image.samples == image.fragments, Cause::Samples(image.fragments))?;
    }
    let msaa = image.fragments > 1;
    let display = use_has(Usage::DISPLAY) || (level == GfxLevel::Gfx9 && use_has(Usage::ROTATED));
    match image.dimension {
        Dimension::D1 => {
            ensure(!msaa, Cause::Samples(image.fragments))?;
            ensure(!display, Cause::Usage)?;
            ensure(
                level != GfxLevel::Gfx9
                    || !(image.is_zbuffer() || image.format == Format::BlockCompressed || use_has(Usage::FMASK)),
                Cause::Usage,
            )
        }
        Dimension::D2 => ensure(!(msaa && image.levels > 1), Cause::Levels(image.levels)),
        Dimension::D3 => {
            ensure(!msaa, Cause::Samples(image.fragments))?;
            ensure(!display, Cause::Usage)?;
            ensure(level != GfxLevel::Gfx9 || !(image.is_zbuffer() || use_has(Usage::FMASK)), Cause::Usage)
        }
    }
}

/// Rejects descriptions that the image's mode does not support.
pub(super) fn mode(chip: &Chip, image: &Image) -> Result<(), AddrError> {
    let mode = image.mode;
    let cause = Cause::Mode(u32::from(mode.number()));
    ensure(mode.exists(chip.level()), cause)?;
    let display = image.usage.contains(Usage::DISPLAY)
        || (chip.level() == GfxLevel::Gfx9 && image.usage.contains(Usage::ROTATED));
    ensure(!display || display_modes(chip, image.bits) & mode.bit() != 0, cause)?;
    ensure(image.format != Format::Rgb96 || mode.is_linear(), cause)?;
    let block_bits = if mode.is_linear() { 8 } else { mode.block_bits(chip) };
    ensure(block_bits != 0, cause)?;
    ensure(image.fragments == 1 || 1 << block_bits >= 256 * image.fragments, Cause::Samples(image.fragments))?;
    ensure(if chip.level() == GfxLevel::Gfx9 { gfx9(image) } else { gfx10(chip, image) }, cause)
}

fn gfx9(image: &Image) -> bool {
    let mode = image.mode;
    let is = |dimension| image.dimension == dimension;
    let (d1, d2, d3) = (is(Dimension::D1), is(Dimension::D2), is(Dimension::D3));
    let has = |usage| image.usage.contains(usage);
    let (color, prt, fmask) = (has(Usage::COLOR), has(Usage::PRT), has(Usage::FMASK));
    let (msaa, mips, zbuffer) = (image.fragments > 1, image.levels > 1, image.is_zbuffer());
    let compressed = image.format == Format::BlockCompressed;
    let packed = image.format == Format::Packed422;
    let thin_volume = d3 && has(Usage::VIEW_3D_AS_2D);
    let deepest = d3 && mips && image.slices >= image.width && image.slices >= image.height;
    if prt && mode.is_xor() && !mode.is_prt_xor() {
        return false;
    }
    if mode.is_linear() {
        return !((!d1 && prt) || zbuffer || msaa);
    }
    if d1 {
        return false;
    }
    let by_order = match mode.order() {
        Order::Z => {
            !((color && msaa)
                || thin_volume
                || compressed
                || packed
                || (d2 && image.bits > 64)
                || (msaa && image.bits > 32))
        }
        Order::S => !(zbuffer || thin_volume || (d3 && image.bits == 128 && color) || fmask),
        Order::D => !(zbuffer || (prt && d3) || fmask || deepest),
        Order::R => !(zbuffer || image.bits > 64 || d3 || compressed || fmask),
    };
    by_order && !(mode.is_256b() && (prt || zbuffer || d3 || mips || msaa))
}

fn gfx10(chip: &Chip, image: &Image) -> bool {
    let mode = image.mode;
    let sets = sets_of(chip.level());
    let has = |usage| image.usage.contains(usage);
    let (msaa, zbuffer) = (image.fragments > 1, image.is_zbuffer());
    let within = |set: u32| set & mode.bit() != 0;
    let by_dimension = match image.dimension {
        Dimension::D1 => within(sets.d1),
        Dimension::D2 => {
            within(sets.d2)
                && (!has(Usage::PRT) || within(sets.d2_prt))
                && (!has(Usage::FMASK) || within(sets.orders[0]))
        }
        Dimension::D3 => {
            within(sets.d3)
                && (!has(Usage::PRT) || within(sets.d3_prt))
                && (!has(Usage::VIEW_3D_AS_2D) || within(sets.d3_as_2d))
        }
    };
    if !by_dimension {
        return false;
    }
    if mode.is_linear() {
        return !(zbuffer || msaa);
    }
    let by_order = match mode.order() {
        Order::Z => {
            !(image.bits > 64
                || (msaa && (has(Usage::COLOR) || image.bits > 32))
                || matches!(image.format, Format::BlockCompressed | Format::Packed422))
        }
        Order::S | Order::D => !(zbuffer || msaa),
        Order::R => !zbuffer,
    };
    by_order && !(mode.is_256b() && (zbuffer || image.is_3d() || msaa))
}
