//! The work to be measured: the same draws for everyone, and checksums to prove it.

/// SplitMix64.
#[derive(Clone)]
pub(crate) struct Draws(u64);

impl Draws {
    /// The draws of the trace `va(n)`.
    pub(crate) fn va(n: u64) -> Self {
        Self(0x5EED_0000 + n)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A range to allocate: 4 KiB to 64 MiB, log-uniform; 7 of 10 aligned to 4 KiB, 2 to 64 KiB, 1 to 2 MiB.
    pub(crate) fn range(&mut self) -> Wanted {
        let y = self.draw();
        Wanted { size: size(y, 4096, 14, 4096), align: align(y) }
    }

    /// A range to free, of `n`, and one to allocate in its place.
    pub(crate) fn pair(&mut self, n: u64) -> Pair {
        let slot = slot(self.draw(), n);
        Pair { slot, wanted: self.range() }
    }
}

/// Bytes.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) size: u64,
    pub(crate) align: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) slot: usize,
    pub(crate) wanted: Wanted,
}

fn size(y: u64, min: u64, octaves: u64, granule: u64) -> u64 {
    let (exponent, mantissa) = (((y & 0xffff) * octaves) >> 16, (y >> 16) & 0xffff);
    let base = min << exponent;
    (base + ((base * mantissa) >> 16)).next_multiple_of(granule)
}

fn slot(x: u64, n: u64) -> usize {
    (((x >> 32) * n) >> 32) as usize
}

fn align(y: u64) -> u64 {
    match (y >> 32) % 10 {
        0..7 => 4 << 10,
        7..9 => 64 << 10,
        _ => 2 << 20,
    }
}

/// FNV-1a, 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checksum(pub(crate) u64);

impl Checksum {
    pub(crate) const EMPTY: Self = Self(0xCBF2_9CE4_8422_2325);

    pub(crate) fn add(&mut self, value: u64) {
        for byte in value.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
    }
}

/// The checksum of the fill of `va(n)` and of its first 1000 pairs.
pub(crate) fn checksum(n: u64) -> Checksum {
    let (mut draws, mut sum) = (Draws::va(n), Checksum::EMPTY);
    for _ in 0..n {
        let Wanted { size, align } = draws.range();
        sum.add(size);
        sum.add(align);
    }
    for _ in 0..1000 {
        let Pair { slot, wanted } = draws.pair(n);
        sum.add(slot as u64);
        sum.add(wanted.size);
        sum.add(wanted.align);
    }
    sum
}

/// Expected values of [`checksum`].
pub(crate) const VA: [(u64, Checksum); 4] = [
    (1_000, Checksum(0xe9f8_e85e_c148_c911)),
    (10_000, Checksum(0xd787_f830_b7cc_21a2)),
    (100_000, Checksum(0x8623_356c_486c_5d9f)),
    (1_000_000, Checksum(0x359d_c292_ff38_1e47)),
];
