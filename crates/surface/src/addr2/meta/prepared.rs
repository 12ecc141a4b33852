//! Metadata addresses from tables.

use super::coord::CoordTerm;
use super::image::MetaKind;
use super::{MetaAddress, MetaAddresser, MetaEquation};
use crate::bits::log2;
use crate::equation::Term;
use crate::error::{AddrError, Cause};
use crate::tiler::fill;

/// Metadata prepared for addresses: an address is the XOR of seven table entries at most and the place of a meta block. Takes
/// 6.3 KiB, none of it on the heap. Coordinates count modulo 65536.
#[derive(Clone, Debug)]
pub struct MetaTables {
    /// Contributions of the low and the high byte of x, y and the slice, in nibbles.
    axes: [[[u32; 256]; 2]; 3],
    samples: [u32; 16],
    /// Exponents of the meta block's sides.
    block_log2: [u32; 3],
    /// Meta blocks of a row, and of a slice.
    blocks: [u64; 2],
    /// Nibbles from one slice to the next, beside its meta blocks (GFX10 and later).
    slice: u64,
    /// The place of the meta block's index: the lowest bits of it, from a first bit on, and the others, from a second one.
    index: [u32; 3],
    /// XOR-ed into each address, in bytes.
    xor: u64,
    has_nibbles: bool,
}

/// Adds a term's bits to the columns of each coordinate.
fn add(columns: &mut [[u32; 16]; 4], bit: u32, masks: [u32; 4]) {
    for (columns, mask) in columns.iter_mut().zip(masks) {
        for (place, column) in columns.iter_mut().enumerate() {
            *column |= (mask >> place & 1) << bit;
        }
    }
}

impl MetaAddresser {
    /// Prepares the tables of these addresses.
    ///
    /// # Errors
    /// [`AddrError::NotSupported`] for an equation in which the index of a meta block is not in one or two pieces; hardware has none.
    pub fn tables(&self) -> Result<MetaTables, AddrError> {
        let layout = &self.layout;
        let block_log2 = layout.block.map(log2);
        let row = u64::from(layout.pitch >> block_log2[0]);
        let sheet = u64::from(layout.height >> block_log2[1]) * row;
        let mut columns = [[0; 16]; 4];
        let (slice, index) = match &self.equation {
            MetaEquation::Gfx9(equation) => {
                for (bit, term) in (0..32).zip(&equation.bits[..equation.len]) {
                    add(&mut columns, bit, [term.x, term.y, term.z, term.s]);
                }
                // Tables have 16 bits of each coordinate and 4 of the sample, and 32 bits of the address.
                let fits = |term: &CoordTerm| (term.x | term.y | term.z) >> 16 == 0 && term.s >> 4 == 0;
                let is_empty = |term: &CoordTerm| (term.x | term.y | term.z | term.s) == 0;
                let all = equation.bits.iter().all(fits) && equation.bits.iter().skip(32).all(is_empty);
                let index = equation.index().filter(|_| all);
                (0, index.ok_or(AddrError::NotSupported(Cause::Metadata))?)
            }
            MetaEquation::Gfx10(equation) => {
                for (bit, &term) in (0..).zip(equation.terms()) {
                    let term: Term = term;
                    // Samples of DCC share their metadata.
                    let sample = if self.image.kind == MetaKind::Dcc { 0 } else { term.s() };
                    add(&mut columns, bit, [term.x(), term.y(), term.z(), sample].map(u32::from));
                }
                (layout.slice_bytes << 1, [0, 0, log2(layout.block_bytes) + 1])
            }
        };
        let is_gfx9 = matches!(self.equation, MetaEquation::Gfx9(_));
        let mut tables = MetaTables {
            axes: [[[0; 256]; 2]; 3],
            samples: [0; 16],
            block_log2: if is_gfx9 { block_log2 } else { [block_log2[0], block_log2[1], 0] },
            blocks: [row, if is_gfx9 { sheet } else { 0 }],
            slice,
            index,
            xor: self.xor,
            has_nibbles: self.image.kind == MetaKind::Cmask,
        };
        for (axis, columns) in tables.axes.iter_mut().zip(&columns) {
            let (low, high) = columns.split_at(8);
            fill(&mut axis[0], low);
            fill(&mut axis[1], high);
        }
        fill(&mut tables.samples, &columns[3][..4]);
        Ok(tables)
    }
}

impl MetaTables {
    /// Returns the position of the metadata of a place. `sample` matters for DCC of GFX9 only.
    #[inline]
    pub fn address(&self, x: u32, y: u32, slice: u32, sample: u32) -> MetaAddress {
        let [w, h, d] = self.block_log2;
        let [row, sheet] = self.blocks;
        let axis = |axis: usize, at: u32| {
            let [low, high] = &self.axes[axis];
            low[(at & 0xff) as usize] ^ high[(at >> 8 & 0xff) as usize]
        };
        let inside = axis(0, x) ^ axis(1, y) ^ axis(2, slice) ^ self.samples[(sample & 15) as usize];
        let index = u64::from(slice >> d) * sheet + u64::from(y >> h) * row + u64::from(x >> w);
        let [count, low, high] = self.index;
        let block = (index & ((1 << count) - 1)) << low | (index >> count) << high;
        // On GFX9 the index and the coordinates share no bits, so that the sum is what the equation has.
        let nibble = u64::from(slice) * self.slice + block + u64::from(inside);
        let bit = if self.has_nibbles { (nibble as u32 & 1) << 2 } else { 0 };
        MetaAddress { byte: (nibble >> 1) ^ self.xor, bit }
    }
}
