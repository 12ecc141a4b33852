//! The leaves of the hole tree: short sorted runs of holes.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see crate::holes::tree::width")]

use super::{lanes, slots};
use crate::holes::tree::units::{GIANT, MAX_NEED};

/// Maximum number of holes in a leaf. With 8 bytes each, they fill four cache lines.
pub(crate) const CAP: usize = 32;
/// Minimum number of holes in a leaf, except for a root.
pub(crate) const MIN: usize = 11;
/// Two neighbours with at most this many holes in total are merged into one leaf; with more, they share them evenly. The
/// distance to [`CAP`] avoids splitting and merging a leaf in turns.
pub(crate) const JOIN: usize = 24;

/// The start of unused places, which is greater than every cell of a region.
const UNUSED: i32 = i32::MAX;

/// A leaf with up to [`CAP`] holes of one region in ascending order.
///
/// # Invariants
///
/// The used places come first, are sorted, and neither overlap nor touch. The others are ([`UNUSED`], 0): no hole starts after
/// them, and nothing fits into them.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Leaf {
    start: [i32; CAP],
    /// Length in cells, or [`GIANT`].
    len: [i32; CAP],
}

impl Leaf {
    pub(crate) const EMPTY: Self = Self { start: [UNUSED; CAP], len: [0; CAP] };

    pub(crate) fn count(&self) -> usize {
        lanes::at_most(&self.start, UNUSED - 1)
    }

    /// Returns `true` if place `at` is used.
    #[inline]
    pub(crate) fn has(&self, at: usize) -> bool {
        at < CAP && self.start[at] != UNUSED
    }

    #[inline]
    pub(crate) fn start(&self, at: usize) -> i32 {
        self.start[at % CAP]
    }

    #[inline]
    pub(crate) fn len(&self, at: usize) -> i32 {
        self.len[at % CAP]
    }

    /// Returns the number of holes that start at or before `cell`.
    #[inline(always)]
    pub(crate) fn rank(&self, cell: i32) -> usize {
        lanes::at_most(&self.start, cell)
    }

    /// Returns a bitmap of the holes that offer `need` cells from a multiple of `mask + 1`.
    pub(crate) fn offering(&self, need: i32, mask: i32) -> u32 {
        let mut offers = self.len;
        for (len, &start) in offers.iter_mut().zip(&self.start) {
            *len = lanes::offer(start, *len, mask);
        }
        lanes::at_least(&offers, need)
    }

    /// Returns the place of the first hole that offers `need` cells from a multiple of `mask + 1`, or a place after the last
    /// hole.
    #[inline(always)]
    pub(crate) fn first_offering(&self, need: i32, mask: i32) -> usize {
        let mut first = i32::MAX;
        for (place, (&start, &len)) in (0..).zip(self.start.iter().zip(&self.len)) {
            let offer = lanes::offer(start, len, mask);
            first = first.min(if offer >= need { place } else { i32::MAX });
        }
        usize::try_from(first).unwrap_or(CAP)
    }

    /// Returns the largest offer of any hole from a multiple of `mask + 1`, up to [`MAX_NEED`].
    pub(crate) fn most(&self, mask: i32) -> i32 {
        let mut most = 0;
        for (&start, &len) in self.start.iter().zip(&self.len) {
            most = most.max(lanes::offer(start, len, mask));
        }
        most.min(MAX_NEED)
    }

    /// Returns the same without the hole at place `at`.
    #[inline(always)]
    pub(crate) fn most_but(&self, at: usize, mask: i32) -> i32 {
        let mut most = 0;
        // Compared in the width of the other lanes.
        let at = i32::try_from(at).unwrap_or(-1);
        for (i, (&start, &len)) in (0..).zip(self.start.iter().zip(&self.len)) {
            let offer = lanes::offer(start, len, mask);
            most = most.max(if i == at { 0 } else { offer });
        }
        most.min(MAX_NEED)
    }

    pub(crate) fn is_giant(&self, at: usize) -> bool {
        self.len(at) == GIANT
    }

    #[inline]
    pub(crate) fn set(&mut self, at: usize, start: i32, len: i32) {
        self.start[at % CAP] = start;
        self.len[at % CAP] = len;
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, at: usize, start: i32, len: i32) {
        slots::open(&mut self.start, at, start);
        slots::open(&mut self.len, at, len);
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, at: usize) {
        slots::close(&mut self.start, at, UNUSED);
        slots::close(&mut self.len, at, 0);
    }

    /// Moves holes between this leaf and the next one until this one has `want`.
    pub(crate) fn share(&mut self, upper: &mut Self, want: usize) {
        let (lower_len, upper_len) = (self.count(), upper.count());
        slots::share((&mut self.start, lower_len), (&mut upper.start, upper_len), want, UNUSED);
        slots::share((&mut self.len, lower_len), (&mut upper.len, upper_len), want, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hole_that_offers_enough_is_the_first_marked() {
        let mut leaf = Leaf::EMPTY;
        for (at, cell) in (0..CAP).zip((0..).step_by(50)) {
            leaf.insert(at, cell + i32::try_from(at % 5).unwrap(), 1 + cell * 7 % 40);
            for (need, mask) in [(1, 0), (13, 0), (39, 0), (41, 0), (1, 15), (9, 15), (20, 31)] {
                let marked = leaf.offering(need, mask);
                let first = (marked != 0).then(|| marked.trailing_zeros() as usize);
                let found = Some(leaf.first_offering(need, mask)).filter(|&at| leaf.has(at));
                assert_eq!(found, first, "{need} at {mask} of {} holes", at + 1);
            }
        }
    }
}
