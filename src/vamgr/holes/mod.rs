//! The free cells of one address window, indexed for first fit.
//!
//! [`Holes`] takes the lowest (or the highest, or a given) run of free cells that fits, and frees runs again. It does not
//! depend on locks, leases or bytes. The caller defines the meaning of a cell; for [`VaManager`](super::VaManager) it is the
//! granule, usually a page of 4 KiB.
//!
//! Up to eight holes are stored in a sorted list, which is the fastest structure for so few; more are stored in a [tree].
//! Taking and freeing are O(log n) in the number of holes. The passes over the tree that a new alignment class needs are
//! amortized over many calls; a single call may take O(n), once per class. For alignments that are not powers of two, the only
//! bound is the number of holes that are large enough but not aligned.
//!
//! # Freeing cannot fail
//!
//! `n` taken runs leave at most `n + 1` holes, and every node of the tree except roots is at least a third full. Before each
//! take changes anything, it therefore reserves the nodes that the worst sequence of frees could need.

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

/// Maximum number of holes at which a tree becomes a list again. The distance to [`LIST_MAX`] avoids frequent changes between
/// the two.
const TREE_MIN: u64 = 2;

/// An index of the holes in a span of cells.
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
    /// All holes if the tree is empty; otherwise empty.
    list: List,
    tree: Tree,
    /// [`LIST_MAX`], or 0 in tests of the tree.
    list_max: usize,
    free: u64,
    live: u64,
    /// Number of live runs up to which freeing needs no more memory.
    reserved: u64,
}

impl Holes {
    /// Creates an index with all cells of `span` free. An empty span gives an index without holes.
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

    /// Takes the lowest `len` free cells that start at a multiple of `step`, and returns the first.
    ///
    /// # Errors
    ///
    /// [`TakeError::Empty`] if `len` is zero; [`TakeError::NoFit`] if no hole fits; [`TakeError::HostMemory`] if the host has
    /// no memory.
    #[inline]
    pub fn take_lowest(&mut self, len: u64, step: Step) -> Result<u64, TakeError> {
        self.prepare(len)?;
        let taken = if self.is_list() { self.list.take_lowest(len, step) } else { self.tree.take_lowest(len, step) };
        let start = taken.ok_or(TakeError::NoFit)?;
        self.taken(len);
        Ok(start)
    }

    /// Takes the highest `len` free cells that start at a multiple of `step`, and returns the first.
    ///
    /// # Errors
    ///
    /// The errors of [`Holes::take_lowest`].
    pub fn take_highest(&mut self, len: u64, step: Step) -> Result<u64, TakeError> {
        self.prepare(len)?;
        let taken = if self.is_list() { self.list.take_highest(len, step) } else { self.tree.take_highest(len, step) };
        let start = taken.ok_or(TakeError::NoFit)?;
        self.taken(len);
        Ok(start)
    }

    /// Takes the `len` cells that start at `start`.
    ///
    /// # Errors
    ///
    /// [`TakeError::Empty`] if `len` is zero; [`TakeError::Outside`] if the run is not inside the span; [`TakeError::Taken`] if
    /// some cells are taken; [`TakeError::HostMemory`] if the host has no memory.
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

    /// Frees the `len` cells that start at `start`, which one call has taken. Allocates no memory.
    ///
    /// # Errors
    ///
    /// [`NotTaken`] if any of the cells is free or outside the span; nothing changes in this case.
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

    /// Returns the span of cells that the index manages.
    pub fn span(&self) -> Range<u64> {
        self.span.clone()
    }

    /// Returns the number of free cells.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Returns the number of holes, in O(1).
    pub fn count(&self) -> u64 {
        wide(self.list.as_slice().len()) + self.tree.count()
    }

    /// Returns the number of taken runs.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Returns the length of the longest hole in cells, in O(log n); 0 if there are no holes.
    pub fn largest(&self) -> u64 {
        self.list.as_slice().iter().map(|hole| hole.cells()).max().unwrap_or_else(|| self.tree.largest())
    }

    /// Returns the holes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Hole> + '_ {
        let first = self.tree.first_from_region(0);
        let tree = std::iter::successors(first, |&hole| self.tree.around_cell(hole.start).1);
        self.list.as_slice().iter().copied().chain(tree)
    }

    /// Returns the host memory that the index occupies, in bytes.
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

    /// Reserves the memory that freeing all live runs, and a run of `len` more cells, may need.
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

    /// Moves the holes to the tree if there are too many for the list, and back if there are few.
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
