//! The choice of the best mode for an image. Source: `Gfx{9,10,11}Lib::HwlGetPreferredSurfaceSetting`.

mod allowed;
mod block;
mod kinds;
mod sets;

use amdgpu_hw::GfxLevel;

use self::allowed::allowed;
use self::block::{Scale, pick_block, size_with, within_budget};
use self::sets::{blocks_in, modes_of, orders_in};
use super::check;
use super::dimension::Dimension;
use super::image::{Format, Image, MAX_LEVELS, Usage};
use super::mode::sets::{self as mode_sets, Sets};
use super::mode::{Order, SwizzleMode, sets_of};
use crate::chip::Chip;
use crate::error::{AddrError, Cause, invalid};

pub use self::kinds::{Blocks, Choice, Orders, Reason, Restrictions};

/// Returns the size of an FMASK element in bits (`GetFmaskBpp`).
pub const fn fmask_bits(samples: u32, fragments: u32) -> u32 {
    let mut bits = crate::bits::log2(fragments);
    if samples > fragments {
        bits += 1;
    }
    if bits == 3 {
        bits = 4;
    }
    let all = bits * samples;
    if all < 8 { 8 } else { all }
}

/// Chooses a mode. The mode and pitch of `image` are ignored.
///
/// # Errors
/// [`AddrError`] if addrlib's `Addr2GetPreferredSurfaceSetting` returns an error: no mode supports the description, or the
/// restrictions exclude all modes.
pub fn choose(chip: &Chip, image: &Image, restrictions: &Restrictions) -> Result<Choice, AddrError> {
    if !(GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&chip.level()) {
        return invalid(Cause::Generation);
    }
    if image.levels as usize > MAX_LEVELS {
        return invalid(Cause::Levels(image.levels));
    }
    let mut image = Image { pitch: 0, ..image.normalised() };
    let fmask = image.usage.contains(Usage::FMASK);
    if fmask && chip.level() < GfxLevel::Gfx11 {
        image.bits = fmask_bits(image.samples, image.fragments);
        (image.samples, image.fragments, image.dimension, image.levels) = (1, 1, Dimension::D2, image.levels);
        if chip.level() != GfxLevel::Gfx9 {
            return choose_fmask(chip, &image, restrictions);
        }
    }
    if image.format == Format::Rgb96 {
        image.bits = 32;
        image.width = image.width.saturating_mul(3);
    }
    if image.width > super::MAX_EXTENT || image.height > super::MAX_EXTENT || image.slices > super::MAX_EXTENT {
        return invalid(Cause::Overflow);
    }
    check::without_mode(chip, &image)?;
    let sets = sets_of(chip.level());
    let modes = allowed(chip, &image, restrictions, &sets);
    if modes == 0 {
        return invalid(Cause::NothingLeft);
    }
    let volume = image.is_3d();
    let (mode, reason) = pick(chip, &image, restrictions, &sets, modes)?;
    Ok(Choice {
        mode,
        dimension: image.dimension,
        modes,
        blocks: blocks_in(&sets, volume, modes),
        orders: orders_in(&sets, modes),
        preferred: if restrictions.preferred.is_empty() { Orders::all() } else { restrictions.preferred },
        can_xor: modes & sets.xor != 0,
        reason,
    })
}

fn pick(
    chip: &Chip,
    image: &Image,
    restrictions: &Restrictions,
    sets: &Sets,
    mut modes: u32,
) -> Result<(SwizzleMode, Reason), AddrError> {
    if modes.is_power_of_two() {
        return Ok((SwizzleMode::masked(modes.trailing_zeros()), Reason::OnlyMode));
    }
    let volume = image.is_3d();
    let minimum = image.usage.contains(Usage::MINIMIZE_ALIGN) || restrictions.memory_budget >= 1.0;
    if image.height > 1 && !minimum {
        modes &= !mode_sets::LINEAR;
    }
    let mut reason = Reason::OrderByUse;
    let blocks = blocks_in(sets, volume, modes);
    if blocks.bits().count_ones() > 1 {
        let (block, bytes) = pick_block(chip, image, restrictions, blocks)?;
        modes &= if block == Blocks::BIG && chip.level() < GfxLevel::Gfx11 {
            sets.block_big
        } else {
            modes_of(sets, volume, block)
        };
        reason = Reason::BlockBySize { block, bytes };
    }
    if let Some(order) = pick_order(chip, image, sets, modes) {
        modes &= sets.orders[order as usize];
    }
    Ok((SwizzleMode::masked(crate::bits::log2(modes)), reason))
}

/// Returns the order of elements that suits the use, if several are allowed.
fn pick_order(chip: &Chip, image: &Image, sets: &Sets, modes: u32) -> Option<Order> {
    let orders = orders_in(sets, modes);
    if orders.bits().count_ones() < 2 {
        return None;
    }
    let color = image.usage.contains(Usage::COLOR);
    let gfx9 = chip.level() == GfxLevel::Gfx9;
    let gfx10 = chip.level() < GfxLevel::Gfx11;
    let thick_64k = blocks_in(sets, image.is_3d(), modes).contains(Blocks::THICK_64K);
    let ranking: &[Order] = match (image.format, image.dimension) {
        (Format::BlockCompressed, _) => &[Order::D, Order::S, Order::R],
        (Format::Packed422, _) => &[Order::S, Order::D, Order::R],
        (_, Dimension::D3) if gfx9 && color => &[Order::D, Order::Z, Order::S],
        (_, Dimension::D3) if gfx9 => &[Order::Z, Order::S],
        (_, Dimension::D3) if gfx10 && color && thick_64k => &[Order::D, Order::S, Order::R, Order::Z],
        (_, Dimension::D3) if gfx10 => &[Order::S, Order::R, Order::Z],
        (_, Dimension::D3) if color => &[Order::R, Order::S, Order::D, Order::Z],
        (_, Dimension::D3) => &[Order::S, Order::D, Order::Z],
        _ if gfx9 && !image.usage.contains(Usage::ROTATED) => &[Order::D, Order::S, Order::Z],
        _ => &[Order::R, Order::D, Order::S, Order::Z],
    };
    let has = |order: Order| orders.contains(Orders::from_bits_truncate(1 << order as u8));
    ranking.iter().copied().find(|&order| has(order)).or_else(|| ranking.last().copied())
}

/// Chooses between the two modes of FMASK on GFX10.
fn choose_fmask(chip: &Chip, image: &Image, restrictions: &Restrictions) -> Result<Choice, AddrError> {
    let small = !restrictions.forbidden.contains(Blocks::THIN_64K);
    let variable = chip.level() == GfxLevel::Gfx10_3 && !restrictions.forbidden.contains(Blocks::BIG);
    let [z64, zvar] = [24, 28].map(SwizzleMode::masked);
    let mode = match (small, variable) {
        (false, false) => return invalid(Cause::NothingLeft),
        (true, false) => z64,
        (false, true) => zvar,
        (true, true) => {
            let scale = Scale::new(image.usage.contains(Usage::MINIMIZE_ALIGN), image.usage);
            let single = Image { levels: 1, ..*image };
            let sizes = [size_with(chip, &single, z64)?, size_with(chip, &single, zvar)?];
            let larger = zvar.block_bits(chip) >= 16;
            let accepts = if restrictions.memory_budget >= 1.0 {
                within_budget(sizes[0], sizes[1], restrictions.memory_budget, larger)
            } else {
                scale.accepts(sizes[0], sizes[1], larger)
            };
            if accepts { zvar } else { z64 }
        }
    };
    let (mut blocks, mut modes) = (Blocks::empty(), 0);
    if small {
        blocks |= Blocks::THIN_64K;
        modes |= z64.bit();
    }
    if variable {
        blocks |= Blocks::BIG;
        modes |= zvar.bit();
    }
    Ok(Choice {
        mode,
        dimension: Dimension::D2,
        modes,
        blocks,
        orders: Orders::Z,
        preferred: Orders::Z,
        can_xor: true,
        reason: if small && variable { Reason::BlockBySize { block: blocks, bytes: 0 } } else { Reason::OnlyMode },
    })
}
