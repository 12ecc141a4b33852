//! Conversions between integer types by name. Unlike a cast with `as`, they show whether a value can be lost.

const _: () = assert!(usize::BITS == 64, "only 64-bit hosts are supported");

/// Converts a 32-bit number to an index into host memory, without loss.
#[inline]
#[must_use]
pub const fn index(number: u32) -> usize {
    number as usize
}

/// Converts an index or a length in host memory to 64 bits, without loss.
#[inline]
#[must_use]
pub const fn wide(len: usize) -> u64 {
    len as u64
}

/// Converts a number of host objects to 32 bits, for fields of the kernel's structures. A larger number becomes [`u32::MAX`], which
/// the kernel never accepts.
#[inline]
#[must_use]
pub const fn count(len: usize) -> u32 {
    if len > index(u32::MAX) { u32::MAX } else { len as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_lengths_keep_every_value() {
        for number in [0, 1, u32::MAX] {
            assert_eq!((u64::from(number), count(index(number))), (wide(index(number)), number));
        }
        assert_eq!(wide(usize::MAX), u64::MAX);
    }

    #[test]
    fn a_count_beyond_32_bits_is_the_highest() {
        assert_eq!(
            [index(u32::MAX) - 1, index(u32::MAX) + 1, usize::MAX].map(count),
            [u32::MAX - 1, u32::MAX, u32::MAX]
        );
    }
}
