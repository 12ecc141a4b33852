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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_repeat_and_differ() {
        assert_eq!(pattern(1, 4096), pattern(1, 4096));
        assert_ne!(pattern(1, 64), pattern(2, 64));
        assert_eq!(pattern(1, 7), pattern(1, 8)[..7]);
        assert!(!pattern_dwords(3, 1024).contains(&0));
    }
}
