//! A sorted list of holes, for few holes.

use std::ops::Range;

use super::{Hole, Step};

/// Maximum number of holes in a list. More holes are stored in a tree.
pub(super) const LIST_MAX: usize = 8;

/// Capacity of the list: one more, for the moment before it becomes a tree.
const CAP: usize = LIST_MAX + 1;

/// A list of up to nine holes in ascending order.
///
/// Every index is below `len`, and between calls `len` is at most eight.
#[derive(Debug)]
pub(super) struct List {
    holes: [Hole; CAP],
    len: usize,
}

impl List {
    /// Creates a list of the whole span, if that is not empty.
    pub(super) fn new(span: &Range<u64>) -> Self {
        let whole = Hole { start: span.start, end: span.end };
        Self { holes: [whole; CAP], len: usize::from(!span.is_empty()) }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[Hole] {
        &self.holes[..self.len.min(CAP)]
    }

    #[inline]
    pub(super) fn take_lowest(&mut self, len: u64, step: Step) -> Option<u64> {
        let mut holes = self.as_slice().iter().enumerate();
        let (at, start) = holes.find_map(|(at, hole)| Some((at, hole.lowest(len, step)?)))?;
        self.cut(at, start, len);
        Some(start)
    }

    pub(super) fn take_highest(&mut self, len: u64, step: Step) -> Option<u64> {
        let mut holes = self.as_slice().iter().enumerate().rev();
        let (at, start) = holes.find_map(|(at, hole)| Some((at, hole.highest(len, step)?)))?;
        self.cut(at, start, len);
        Some(start)
    }

    /// Takes cells from a hole of the list.
    pub(super) fn carve(&mut self, hole: Hole, start: u64, len: u64) {
        if let Some(at) = self.as_slice().iter().position(|&other| other == hole) {
            self.cut(at, start, len);
        }
    }

    #[inline]
    fn cut(&mut self, at: usize, start: u64, len: u64) {
        let (hole, end) = (self.holes[at], start + len);
        match (hole.start < start, end < hole.end) {
            (false, false) => self.remove(at),
            (true, false) => self.holes[at].end = start,
            (false, true) => self.holes[at].start = end,
            (true, true) => {
                self.holes[at].end = start;
                self.insert(at + 1, Hole { start: end, end: hole.end });
            }
        }
    }

    /// Returns the last hole that starts at or before `cell`, and the next hole.
    pub(super) fn around(&self, cell: u64) -> (Option<Hole>, Option<Hole>) {
        let at = self.as_slice().partition_point(|hole| hole.start <= cell);
        (at.checked_sub(1).map(|below| self.holes[below]), self.as_slice().get(at).copied())
    }

    /// Frees the cells. Returns `false`, and changes nothing, if some of them are free.
    #[inline]
    pub(super) fn give(&mut self, given: Hole) -> bool {
        let holes = self.as_slice();
        let at = holes.iter().take_while(|hole| hole.start <= given.start).count();
        let (below, above) = (at.checked_sub(1).map(|below| holes[below]), holes.get(at).copied());
        if below.is_some_and(|below| below.end > given.start) || above.is_some_and(|above| given.end > above.start) {
            return false;
        }
        let joins_below = below.is_some_and(|below| below.end == given.start);
        match (joins_below, above.filter(|above| above.start == given.end)) {
            (false, None) => self.insert(at, given),
            (true, None) => self.holes[at - 1].end = given.end,
            (false, Some(_)) => self.holes[at].start = given.start,
            (true, Some(above)) => {
                self.holes[at - 1].end = above.end;
                self.remove(at);
            }
        }
        true
    }

    /// Adds a hole after all others.
    pub(super) fn push(&mut self, hole: Hole) {
        self.insert(self.len, hole);
    }

    /// Removes and returns all holes.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Hole> + use<> {
        self.holes.into_iter().take(std::mem::take(&mut self.len))
    }

    fn insert(&mut self, at: usize, hole: Hole) {
        self.holes.copy_within(at..self.len, at + 1);
        self.holes[at] = hole;
        self.len += 1;
    }

    fn remove(&mut self, at: usize) {
        self.holes.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }
}
