//! Operations on all values of a short array at once.
//!
//! They are plain loops over fixed arrays, written such that the compiler turns them into vector instructions on every target;
//! SSE2, the baseline of x86-64, is sufficient. No loop exits early, because the exit would be unpredictable and a mispredicted
//! branch costs more than the whole array.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see crate::holes::tree::width")]

use amdgpu_hw::num::index;

/// The lengths that a child offers for four alignment classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
pub(crate) struct Lanes(pub(crate) [i32; 4]);

impl Lanes {
    pub(crate) const NONE: Self = Self([0; 4]);

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> i32 {
        self.0[lane % 4]
    }

    #[inline(always)]
    fn zip(self, other: Self, each: impl Fn(i32, i32) -> i32) -> Self {
        let mut lanes = self;
        for (a, &b) in lanes.0.iter_mut().zip(&other.0) {
            *a = each(*a, b);
        }
        lanes
    }

    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, i32::max)
    }

    #[inline(always)]
    pub(crate) fn min(self, limit: i32) -> Self {
        self.zip(Self([limit; 4]), i32::min)
    }

    #[inline(always)]
    pub(crate) fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Returns the part of a hole that remains from the first multiple of a power of two on, for each lane, whose value is that
    /// power minus one. The result is negative if the multiple is past the end of the hole.
    #[inline(always)]
    pub(crate) fn offer(self, start: i32, len: i32) -> Self {
        self.zip(self, |mask, _| offer(start, len, mask))
    }
}

/// Returns the length of the hole from the first multiple of `mask + 1` on; negative if that is past the end of the hole.
#[inline(always)]
pub(crate) fn offer(start: i32, len: i32, mask: i32) -> i32 {
    len - (start.wrapping_neg() & mask)
}

/// Returns the number of values that are `limit` or less. Values and `limit` must not be negative.
#[inline(always)]
pub(crate) fn at_most<const N: usize>(values: &[i32; N], limit: i32) -> usize {
    let mut count = 0;
    for &value in values {
        // The sign bit of `value - limit - 1`. For a comparison, the compiler would emit a slow population count.
        count += value.wrapping_sub(limit).wrapping_sub(1).cast_unsigned() >> 31;
    }
    index(count)
}

/// Returns a word whose bit `i` is set if value `i` is at least `limit`, for up to 32 values.
#[inline(always)]
pub(crate) fn at_least<const N: usize>(values: &[i32; N], limit: i32) -> u32 {
    let mut bits = 0;
    for (i, &value) in values.iter().enumerate() {
        bits |= u32::from(value >= limit) << i;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [i32; 8] = [0, 1, 5, 5, 9, 1 << 30, i32::MAX - 1, i32::MAX];

    #[test]
    fn counting_and_marking_agree_with_plain_comparison() {
        for limit in VALUES.iter().flat_map(|&v| [v, v.saturating_add(1), (v - 1).max(0)]) {
            assert_eq!(at_most(&VALUES, limit), VALUES.iter().filter(|&&v| v <= limit).count(), "at most {limit}");
            let marks = at_least(&VALUES, limit);
            assert!((0..8).all(|i| (marks >> i & 1 == 1) == (VALUES[i] >= limit)), "at least {limit}");
        }
    }

    #[test]
    fn an_offer_starts_at_the_first_multiple() {
        let masks = Lanes([0, 3, 15, (1 << 30) - 1]);
        assert_eq!(masks.offer(5, 20), Lanes([20, 17, 9, 20 - ((1 << 30) - 5)]));
        assert_eq!(masks.offer(0, i32::MAX), Lanes([i32::MAX; 4]));
    }
}
