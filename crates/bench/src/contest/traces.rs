//! The work to be measured: the same draws for everyone, and checksums to prove it.
//!
//! All arithmetic is on unsigned 64-bit numbers and wraps.
//!
//! * The generator is SplitMix64.
//! * A size comes from a draw `y`: `e = ((y & 0xffff) * octaves) >> 16`, `m = (y >> 16) & 0xffff`, `base = min << e`, and the
//!   size is `base + ((base * m) >> 16)`, rounded up to the granule: log-uniform. A slot of `n` comes from a draw `x`:
//!   `((x >> 32) * n) >> 32`.
//! * Fill: one draw a range. Then pairs: draw `x`, then `y`; free the slot, allocate the size into it.
//! * The checksum is FNV-1a over all values as 8 little-endian bytes: of the fill, then of the first 1000 pairs.
//!
//! | trace | seed | sizes | alignment |
//! |---|---|---|---|
//! | `va(n)` | 0x5EED0000 + n | 4 KiB, 14 octaves, granule 4 KiB | of 10 by `y >> 32`: 7 to 4 KiB, 2 to 64 KiB, 1 to 2 MiB |
//! | `S`, `S32` | 0xA110C000 + live | 256 bytes, 12 octaves, granule 256 | none; a space of 4 or 32 GiB |
//! | `T` | 0xA110C000 + live | 256 bytes, 9 octaves, granule 256 | none; a space of 4 GiB |
//!
//! | trace | checksum |
//! |---|---|
//! | va(1,000), va(10,000) | e9f8e85ec148c911, d787f830b7cc21a2 |
//! | va(100,000), va(1,000,000) | 8623356c486c5d9f, 359dc292ff381e47 |
//! | S(1,000), S(10,000) | 9a95c41b419feaa7, fc856d0cb1c470fa |
//! | T(1,000), T(10,000), T(100,000) | 1a47f9a62024e1b6, c0a0dbd112a35c2f, adb5f2ae85465632 |
//! | S32(100,000) | 4181dfca0172d194 |
//!
//! `holes(n)` needs no draws: n ranges of 64 KiB at multiples of 64 KiB, every odd one freed; then batches of n/8
//! allocations of 128 KiB at 64 KiB (all holes too small), of 64 KiB at 128 KiB (all misaligned), of 64 KiB at 64 KiB.

/// Parameters of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    /// Ranges alive.
    pub(crate) live: u64,
    pub(crate) kind: Kind,
    checksum: u64,
}

/// Of which sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// GPU addresses, aligned.
    Addresses,
    /// Parts of a space of the given size in bytes.
    Parts { octaves: u64, space: u64 },
}

const GIB: u64 = 1 << 30;

const fn va(live: u64, checksum: u64) -> Trace {
    Trace { name: "va", live, kind: Kind::Addresses, checksum }
}

const fn parts(name: &'static str, live: u64, octaves: u64, space: u64, checksum: u64) -> Trace {
    Trace { name, live, kind: Kind::Parts { octaves, space }, checksum }
}

/// The traces of addresses.
pub(crate) const VA: [Trace; 4] = [
    va(1_000, 0xe9f8_e85e_c148_c911),
    va(10_000, 0xd787_f830_b7cc_21a2),
    va(100_000, 0x8623_356c_486c_5d9f),
    va(1_000_000, 0x359d_c292_ff38_1e47),
];

/// The traces of sub-allocation.
pub(crate) const PARTS: [Trace; 6] = [
    parts("S", 1_000, 12, 4 * GIB, 0x9a95_c41b_419f_eaa7),
    parts("S", 10_000, 12, 4 * GIB, 0xfc85_6d0c_b1c4_70fa),
    parts("T", 1_000, 9, 4 * GIB, 0x1a47_f9a6_2024_e1b6),
    parts("T", 10_000, 9, 4 * GIB, 0xc0a0_dbd1_12a3_5c2f),
    parts("T", 100_000, 9, 4 * GIB, 0xadb5_f2ae_8546_5632),
    parts("S32", 100_000, 12, 32 * GIB, 0x4181_dfca_0172_d194),
];

/// Bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// A slot to free, and what to allocate into it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) slot: usize,
    pub(crate) wanted: Wanted,
}

impl Trace {
    /// Draws it from the start.
    pub(crate) fn draws(&self) -> Draws {
        let seed = match self.kind {
            Kind::Addresses => 0x5EED_0000,
            Kind::Parts { .. } => 0xA110_C000,
        };
        Draws { state: seed + self.live, trace: *self }
    }

    /// Returns the number of pairs timed before it is the peer's turn: enough that each part of the shared caches is
    /// replaced twice within a turn. With addresses the slowest peer would take minutes for that.
    pub(crate) fn turn(&self) -> u64 {
        match self.kind {
            Kind::Addresses => 10_000,
            Kind::Parts { .. } => (2 * self.live).max(10_000),
        }
    }

    /// Returns `true` if it is the trace that its checksum is of.
    pub(crate) fn is_genuine(&self) -> bool {
        let (mut draws, mut sum) = (self.draws(), 0xCBF2_9CE4_8422_2325);
        for _ in 0..self.live {
            self.add(&mut sum, draws.wanted());
        }
        for _ in 0..1000 {
            let Pair { slot, wanted } = draws.pair();
            add(&mut sum, slot as u64);
            self.add(&mut sum, wanted);
        }
        sum == self.checksum
    }

    fn add(&self, sum: &mut u64, wanted: Wanted) {
        add(sum, wanted.size);
        if self.kind == Kind::Addresses {
            add(sum, wanted.align);
        }
    }
}

/// FNV-1a.
fn add(sum: &mut u64, value: u64) {
    for byte in value.to_le_bytes() {
        *sum = (*sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    }
}

/// The draws of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    state: u64,
    trace: Trace,
}

impl Draws {
    /// The next range.
    pub(crate) fn wanted(&mut self) -> Wanted {
        let y = self.draw();
        match self.trace.kind {
            Kind::Addresses => Wanted { size: size(y, 4096, 14, 4096), align: align(y) },
            Kind::Parts { octaves, .. } => Wanted { size: size(y, 256, octaves, 256), align: 1 },
        }
    }

    /// The next pair.
    pub(crate) fn pair(&mut self) -> Pair {
        let slot = (((self.draw() >> 32) * self.trace.live) >> 32) as usize;
        Pair { slot, wanted: self.wanted() }
    }

    fn draw(&mut self) -> u64 {
        split_mix(&mut self.state)
    }
}

/// The generator's next number.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The generator from a seed.
pub(crate) fn random(mut seed: u64) -> impl FnMut() -> u64 {
    move || split_mix(&mut seed)
}

fn size(y: u64, min: u64, octaves: u64, granule: u64) -> u64 {
    let base = min << (((y & 0xffff) * octaves) >> 16);
    (base + ((base * ((y >> 16) & 0xffff)) >> 16)).next_multiple_of(granule)
}

fn align(y: u64) -> u64 {
    match (y >> 32) % 10 {
        0..7 => 4 << 10,
        7..9 => 64 << 10,
        _ => 2 << 20,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_has_its_checksum() {
        for trace in VA.into_iter().chain(PARTS) {
            assert!(trace.is_genuine(), "{}({})", trace.name, trace.live);
        }
    }
}
