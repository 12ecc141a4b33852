//! Metadata of GFX10 to GFX11: rows of meta blocks with a pattern inside each block.
//!
//! Source: `Gfx10Lib` and `Gfx11Lib`: `GetMetaBlkSize`, `HwlComputeDccInfo`, `-CmaskInfo`, `-HtileInfo`.

use amdgpu_hw::GfxLevel;

use super::image::{MetaImage, MetaKind, MetaLayout, MetaLevel};
use crate::addr2::block::MICRO_3D;
use crate::addr2::dimension::Dimension;
use crate::addr2::image::MAX_LEVELS;
use crate::addr2::mode::Order;
use crate::bits::{align, log2, shift_up};
use crate::chip::Chip;
use crate::equation::Equation;
use crate::error::{AddrError, Cause, invalid};
use crate::tables::{PatternSet, gfx10 as t10, gfx11 as t11};

/// The size of meta blocks, where drivers and hardware differ: in R modes of GFX11 with 8 samples.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocks {
    /// Those that Mesa 25.0.7 makes room for, up to twice as large as they need to be.
    Reserved,
    /// Those that the hardware reads. Mesa 26.2.6 makes room for no more on any chip, and it is a driver that runs on them.
    Read,
}

/// A meta block: the base-2 logarithm of its size in bytes, and its dimensions.
pub(super) struct Block {
    pub(super) bytes_log2: u32,
    pub(super) size: [u32; 3],
}

/// Returns the base-2 logarithm of the number of shader arrays of a chip.
const fn arrays(chip: &Chip) -> i32 {
    chip.config.packers.saturating_sub(1) as i32
}

pub(super) fn block(chip: &Chip, image: &MetaImage, blocks: Blocks) -> Block {
    let dcc = image.kind == MetaKind::Dcc;
    let rb_plus = chip.level() >= GfxLevel::Gfx10_3;
    let gfx11 = chip.level() >= GfxLevel::Gfx11;
    let (element, samples) = if dcc { (image.bytes_log2() as i32, log2(image.fragments) as i32) } else { (0, 0) };
    let block_bits = image.mode.block_bits(chip) as i32;
    let pipes = chip.config.pipes as i32;
    let arrays = arrays(chip);
    let most = if gfx11 { samples } else { chip.config.compressed_fragments as i32 };
    let effective = if rb_plus { pipes.min(arrays + 1) } else { pipes };
    let order = image.mode.order();
    let thick = image.mode.is_thick(chip.level(), image.dimension);
    let (render, depth) = (order == Order::R, order == Order::Z);
    let rb_aligned = if image.dimension == Dimension::D3 { order == Order::D } else { render || depth };
    let one_per_array = rb_plus && pipes == arrays + 1 && pipes > 1;
    let mut used = pipes;
    let cache = if dcc { 6 } else { 8 };
    let bits = if thick {
        if image.pipe_aligned {
            if one_per_array && rb_aligned {
                used += 1;
            }
            let rest = 8 - element;
            let width = rest / 3 + i32::from(rest % 3 > 1);
            let overlap = if order == Order::S { 0 } else { (effective - width + i32::from(rb_plus)).max(0) };
            (cache + overlap + used).max(8 + used).max(12)
        } else {
            12
        }
    } else if !image.pipe_aligned {
        block_bits.min(12)
    } else if matches!(order, Order::S | Order::D) {
        (8 + used).max(12).min(block_bits)
    } else {
        let rotate = if rb_plus && pipes > arrays && pipes > 1 {
            if pipes == arrays + 1 && rb_aligned { 1 } else { pipes - arrays - 1 }
        } else {
            0
        };
        if one_per_array {
            used += 1;
        }
        let wide = element == 4 && samples == 3;
        let mut bits = if used < 4 {
            (8 + used).max(12)
        } else {
            let micro = 8 - element - if depth || (gfx11 && render) { samples } else { 0 };
            let compressed = if dcc { micro } else { 6 };
            let mut overlap = effective - micro.max(compressed) + i32::from(rb_plus && effective > 1);
            if wide && (!gfx11 || block_bits == 16) {
                overlap -= 1;
            }
            if gfx11 {
                overlap += 16 - block_bits;
            }
            overlap = overlap.max(0);
            if rotate > 0 && wide && (depth || (gfx11 && render) || effective > 3) {
                overlap += 1;
            }
            let bits = (cache + overlap + used).max(8 + used);
            if rb_plus && !gfx11 && render && used == 6 && samples == 3 && most == 3 { bits.max(15) } else { bits }
        };
        if image.kind == MetaKind::Htile {
            bits = bits.max(11 + used);
        }
        let compressed = most.min(samples);
        if render && compressed > 1 && rotate >= 1 && !(gfx11 && blocks == Blocks::Read) {
            bits = bits.max(8 + pipes + rotate.max(compressed - 1));
        }
        bits
    };
    // The logarithms of the size that a unit of metadata describes, and of the unit's own size.
    let (described, unit) = match image.kind {
        MetaKind::Dcc => (8, 0),
        MetaKind::Htile => (6, 2),
        MetaKind::Cmask => (6, -1),
    };
    let stored = if gfx11 { samples } else { samples.min(most) };
    let n = (bits + described - element - stored - unit).max(0);
    let size = if thick {
        let third = n / 3;
        [1 << (third + i32::from(n % 3 > 0)), 1 << (third + i32::from(n % 3 > 1)), 1 << third]
    } else {
        [1 << (n / 2 + (n & 1)), 1 << (n / 2), 1]
    };
    Block { bytes_log2: bits as u32, size }
}

fn normalise(image: &MetaImage) -> MetaImage {
    // HTILE and CMASK are always pipe-aligned, even if not requested.
    MetaImage { pipe_aligned: image.pipe_aligned || image.kind != MetaKind::Dcc, ..*image }
}

pub(super) fn layout(chip: &Chip, image: &MetaImage, blocks: Blocks) -> Result<MetaLayout, AddrError> {
    let mode = image.mode;
    let refuse = invalid(Cause::Mode(u32::from(mode.number())));
    if mode.block_bits(chip) == 0 {
        return refuse;
    }
    match image.kind {
        MetaKind::Htile | MetaKind::Cmask => {
            if mode.order() != Order::Z || !mode.is_xor() {
                return refuse;
            }
            if !image.pipe_aligned && chip.level() < GfxLevel::Gfx11 {
                return invalid(Cause::Metadata);
            }
        }
        MetaKind::Dcc => {}
    }
    if image.kind == MetaKind::Cmask && chip.level() >= GfxLevel::Gfx11 {
        return Err(AddrError::NotImplemented(Cause::Metadata));
    }
    let image = &normalise(image);
    let thick = mode.is_thick(chip.level(), image.dimension);
    let block = block(chip, image, blocks);
    let [w, h, d] = block.size;
    let block_bytes = 1u32 << block.bytes_log2;
    let pitch = align(image.width, w);
    let height = align(image.height, h);
    let depth = align(image.slices, d);
    let mut levels = [MetaLevel::default(); MAX_LEVELS];
    let slice = if image.levels > 1 {
        chain(image, block.size, block_bytes, &mut levels)
    } else {
        let bytes = (pitch / w).checked_mul(height / h).and_then(|blocks| blocks.checked_mul(block_bytes));
        levels[0] = MetaLevel { bytes: bytes.unwrap_or(0), ..MetaLevel::default() };
        bytes
    };
    let Some(slice) = slice else { return invalid(Cause::Overflow) };
    let align = match image.kind {
        MetaKind::Htile => block_bytes.max(1 << (chip.config.pipes + 11)),
        _ => block_bytes,
    };
    let element = image.bytes_log2() as usize;
    let compressed_block = match (image.kind, thick) {
        (MetaKind::Dcc, true) => MICRO_3D[element],
        (MetaKind::Dcc, false) => {
            // Samples share the 256 bytes if they are adjacent.
            let shared = mode.order() == Order::Z || (mode.order() == Order::R && chip.level() >= GfxLevel::Gfx11);
            let bits = 8 - image.bytes_log2() - if shared { log2(image.fragments) } else { 0 };
            [1 << bits.div_ceil(2), 1 << (bits / 2), 1]
        }
        _ => [8, 8, 1],
    };
    Ok(MetaLayout {
        pitch,
        height,
        depth,
        slice_bytes: u64::from(slice),
        bytes: u64::from(slice) * u64::from(depth / d),
        align,
        compressed_block,
        block: block.size,
        block_bytes,
        blocks_per_slice: slice / block_bytes,
        levels,
    })
}

/// Places the levels: first the block of the tail, then the levels from the smallest to the largest. Returns the size of a slice in
/// bytes; `None` if it exceeds 32 bits.
fn chain(
    image: &MetaImage,
    [w, h, _]: [u32; 3],
    block_bytes: u32,
    levels: &mut [MetaLevel; MAX_LEVELS],
) -> Option<u32> {
    let first_tail = image.first_tail.min(image.levels);
    let mut offset = if first_tail < image.levels { block_bytes } else { 0 };
    for number in (0..first_tail).rev() {
        let across = align(shift_up(image.width, number), w) / w;
        let down = align(shift_up(image.height, number), h) / h;
        let bytes = across.checked_mul(down)?.checked_mul(block_bytes)?;
        levels[number as usize] = MetaLevel { offset, bytes, ..MetaLevel::default() };
        offset = offset.checked_add(bytes)?;
    }
    for number in first_tail..image.levels {
        let bytes = if number == first_tail { block_bytes } else { 0 };
        levels[number as usize] = MetaLevel { in_tail: true, bytes, ..MetaLevel::default() };
    }
    Some(offset)
}

pub(super) fn equation(chip: &Chip, image: &MetaImage) -> Result<Equation, AddrError> {
    let (set, index, place) = table(chip, image);
    index.get(place).map(|&pattern| set.equation(pattern)).ok_or(AddrError::Invalid(Cause::Metadata))
}

fn table(chip: &Chip, image: &MetaImage) -> (&'static PatternSet, &'static [u16], usize) {
    let pipes = chip.config.pipes as usize;
    let packers = chip.config.packers as usize;
    let rb_plus = chip.level() >= GfxLevel::Gfx10_3;
    let gfx11 = chip.level() >= GfxLevel::Gfx11;
    let big = image.mode.number() >= 28;
    match image.kind {
        MetaKind::Dcc => {
            let row = match (image.pipe_aligned, rb_plus) {
                (false, false) => pipes.min(2),
                (true, false) => 3 + pipes,
                (false, true) => 0,
                (true, true) if packers >= 2 => 5 + 3 * (packers - 2) + pipes - packers,
                (true, true) => 1 + pipes,
            };
            let (set, index): (_, &[u16]) = match (gfx11, rb_plus, big) {
                (true, _, false) => (&t11::META_DCC_R_X, &t11::META_INDEX_DCC_64K_R_X),
                (true, _, true) => (&t11::META_DCC_R_X, &t11::META_INDEX_DCC_256K_R_X),
                (_, true, _) => (&t10::META_DCC_64K_R_X, &t10::META_INDEX_DCC_64K_R_X_RBPLUS),
                _ => (&t10::META_DCC_64K_R_X, &t10::META_INDEX_DCC_64K_R_X),
            };
            (set, index, 5 * row + image.bytes_log2() as usize)
        }
        MetaKind::Htile | MetaKind::Cmask => {
            let row = 1 + pipes + if rb_plus && packers >= 2 { 3 * (packers - 1) } else { 0 };
            if image.kind == MetaKind::Htile {
                let (set, index): (_, &[u16]) = match (gfx11, rb_plus) {
                    (true, _) => (&t11::META_HTILE, &t11::META_INDEX_HTILE),
                    (_, true) => (&t10::META_HTILE, &t10::META_INDEX_HTILE_RBPLUS),
                    _ => (&t10::META_HTILE, &t10::META_INDEX_HTILE),
                };
                (set, index, 4 * row + log2(image.fragments) as usize)
            } else {
                let index: &[u16] = match (rb_plus, big) {
                    (true, true) => &t10::META_INDEX_CMASK_VAR_RBPLUS,
                    (true, false) => &t10::META_INDEX_CMASK_64K_RBPLUS,
                    _ => &t10::META_INDEX_CMASK_64K,
                };
                let bits = crate::addr2::choose::fmask_bits(image.samples, image.fragments);
                (&t10::META_CMASK, index, 4 * row + log2(bits >> 3) as usize)
            }
        }
    }
}
