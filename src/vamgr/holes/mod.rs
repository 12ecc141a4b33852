//! The free cells of one address window, indexed for first fit.
//!
//! [`Holes`] hands out the lowest (or the highest, or exactly the asked) run of cells that fits, and takes runs back.
//! It knows nothing of locks, leases or bytes: a cell is whatever the user makes of it, a 4 KiB page for
//! [`VaManager`](super::VaManager).
//!
//! # The structure
//!
//! A B+ tree of holes by address. Leaves hold up to 32 holes; an inner node has up to 64 children and knows of each
//! what the best hole below it offers. First fit walks from the root to the first child that offers enough, level by
//! level, and lands on the answer: no hole that is too small is ever looked at one by one.
//!
//! "Offers" depends on the alignment: a hole of 16 cells that starts one cell after a multiple of 16 offers 16 cells
//! to those who take any start, and 1 cell to those who want multiples of 16. One number per child would let an
//! adversary hide `n` misaligned holes in the way. So a node keeps one number per *alignment class* (a power of two),
//! four classes side by side in one vector register:
//!
//! ```text
//!  inner node    key    [   0     | 1024    | 5120    | ...            64 first cells
//!                child  [   7     | 3       | 12      | ...            64 node numbers
//!                offers [ 90 64 0 | 40 0 0  | 512 512 | ...            64 x 4 classes: any, 16, 512, -
//!                          \__ __/
//!  leaf 7        start  [ 3 | 96 | 200 | ...                           32 first cells
//!                len    [ 90| 64 | 9   | ...                           32 lengths
//! ```
//!
//! Classes are added when they pay: searches that end in a leaf in vain are counted per class, less two for every
//! run taken; once they exceed the number of leaves the class gets its lane, for the price of one pass over the tree.
//! A window that is only ever asked for page alignment keeps one class; there are at most 31. An alignment that is no
//! power of two is searched in the class of its largest power of two, and looks at those holes that are large enough
//! there.
//!
//! Cost: a take or a give is O(log n) in the number of holes, where a take amortises the passes above; a lone call may
//! be O(n) once for each class. Only alignments that are no power of two have no such bound.
//!
//! # Regions
//!
//! Positions inside the tree are 32-bit, half the memory and twice the vector width of 64. A window is cut into regions
//! of 2^30 cells (4 TiB of pages), each with a tree of its own; a hole belongs to the region it starts in and may
//! reach into later ones. Region roots sit in table nodes, laid out as inner nodes are, so that a change climbs from a
//! leaf into the table without noticing. A hole of 2^31 - 1 cells or more is *giant*: its recorded length saturates,
//! and its region, which has room for no second one, keeps its true end.
//!
//! # Giving back cannot fail
//!
//! `n` taken runs leave at most `n + 1` holes, and every node but a root is a third full. So each take reserves, before
//! it touches anything, the nodes that the worst pattern of gives could ask for; a give finds them.

mod edit;
mod hole;
mod inner;
mod lanes;
mod leaf;
mod offers;
mod peaks;
mod search;
mod shape;
mod slots;
mod step;
mod walk;

#[cfg(test)]
mod check;
#[cfg(test)]
mod tests;

use std::ops::Range;

use inner::Inner;
use leaf::Leaf;
use offers::Offers;

pub use hole::Hole;
pub use step::Step;

/// One past the highest cell an index can hold: the pages of a 64-bit address space.
pub const CELLS_END: u64 = 1 << 52;

/// The most cells an index can span: the pages of a 48-bit address space.
pub const SPAN_MAX: u64 = 1 << 36;

/// A region is 2^30 cells.
const REGION_BITS: u32 = 30;
/// The recorded length of a hole of this many cells or more; its region knows its end.
const GIANT: i32 = i32::MAX;
/// Offers saturate here. A request for more looks for an offer of this size and then at the hole itself.
const MAX_NEED: i32 = (1 << REGION_BITS) - 1;
/// Levels above the leaves, at most: 22 children a node are 2^32 leaves in 8 levels.
const MAX_HEIGHT: usize = 8;
/// Alignment classes there can be: the powers of two up to a region.
const CLASSES: usize = REGION_BITS as usize + 1;

/// Why no cells were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// No cells were asked for.
    #[error("a run of no cells was asked for")]
    Empty,
    /// No hole is large enough, and aligned, for the run.
    #[error("no hole fits")]
    NoFit,
    /// The exact run asked for is not all inside the index.
    #[error("the run is not inside the index")]
    Outside,
    /// The exact run asked for is not all free.
    #[error("cells {from:#x}..{to:#x} are taken")]
    Taken {
        /// First cell of the lowest taken stretch that meets the run.
        from: u64,
        /// One past its last cell.
        to: u64,
    },
    /// The nodes for a later give could not be reserved.
    #[error("out of host memory")]
    HostMemory,
}

/// A run given back was not all taken: some of it is a hole already, or outside the index. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cells {start:#x}..{end:#x} are not all taken")]
pub struct NotTaken {
    /// The first cell given.
    pub start: u64,
    /// One past the last cell given.
    pub end: u64,
}

/// The span asked of [`Holes::new`] is reversed, too long or too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an index cannot span the cells {start:#x}..{end:#x}")]
pub struct BadSpan {
    /// The first cell.
    pub start: u64,
    /// One past the last cell.
    pub end: u64,
}

/// An index of holes.
///
/// ```
/// use amdgpu_winsys::vamgr::{Holes, Step, TakeError};
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
    regions: Vec<Region>,
    leaves: Vec<Leaf>,
    inners: Vec<Inner>,
    /// What the children of the inner nodes offer, four classes a piece.
    offers: Vec<Offers>,
    /// Per exponent of an alignment, the lane of the largest class that divides it.
    lane_of: [u8; CLASSES],
    /// Per exponent, the searches in vain so far and how many takes there were then.
    wasted: [Waste; CLASSES],
    free_leaves: Vec<u32>,
    free_inners: Vec<u32>,
    count: u64,
    free: u64,
    live: u64,
    /// The number of live runs up to which a give needs no memory.
    reserved: u64,
    takes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Region {
    /// Levels of inner nodes above the leaves.
    height: u32,
    /// Where the region's giant ends, if it has one.
    giant_end: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Waste {
    visits: u64,
    takes: u64,
}

/// The way from a region's root to a leaf.
#[derive(Clone, Copy, Debug)]
struct Trail {
    /// Inner node and slot of each level, the lowest first; then table node and slot of the region.
    step: [(u32, u32); MAX_HEIGHT + 1],
    height: u32,
    region: u32,
    leaf: u32,
}

impl Trail {
    const NONE: Self = Self { step: [(0, 0); MAX_HEIGHT + 1], height: 0, region: 0, leaf: 0 };

    /// The steps from the leaf's parent up to and including the table.
    #[inline]
    fn steps(&self) -> &[(u32, u32)] {
        &self.step[..=(self.height as usize).min(MAX_HEIGHT)]
    }
}

impl Holes {
    /// An index in which all of `span` is free. An empty span is an index without holes.
    ///
    /// # Errors
    ///
    /// [`BadSpan`] if `span` is reversed, ends above [`CELLS_END`], or is longer than [`SPAN_MAX`].
    pub fn new(span: Range<u64>) -> Result<Self, BadSpan> {
        let Range { start, end } = span;
        if start > end || end > CELLS_END || end - start > SPAN_MAX {
            return Err(BadSpan { start, end });
        }
        let regions = ((end.max(start + 1) - 1) >> REGION_BITS) - (start >> REGION_BITS) + 1;
        let mut holes = Self {
            span,
            regions: vec![Region::default(); regions as usize],
            leaves: vec![Leaf::EMPTY; regions as usize],
            inners: Vec::new(),
            offers: Vec::new(),
            lane_of: [0; CLASSES],
            wasted: [Waste::default(); CLASSES],
            free_leaves: Vec::new(),
            free_inners: Vec::new(),
            count: 0,
            free: end - start,
            live: 0,
            reserved: 0,
            takes: 0,
        };
        holes.lay_tables(regions as u32);
        if start < end {
            holes.place(Hole { start, end });
        }
        Ok(holes)
    }

    /// The table nodes, with leaf `r` as the root of region `r`.
    fn lay_tables(&mut self, regions: u32) {
        self.inners = vec![Inner::EMPTY; (regions as usize).div_ceil(inner::CAP)];
        self.offers = vec![Offers::new(self.inners.len())];
        for region in 0..regions {
            let (node, slot) = Self::table(region);
            self.inners[node as usize].insert(slot as usize, slot.cast_signed(), region);
        }
    }

    /// The cells the index was made for.
    pub fn span(&self) -> Range<u64> {
        self.span.clone()
    }

    /// How many cells are free.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// How many holes there are. O(1).
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many runs are taken.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// The length of the longest hole in cells, 0 without one. O(log n).
    pub fn largest(&self) -> u64 {
        let mut largest = 0;
        for region in 0..self.regions.len() as u32 {
            let (node, slot) = Self::table(region);
            let most = self.offers[0].get(node, slot).get(0);
            largest =
                largest.max(if most < MAX_NEED { u64::from(most.cast_unsigned()) } else { self.last_length(region) });
        }
        largest
    }

    /// The holes by ascending address.
    pub fn iter(&self) -> impl Iterator<Item = Hole> + '_ {
        let mut next = self.first_from_region(0);
        std::iter::from_fn(move || {
            let hole = next?;
            next = self.hole_above(hole);
            Some(hole)
        })
    }

    /// Bytes of host memory held by the index.
    pub fn host_bytes(&self) -> usize {
        size_of::<Self>()
            + self.regions.capacity() * size_of::<Region>()
            + self.leaves.capacity() * size_of::<Leaf>()
            + self.inners.capacity() * size_of::<Inner>()
            + (self.free_leaves.capacity() + self.free_inners.capacity()) * size_of::<u32>()
            + self.offers.iter().map(Offers::host_bytes).sum::<usize>()
    }

    /// Makes sure that giving back everything live, and one run more, will need no memory.
    #[inline]
    fn reserve(&mut self) -> Result<(), TakeError> {
        if self.live < self.reserved { Ok(()) } else { self.reserve_more() }
    }

    #[cold]
    fn reserve_more(&mut self) -> Result<(), TakeError> {
        let runs = (self.live + self.live / 2).max(64);
        // n runs leave n + 1 holes; a root may hold fewer than MIN, and a split has one node more for a moment.
        let leaves = (runs as usize + 1) / leaf::MIN + 2 * self.regions.len() + 1;
        let inners = leaves / (inner::MIN - 1) + 2 * self.regions.len() + MAX_HEIGHT;
        if u32::try_from(leaves).is_err() {
            return Err(TakeError::HostMemory);
        }
        grow(&mut self.leaves, leaves)?;
        grow(&mut self.inners, inners)?;
        grow(&mut self.free_leaves, leaves)?;
        grow(&mut self.free_inners, inners)?;
        self.offers.iter_mut().try_for_each(|offers| offers.reserve(inners))?;
        self.reserved = runs;
        Ok(())
    }
}

/// Makes room for `to` elements in all, without touching what is there.
fn grow<T>(vec: &mut Vec<T>, to: usize) -> Result<(), TakeError> {
    vec.try_reserve_exact(to.saturating_sub(vec.len())).map_err(|_| TakeError::HostMemory)
}

/// The position of a cell in its region.
#[inline]
const fn local(cell: u64) -> i32 {
    (cell & MAX_NEED as u64) as i32
}

/// A number of cells as leaves record it.
#[inline]
fn recorded(cells: u64) -> i32 {
    i32::try_from(cells).unwrap_or(GIANT)
}
