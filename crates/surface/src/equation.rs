//! Address equations: each bit of an address is the XOR of some bits of the coordinates.

/// The maximum number of bits of an equation: the address bits of a 1 MiB block.
pub const MAX_BITS: usize = 20;

/// The coordinates of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Texel {
    /// The column of the element, from 0.
    pub x: u32,
    /// The row of the element, from 0.
    pub y: u32,
    /// The array layer, or the slice of a 3D image.
    pub z: u32,
    /// The index of the sample (fragment); 0 for single-sampled images.
    pub sample: u32,
    /// The index of the mip level.
    pub level: u32,
}

/// One bit of an address: the XOR of some bits of the coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Term(pub(crate) u64);

impl Term {
    /// Creates a term from masks of the bits of x, y, z and the sample.
    pub const fn new(x: u16, y: u16, z: u16, s: u16) -> Self {
        Self(x as u64 | (y as u64) << 16 | (z as u64) << 32 | (s as u64) << 48)
    }

    /// Returns the mask of the bits of x.
    pub const fn x(self) -> u16 {
        self.0 as u16
    }

    /// Returns the mask of the bits of y.
    pub const fn y(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// Returns the mask of the bits of z.
    pub const fn z(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Returns the mask of the bits of the sample.
    pub const fn s(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Returns the number of coordinate bits in the term.
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

/// The address of an element inside its block, as one term for each address bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation {
    bits: [Term; MAX_BITS],
    len: u32,
}

impl Equation {
    /// Creates an equation of `len` bits, all of which are zero. At most [`MAX_BITS`] bits are used.
    pub const fn zero(len: u32) -> Self {
        Self { bits: [Term(0); MAX_BITS], len: if len as usize > MAX_BITS { MAX_BITS as u32 } else { len } }
    }

    /// Returns the terms, the lowest address bit first.
    pub fn terms(&self) -> &[Term] {
        &self.bits[..self.len as usize]
    }

    /// XORs a term into a bit. Bits beyond the equation's length are ignored.
    pub(crate) const fn add(&mut self, bit: u32, term: Term) {
        if bit < self.len {
            self.bits[bit as usize].0 ^= term.0;
        }
    }

    /// Returns the address of the element at these coordinates, which are taken modulo 65536.
    pub fn evaluate(&self, x: u32, y: u32, z: u32, s: u32) -> u32 {
        let packed = pack(x, y, z, s);
        self.terms().iter().enumerate().fold(0, |value, (bit, term)| value | term.parity(packed) << bit)
    }
}
