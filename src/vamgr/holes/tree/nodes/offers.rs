//! The offers of all children, for up to four alignment classes.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see crate::holes::tree::width")]

use amdgpu_hw::num::index;

use super::{Leaf, grow, lanes::Lanes, peaks::Peaks};
use crate::holes::{TakeError, tree::units::MAX_NEED};

/// The offers of an index in four alignment classes, each in a lane.
#[derive(Debug)]
pub(crate) struct Offers {
    /// The alignment of the class in cells minus one.
    pub(crate) mask: Lanes,
    /// All bits set in the lanes that are in use.
    pub(crate) active: Lanes,
    pub(crate) used: usize,
    /// The offers for each inner node. Unused lanes are 0.
    pub(crate) peaks: Vec<Peaks>,
}

impl Offers {
    /// Creates the offers of `nodes` nodes, with the class of any start as the only one.
    pub(crate) fn new(nodes: usize) -> Self {
        let mut offers = Self { mask: Lanes::NONE, active: Lanes::NONE, used: 0, peaks: vec![Peaks::NONE; nodes] };
        offers.add_class(0);
        offers
    }

    pub(crate) fn add_class(&mut self, shift: u32) {
        self.mask.0[self.used % 4] = (1 << shift) - 1;
        self.active.0[self.used % 4] = -1;
        self.used += 1;
    }

    pub(crate) fn reserve(&mut self, nodes: usize) -> Result<(), TakeError> {
        grow(&mut self.peaks, nodes)
    }

    pub(crate) fn host_bytes(&self) -> usize {
        size_of::<Self>() + self.peaks.capacity() * size_of::<Peaks>()
    }

    #[inline]
    pub(crate) fn get(&self, node: u32, slot: u32) -> Lanes {
        self.peaks[index(node)].get(index(slot))
    }

    #[inline]
    pub(crate) fn peaks(&self, node: u32) -> &Peaks {
        &self.peaks[index(node)]
    }

    #[inline]
    pub(crate) fn peaks_mut(&mut self, node: u32) -> &mut Peaks {
        &mut self.peaks[index(node)]
    }

    /// Returns the peaks of two nodes that share children.
    pub(crate) fn pair_mut(&mut self, nodes: [u32; 2]) -> Option<[&mut Peaks; 2]> {
        self.peaks.get_disjoint_mut(nodes.map(index)).ok()
    }

    /// Adds a new node without children.
    pub(crate) fn push(&mut self) {
        self.peaks.push(Peaks::NONE);
    }

    /// Resets a node that is reused to one without children.
    pub(crate) fn clear(&mut self, node: u32) {
        self.peaks[index(node)] = Peaks::NONE;
    }

    #[inline(always)]
    pub(crate) fn of_hole(&self, start: i32, len: i32) -> Lanes {
        self.mask.offer(start, len).min(MAX_NEED).and(self.active)
    }

    pub(crate) fn of_leaf(&self, leaf: &Leaf) -> Lanes {
        let mut most = Lanes::NONE;
        for (most, mask) in most.0.iter_mut().zip(self.mask.0).take(self.used) {
            *most = leaf.most(mask);
        }
        most
    }

    /// Returns the offer of a leaf, which offered `before`, after its hole at place `at` has shrunk and offers `left`.
    #[inline(always)]
    pub(crate) fn of_leaf_after(&self, leaf: &Leaf, at: usize, before: Lanes, left: Lanes) -> Lanes {
        let was = self.of_hole(leaf.start(at), leaf.len(at));
        let mut most = before;
        for lane in 0..self.used.min(4) {
            if was.get(lane) == before.get(lane) {
                most.0[lane] = leaf.most_but(at, self.mask.get(lane)).max(left.get(lane));
            }
        }
        most
    }
}
