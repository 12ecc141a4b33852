//! The free cells of one address window, indexed for first fit.
//!
//! [`Holes`] hands out the lowest (or the highest, or exactly the asked) run of cells that fits, and takes runs back.
//! It knows nothing of locks, leases or bytes: a cell is whatever the user makes of it, a 4 KiB page for
//! [`VaManager`](super::VaManager).
//!
//! Up to eight holes are a sorted list, which nothing beats; more are a [tree]. A take or a give is O(log n) in the
//! number of holes. A take amortises the passes over the tree that new alignment classes need: a lone one may be O(n),
//! once per class. Alignments that are no power of two have no bound but the number of holes that are large enough and
//! lie badly.
//!
//! # Giving back cannot fail
//!
//! `n` taken runs leave at most `n + 1` holes, and every node of the tree but a root is a third full. So each take
//! reserves, before it touches anything, the nodes that the worst pattern of gives could ask for; a give finds them.

mod cells;
mod error;
mod hole;
mod list;
mod step;
mod tree;

#[cfg(test)]
mod tests;

use std::ops::Range;

use amdgpu_hw::num::wide;

use list::{LIST_MAX, List};
use tree::Tree;

pub use cells::{CELLS_END, SPAN_MAX};
pub use error::{BadSpan, NotTaken, TakeError};
pub use hole::Hole;
pub use step::Step;

/// With this many holes or fewer the tree becomes a list. The distance keeps it from going back and forth.
const TREE_MIN: u64 = 2;

/// An index of holes.
///
/// ```
/// use amdgpu_va::{Holes, Step, TakeError};
///
/// let mut holes = Holes::new(16..32)?;
/// let low = holes.take_lowest(3, Step::ONE)?;
/// let high = holes.take_highest(4, Step::ONE)?;
/// assert_eq!((low, high), (16, 28));
/// assert_eq!(holes.take_at(18, 2), Err(TakeError::Taken { from: 16, to: 19 }));
/// holes.give(low, 3)?;
/// holes.give(high, 4)?;
/// assert_eq!(holes.iter().map(|hole| hole.cells()).collect::<Vec<_>>(), [16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Holes {
    span: Range<u64>,
    /// All the holes, unless there are some in the tree.
    list: List,
    tree: Tree,
    /// [`LIST_MAX`], or 0 in tests of the tree.
    list_max: usize,
    free: u64,
    live: u64,
    /// The number of live runs up to which a give needs no memory.
    reserved: u64,
}

impl Holes {
    /// Creates an index in which all of `span` is free. An empty span is an index without holes.
    ///
    /// # Errors
    ///
    /// [`BadSpan`] if `span` is reversed, ends above [`CELLS_END`], or is longer than [`SPAN_MAX`].
    pub fn new(span: Range<u64>) -> Result<Self, BadSpan> {
        Self::with_list(span, LIST_MAX)
    }

    fn with_list(span: Range<u64>, list_max: usize) -> Result<Self, BadSpan> {
        let Range { start, end } = span;
        if start > end || end > CELLS_END || end - start > SPAN_MAX {
            return Err(BadSpan { start, end });
        }
        let (list, tree) = (List::new(&span), Tree::new(&span));
        let mut holes = Self { span, list, tree, list_max, free: end - start, live: 0, reserved: 0 };
        holes.settle();
        Ok(holes)
    }

    /// Takes the lowest `len` free cells that start at a multiple of `step`, and returns their first.
    ///
    /// # Errors
    ///
    /// [`TakeError::Empty`] without cells, [`TakeError::NoFit`] without a hole for them, [`TakeError::HostMemory`].
    #[inline]
    pub fn take_lowest(&mut self, len: u64, step: Step) -> Result<u64, TakeError> {
        self.prepare(len)?;
        let taken = if self.is_list() { self.list.take_lowest(len, step) } else { self.tree.take_lowest(len, step) };
        let start = taken.ok_or(TakeError::NoFit)?;
        self.taken(len);
        Ok(start)
    }

    /// Takes the highest `len` free cells that start at a multiple of `step`, and returns their first.
    ///
    /// # Errors
    ///
    /// As for [`Holes::take_lowest`].
    pub fn take_highest(&mut self, len: u64, step: Step) -> Result<u64, TakeError> {
        self.prepare(len)?;
        let taken = if self.is_list() { self.list.take_highest(len, step) } else { self.tree.take_highest(len, step) };
        let start = taken.ok_or(TakeError::NoFit)?;
        self.taken(len);
        Ok(start)
    }

    /// Takes exactly the `len` cells from `start`.
    ///
    /// # Errors
    ///
    /// [`TakeError::Empty`] without cells, [`TakeError::Outside`] if the run leaves the span, [`TakeError::Taken`] if
    /// it is not all free, [`TakeError::HostMemory`].
    pub fn take_at(&mut self, start: u64, len: u64) -> Result<(), TakeError> {
        self.prepare(len)?;
        if !self.spans(start, len) {
            return Err(TakeError::Outside);
        }
        let (below, above) = if self.is_list() { self.list.around(start) } else { self.tree.around_cell(start) };
        let Some(hole) = below.filter(|below| start < below.end && len <= below.end - start) else {
            let from = below.map_or(self.span.start, |below| below.end);
            let to = above.map_or(self.span.end, |above| above.start);
            return Err(TakeError::Taken { from, to });
        };
        if self.is_list() {
            self.list.carve(hole, start, len);
        } else {
            self.tree.carve_hole(hole, start, len);
        }
        self.taken(len);
        Ok(())
    }

    /// Gives back the `len` cells from `start`, which one call has taken. Needs no memory.
    ///
    /// # Errors
    ///
    /// [`NotTaken`], and nothing changes, if any of the cells is free or outside the span.
    #[inline]
    pub fn give(&mut self, start: u64, len: u64) -> Result<(), NotTaken> {
        let refused = NotTaken { start, end: start.saturating_add(len) };
        if len == 0 || !self.spans(start, len) {
            return Err(refused);
        }
        let given = Hole { start, end: start + len };
        let taken = if self.is_list() { self.list.give(given) } else { self.tree.give(given) };
        if !taken {
            return Err(refused);
        }
        self.live = self.live.saturating_sub(1);
        self.free += len;
        self.settle();
        Ok(())
    }

    /// Returns the cells the index was made for.
    pub fn span(&self) -> Range<u64> {
        self.span.clone()
    }

    /// Returns the number of free cells.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Returns the number of holes. O(1).
    pub fn count(&self) -> u64 {
        wide(self.list.as_slice().len()) + self.tree.count()
    }

    /// Returns the number of runs taken.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Returns the length of the longest hole in cells, 0 without one. O(log n).
    pub fn largest(&self) -> u64 {
        self.list.as_slice().iter().map(|hole| hole.cells()).max().unwrap_or_else(|| self.tree.largest())
    }

    /// Returns the holes by ascending address.
    pub fn iter(&self) -> impl Iterator<Item = Hole> + '_ {
        let first = self.tree.first_from_region(0);
        let tree = std::iter::successors(first, |&hole| self.tree.around_cell(hole.start).1);
        self.list.as_slice().iter().copied().chain(tree)
    }

    /// Returns the host memory that the index holds, bytes.
    pub fn host_bytes(&self) -> usize {
        size_of::<Self>() + self.tree.host_bytes()
    }

    #[inline]
    fn is_list(&self) -> bool {
        self.tree.count() == 0
    }

    #[inline]
    fn spans(&self, start: u64, len: u64) -> bool {
        start >= self.span.start && start < self.span.end && len <= self.span.end - start
    }

    /// Makes sure that giving back everything live, and a run of `len` more, will need no memory.
    #[inline]
    fn prepare(&mut self, len: u64) -> Result<(), TakeError> {
        match len {
            0 => Err(TakeError::Empty),
            _ if self.live < self.reserved => Ok(()),
            _ => self.reserve_more(),
        }
    }

    #[cold]
    fn reserve_more(&mut self) -> Result<(), TakeError> {
        let runs = (self.live + self.live / 2).max(64);
        self.tree.reserve(runs + 1)?;
        self.reserved = runs;
        Ok(())
    }

    #[inline]
    fn taken(&mut self, len: u64) {
        self.live += 1;
        self.free -= len;
        self.settle();
    }

    /// Keeps few holes in the list and many in the tree.
    #[inline]
    fn settle(&mut self) {
        let in_tree = self.tree.count();
        if self.list.as_slice().len() > self.list_max {
            self.spill();
        } else if in_tree <= TREE_MIN && in_tree > 0 && self.list_max > 0 {
            self.gather();
        }
    }

    #[cold]
    fn spill(&mut self) {
        for hole in self.list.drain() {
            self.tree.place(hole);
        }
    }

    #[cold]
    fn gather(&mut self) {
        while let Some(hole) = self.tree.first_from_region(0) {
            self.tree.withdraw(hole);
            self.list.push(hole);
        }
    }
}
