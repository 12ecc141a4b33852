//! Addresses in CMASK, and in HTILE that the texture units do not read.
//!
//! Reference: addrlib's `SiLib::HwlComputeXmaskAddrFromCoord`, `V1::Lib::ComputeCmaskInfo`.

use amdgpu_hw::GfxLevel;

use super::address::pipe_of;
use super::image::Level;
use super::table::{self, TileInfo};
use crate::bits::{align, log2};
use crate::chip::Chip;

/// The layout of CMASK or HTILE of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    info: TileInfo,
    linear: bool,
    element: u32,
    /// The row pitch of the mask in pixels of the image.
    pub pitch: u32,
    /// The height of the mask in pixels of the image.
    pub height: u32,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The size of the mask, with all slices, in bytes.
    pub bytes: u64,
    /// The alignment of the address in bytes.
    pub align: u32,
    /// The width and height in pixels that a cache line of all pipes covers.
    pub macro_tile: [u32; 2],
    /// The size of a slice in one pipe in linear order, in bits.
    slice_bits: u64,
}

fn macro_tile(chip: &Chip, info: &TileInfo, linear: bool, cache: u32, element: u32) -> [u32; 2] {
    if !linear {
        return covered(cache, element, info.pipes());
    }
    let wide = if chip.level() == GfxLevel::Gfx6 {
        matches!(info.pipe_config, 13 | 15 | 17)
    } else {
        matches!(info.pipe_config, 8 | 11 | 13 | 14 | 15 | 17 | 18)
    };
    if wide { [64, 64] } else { [32, 32] }
}

/// Computes the layout of the CMASK of a level.
pub fn cmask(chip: &Chip, level: &Level, linear: bool) -> Mask {
    let info = level.info;
    let base = info.pipes() * 256;
    let [w, h] = macro_tile(chip, &info, linear, 1024, 4);
    let pitch = align(level.pitch, w);
    let mut height = align(level.height, h);
    let slice = |height: u32| u64::from(pitch) * u64::from(height) / 128;
    while !slice(height).is_multiple_of(u64::from(base)) {
        height += h;
    }
    let slice_bytes = slice(height);
    Mask {
        info,
        linear,
        element: 4,
        pitch,
        height,
        slice_bytes,
        bytes: slice_bytes * u64::from(level.depth),
        align: base,
        macro_tile: [w, h],
        slice_bits: u64::from(pitch / 8) * u64::from(height / 8) / u64::from(info.pipes()) * 4,
    }
}

/// Computes the layout of HTILE that is not TC-compatible.
pub fn htile(chip: &Chip, level: &Level, linear: bool) -> Mask {
    let info = level.info;
    let [w, h] = macro_tile(chip, &info, linear, 16384, 32);
    let (pitch, height) = (align(level.pitch, w), align(level.height, h));
    let tiles = u64::from(pitch / 8) * u64::from(height / 8);
    let slice_bytes = (tiles * 4).next_multiple_of(u64::from(2048 * table::pipes(chip)));
    Mask {
        info,
        linear,
        element: 32,
        pitch,
        height,
        slice_bytes,
        bytes: slice_bytes * u64::from(level.depth),
        align: 256 * info.pipes(),
        macro_tile: [w, h],
        slice_bits: tiles.next_multiple_of(u64::from(512 * info.pipes())) / u64::from(info.pipes()) * 32,
    }
}

/// Returns the index of a tile among the tiles of its pipe in a group of 4x4, the number of its bits, and the shift between groups.
fn in_group(pipe_config: u32, tx: u32, ty: u32) -> (u32, u32, u32) {
    let (x0, x1, y0, y1) = (tx & 1, tx >> 1 & 1, ty & 1, ty >> 1 & 1);
    match pipe_config {
        5 => (x1 << 1 | (x1 ^ y1), 2, 2),
        6 => (x1 << 1 | (x1 ^ y0), 2, 2),
        7 => ((x1 ^ y1) << 1 | (x1 ^ y0), 2, 2),
        8 => (x1 << 2 | (x1 ^ y1) << 1 | (x1 ^ y0), 3, 2),
        9 => (x1, 1, 1),
        10 | 12 => (x0, 1, 1),
        11 => (x1 << 1 | (x1 ^ y1), 2, 1),
        13 => (x1 << 1 | (x1 ^ y0), 2, 1),
        14 => ((x1 ^ y1) << 1 | (x1 ^ y0), 2, 1),
        15 => (x1 << 2 | (x1 ^ y1) << 1 | (x1 ^ y0), 3, 1),
        17 => (x1 << 1 | (x1 ^ y1), 2, 0),
        18 => (x1 << 1 | (x1 ^ y0), 2, 0),
        _ => (x1 << 2 | (x1 ^ y1) << 1 | (x1 ^ y0), 3, 3),
    }
}

impl Mask {
    /// Returns the address in bytes of a pixel's element, and the number of the element's first bit in that byte.
    pub fn address(&self, chip: &Chip, x: u32, y: u32, slice: u32) -> (u64, u32) {
        let (tx, ty) = (x / 8, y / 8);
        let (element, bits, shift) = in_group(self.info.pipe_config, tx, ty);
        let [w, h] = self.macro_tile;
        let (micro, macro_offset) = if self.linear {
            let micro = u64::from(tx / 4) + u64::from(ty / 4) * u64::from(self.pitch / 32);
            (micro, u64::from(slice) * self.slice_bits)
        } else {
            let (columns, rows) = (u64::from(self.pitch / w), u64::from(self.height / h));
            let number = u64::from(x / w) + u64::from(y / h) * columns + u64::from(slice) * columns * rows;
            let micro = (x % w) / 32 + (y % h) / 32 * (w / 32);
            let line = if self.element == 4 { 256 } else { 512 };
            (u64::from(micro), number * line * u64::from(self.element))
        };
        let mut number = micro << shift;
        if bits != shift {
            number = number >> bits << bits;
        }
        let offset = (number + u64::from(element)) * u64::from(self.element) + macro_offset;
        let pipe = pipe_of(chip, &self.info, x, y);
        let address = offset % 2048 + u64::from(pipe) * 2048 + offset / 2048 * 2048 * u64::from(self.info.pipes());
        (address / 8, (address % 8) as u32)
    }
}

/// CMASK or HTILE prepared for computing addresses with shifts and two table look-ups, without heap allocation.
#[derive(Clone, Copy, Debug)]
pub struct MaskTables {
    /// The index of a tile among the tiles of its pipe in a group of 4x4.
    group: [u8; 16],
    /// The contributions of bits 3 to 6 of x and of y to the pipe.
    pipes: [[u8; 16]; 2],
    pipe_bits: u32,
    /// The base-2 logarithm of the size of an element in bits.
    element_log2: u32,
    /// The shift of a group's number, and its bits after the shift. The bits below contain the tile's index.
    group_shift: u32,
    group_mask: u64,
    linear: bool,
    /// The base-2 logarithms of a macro tile's dimensions.
    macro_log2: [u32; 2],
    /// The number of macro tiles in a row; the number of groups if they are linear.
    row: u64,
    /// The number of macro tiles in a slice; the number of bits if they are linear.
    slice: u64,
    /// The size of a macro tile in a pipe, in bits.
    macro_bits: u64,
}

impl Mask {
    /// Prepares tables that compute the same addresses as [`Mask::address`].
    pub fn tables(&self, chip: &Chip) -> MaskTables {
        let pipe = |x: u32, y: u32| pipe_of(chip, &self.info, x, y) as u8;
        let config = self.info.pipe_config;
        let (_, group_bits, group_shift) = in_group(config, 0, 0);
        let [w, h] = self.macro_tile;
        let (columns, rows) = (u64::from(self.pitch / w), u64::from(self.height / h));
        let line: u64 = if self.element == 4 { 256 } else { 512 };
        MaskTables {
            group: core::array::from_fn(|at| in_group(config, at as u32 & 3, at as u32 >> 2).0 as u8),
            pipes: [
                core::array::from_fn(|at| pipe(8 * at as u32, 0)),
                core::array::from_fn(|at| pipe(0, 8 * at as u32)),
            ],
            pipe_bits: log2(self.info.pipes()),
            element_log2: log2(self.element),
            group_shift,
            group_mask: !0 << group_bits,
            linear: self.linear,
            macro_log2: [log2(w), log2(h)],
            row: if self.linear { u64::from(self.pitch / 32) } else { columns },
            slice: if self.linear { self.slice_bits } else { columns * rows },
            macro_bits: line * u64::from(self.element),
        }
    }
}

impl MaskTables {
    /// Returns the address in bytes of a pixel's element, and the number of the element's first bit in that byte.
    #[inline]
    pub fn address(&self, x: u32, y: u32, slice: u32) -> (u64, u32) {
        let (tx, ty) = (x >> 3, y >> 3);
        let element = self.group[((ty & 3) << 2 | tx & 3) as usize];
        let (groups, base) = if self.linear {
            (u64::from(ty >> 2) * self.row + u64::from(tx >> 2), u64::from(slice) * self.slice)
        } else {
            let [w, h] = self.macro_log2;
            let number = u64::from(slice) * self.slice + u64::from(y >> h) * self.row + u64::from(x >> w);
            let (gx, gy) = ((x & ((1 << w) - 1)) >> 5, (y & ((1 << h) - 1)) >> 5);
            (u64::from(gy << w.saturating_sub(5) | gx), number * self.macro_bits)
        };
        let number = groups << self.group_shift & self.group_mask;
        let offset = ((number + u64::from(element)) << self.element_log2) + base;
        let [across, down] = &self.pipes;
        let pipe = u64::from(across[(tx & 15) as usize] ^ down[(ty & 15) as usize]);
        let address = offset & 2047 | pipe << 11 | (offset & !2047) << self.pipe_bits;
        (address >> 3, (address & 7) as u32)
    }
}

/// Returns the width and height in pixels that a cache of `bits` bits covers over all pipes.
pub(super) fn covered(bits: u32, element: u32, pipes: u32) -> [u32; 2] {
    let (mut width, mut height) = (bits / element, 1);
    while width > height * 2 * pipes && width & 1 == 0 {
        width /= 2;
        height *= 2;
    }
    [8 * width, 8 * height * pipes]
}
