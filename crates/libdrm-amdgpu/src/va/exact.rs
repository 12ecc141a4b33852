//! A list of holes with byte precision, with every corner of libdrm's.
//!
//! Clients that ask for usual sizes and alignments are served by the index of `amdgpu-va`, which is as fast with a million holes as
//! with ten. What that cannot express (sizes of zero, alignments that are no multiple of a page, windows whose bounds are no multiple
//! of one) happens in tests alone, and there the order of the list and its arithmetic show: empty holes stay in it and keep their
//! neighbours from merging, and sums wrap.

/// A hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl Hole {
    fn end(self) -> u64 {
        self.offset.wrapping_add(self.size)
    }
}

/// The holes of a window, the highest first.
#[derive(Debug, Default)]
pub(super) struct ExactHoles(pub(super) Vec<Hole>);

/// A place within the list for a request.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    start: u64,
}

impl ExactHoles {
    /// Takes `size` bytes and returns the first. `required` is a multiple of the alignment, or 0 for any address.
    pub(super) fn take(&mut self, size: u64, alignment: u64, required: u64, from_top: bool) -> Option<u64> {
        let Place { index, start } = match (required, from_top) {
            (0, false) => self.lowest(size, alignment),
            (0, true) => self.highest(size, alignment),
            (start, from_top) => self.around(start, size, from_top),
        }?;
        let (hole, end) = (self.0[index], start.wrapping_add(size));
        let below = Hole { offset: hole.offset, size: start.wrapping_sub(hole.offset) };
        let above = Hole { offset: end, size: hole.end().wrapping_sub(end) };
        let reaches_end = end.wrapping_sub(hole.offset) >= hole.size;
        match (start > hole.offset, reaches_end) {
            (true, false) => {
                self.0[index] = above;
                self.0.insert(index + 1, below);
            }
            (true, true) => self.0[index] = below,
            (false, false) => self.0[index] = above,
            (false, true) => drop(self.0.remove(index)),
        }
        Some(start)
    }

    fn lowest(&self, size: u64, alignment: u64) -> Option<Place> {
        self.0.iter().enumerate().rev().find_map(|(index, hole)| {
            let rest = hole.offset % alignment;
            let waste = if rest == 0 { 0 } else { alignment - rest };
            let start = hole.offset.wrapping_add(waste);
            (start < hole.end() && hole.size.wrapping_sub(waste) >= size).then_some(Place { index, start })
        })
    }

    fn highest(&self, size: u64, alignment: u64) -> Option<Place> {
        self.0.iter().enumerate().find_map(|(index, hole)| {
            let start = hole.end().wrapping_sub(size);
            let start = start - start % alignment;
            (hole.size >= size && start >= hole.offset).then_some(Place { index, start })
        })
    }

    fn around(&self, start: u64, size: u64, from_top: bool) -> Option<Place> {
        // A run beyond the end of the address space is in no hole, though the sum of libdrm says so.
        let end = start.checked_add(size)?;
        let fits = |&index: &usize| self.0[index].offset <= start && self.0[index].end() >= end;
        let mut indices = 0..self.0.len();
        let index = if from_top { indices.find(fits) } else { indices.rfind(fits) };
        index.map(|index| Place { index, start })
    }

    /// Gives a run back and merges it with its neighbours in the list.
    pub(super) fn give(&mut self, start: u64, size: u64) {
        let end = start.wrapping_add(size);
        // The holes that do not begin below the run come first.
        let below = self.0.iter().position(|hole| hole.offset < start).unwrap_or(self.0.len());
        let touches_below = self.0.get(below).is_some_and(|hole| hole.end() == start);
        let above = below.checked_sub(1).filter(|&above| self.0[above].offset == end);
        match (above, touches_below) {
            (Some(above), true) => {
                self.0[below].size = self.0[below].size.wrapping_add(size).wrapping_add(self.0[above].size);
                self.0.remove(above);
            }
            (Some(above), false) => {
                let upper = self.0[above];
                self.0[above] = Hole { offset: start, size: upper.size.wrapping_add(size) };
            }
            (None, true) => self.0[below].size = self.0[below].size.wrapping_add(size),
            (None, false) => self.0.insert(below, Hole { offset: start, size }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_neighbours_become_one_hole_in_every_order() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut holes = ExactHoles(vec![Hole { offset: 0x1000, size: 0x3000 }]);
            let taken = [0; 3].map(|_| holes.take(0x1000, 0x1000, 0, false).unwrap());
            assert_eq!(taken, [0x1000, 0x2000, 0x3000]);
            assert!(holes.0.is_empty());
            for index in order {
                holes.give(taken[index], 0x1000);
            }
            assert_eq!(holes.0, [Hole { offset: 0x1000, size: 0x3000 }]);
        }
    }

    #[test]
    fn a_run_that_wraps_is_in_no_hole() {
        let mut holes = ExactHoles(vec![Hole { offset: u64::MAX << 20, size: 1 << 19 }]);
        assert_eq!(holes.take(1 << 20, 4096, u64::MAX << 12, false), None);
        assert_eq!(holes.take(0, 4096, 0, false), Some(u64::MAX << 20));
    }
}
