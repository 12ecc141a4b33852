//! The choice of a block type by the sizes of the image with each type.

use amdgpu_hw::GfxLevel;

use super::kinds::{Blocks, Restrictions};
use super::sets::BY_SIZE;
use crate::addr2::image::{Image, Usage};
use crate::addr2::mode::SwizzleMode;
use crate::addr2::{gfx9, gfx10, linear};
use crate::chip::Chip;
use crate::error::{AddrError, Cause, invalid};

/// Returns the mode whose size represents the block type.
#[expect(clippy::match_same_arms, reason = "one row per generation")]
fn stand_in(level: GfxLevel, volume: bool, block: Blocks) -> SwizzleMode {
    let number = match (level, volume, block) {
        (_, _, Blocks::LINEAR) => 0,
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, false, Blocks::MICRO) => 1,
        (_, _, Blocks::MICRO) => 2,
        (GfxLevel::Gfx9, true, Blocks::THICK_4K) => 5,
        (GfxLevel::Gfx9, true, Blocks::THICK_64K) => 9,
        (GfxLevel::Gfx9, _, Blocks::THIN_4K) => 6,
        (GfxLevel::Gfx9, _, _) => 10,
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, _, Blocks::BIG) => 31,
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, true, Blocks::THIN_64K) => 27,
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, _, Blocks::THIN_4K | Blocks::THICK_4K) => 5,
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, _, _) => 9,
        (_, true, Blocks::THICK_4K) => 21,
        (_, true, Blocks::THIN_64K) => 27,
        (_, true, Blocks::THICK_64K) => 25,
        (_, true, Blocks::BIG) => 31,
        (_, _, Blocks::THICK_256K) => 29,
        (_, _, Blocks::THIN_4K) => 22,
        (_, _, Blocks::BIG) => 30,
        _ => 26,
    };
    SwizzleMode::masked(number)
}

/// Returns the size of an image in bytes in a mode.
pub(super) fn size_with(chip: &Chip, image: &Image, mode: SwizzleMode) -> Result<u64, AddrError> {
    let image = Image { mode, ..*image };
    Ok(if mode.is_linear() {
        linear::layout(chip, &image)?.bytes
    } else if chip.level() == GfxLevel::Gfx9 {
        gfx9::layout(chip, &image)?.bytes
    } else {
        gfx10::layout(chip, &image).bytes
    })
}

/// The weights in the comparison of two sizes (`Addr2BlockTypeWithinMemoryBudget`).
#[derive(Clone, Copy)]
pub(super) struct Scale {
    low: u64,
    high: u64,
}

impl Scale {
    pub(super) const fn new(minimum: bool, usage: Usage) -> Self {
        if minimum {
            Self { low: 1, high: 1 }
        } else if usage.contains(Usage::OPT_4_SPACE) {
            Self { low: 3, high: 2 }
        } else {
            Self { low: 2, high: 1 }
        }
    }

    pub(super) const fn accepts(self, best: u64, new: u64, larger_block: bool) -> bool {
        if larger_block {
            new.saturating_mul(self.high) <= best.saturating_mul(self.low)
        } else {
            new.saturating_mul(self.low) < best.saturating_mul(self.high)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "addrlib divides sizes as doubles")]
pub(super) fn within_budget(best: u64, new: u64, budget: f64, larger_block: bool) -> bool {
    if larger_block { new as f64 / best as f64 <= budget } else { best as f64 / new as f64 > budget }
}

fn larger(chip: &Chip, volume: bool, new: Blocks, best: Blocks) -> bool {
    let bits = |block| {
        let mode = stand_in(chip.level(), volume, block);
        if mode.is_linear() { 8 } else { mode.block_bits(chip) }
    };
    !matches!(chip.level(), GfxLevel::Gfx10 | GfxLevel::Gfx10_3) || bits(new) >= bits(best)
}

/// Chooses the block type by the sizes of the image with each type.
pub(super) fn pick_block(
    chip: &Chip,
    image: &Image,
    restrictions: &Restrictions,
    blocks: Blocks,
) -> Result<(Blocks, u64), AddrError> {
    let volume = image.is_3d();
    let budget = restrictions.memory_budget;
    let minimum = image.usage.contains(Usage::MINIMIZE_ALIGN) || budget >= 1.0;
    let scale = Scale::new(minimum, image.usage);
    let mut sizes = [0u64; 8];
    let mut best: Option<usize> = None;
    for (place, block) in BY_SIZE.into_iter().enumerate() {
        if !blocks.contains(block) {
            continue;
        }
        let size = size_with(chip, image, stand_in(chip.level(), volume, block))?;
        sizes[place] = size;
        let better =
            best.is_none_or(|best| scale.accepts(sizes[best], size, larger(chip, volume, block, BY_SIZE[best])));
        if better {
            best = Some(place);
        }
    }
    let Some(best) = best else { return invalid(Cause::NothingLeft) };
    if budget <= 1.0 {
        return Ok((BY_SIZE[best], sizes[best]));
    }
    let mut left = blocks;
    // Types that come before the chosen one are excluded, including linear, and a thin type beside a thick type of the same size.
    for smaller in &BY_SIZE[..best] {
        let variable = BY_SIZE[best] == Blocks::BIG && chip.level() < GfxLevel::Gfx11;
        if !(variable && matches!(*smaller, Blocks::THIN_64K | Blocks::THICK_64K)) {
            left.remove(*smaller);
        }
    }
    for (place, block) in BY_SIZE.into_iter().enumerate().skip(1) {
        if place != best && left.contains(block) {
            let larger = larger(chip, volume, block, BY_SIZE[best]);
            if !within_budget(sizes[best], sizes[place], budget, larger) {
                left.remove(block);
            }
        }
    }
    if chip.level() < GfxLevel::Gfx11
        && SwizzleMode::masked(28).block_bits(chip) < 16
        && left.intersects(Blocks::THIN_64K | Blocks::THICK_64K)
    {
        left.remove(Blocks::BIG);
    }
    if left.bits().count_ones() > 1 {
        left.remove(Blocks::LINEAR);
    }
    let place = BY_SIZE.iter().rposition(|&block| left.contains(block)).unwrap_or(best);
    Ok((BY_SIZE[place], sizes[place]))
}
