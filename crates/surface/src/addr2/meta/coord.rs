//! Symbolic equations of GFX9, in which each bit is a set of coordinate bits.
//!
//! Reference: `core/coord.cpp`. A set contains a coordinate bit at most once: combining two sets is a union, not an XOR.

use crate::bits::mask;

/// The maximum number of bits of a metadata address.
pub(super) const BITS: usize = 49;

/// The term of one address bit in an equation: a set of coordinate bits, whose XOR is the address bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CoordTerm {
    /// The mask of bits of x.
    pub x: u32,
    /// The mask of bits of y.
    pub y: u32,
    /// The mask of bits of z.
    pub z: u32,
    /// The mask of bits of the sample.
    pub s: u32,
    /// The mask of bits of the meta block's index.
    pub m: u64,
}

/// An axis, in the order in which coordinate bits with equal numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    X,
    Y,
    Z,
    S,
    M,
}

impl CoordTerm {
    pub(super) const fn one(axis: Axis, bit: u32) -> Self {
        let mut term = Self { x: 0, y: 0, z: 0, s: 0, m: 0 };
        match axis {
            Axis::X => term.x = 1 << bit,
            Axis::Y => term.y = 1 << bit,
            Axis::Z => term.z = 1 << bit,
            Axis::S => term.s = 1 << bit,
            Axis::M => term.m = 1 << bit,
        }
        term
    }

    pub(super) const fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub(super) const fn len(self) -> u32 {
        self.x.count_ones() + self.y.count_ones() + self.z.count_ones() + self.s.count_ones() + self.m.count_ones()
    }

    pub(super) const fn union(self, other: Self) -> Self {
        Self { x: self.x | other.x, y: self.y | other.y, z: self.z | other.z, s: self.s | other.s, m: self.m | other.m }
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self {
            x: self.x & !other.x,
            y: self.y & !other.y,
            z: self.z & !other.z,
            s: self.s & !other.s,
            m: self.m & !other.m,
        }
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.union(other) == self
    }

    /// Returns the term without the bits of x, y and z outside `low..high` of their axis.
    pub(super) const fn within(self, low: [u32; 3], high: [u32; 3]) -> Self {
        Self {
            x: self.x & mask(high[0]) & !mask(low[0]),
            y: self.y & mask(high[1]) & !mask(low[1]),
            z: self.z & mask(high[2]) & !mask(low[2]),
            ..self
        }
    }

    /// Returns the lowest coordinate bit: samples first, then by bit number, x before y before z, block indices last.
    pub(super) const fn smallest(self) -> Self {
        if self.s != 0 {
            return Self::one(Axis::S, self.s.trailing_zeros());
        }
        let (x, y, z) = (self.x.trailing_zeros(), self.y.trailing_zeros(), self.z.trailing_zeros());
        if self.x != 0 && x <= y && x <= z {
            Self::one(Axis::X, x)
        } else if self.y != 0 && y <= z {
            Self::one(Axis::Y, y)
        } else if self.z != 0 {
            Self::one(Axis::Z, z)
        } else if self.m != 0 {
            Self::one(Axis::M, self.m.trailing_zeros())
        } else {
            self
        }
    }

    const fn evaluate(self, x: u32, y: u32, z: u32, s: u32, m: u64) -> u64 {
        let ones = (self.x & x).count_ones()
            + (self.y & y).count_ones()
            + (self.z & z).count_ones()
            + (self.s & s).count_ones()
            + (self.m & m).count_ones();
        (ones & 1) as u64
    }
}

/// A metadata equation of GFX9. Addresses count nibbles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetaEquation9 {
    pub(super) bits: [CoordTerm; BITS],
    pub(super) len: usize,
    pub(super) pipe_bits: u32,
}

impl MetaEquation9 {
    pub(super) const fn zero(len: usize) -> Self {
        Self { bits: [CoordTerm { x: 0, y: 0, z: 0, s: 0, m: 0 }; BITS], len, pipe_bits: 0 }
    }

    /// Returns the term of each address bit, starting with the lowest bit. The equation continues after the last term: every higher
    /// address bit is the next bit of the block index.
    pub fn terms(&self) -> &[CoordTerm] {
        let mut len = self.len.min(32);
        while len > 1 {
            let (last, before) = (self.bits[len - 1], self.bits[len - 2]);
            let index_only = |term: CoordTerm| term.len() == 1 && term.m != 0;
            if !(index_only(last) && index_only(before) && before.m << 1 == last.m) {
                break;
            }
            len -= 1;
        }
        &self.bits[..len]
    }

    /// Returns the number of address bits that select a pipe. The lowest of them is bit 9.
    pub const fn pipe_bits(&self) -> u32 {
        self.pipe_bits
    }

    /// Returns the locations of the bits of a meta block's index: the number of contiguous low bits, the first bit of these, and
    /// the first of all others. Returns `None` if the bits are located in any other way, or if an address bit depends both on the
    /// index and on coordinates.
    pub(super) fn index(&self) -> Option<[u32; 3]> {
        let mut places = self.bits[..self.len].iter().enumerate().filter(|(_, term)| term.m != 0);
        let mut found: Option<[u32; 3]> = None;
        for number in 0.. {
            let Some((place, term)) = places.next() else { break };
            let place = place as u32;
            if term.m != 1 << number || term.len() != 1 {
                return None;
            }
            match &mut found {
                None => found = Some([0, place, place]),
                Some([count, low, high]) if *count == 0 && *low + number != place => {
                    *count = number;
                    *high = place;
                }
                Some([count, _, high]) if *high + number - *count != place => return None,
                Some(_) => {}
            }
        }
        found
    }

    /// Returns the nibble address for these coordinates in the meta block with this index.
    pub fn evaluate(&self, x: u32, y: u32, z: u32, s: u32, index: u64) -> u64 {
        self.bits[..self.len]
            .iter()
            .enumerate()
            .fold(0, |address, (bit, term)| address | term.evaluate(x, y, z, s, index) << bit)
    }

    /// Removes empty bits and moves the bits above down.
    pub(super) fn compact(&mut self) {
        let mut kept = 0;
        for bit in 0..self.len {
            if !self.bits[bit].is_empty() {
                self.bits[kept] = self.bits[bit];
                kept += 1;
            }
        }
        for bit in kept..self.len {
            self.bits[bit] = CoordTerm::default();
        }
        self.len = kept;
    }

    /// Moves the bits from `start` on up by `count`. Bits moved beyond the top are lost.
    pub(super) fn shift_up(&mut self, count: usize, start: usize) {
        for bit in (start..self.len).rev() {
            self.bits[bit] = if bit >= start + count { self.bits[bit - count] } else { CoordTerm::default() };
        }
    }

    /// Fills bits in turn from several axes, starting at the coordinate bits in `counts` and advancing them.
    pub(super) fn interleave(&mut self, axes: &[Axis], counts: &mut [u32; 3], range: core::ops::Range<usize>) {
        for (turn, bit) in range.enumerate() {
            let axis = axes[turn % axes.len()];
            let count = &mut counts[axis as usize];
            if bit < self.len {
                self.bits[bit] = self.bits[bit].union(CoordTerm::one(axis, *count));
            }
            *count += 1;
        }
    }
}
