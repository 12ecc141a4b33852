//! Values at random and at the corners of their types.

use amdgpu_isa::WaveSize;

use crate::machine::{Lanes, State};

/// Words whose halves and wholes are corners: zeroes, ones, extremes, denormals, infinities and NaNs of 16 and 32 bits.
const WORDS: [u32; 34] = [
    0,
    1,
    2,
    31,
    32,
    0xffff_ffff,
    0x8000_0000,
    0x7fff_ffff,
    0x8000,
    0x7fff,
    0xffff,
    0x00ff_ffff,
    0x0080_0000,
    // Floats of 32 bits.
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4020_0000,
    0xc060_0000,
    0x0000_1234,
    0x807f_ffff,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_1234,
    0x7f80_0001,
    0x4f00_0000,
    0xcf00_0000,
    // Pairs of floats of 16 bits.
    0x3c00_0001,
    0xbc00_83ff,
    0x7c00_7bff,
    0xfc00_4200,
    0x7e01_3800,
    0xc500_0400,
    0x7c01_fc00,
];

/// The upper halves of floats of 64 bits at the corners.
const UPPER_HALVES: [u32; 14] = [
    0x3ff0_0000,
    0xbff0_0000,
    0x3fe0_0000,
    0x4004_0000,
    0x000f_ffff,
    0x8000_0000,
    0x7ff0_0000,
    0xfff0_0000,
    0x7ff8_0000,
    0x7fef_ffff,
    0x41e0_0000,
    0xc1e0_0000,
    0x41ef_ffff,
    0x4330_0000,
];

/// A sequence of numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns one of the items.
    pub(crate) fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.next() as usize % items.len()]
    }

    /// Returns a word of a kind that is drawn, too.
    fn word(&mut self) -> u32 {
        let bits = self.next();
        match bits >> 60 {
            0..=4 => self.of(&WORDS),
            // A float of 32 bits near 1.
            5..=7 => (bits as u32 & 0x807f_ffff) | (0x78 + (bits >> 32) as u32 % 16) << 23,
            // Two floats of 16 bits near 1.
            8 | 9 => {
                (bits as u32 & 0x83ff_83ff)
                    | (10 + (bits >> 32) as u32 % 10) << 10
                    | (10 + (bits >> 40) as u32 % 10) << 26
            }
            10 | 11 => bits as u32 % 64,
            _ => bits as u32,
        }
    }

    /// Returns both words of a value, which is a corner or near 1 as a float of 64 bits, too.
    fn pair(&mut self) -> [u32; 2] {
        let bits = self.next();
        match bits >> 61 {
            0 => [self.of(&[0, 0, 1, u32::MAX]), self.of(&UPPER_HALVES)],
            1 | 2 => {
                [bits as u32, (bits as u32).rotate_left(7) & 0x800f_ffff | (0x3f0 + (bits >> 32) as u32 % 32) << 20]
            }
            3 if bits.is_multiple_of(4) => [0, 0],
            3 => [self.word(), 0],
            4 => [self.word(), u32::MAX],
            _ => [self.word(), self.word()],
        }
    }

    /// Returns registers; the first case has all lanes on, the second none.
    pub(crate) fn state(&mut self, wave: WaveSize, case: usize) -> State {
        let mut vectors: [Lanes; 8] = [[0; 64]; 8];
        for (pair, lane) in (0..4).flat_map(|pair| (0..64).map(move |lane| (pair, lane))) {
            [vectors[2 * pair][lane], vectors[2 * pair + 1][lane]] = self.pair();
        }
        let mut scalars = [0; 10];
        for pair in scalars.as_chunks_mut().0 {
            *pair = self.pair();
        }
        let all = if wave == WaveSize::Wave32 { 0xffff_ffff } else { u64::MAX };
        let exec = match case {
            0 => all,
            1 => 0,
            _ => self.next() & all,
        };
        State { vectors, scalars, vcc: self.next(), exec, scc: self.next() & 1 != 0, m0: self.word() }
    }
}
