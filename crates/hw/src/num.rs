//! Conversions between integers by name. A cast with `as` leaves it to the reader to find out whether it loses anything.

const _: () = assert!(usize::BITS == 64, "only 64-bit hosts are supported");

/// Returns a 32-bit number as an index into host memory. Loses nothing.
#[inline]
#[must_use]
pub const fn index(number: u32) -> usize {
    number as usize
}

/// Returns an index or a length in host memory as 64 bits. Loses nothing.
#[inline]
#[must_use]
pub const fn wide(len: usize) -> u64 {
    len as u64
}

/// Returns a number of host objects as 32 bits, as the kernel's structures count them. More than those hold become
/// [`u32::MAX`], which no kernel accepts.
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
