//! The contribution of each coordinate bit to an address, for prepared addresses.

use super::address::Addresser;
use super::mode::TileType;
use crate::equation::Texel;
use crate::tiler::{Contribution, TilePlan, Turn};

/// The maximum number of columns and rows of a prepared level. The hardware's maximum is a quarter of it.
const MOST: u32 = 1 << 16;

impl Addresser {
    /// Returns the contribution of each coordinate bit to an address. Returns `None` for a level whose addresses are not the sum of
    /// such contributions: with counts that are not powers of two, with orders that contradict the mode, and with the two pipe
    /// configurations whose banks are not a XOR.
    pub(crate) fn plan(&self) -> Option<TilePlan> {
        let info = &self.info;
        let counts = [info.banks, info.bank_width, info.bank_height, info.aspect, info.tile_split];
        let is_macro = self.mode.is_macro();
        let is_odd = |count: &u32| !count.is_power_of_two();
        if self.mode.is_linear() || self.pitch > MOST || self.height > MOST || self.samples > 16 {
            return None;
        }
        // Rejects orders with bits of z in tiles of one slice.
        if self.tile_type == TileType::Thick && self.mode.thickness() == 1 {
            return None;
        }
        if is_odd(&self.samples) || is_macro && (counts.iter().any(is_odd) || self.banks_are_no_xor()) {
            return None;
        }
        let tiles = self.macro_tiles();
        let (pipes, banks, slice_bytes) = if is_macro {
            let (pipes, banks) = self.turns();
            (pipes, banks, tiles.slice_bytes * u64::from(tiles.splits))
        } else {
            (Turn::NONE, Turn::NONE, self.micro_slice_bytes())
        };
        let pipe_bits = pipes.mask.count_ones();
        let inside = |texel: Texel| {
            let offset = self.in_tile(texel);
            let split = offset / tiles.split_bytes;
            let bytes = u64::from(offset % tiles.split_bytes) + u64::from(split) * tiles.slice_bytes;
            Contribution { bytes, turn: ((self.split_rotation(split) & banks.mask) << pipe_bits) as u8 }
        };
        let above = |x: u32, y: u32| {
            if !is_macro {
                return Contribution { bytes: self.micro_tile(x, y), turn: 0 };
            }
            let (px, py) = tiles.turned(self.mode, x, y);
            let turn = self.pipe_bits(px, py) | (self.bank_bits(px, py) & banks.mask) << pipe_bits;
            Contribution { bytes: tiles.tile(info, x, y), turn: turn as u8 }
        };
        let mut plan = TilePlan {
            axes: [[Contribution::default(); 16]; 2],
            samples: [Contribution::default(); 16],
            thickness_log2: self.mode.thickness().ilog2(),
            slices: [0; 8],
            slice_bytes,
            pipes,
            banks,
        };
        let [columns, rows] = &mut plan.axes;
        for (bit, (column, row)) in columns.iter_mut().zip(rows).enumerate() {
            let one = 1 << bit;
            (*column, *row) = if bit < 3 {
                (inside(Texel { x: one, ..Texel::default() }), inside(Texel { y: one, ..Texel::default() }))
            } else {
                (above(one, 0), above(0, one))
            };
        }
        for (sample, found) in (0..self.samples).zip(&mut plan.samples) {
            *found = inside(Texel { sample, ..Texel::default() });
        }
        for (z, found) in (0..self.mode.thickness()).zip(&mut plan.slices) {
            *found = inside(Texel { z, ..Texel::default() }).bytes;
        }
        Some(plan)
    }
}
