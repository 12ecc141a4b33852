//! Tiled images of GFX10 to GFX11. The levels of a slice are stored one after the other, the smallest first.
//!
//! Source: `Gfx10Lib` and `Gfx11Lib::ComputeSurfaceInfoMacroTiled`, `ComputeSurfaceInfoMicroTiled`.

use amdgpu_hw::GfxLevel;

use super::block::{self, MICRO_2D, MICRO_3D};
use super::image::{Image, Layout, Level, Levels};
use super::mode::Order;
use crate::bits::{align, shift_up};
use crate::chip::{Chip, Family};

/// Returns the maximum number of levels in the mip tail of a block (`GetMaxNumMipsInTail`).
pub(crate) const fn max_tail_levels(block_bits: u32, thick: bool) -> u32 {
    let bits = if thick { block_bits - (block_bits - 8) / 3 } else { block_bits };
    if bits <= 11 { 1 + (1 << (bits - 9)) } else { bits - 4 }
}

/// Returns the offset in bytes of the tail's level with this index.
pub(crate) const fn tail_offset(max_levels: u32, index: u32) -> u32 {
    let m = (max_levels - 1).saturating_sub(index);
    if m > 6 { 16 << m } else { m << 8 }
}

/// Collects the even bits of `value` from bit `first` on.
pub(crate) const fn every_second(value: u32, first: u32) -> u32 {
    let (mut result, mut bit) = (0, 0);
    while bit < 6 {
        result |= (value >> (first + 2 * bit) & 1) << bit;
        bit += 1;
    }
    result
}

/// Returns the location of a tail level, in units of the 256-byte micro block.
const fn tail_place(offset: u32, block_bits: u32, bytes_log2: u32) -> [u32; 2] {
    let (x, y) = (every_second(offset, 9), every_second(offset, 8));
    if block_bits & 1 == 0 {
        return [x, y];
    }
    let (x, y) = (y, x);
    if bytes_log2 & 1 == 1 { [x >> 1, y << 1 | (x & 1)] } else { [x, y] }
}

pub(super) fn layout(chip: &Chip, image: &Image) -> Layout {
    let block = block::dimensions(chip, image);
    // A requested pitch is ignored here, as in addrlib.
    let pitch = align(image.width, block[0]);
    let height = align(image.height, block[1]);
    let slices = align(image.slices, block[2]);
    let block_bits = image.mode.block_bits(chip);
    let mut layout = Layout {
        pitch,
        pixel_pitch: pitch,
        height,
        slices,
        slice_bytes: 0,
        bytes: 0,
        align: 1 << block_bits,
        block,
        chain_pitch: 0,
        chain_height: 0,
        chain_slices: 0,
        epitch_is_height: false,
        chain_in_tail: false,
        first_tail: image.levels,
        levels: Levels::new(image.levels),
    };
    if image.levels > 1 {
        chain(chip, image, &mut layout);
    } else {
        layout.slice_bytes =
            u64::from(pitch) * u64::from(height) * u64::from(image.bytes()) * u64::from(image.fragments);
        if let [level] = layout.levels.as_mut_slice() {
            *level = Level { pitch, height, depth: if image.is_3d() { slices } else { 1 }, ..Level::default() };
        }
    }
    layout.bytes = layout.slice_bytes * u64::from(slices);
    layout
}

fn chain(chip: &Chip, image: &Image, layout: &mut Layout) {
    let block = layout.block;
    let block_bits = image.mode.block_bits(chip);
    let thick = image.mode.is_thick(chip.level(), image.dimension);
    let has_tail = !image.mode.is_256b();
    let tail = block::tail(block, block_bits, thick);
    let index = image.bytes_log2();
    // The tail of stencil must begin at the same level as the tail of depth (`dsMipmapHtileFix`).
    let mut limit = tail;
    if chip.family != Family::Navi10 && image.mode.order() == Order::Z && index <= 1 {
        limit[0] /= MICRO_2D[index as usize][0] / MICRO_2D[2][0];
        limit[1] /= MICRO_2D[index as usize][1] / MICRO_2D[2][1];
    }
    let max_levels = if has_tail { max_tail_levels(block_bits, thick) } else { 0 };
    let bytes = u64::from(image.bytes());
    let depth_of = |number| if thick { shift_up(image.slices, number) } else { 1 };
    // GFX10 reports the depth of level 0 for every level.
    let reported = |number: u32, padding: u32| match (image.is_3d(), chip.level() >= GfxLevel::Gfx11) {
        (true, false) => align(image.slices, block[2]),
        (true, true) => align(depth_of(number), padding),
        (false, _) => 1,
    };
    let mut first_tail = image.levels;
    for number in 0..image.levels {
        let (w, h) = (shift_up(image.width, number), shift_up(image.height, number));
        if has_tail && w <= limit[0] && h <= limit[1] && image.levels - number <= max_levels {
            first_tail = number;
            break;
        }
        let level = &mut layout.levels.as_mut_slice()[number as usize];
        level.pitch = align(w, block[0]);
        level.height = align(h, block[1]);
        level.depth = reported(number, block[2]);
    }
    layout.first_tail = first_tail;
    layout.chain_in_tail = first_tail == 0;
    let block_bytes = 1u64 << block_bits;
    let (outside, inside) = layout.levels.as_mut_slice().split_at_mut(first_tail as usize);
    let tail_depth = if inside.is_empty() { 0 } else { depth_of(first_tail) };
    let (mut offset, mut block_offset, mut slice) = (0, 0, 0);
    if !inside.is_empty() {
        offset = block_bytes * u64::from(tail_depth.div_ceil(block[2]));
        block_offset = block_bytes;
        slice = block_bytes / u64::from(block[2]);
    }
    for (number, level) in (0..first_tail).rev().zip(outside.iter_mut().rev()) {
        (level.offset, level.block_offset) = (offset, block_offset);
        let sheet = u64::from(level.pitch) * u64::from(level.height) * bytes;
        offset += sheet * u64::from(align(depth_of(number), block[2]));
        block_offset += sheet * u64::from(block[2]);
        slice += sheet;
    }
    let micro =
        if thick { MICRO_3D[index as usize] } else { [MICRO_2D[index as usize][0], MICRO_2D[index as usize][1], 1] };
    let layers = tail_depth.div_ceil(micro[2]);
    let [mut w, mut h, _] = tail;
    for (place, level) in (0..).zip(inside.iter_mut()) {
        let at = tail_offset(max_levels, place);
        [level.pitch, level.height, level.depth] = [w, h, reported(first_tail + place, micro[2])];
        (level.offset, level.tail_offset) = (u64::from(at) * u64::from(layers), at);
        let [x, y] = tail_place(at, block_bits, index);
        level.tail = [x * micro[0], y * micro[1], 0];
        w = (w >> 1).max(micro[0]);
        h = (h >> 1).max(micro[1]);
    }
    layout.slice_bytes = slice;
}
