//! Table-based computation of metadata addresses.

use super::coord::CoordTerm;
use super::image::MetaKind;
use super::{MetaAddress, MetaAddresser, MetaEquation};
use crate::bits::log2;
use crate::equation::Term;
use crate::error::{AddrError, Cause};
use crate::tiler::fill;

/// Metadata that is prepared for computing addresses: an address is the XOR of at most seven table entries and the offset of a meta
/// block. The tables take 6.3 KiB, without heap allocation. Coordinates are taken modulo 65536.
#[derive(Clone, Debug)]
pub struct MetaTables {
    /// The contributions of the low and the high byte of x, y and the slice, in nibbles.
    axes: [[[u32; 256]; 2]; 3],
    samples: [u32; 16],
    /// The base-2 logarithms of the meta block's dimensions.
    block_log2: [u32; 3],
    /// The number of meta blocks in a row, and in a slice.
    blocks: [u64; 2],
    /// The distance between slices in nibbles, without the meta blocks (GFX10 and later).
    slice: u64,
    /// The location of the meta block's index: the number of its lowest bits, their first bit, and the first bit of the others.
    index: [u32; 3],
    /// The value XOR-ed into each address, in bytes.
    xor: u64,
    has_nibbles: bool,
}

/// Adds the bits of a term to the columns of each coordinate.
fn add(columns: &mut [[u32; 16]; 4], bit: u32, masks: [u32; 4]) {
    for (columns, mask) in columns.iter_mut().zip(masks) {
        for (place, column) in columns.iter_mut().enumerate() {
            *column |= (mask >> place & 1) << bit;
        }
    }
}

impl MetaAddresser {
    /// Prepares tables that compute the same addresses.
    ///
    /// # Errors
    /// [`AddrError::NotSupported`] if the index of a meta block is not in one or two parts of the equation, which occurs on no
    /// hardware.
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
                // The tables cover 16 bits of each coordinate, 4 bits of the sample, and 32 bits of the address.
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
    /// Returns the address of the metadata of an element. `sample` is only used for DCC of GFX9.
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
        // On GFX9 the index and the coordinates share no bits, so the sum equals the XOR of the equation.
        let nibble = u64::from(slice) * self.slice + block + u64::from(inside);
        let bit = if self.has_nibbles { (nibble as u32 & 1) << 2 } else { 0 };
        MetaAddress { byte: (nibble >> 1) ^ self.xor, bit }
    }
}
