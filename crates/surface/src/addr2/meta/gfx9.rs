//! The sizes of metadata on GFX9.
//!
//! Source: `Gfx9Lib::HwlComputeDccInfo`, `HwlComputeCmaskInfo`, `HwlComputeHtileInfo`, `GetMetaMipInfo`, `GetMetaMiptailInfo`.

use super::gfx9_equation::pipe_bits;
use super::image::{MetaImage, MetaKind, MetaLayout, MetaLevel};
use crate::addr2::block::MICRO_2D;
use crate::addr2::image::MAX_LEVELS;
use crate::addr2::mode::Order;
use crate::bits::align64;
use crate::chip::Chip;
use amdgpu_hw::GfxLevel;

/// The dimensions of 256-byte blocks of standard 3D modes, by the base-2 logarithm of the element size (`Block256_3dS`).
const MICRO_3D_S: [[u32; 3]; 5] = [[16, 4, 4], [8, 4, 4], [4, 4, 4], [2, 4, 4], [1, 4, 4]];

fn compressed_block(image: &MetaImage, thick: bool) -> [u32; 3] {
    let index = image.bytes_log2() as usize;
    match (image.kind, thick, image.mode.order()) {
        (MetaKind::Dcc, true, Order::S) => MICRO_3D_S[index],
        (MetaKind::Dcc, true, _) => crate::addr2::block::MICRO_3D[index],
        (MetaKind::Dcc, false, _) => [MICRO_2D[index][0], MICRO_2D[index][1], 1],
        _ => [8, 8, 1],
    }
}

/// Doubles a block's dimensions until it contains `count` compressed blocks.
fn grow(mut block: [u32; 3], count: u32, mips: bool, thick: bool) -> [u32; 3] {
    let mut done = 1;
    while done < count {
        let [w, h, d] = block;
        let side = usize::from(h < w || (mips && h == w));
        if thick && block[side] > d {
            block[2] <<= 1;
        } else {
            block[side] <<= 1;
        }
        done <<= 1;
    }
    block
}

pub(super) fn layout(chip: &Chip, image: &MetaImage) -> MetaLayout {
    let config = chip.config;
    let thick = image.kind == MetaKind::Dcc && image.mode.is_thick(GfxLevel::Gfx9, image.dimension);
    let pipes = 1u32 << pipe_bits(chip, image.mode, image.pipe_aligned);
    let backends = 1u32 << (config.shader_engines + config.rbs_per_engine);
    let used_backends = if image.rb_aligned { backends } else { 1 };
    let aligned = pipes > 1 || used_backends > 1;
    let fragments = image.fragments;
    let count = match image.kind {
        MetaKind::Dcc => {
            let smallest = if thick { 65536 } else { 4096 } / fragments;
            if aligned {
                smallest.max(backends * if thick { 262_144 } else { 1024 }).min(65536 * image.bits)
            } else {
                smallest
            }
        }
        MetaKind::Htile => {
            if aligned {
                backends << 10
            } else {
                1 << 10
            }
        }
        MetaKind::Cmask => {
            if aligned {
                (backends << 10).max(1 << 13)
            } else {
                1 << 13
            }
        }
    };
    let small = compressed_block(image, thick);
    let mips = image.levels > 1 && image.kind != MetaKind::Cmask;
    let block = grow(small, count, mips, thick);
    let mut levels = [MetaLevel::default(); MAX_LEVELS];
    let blocks = if image.kind == MetaKind::Cmask {
        [image.width.div_ceil(block[0]), image.height.div_ceil(block[1]), image.slices]
    } else {
        chain(image, block, thick, &mut levels)
    };
    let per_slice = u64::from(blocks[0]) * u64::from(blocks[1]);
    let mut align = pipes * used_backends * 256;
    let block_bytes = match image.kind {
        MetaKind::Dcc => {
            let compressed = 1u32 << config.compressed_fragments;
            if fragments > compressed {
                align *= fragments / compressed;
            }
            count * fragments
        }
        MetaKind::Htile => {
            if !image.mode.is_xor() && pipes > 2 {
                align *= pipes >> 1;
            }
            align = align.max(count * 4);
            count * 4
        }
        MetaKind::Cmask => count / 2,
    };
    align = align.max(1 << image.mode.block_bits(chip));
    if image.kind == MetaKind::Htile && chip.meta_alias_fix() {
        let used = 1 + pipes.trailing_zeros() + used_backends.trailing_zeros();
        let padding = (11 + used).saturating_sub(block_bytes.trailing_zeros());
        align <<= padding;
    }
    let all = per_slice * u64::from(blocks[2]) * u64::from(block_bytes);
    let slice_bytes = match image.kind {
        MetaKind::Dcc => per_slice * u64::from(count) * u64::from(fragments.min(1 << config.compressed_fragments)),
        _ => per_slice * u64::from(block_bytes),
    };
    let one_block = if image.kind == MetaKind::Dcc { count } else { block_bytes };
    MetaLayout {
        pitch: blocks[0] * block[0],
        height: blocks[1] * block[1],
        depth: blocks[2] * block[2],
        slice_bytes,
        bytes: align64(all, u64::from(align)),
        align: align.max(one_block),
        compressed_block: small,
        block,
        block_bytes,
        blocks_per_slice: per_slice as u32,
        levels,
    }
}

/// Places the levels of a mip chain. Returns the numbers of meta blocks of the chain.
fn chain(image: &MetaImage, block: [u32; 3], thick: bool, levels: &mut [MetaLevel; MAX_LEVELS]) -> [u32; 3] {
    let size = [image.width, image.height, image.slices];
    let mut blocks = [0, 1, 2].map(|axis| size[axis].div_ceil(block[axis]));
    if image.levels == 1 {
        return blocks;
    }
    let fits = |size: [u32; 3]| size[0] <= block[0] && size[1] <= block[1] / 2 && (!thick || size[2] <= block[2]);
    // The axis along which levels are placed, the other axis, and a limit on the former.
    let (major, minor, limit) = if thick && blocks[2] > blocks[0] && blocks[2] > blocks[1] {
        (2, 1, 4)
    } else if blocks[0] >= blocks[1] {
        (0, 1, 4)
    } else {
        (1, 0, 2)
    };
    if !fits(size) {
        let across = blocks[minor];
        blocks[minor] += if across < 3 && blocks[major] > limit && image.levels > 3 { 2 } else { across.div_ceil(2) };
    }
    let (mut size, mut at) = (size, [0; 3]);
    let count = image.levels as usize;
    for number in 0..count {
        if fits(size) {
            place_tail(&mut levels[number..count], at, block);
            break;
        }
        let padded = [0, 1, 2].map(|axis| size[axis].next_multiple_of(block[axis]));
        levels[number] = MetaLevel {
            in_tail: false,
            start: at,
            extent: [padded[0], padded[1], if thick { padded[2] } else { 1 }],
            ..MetaLevel::default()
        };
        let axis = if number >= 3 || number & 1 == 1 { major } else { minor };
        at[axis] += padded[axis];
        size = padded.map(|size| (size >> 1).max(1));
    }
    blocks
}

/// The locations of the smallest levels in a tail, relative to the first level of 16x16: width, x, y.
const SMALLEST: [[u32; 3]; 8] =
    [[16, 32, 0], [8, 0, 32], [8, 16, 32], [8, 32, 32], [8, 48, 32], [8, 0, 48], [8, 16, 48], [8, 32, 48]];

fn place_tail(levels: &mut [MetaLevel], first: [u32; 3], block: [u32; 3]) {
    let thick = block[2] > 1;
    let (mut width, mut height, mut depth) = (block[0], block[1] >> 1, block[2]);
    let [small, middle] = if thick { [32, 64] } else { [64, 128] };
    let (low, high) = if thick { (128, 256) } else { (512, 1024) };
    let increment = if block[1] >= high {
        2 * middle
    } else if block[1] >= low {
        middle
    } else {
        small
    };
    let mut at = first;
    let mut squares = None;
    for (place, level) in levels.iter_mut().enumerate() {
        level.in_tail = true;
        level.start = at;
        if let Some((origin, index)) = squares {
            let index: usize = index;
            let origin: [u32; 3] = origin;
            let [size, x, y] = SMALLEST.get(index).copied().unwrap_or([8, 48, 48]);
            level.extent = [size, size, 1];
            level.start = [origin[0] + x, origin[1] + y, origin[2]];
            squares = Some((origin, index + 1));
            continue;
        }
        level.extent = [width, height, if thick { depth } else { 1 }];
        if width <= 32 {
            squares = Some((at, 0));
            continue;
        }
        if thick {
            at[2] += depth;
        } else if width <= increment {
            if width * 2 == increment {
                at[0] -= increment;
                at[1] += increment;
            } else {
                at[0] += increment;
            }
        } else if place & 1 == 0 {
            at[1] += height;
        } else {
            at[0] += width;
        }
        width >>= 1;
        height = width;
        depth = if thick { width.min(depth) } else { depth };
    }
}
