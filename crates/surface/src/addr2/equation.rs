//! The equation of a block.

use amdgpu_hw::GfxLevel;

use super::dimension::Dimension;
use super::image::Image;
use super::mode::{Order, SwizzleMode};
use crate::bits::log2;
use crate::chip::Chip;
use crate::equation::{Equation, Term};
use crate::tables::{gfx10, gfx11};

/// The patterns of one order, by the base-2 logarithm of the element size, starting at the first bit above the bytes of an element.
/// Each bit is two characters: the axis and the number of the coordinate bit. Source: the micro-tile tables of `gfx9addrlib.cpp`.
type Micro = [&'static str; 5];

const S_2D: Micro = ["x0x1x2x3y0y1y2y3", "x0x1x2y0y1y2x3", "x0x1y0y1y2x2", "x0y0y1x1x2", "y0y1x0x1"];
const D_2D: Micro = ["x0x1x2y1y0y2x3y3", "x0x1x2y0y1y2x3", "x0x1y0x2y1y2", "x0y0x1x2y1", "x0y0x1y1"];
const R_2D: Micro = ["y0y1y2x1x0x2x3y3", "y0y1y2x0x1x2x3", "y0y1x0y2x1x2", "y0x0y1x1x2", ""];
const S_3D: Micro =
    ["x0x1x2x3y0y1z0z1z2y2", "x0x1x2y0y1z0z1z2y2", "x0x1y0y1z0z1y2x2", "x0y0y1z0z1x1x2", "y0y1z0z1x0x1"];
const Z_3D: Micro =
    ["x0y0x1y1z0z1x2z2y2x3", "x0y0x1y1z0z1z2y2x2", "x0y0x1z0y1z1y2x2", "x0y0z0x1z1y1x2", "x0y0z0z1y1x1"];

/// The coordinate bits from low to high: an endless interleaving above the micro block.
struct Interleave {
    bits: [u64; 32],
    len: u32,
    counts: [u32; 3],
}

impl Interleave {
    fn push(&mut self, axis: usize) {
        let bit = self.counts[axis];
        self.counts[axis] += 1;
        if bit < 16 {
            self.bits[self.len as usize] = 1u64 << (axis as u32 * 16 + bit);
        }
        self.len += 1;
    }

    fn zeros(&mut self, count: u32) {
        self.len += count;
    }

    fn micro(&mut self, text: &str) {
        for pair in text.as_bytes().chunks_exact(2) {
            let axis = u32::from(pair[0] - b'x');
            self.bits[self.len as usize] = 1u64 << (axis * 16 + u32::from(pair[1] - b'0'));
            self.counts[axis as usize] += 1;
            self.len += 1;
        }
    }
}

fn offset_bits(mode: SwizzleMode, dimension: Dimension, bytes_log2: u32, samples_log2: u32) -> [u64; 32] {
    let mut bits = Interleave { bits: [0; 32], len: 0, counts: [0; 3] };
    bits.zeros(bytes_log2);
    let index = bytes_log2 as usize;
    let volume = dimension == Dimension::D3;
    match (mode.order(), volume) {
        (Order::Z | Order::S, true) => {
            bits.micro(if mode.order() == Order::S { S_3D[index] } else { Z_3D[index] });
            while bits.len < 32 {
                // z, y, x in turn.
                bits.push(2 - (bits.len as usize - 10) % 3);
            }
        }
        (Order::Z, false) => {
            for sample in 0..samples_log2 {
                bits.bits[bits.len as usize] = 1 << (48 + sample);
                bits.len += 1;
            }
            let first = bits.len;
            while bits.len < 32 {
                let place = bits.len - samples_log2;
                let x = if place < 6 { (bits.len - first).is_multiple_of(2) } else { !place.is_multiple_of(2) };
                bits.push(usize::from(!x));
            }
        }
        (order, _) => {
            bits.micro(match (order, volume) {
                (Order::S, _) | (Order::D, true) => S_2D[index],
                (Order::D, false) => D_2D[index],
                _ => R_2D[index],
            });
            while bits.len < 32 {
                bits.push(usize::from(bits.len.is_multiple_of(2)));
            }
        }
    }
    bits.bits
}

/// Returns the numbers of pipe and bank XOR bits above the interleave.
pub(crate) fn gfx9_xor_bits(chip: &Chip, block_bits: u32) -> (u32, u32) {
    let room = block_bits.saturating_sub(8);
    let pipes = room.min(chip.config.pipes + chip.config.shader_engines);
    (pipes, (room - pipes).min(chip.config.banks))
}

fn gfx9(chip: &Chip, image: &Image) -> Equation {
    let mode = image.mode;
    let block_bits = mode.block_bits(chip);
    let samples = log2(image.fragments);
    let thick = mode.is_thick(GfxLevel::Gfx9, image.dimension);
    let mut offset = offset_bits(mode, image.dimension, image.bytes_log2(), samples);
    if mode.is_prt_xor() {
        offset[block_bits as usize..].fill(0);
    }
    let mut equation = Equation::zero(block_bits);
    for bit in 0..block_bits {
        equation.add(bit, Term(offset[bit as usize]));
    }
    // Sample bits are the lowest bits in Z order, and the highest bits of the block in all other orders.
    if samples > 0 && mode.order() != Order::Z {
        let replaces = !mode.is_xor() || mode.is_prt_xor();
        for sample in 0..samples {
            let bit = block_bits - samples + sample;
            if replaces {
                equation.add(bit, Term(offset[bit as usize]));
                offset[bit as usize] = 0;
            }
            equation.add(bit, Term(1 << (48 + sample)));
            offset[bit as usize] ^= 1 << (48 + sample);
        }
    }
    if !mode.is_xor() {
        return equation;
    }
    let (pipes, banks) = gfx9_xor_bits(chip, block_bits);
    let mut fold = |start: u32, count: u32| {
        for bit in 0..count {
            let mut from = |place: u32| {
                if let Some(&term) = offset.get((8 + start + place) as usize) {
                    equation.add(8 + start + bit, Term(term));
                }
            };
            if thick {
                from(3 * count - 1 - 2 * bit);
                from(3 * count - 2 - 2 * bit);
            } else {
                from(2 * count - 1 - bit);
            }
        }
    };
    fold(0, pipes);
    fold(pipes, banks);
    if !mode.is_prt_xor() && image.fragments == 1 && !thick {
        for bit in 0..pipes {
            equation.add(8 + bit, Term(1 << (32 + pipes - 1 - bit)));
        }
        for bit in 0..banks {
            equation.add(8 + pipes + bit, Term(1 << (32 + pipes + banks - 1 - bit)));
        }
    }
    equation
}

/// Returns the index of a swizzle pattern in a table, by pipes, packers and element size.
fn pattern_index(chip: &Chip, bytes_log2: u32) -> usize {
    let packers = chip.config.packers;
    let more = if chip.level() >= GfxLevel::Gfx10_3 && packers >= 2 { 2 * packers - 2 } else { 0 };
    (5 * (chip.config.pipes + more) + bytes_log2) as usize
}

fn gfx10_table(image: &Image, rb_plus: bool) -> &'static [u16] {
    use gfx10 as t;
    let samples = log2(image.fragments) as usize;
    let volume = image.dimension == Dimension::D3;
    macro_rules! by_chip {
        ($old:ident, $new:ident) => {
            if rb_plus { &t::$new[..] } else { &t::$old[..] }
        };
    }
    macro_rules! by_samples {
        ($($old:ident, $new:ident;)*) => {
            [$(by_chip!($old, $new)),*][samples.min(3)]
        };
    }
    match (image.mode.number(), volume) {
        (1, _) => by_chip!(SW_256_S, SW_256_S_RBPLUS),
        (2, _) => by_chip!(SW_256_D, SW_256_D_RBPLUS),
        (5, false) => by_chip!(SW_4K_S, SW_4K_S_RBPLUS),
        (6, _) => by_chip!(SW_4K_D, SW_4K_D_RBPLUS),
        (9, false) => by_chip!(SW_64K_S, SW_64K_S_RBPLUS),
        (10, _) => by_chip!(SW_64K_D, SW_64K_D_RBPLUS),
        (17, false) => by_chip!(SW_64K_S_T, SW_64K_S_T_RBPLUS),
        (18, _) => by_chip!(SW_64K_D_T, SW_64K_D_T_RBPLUS),
        (21, false) => by_chip!(SW_4K_S_X, SW_4K_S_X_RBPLUS),
        (22, _) => by_chip!(SW_4K_D_X, SW_4K_D_X_RBPLUS),
        (25, false) => by_chip!(SW_64K_S_X, SW_64K_S_X_RBPLUS),
        (26, false) => by_chip!(SW_64K_D_X, SW_64K_D_X_RBPLUS),
        (5, true) => by_chip!(SW_4K_S3, SW_4K_S3_RBPLUS),
        (9, true) => by_chip!(SW_64K_S3, SW_64K_S3_RBPLUS),
        (17, true) => by_chip!(SW_64K_S3_T, SW_64K_S3_T_RBPLUS),
        (21, true) => by_chip!(SW_4K_S3_X, SW_4K_S3_X_RBPLUS),
        (25, true) => by_chip!(SW_64K_S3_X, SW_64K_S3_X_RBPLUS),
        (26, true) => by_chip!(SW_64K_D3_X, SW_64K_D3_X_RBPLUS),
        (24, _) => by_samples! {
            SW_64K_Z_X_1XAA, SW_64K_Z_X_1XAA_RBPLUS;
            SW_64K_Z_X_2XAA, SW_64K_Z_X_2XAA_RBPLUS;
            SW_64K_Z_X_4XAA, SW_64K_Z_X_4XAA_RBPLUS;
            SW_64K_Z_X_8XAA, SW_64K_Z_X_8XAA_RBPLUS;
        },
        (27, _) => by_samples! {
            SW_64K_R_X_1XAA, SW_64K_R_X_1XAA_RBPLUS;
            SW_64K_R_X_2XAA, SW_64K_R_X_2XAA_RBPLUS;
            SW_64K_R_X_4XAA, SW_64K_R_X_4XAA_RBPLUS;
            SW_64K_R_X_8XAA, SW_64K_R_X_8XAA_RBPLUS;
        },
        (28, _) if rb_plus => [
            &t::SW_VAR_Z_X_1XAA_RBPLUS[..],
            &t::SW_VAR_Z_X_2XAA_RBPLUS,
            &t::SW_VAR_Z_X_4XAA_RBPLUS,
            &t::SW_VAR_Z_X_8XAA_RBPLUS,
        ][samples.min(3)],
        (31, _) if rb_plus => [
            &t::SW_VAR_R_X_1XAA_RBPLUS[..],
            &t::SW_VAR_R_X_2XAA_RBPLUS,
            &t::SW_VAR_R_X_4XAA_RBPLUS,
            &t::SW_VAR_R_X_8XAA_RBPLUS,
        ][samples.min(3)],
        _ => &[],
    }
}

fn gfx11_table(image: &Image) -> &'static [u16] {
    use gfx11 as t;
    let samples = log2(image.fragments).min(3) as usize;
    let volume = image.dimension == Dimension::D3;
    match (image.mode.number(), volume) {
        (2, _) => &t::SW_256_D,
        (6, _) => &t::SW_4K_D,
        (22, _) => &t::SW_4K_D_X,
        (10, _) => &t::SW_64K_D,
        (18, _) => &t::SW_64K_D_T,
        (26, false) => &t::SW_64K_D_X,
        (30, _) => &t::SW_256K_D_X,
        (5, true) => &t::SW_4K_S3,
        (21, true) => &t::SW_4K_S3_X,
        (9, true) => &t::SW_64K_S3,
        (17, true) => &t::SW_64K_S3_T,
        (25, true) => &t::SW_64K_S3_X,
        (26, true) => &t::SW_64K_D3_X,
        (29, true) => &t::SW_256K_S3_X,
        (24 | 27, _) => {
            [&t::SW_64K_ZR_X_1XAA[..], &t::SW_64K_ZR_X_2XAA, &t::SW_64K_ZR_X_4XAA, &t::SW_64K_ZR_X_8XAA][samples]
        }
        (28 | 31, _) => {
            [&t::SW_256K_ZR_X_1XAA[..], &t::SW_256K_ZR_X_2XAA, &t::SW_256K_ZR_X_4XAA, &t::SW_256K_ZR_X_8XAA][samples]
        }
        _ => &[],
    }
}

/// Returns the equation of the offset inside a block; `None` if the hardware has no such block.
pub(crate) fn of_block(chip: &Chip, image: &Image) -> Option<Equation> {
    let bytes_log2 = image.bytes_log2();
    if chip.level() == GfxLevel::Gfx9 {
        return Some(gfx9(chip, image));
    }
    let rb_plus = chip.level() >= GfxLevel::Gfx10_3;
    let (set, table) = if chip.level() >= GfxLevel::Gfx11 {
        (&gfx11::PATTERNS, gfx11_table(image))
    } else {
        (&gfx10::PATTERNS, gfx10_table(image, rb_plus))
    };
    table.get(pattern_index(chip, bytes_log2)).map(|&pattern| set.equation(pattern))
}
