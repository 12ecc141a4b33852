//! Addresses in micro tiles of 8x8 elements (GFX6 to GFX8): inside a tile the places of elements are the same for all tiles.

use crate::addr1::Addresser;
use crate::equation::Texel;
use crate::error::AddrError;

/// The elements of a tile in one slice and sample: which piece of a split tile, and where in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileTable {
    /// Bytes behind the first element of the piece.
    pub(super) offsets: [u32; 64],
    /// The piece, an index into `first`.
    pub(super) pieces: [u8; 64],
    /// The first element of each piece.
    first: [u8; 64],
    count: usize,
    /// Exponent of the elements that lie one after the other in a row.
    pub(super) run_log2: u32,
}

impl TileTable {
    /// Works out the tile at the level's start.
    pub(super) fn new(level: &Addresser, z: u32, sample: u32, bytes: u32) -> Result<Self, AddrError> {
        let mut table = Self { offsets: [0; 64], pieces: [0; 64], first: [0; 64], count: 0, run_log2: 0 };
        let mut splits = [0; 64];
        for at in 0..64_u8 {
            let texel = Texel { x: u32::from(at % 8), y: u32::from(at / 8), z, sample, level: 0 };
            let split = level.split(texel);
            let known = splits[..table.count].iter().position(|known| *known == split);
            let piece = known.unwrap_or(table.count);
            if known.is_none() {
                splits[piece] = split;
                table.first[piece] = at;
                table.count = piece + 1;
            }
            let first = table.first[piece];
            let start = Texel { x: u32::from(first % 8), y: u32::from(first / 8), ..texel };
            // The first element of a piece lies lowest in it.
            let offset = level.address(texel)?.wrapping_sub(level.address(start)?);
            table.offsets[usize::from(at)] = offset as u32;
            table.pieces[usize::from(at)] = piece as u8;
        }
        for run_log2 in 1..=3 {
            let mask = (1 << run_log2) - 1;
            let follows = |at: usize| {
                let start = at & !mask;
                let step = (at - start) as u32 * bytes;
                table.pieces[at] == table.pieces[start] && table.offsets[at] == table.offsets[start].wrapping_add(step)
            };
            if !(0..64).all(follows) {
                break;
            }
            table.run_log2 = run_log2 as u32;
        }
        Ok(table)
    }

    /// Returns the first byte of each piece of a tile.
    pub(super) fn bases(&self, level: &Addresser, corner: Texel) -> Result<[u64; 64], AddrError> {
        let mut bases = [0; 64];
        for (base, &first) in bases.iter_mut().zip(&self.first[..self.count]) {
            let (x, y) = (u32::from(first % 8), u32::from(first / 8));
            *base = level.address(Texel { x: corner.x + x, y: corner.y + y, ..corner })?;
        }
        Ok(bases)
    }
}
