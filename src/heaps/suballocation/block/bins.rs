//! Holes sorted by length: two levels of bitmaps over lists.
//!
//! Lengths up to 31 cells have a bin each. Above, every octave is divided into 32 bins, so that the lengths in one bin differ
//! by at most 1 in 32. One word has a bit for each octave that has holes, and one word per octave has a bit for each of its 32
//! bins.

use amdgpu_hw::num::{count, index};

/// Number of bins in an octave.
const STEPS: u32 = 32;
const LOG_STEPS: u32 = STEPS.ilog2();
/// Row 0 is for lengths below 32, and row r for the octave that starts at 2^(r + 4).
const ROWS: usize = 33 - index(LOG_STEPS);

/// The index of no node. Node 0 exists so that links without a target can be written without a branch; it is never read.
pub(super) const NONE: u32 = 0;

/// The index of a bin: row and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bin(u32);

impl Bin {
    /// Returns the bin for holes of `cells` cells.
    #[inline]
    pub(super) const fn of(cells: u32) -> Self {
        let row = Self::row_of(cells);
        Self(row * STEPS + ((cells >> row.saturating_sub(1)) % STEPS))
    }

    /// Returns the first bin whose holes all have at least `cells` cells, which are at most [`MAX_CELLS`](super::MAX_CELLS).
    #[inline]
    pub(super) const fn all_at_least(cells: u32) -> Self {
        // Round up to the shortest length of the next bin, unless `cells` is the shortest length of its own.
        Self::of(cells + ((1 << Self::row_of(cells).saturating_sub(1)) - 1))
    }

    /// Lengths below 32 count as 31 here, which avoids an unpredictable branch.
    #[inline]
    const fn row_of(cells: u32) -> u32 {
        (cells | (STEPS - 1)).ilog2() - (LOG_STEPS - 1)
    }

    /// Returns the next bin; `None` after the last one.
    pub(super) const fn next(self) -> Option<Self> {
        if self.0 + 1 < count(ROWS) * STEPS { Some(Self(self.0 + 1)) } else { None }
    }

    /// Returns the shortest length in the bin.
    #[cfg(test)]
    const fn shortest(self) -> u32 {
        let (row, step) = (self.0 / STEPS, self.0 % STEPS);
        if row == 0 { step } else { (STEPS + step) << (row - 1) }
    }

    const fn row(self) -> usize {
        index(self.0 / STEPS) % ROWS
    }

    const fn step(self) -> usize {
        index(self.0 % STEPS)
    }
}

/// The heads of the lists, and bitmaps of the lists that are not empty.
#[derive(Debug)]
pub(super) struct Bins {
    rows: u32,
    steps: [u32; ROWS],
    heads: Box<[[u32; index(STEPS)]; ROWS]>,
}

impl Bins {
    pub(super) fn new() -> Self {
        Self { rows: 0, steps: [0; ROWS], heads: Box::new([[NONE; index(STEPS)]; ROWS]) }
    }

    /// Returns the first node of a bin, or [`NONE`].
    #[inline]
    pub(super) fn head(&self, bin: Bin) -> u32 {
        self.heads[bin.row()][bin.step()]
    }

    /// Inserts a node as the first of a bin. Returns the previous first node, or [`NONE`].
    #[inline]
    pub(super) fn push(&mut self, bin: Bin, node: u32) -> u32 {
        let (row, step) = (bin.row(), bin.step());
        self.steps[row] |= 1 << step;
        self.rows |= 1 << row;
        std::mem::replace(&mut self.heads[row][step], node)
    }

    /// Updates a bin after a node between `left` and `right` was removed, either of which may be [`NONE`]. Has no branches,
    /// because it is unpredictable whether the node was the first or the last one.
    #[inline]
    pub(super) fn closed(&mut self, bin: Bin, left: u32, right: u32) {
        let (row, step) = (bin.row(), bin.step());
        let head = &mut self.heads[row][step];
        *head = if left == NONE { right } else { *head };
        self.steps[row] &= !(u32::from(left | right == NONE) << step);
        self.rows &= !(u32::from(self.steps[row] == 0) << row);
    }

    /// Returns the first bin, starting at `bin`, that has a hole.
    #[inline]
    pub(super) fn first_from(&self, bin: Bin) -> Option<Bin> {
        let row = bin.row();
        let here = self.steps[row] & (u32::MAX << bin.step());
        let above = self.rows & !((2 << row) - 1);
        // Both results are computed and one is selected, which is cheaper than a mispredicted branch.
        let next = index(above.trailing_zeros());
        let there = self.steps.get(next).copied().unwrap_or(0);
        let (row, steps) = if here == 0 { (next, there) } else { (row, here) };
        (steps != 0).then(|| Bin(count(row) * STEPS + steps.trailing_zeros()))
    }

    /// Returns the last bin that has a hole.
    pub(super) fn last(&self) -> Option<Bin> {
        let row = self.rows.checked_ilog2()?;
        Some(Bin(row * STEPS + self.steps[index(row)].checked_ilog2()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of lengths to test. Miri is slow.
    const LENGTHS: u32 = if cfg!(miri) { 500 } else { 100_000 };

    #[test]
    fn every_length_is_in_the_bin_whose_shortest_it_reaches() {
        let lengths =
            (0..LENGTHS).chain((0..31).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1])).chain([i32::MAX as u32]);
        for cells in lengths {
            let bin = Bin::of(cells);
            assert!(bin.shortest() <= cells, "{cells}");
            assert!(bin.next().is_none_or(|next| next.shortest() > cells), "{cells}");
        }
    }

    #[test]
    fn the_bins_that_fit_for_certain_begin_at_or_behind_the_own_one() {
        for cells in (1..LENGTHS).chain([i32::MAX as u32 - 1, i32::MAX as u32]) {
            let bin = Bin::all_at_least(cells);
            assert!(bin.shortest() >= cells);
            assert!(bin == Bin::of(cells) || Some(bin) == Bin::of(cells).next());
        }
    }

    #[test]
    fn the_longest_request_has_a_bin() {
        let longest = Bin::all_at_least(super::super::MAX_CELLS);
        assert!(longest.shortest() > super::super::MAX_CELLS);
        assert_eq!(Bins::new().first_from(longest), None);
    }

    #[test]
    fn the_first_bin_with_a_hole_is_found_from_anywhere() {
        for at in [1, 31, 32, 33, 1000, 1 << 20, (1 << 31) - 1] {
            let mut bins = Bins::new();
            bins.push(Bin::of(at), 7);
            for from in [1, 5, 31, 32, 40, 1001, 1 << 20, 1 << 30] {
                let want = (Bin::of(from) <= Bin::of(at)).then_some(Bin::of(at));
                assert_eq!(bins.first_from(Bin::of(from)), want, "{from} {at}");
            }
            assert_eq!(bins.last(), Some(Bin::of(at)));
            bins.closed(Bin::of(at), NONE, NONE);
            assert_eq!((bins.first_from(Bin::of(0)), bins.last()), (None, None));
        }
    }
}
