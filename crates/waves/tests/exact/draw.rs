//! Random numbers, and values that are more often at the edges of floats and integers.

/// A generator of random numbers (xorshift).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// Returns a number less than `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.word() as usize % end.max(1)
    }

    /// Returns a value of a lane: a zero, a denormal, a NaN with any payload, an infinity, a small number, an address, or any bits.
    pub(crate) fn value(&mut self) -> u32 {
        const EDGES: [u32; 16] = [
            0,
            0x8000_0000,
            1,
            0x807f_ffff,
            0x0080_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7f7f_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7c00_fc00,
            0x03ff_8400,
            0x7fff_ffff,
            0xffff_ffff,
            0x3c00_bc00,
            0x0000_8000,
        ];
        let word = self.word();
        match word % 8 {
            0 => EDGES[self.below(EDGES.len())],
            // 32-bit denormals, and NaNs that are quiet or signal.
            1 => self.word() & 0x807f_ffff,
            2 => self.word() | 0x7f80_0000,
            // Halves that are denormals or NaNs.
            3 => self.word() & 0x83ff_83ff | if word & 8 == 0 { 0 } else { 0x7c00_7c00 },
            4 => self.word() % 64,
            // Floats between 2^-8 and 2^8.
            5 => self.word() & 0x807f_ffff | (119 + self.word() % 16) << 23,
            6 => (self.word() % 0x2000) & !3,
            _ => self.word(),
        }
    }

    /// Returns a mask of lanes: all, none, one, a run, every second, or any.
    pub(crate) fn mask(&mut self) -> u64 {
        let any = u64::from(self.word()) << 32 | u64::from(self.word());
        let shift = self.word() % 64;
        match self.below(8) {
            0..3 => u64::MAX,
            3 => 1 << shift,
            4 => u64::MAX >> shift,
            5 => u64::MAX << shift,
            6 => any & if shift == 0 { 0 } else { u64::MAX },
            _ => 0x5555_5555_5555_5555,
        }
    }
}
