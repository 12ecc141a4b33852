//! Classes of floats, by the mask bits of the class comparisons.

/// Returns `true` if `mask` has the bit of the class that these parts belong to; `quiet` is the fraction bit of a quiet NaN.
///
/// Bits: 0 signalling NaN, 1 quiet NaN, 2 -infinity, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +infinity.
pub(crate) fn has<F>(negative: bool, largest: bool, smallest: bool, fraction: F, quiet: F, mask: u32) -> bool
where
    F: Copy + PartialEq + From<u8> + std::ops::BitAnd<Output = F>,
{
    let zero = F::from(0);
    let bit = match (largest, smallest, fraction == zero, negative) {
        (true, _, false, _) => u32::from(fraction & quiet != zero),
        (true, _, true, true) => 2,
        (true, _, true, false) => 9,
        (_, true, true, true) => 5,
        (_, true, true, false) => 6,
        (_, true, false, true) => 4,
        (_, true, false, false) => 7,
        (.., true) => 3,
        (.., false) => 8,
    };
    mask >> bit & 1 != 0
}
