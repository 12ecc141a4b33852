//! The tree and its memory.

use std::ops::Range;

use amdgpu_hw::num::index;

use super::{
    nodes::{Inner, Leaf, Offers, grow, inner, leaf},
    processor::Processor,
    trail::MAX_HEIGHT,
    units::{CLASSES, MAX_NEED, REGION_BITS, number},
};
use crate::holes::TakeError;

/// A tree of the holes of one index.
#[derive(Debug)]
pub(in crate::holes) struct Tree {
    /// The number of the first region.
    pub(super) first: u64,
    pub(super) regions: Vec<Region>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) inners: Vec<Inner>,
    /// The offers of the children of inner nodes, for four classes each.
    pub(super) offers: Vec<Offers>,
    /// The lane of the largest class that divides an alignment, by the base-2 logarithm of the alignment.
    pub(super) lane_of: [u8; CLASSES],
    /// The unsuccessful searches by the base-2 logarithm of the alignment, and the number of takes at the last one.
    pub(super) wasted: [Waste; CLASSES],
    pub(super) free_leaves: Vec<u32>,
    pub(super) free_inners: Vec<u32>,
    pub(super) count: u64,
    pub(super) takes: u64,
    pub(super) processor: Processor,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    /// Levels of inner nodes above the leaves.
    pub(super) height: u32,
    /// The end of the region's giant hole, if it has one.
    pub(super) giant_end: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waste {
    pub(super) visits: u64,
    pub(super) takes: u64,
}

impl Tree {
    /// Creates a tree without holes, for holes inside `span`.
    pub(in crate::holes) fn new(span: &Range<u64>) -> Self {
        let first = span.start >> REGION_BITS;
        let last = (span.end.max(span.start + 1) - 1) >> REGION_BITS;
        let regions =
            usize::try_from(last - first + 1).unwrap_or_else(|_| unreachable!("a span has 64 regions at most"));
        let mut tree = Self {
            first,
            regions: vec![Region::default(); regions],
            leaves: vec![Leaf::EMPTY; regions],
            inners: vec![Inner::EMPTY; regions.div_ceil(inner::CAP)],
            offers: Vec::new(),
            lane_of: [0; CLASSES],
            wasted: [Waste::default(); CLASSES],
            free_leaves: Vec::new(),
            free_inners: Vec::new(),
            count: 0,
            takes: 0,
            processor: Processor::detect(),
        };
        tree.offers.push(Offers::new(tree.inners.len()));
        // The table: leaf r is the root of region r.
        for region in 0..tree.region_count() {
            let (node, slot) = Self::table(region);
            tree.inners[index(node)].insert(index(slot), slot.cast_signed(), region);
        }
        tree
    }

    /// Returns the number of regions of the span, at most 64.
    #[inline]
    pub(super) fn region_count(&self) -> u32 {
        number(self.regions.len())
    }

    /// Returns the number of holes.
    #[inline]
    pub(in crate::holes) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the length of the longest hole; 0 if there are no holes.
    pub(in crate::holes) fn largest(&self) -> u64 {
        let lengths = (0..self.region_count()).map(|region| {
            let (node, slot) = Self::table(region);
            let most = self.offers[0].get(node, slot).get(0);
            if most < MAX_NEED { u64::from(most.cast_unsigned()) } else { self.last_length(region) }
        });
        lengths.max().unwrap_or(0)
    }

    /// Returns the host memory of the tree's data in bytes.
    pub(in crate::holes) fn host_bytes(&self) -> usize {
        self.regions.capacity() * size_of::<Region>()
            + self.leaves.capacity() * size_of::<Leaf>()
            + self.inners.capacity() * size_of::<Inner>()
            + (self.free_leaves.capacity() + self.free_inners.capacity()) * size_of::<u32>()
            + self.offers.iter().map(Offers::host_bytes).sum::<usize>()
    }

    /// Reserves the nodes for `holes` holes, however they are distributed, so that they need no further memory.
    pub(in crate::holes) fn reserve(&mut self, holes: u64) -> Result<(), TakeError> {
        // All nodes except roots have at least MIN entries, and a root that is not a leaf has at least two.
        let regions = self.regions.len();
        let full = usize::try_from(holes).map_err(|_| TakeError::HostMemory)? / leaf::MIN;
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
