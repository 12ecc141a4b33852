//! Many holes: a B+ tree by address that knows what every part of it offers.
//!
//! Leaves hold up to 32 holes; an inner node has up to 64 children and knows of each what the best hole below it
//! offers. First fit walks from the root to the first child that offers enough, level by level, and lands on the
//! answer: no hole that is too small is ever looked at one by one.
//!
//! "Offers" depends on the alignment: a hole of 16 cells that starts one cell after a multiple of 16 offers 16 cells
//! to those who take any start, and 1 cell to those who want multiples of 16. One number per child would let an
//! adversary put `n` misaligned holes in the way. So a node keeps one number per *alignment class* (a power of two),
//! four classes side by side in one vector register:
//!
//! ```text
//!  inner node    key    [ 0        | 1024    | 5120      | ...        64 first cells
//!                child  [ 7        | 3       | 12        | ...        64 node numbers
//!                offers [ 90 82 0 -| 40 0 0 -| 600 596 88| ...        64 x 4 classes: any, 16, 512, none yet
//!                         |
//!  leaf 7        start  [ 8 | 114 | 200 | ...                         32 first cells
//!                len    [ 90| 64  | 9   | ...                         32 lengths
//! ```
//!
//! Classes are added when they pay: leaves visited in vain are counted per class, less one for every run taken; once
//! they exceed half of all leaves the class gets its lane, for the price of one pass over the tree. A window that is
//! only ever asked for page alignment keeps one class; there are at most 31. An alignment that is no power of two is
//! searched in the class of its largest power of two, and looks at those holes that are large enough there.
//!
//! # Regions
//!
//! Positions inside the tree are 32-bit, half the memory and twice the vector width of 64. A window is cut into regions
//! of 2^30 cells (4 TiB of pages), each with a tree of its own; a hole belongs to the region it starts in and may
//! reach into later ones. Region roots sit in table nodes, laid out as inner nodes are, so that a change climbs from a
//! leaf into the table without noticing. A hole of 2^31 - 1 cells or more is *giant*: its recorded length saturates,
//! and its region, which has room for no second one, keeps its true end.

mod edit;
mod inner;
mod lanes;
mod leaf;
mod offers;
mod peaks;
mod search;
mod shape;
mod slots;
mod walk;
mod width;

#[cfg(test)]
mod check;

use std::ops::Range;

use inner::Inner;
use leaf::Leaf;
use offers::Offers;
use width::Width;

use super::{Hole, Step, TakeError};

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

/// The holes of one index, when there are many.
#[derive(Debug)]
pub(super) struct Tree {
    /// The number of the first region.
    first: u64,
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
    takes: u64,
    width: Width,
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

impl Tree {
    /// A tree without holes, for those inside `span`.
    pub(super) fn new(span: &Range<u64>) -> Self {
        let first = span.start >> REGION_BITS;
        let regions = ((span.end.max(span.start + 1) - 1) >> REGION_BITS) - first + 1;
        let mut tree = Self {
            first,
            regions: vec![Region::default(); regions as usize],
            leaves: vec![Leaf::EMPTY; regions as usize],
            inners: vec![Inner::EMPTY; (regions as usize).div_ceil(inner::CAP)],
            offers: Vec::new(),
            lane_of: [0; CLASSES],
            wasted: [Waste::default(); CLASSES],
            free_leaves: Vec::new(),
            free_inners: Vec::new(),
            count: 0,
            takes: 0,
            width: Width::of_this_processor(),
        };
        tree.offers.push(Offers::new(tree.inners.len()));
        // The table: leaf r is the root of region r.
        for region in 0..regions as u32 {
            let (node, slot) = Self::table(region);
            tree.inners[node as usize].insert(slot as usize, slot.cast_signed(), region);
        }
        tree
    }

    /// How many holes there are.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The length of the longest hole, 0 without one.
    pub(super) fn largest(&self) -> u64 {
        let lengths = (0..self.regions.len() as u32).map(|region| {
            let (node, slot) = Self::table(region);
            let most = self.offers[0].get(node, slot).get(0);
            if most < MAX_NEED { u64::from(most.cast_unsigned()) } else { self.last_length(region) }
        });
        lengths.max().unwrap_or(0)
    }

    /// Bytes of host memory behind the tree.
    pub(super) fn host_bytes(&self) -> usize {
        self.regions.capacity() * size_of::<Region>()
            + self.leaves.capacity() * size_of::<Leaf>()
            + self.inners.capacity() * size_of::<Inner>()
            + (self.free_leaves.capacity() + self.free_inners.capacity()) * size_of::<u32>()
            + self.offers.iter().map(Offers::host_bytes).sum::<usize>()
    }

    /// Makes sure that the nodes for `holes` holes, however they come about, need no further memory.
    pub(super) fn reserve(&mut self, holes: u64) -> Result<(), TakeError> {
        // All nodes but roots have MIN or more of what they hold, and a root that is not a leaf has two or more.
        let regions = self.regions.len();
        let full = holes as usize / leaf::MIN;
        let leaves = full + regions + 1;
        let roots = regions.min(full / 2) + regions.div_ceil(inner::CAP);
        let inners = full / (inner::MIN - 1) + roots + MAX_HEIGHT;
        if u32::try_from(leaves).is_err() {
            return Err(TakeError::HostMemory);
        }
        grow(&mut self.leaves, leaves)?;
        grow(&mut self.inners, inners)?;
        grow(&mut self.free_leaves, leaves)?;
        grow(&mut self.free_inners, inners)?;
        self.offers.iter_mut().try_for_each(|offers| offers.reserve(inners))
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
