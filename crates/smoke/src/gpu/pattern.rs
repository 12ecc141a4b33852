//! Test patterns.

/// `len` bytes that look random; the same seed gives the same bytes. No dword is zero, so a missing one shows.
pub(crate) fn pattern(seed: u32, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let mut bytes = Vec::with_capacity(len.next_multiple_of(4));
    while bytes.len() < len {
        // Marsaglia's xorshift: never zero once it is not.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// As [`pattern`], in dwords.
pub(crate) fn pattern_dwords(seed: u32, len: usize) -> Vec<u32> {
    let bytes = pattern(seed, len * 4);
    bytes.as_chunks::<4>().0.iter().map(|&dword| u32::from_le_bytes(dword)).collect()
}

/// Numbers that look random; the same seed gives the same ones.
pub(crate) struct Random(u32);

impl Random {
    pub(crate) const fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9) | 1)
    }

    /// A number below `end`, or 0 if that is 0.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        let state = &mut self.0;
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        ((u64::from(*state) * u64::from(end)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_stay_below_their_end() {
        let mut random = Random::new(7);
        assert!((0..1000).all(|_| random.below(6) < 6));
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }

    #[test]
    fn seeds_repeat_and_differ() {
        assert_eq!(pattern(1, 4096), pattern(1, 4096));
        assert_ne!(pattern(1, 64), pattern(2, 64));
        assert_eq!(pattern(1, 7), pattern(1, 8)[..7]);
        assert!(!pattern_dwords(3, 1024).contains(&0));
    }
}
