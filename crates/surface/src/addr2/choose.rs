//! The mode that suits an image best. Source: `Gfx{9,10,11}Lib::HwlGetPreferredSurfaceSetting`.

use amdgpu_hw::GfxLevel;
use bitflags::bitflags;

use super::dimension::Dimension;
use super::image::{Format, Image, MAX_LEVELS, Usage};
use super::mode::sets::{self, Sets};
use super::mode::{Order, SwizzleMode, display_modes, sets_of};
use super::{check, gfx9, gfx10, linear};
use crate::chip::{Chip, Family};
use crate::error::{AddrError, Cause, invalid};

bitflags! {
    /// Block types, by addrlib's bits (`ADDR2_BLOCK_SET`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Blocks: u8 {
        /// 256 bytes.
        const MICRO = 1;
        /// Thin, 4 KiB.
        const THIN_4K = 1 << 1;
        /// Thick, 4 KiB.
        const THICK_4K = 1 << 2;
        /// Thin, 64 KiB.
        const THIN_64K = 1 << 3;
        /// Thick, 64 KiB.
        const THICK_64K = 1 << 4;
        /// Of variable size (GFX10), thin and 256 KiB (GFX11).
        const BIG = 1 << 5;
        /// Thick, 256 KiB (GFX11).
        const THICK_256K = 1 << 6;
        /// Rows.
        const LINEAR = 1 << 7;
    }
}

bitflags! {
    /// Orders of elements, by addrlib's bits (`ADDR2_SWTYPE_SET`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Orders: u8 {
        /// Depth, Morton.
        const Z = 1;
        /// Standard.
        const S = 1 << 1;
        /// Display.
        const D = 1 << 2;
        /// Rotated, render target.
        const R = 1 << 3;
    }
}

/// Restrictions by the caller on the choice of a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Restrictions {
    /// Block types that must not be used.
    pub forbidden: Blocks,
    /// Orders to choose from; empty means any.
    pub preferred: Orders,
    /// No mode with a pipe and bank XOR.
    pub no_xor: bool,
    /// The largest block in bytes; 0 for no limit.
    pub max_align: u32,
    /// Multiple of the smallest size that is acceptable; 0 to weigh sizes as addrlib does by default.
    pub memory_budget: f64,
}

/// The step of a choice that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// One mode is all that the description leaves.
    OnlyMode,
    /// The block type was compared by size: the exponent of its bytes and the size of the image with it.
    BlockBySize {
        /// The block type taken.
        block: Blocks,
        /// Bytes of the image with it.
        bytes: u64,
    },
    /// Only one block type is left; the order of elements decided.
    OrderByUse,
}

/// A suggested mode, and from what it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The mode.
    pub mode: SwizzleMode,
    /// The dimension the mode is meant for.
    pub dimension: Dimension,
    /// All modes that the image can have under the restrictions, as a mask.
    pub modes: u32,
    /// Block types of these modes.
    pub blocks: Blocks,
    /// Orders of these modes.
    pub orders: Orders,
    /// The orders that were preferred.
    pub preferred: Orders,
    /// One of the modes has a pipe and bank XOR.
    pub can_xor: bool,
    /// The step that decided.
    pub reason: Reason,
}

/// The block types in the order in which sizes are compared. The place is addrlib's number less one.
const BY_SIZE: [Blocks; 8] = [
    Blocks::LINEAR,
    Blocks::MICRO,
    Blocks::THIN_4K,
    Blocks::THICK_4K,
    Blocks::THIN_64K,
    Blocks::THICK_64K,
    Blocks::BIG,
    Blocks::THICK_256K,
];

fn modes_of(sets: &Sets, volume: bool, block: Blocks) -> u32 {
    let flat = |modes| if volume { 0 } else { modes };
    match block {
        Blocks::LINEAR => sets::LINEAR,
        Blocks::MICRO => sets.block_256,
        Blocks::THIN_4K => {
            if volume {
                sets.d3_thin[0]
            } else {
                sets.block_4k
            }
        }
        Blocks::THICK_4K => {
            if volume {
                sets.d3_thick[0]
            } else {
                0
            }
        }
        Blocks::THIN_64K => {
            if volume {
                sets.d3_thin[1]
            } else {
                sets.block_64k
            }
        }
        Blocks::THICK_64K => {
            if volume {
                sets.d3_thick[1]
            } else {
                0
            }
        }
        Blocks::BIG => {
            if volume {
                sets.d3_thin[2]
            } else {
                sets.block_big
            }
        }
        Blocks::THICK_256K => {
            if volume {
                sets.d3_thick[2]
            } else {
                0
            }
        }
        _ => flat(0),
    }
}

fn blocks_in(sets: &Sets, volume: bool, modes: u32) -> Blocks {
    BY_SIZE
        .into_iter()
        .filter(|&block| modes_of(sets, volume, block) & modes != 0)
        .fold(Blocks::empty(), |all, block| all | block)
}

fn orders_in(sets: &Sets, modes: u32) -> Orders {
    (0..4)
        .filter(|&order| sets.orders[order] & modes != 0)
        .fold(Orders::empty(), |all, order| all | Orders::from_bits_truncate(1 << order))
}

/// Returns the bits of an FMASK element (`GetFmaskBpp`).
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

/// Suggests a mode. The image's own mode and pitch do not matter.
///
/// # Errors
/// [`AddrError`] where addrlib's `Addr2GetPreferredSurfaceSetting` answers with an error: a description that no mode can do, or
/// restrictions that leave none.
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

/// The modes that description and restrictions leave.
fn allowed(chip: &Chip, image: &Image, restrictions: &Restrictions, sets: &Sets) -> u32 {
    let volume = image.is_3d();
    let gfx9 = chip.level() == GfxLevel::Gfx9;
    let has_big = SwizzleMode::masked(28).block_bits(chip) != 0 && !gfx9;
    let mut modes = BY_SIZE
        .into_iter()
        .filter(|&block| !restrictions.forbidden.contains(block) && (block != Blocks::BIG || has_big))
        .fold(0, |modes, block| {
            // On GFX10 blocks of variable size are one set for all dimensions.
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
            // The texture unit would read the depth planes of such a surface from the wrong place.
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
        // Elements above 64 bits fall in with the others here, though no mode displays them.
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

/// The mode whose size stands for that of its block type.
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

fn size_with(chip: &Chip, image: &Image, mode: SwizzleMode) -> Result<u64, AddrError> {
    let image = Image { mode, ..*image };
    Ok(if mode.is_linear() {
        linear::layout(chip, &image)?.bytes
    } else if chip.level() == GfxLevel::Gfx9 {
        gfx9::layout(chip, &image)?.bytes
    } else {
        gfx10::layout(chip, &image).bytes
    })
}

/// Weights of two sizes (`Addr2BlockTypeWithinMemoryBudget`).
#[derive(Clone, Copy)]
struct Scale {
    low: u64,
    high: u64,
}

impl Scale {
    const fn new(minimum: bool, usage: Usage) -> Self {
        if minimum {
            Self { low: 1, high: 1 }
        } else if usage.contains(Usage::OPT_4_SPACE) {
            Self { low: 3, high: 2 }
        } else {
            Self { low: 2, high: 1 }
        }
    }

    const fn accepts(self, best: u64, new: u64, larger_block: bool) -> bool {
        if larger_block {
            new.saturating_mul(self.high) <= best.saturating_mul(self.low)
        } else {
            new.saturating_mul(self.low) < best.saturating_mul(self.high)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "addrlib divides sizes as doubles")]
fn within_budget(best: u64, new: u64, budget: f64, larger_block: bool) -> bool {
    if larger_block { new as f64 / best as f64 <= budget } else { best as f64 / new as f64 > budget }
}

fn larger(chip: &Chip, volume: bool, new: Blocks, best: Blocks) -> bool {
    let bits = |block| {
        let mode = stand_in(chip.level(), volume, block);
        if mode.is_linear() { 8 } else { mode.block_bits(chip) }
    };
    !matches!(chip.level(), GfxLevel::Gfx10 | GfxLevel::Gfx10_3) || bits(new) >= bits(best)
}

/// Takes the block type by the sizes of the image with each of them.
fn pick_block(
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
    // Types smaller than the winner are out. Linear is one of them, and a thin type beside a thick one of the same size.
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
        modes &= !sets::LINEAR;
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

/// Takes the order of elements that suits the use, where several are left.
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

/// FMASK on GFX10 has two modes to choose from.
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

impl Chip {
    /// Returns `true` for the Vega 12 configurations on which aligned HTILE of layered depth is not coherent.
    fn htile_cache_rb_conflict(&self) -> bool {
        let config = self.config;
        self.family == Family::Vega12
            && config.rbs_per_engine == 1
            && matches!((config.pipes, config.shader_engines), (1, 2 | 3) | (2, 1 | 2))
    }
}
