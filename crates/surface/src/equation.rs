//! Address equations: each bit of an address is the XOR of some bits of the coordinates.

/// The most bits that an equation has: those of a 1 MiB block.
pub const MAX_BITS: usize = 20;

/// The coordinates of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Texel {
    /// Column, in elements.
    pub x: u32,
    /// Row, in elements.
    pub y: u32,
    /// Array layer, or depth.
    pub z: u32,
    /// Sample (fragment).
    pub sample: u32,
    /// Mip level.
    pub level: u32,
}

/// One address bit: the coordinate bits whose XOR it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Term(pub(crate) u64);

impl Term {
    /// Returns a term from the bits of x, y, z and the sample that it XORs.
    pub const fn new(x: u16, y: u16, z: u16, s: u16) -> Self {
        Self(x as u64 | (y as u64) << 16 | (z as u64) << 32 | (s as u64) << 48)
    }

    /// Returns the bits of x that take part.
    pub const fn x(self) -> u16 {
        self.0 as u16
    }

    /// Returns the bits of y that take part.
    pub const fn y(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// Returns the bits of z that take part.
    pub const fn z(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Returns the bits of the sample number that take part.
    pub const fn s(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Returns the number of coordinate bits that take part.
    pub const fn components(self) -> u32 {
        self.0.count_ones()
    }

    const fn parity(self, packed: u64) -> u32 {
        (self.0 & packed).count_ones() & 1
    }
}

const fn pack(x: u32, y: u32, z: u32, s: u32) -> u64 {
    x as u16 as u64 | (y as u16 as u64) << 16 | (z as u16 as u64) << 32 | (s as u16 as u64) << 48
}

/// The address of an element inside its block, bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation {
    bits: [Term; MAX_BITS],
    len: u32,
}

impl Equation {
    /// Returns an equation of `len` bits, all of which are zero. More than [`MAX_BITS`] bits are cut to that number.
    pub const fn zero(len: u32) -> Self {
        Self { bits: [Term(0); MAX_BITS], len: if len as usize > MAX_BITS { MAX_BITS as u32 } else { len } }
    }

    /// Returns the terms, lowest address bit first.
    pub fn terms(&self) -> &[Term] {
        &self.bits[..self.len as usize]
    }

    /// XORs a term into a bit. Bits that the equation lacks are ignored.
    pub(crate) const fn add(&mut self, bit: u32, term: Term) {
        if bit < self.len {
            self.bits[bit as usize].0 ^= term.0;
        }
    }

    /// Returns the value of the equation at a place. Coordinates count modulo 65536.
    pub fn evaluate(&self, x: u32, y: u32, z: u32, s: u32) -> u32 {
        let packed = pack(x, y, z, s);
        self.terms().iter().enumerate().fold(0, |value, (bit, term)| value | term.parity(packed) << bit)
    }
}
