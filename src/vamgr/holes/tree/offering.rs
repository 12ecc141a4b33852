//! Updates of the offers of nodes, and the addition of alignment classes.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see super::width")]

use amdgpu_hw::num::{index, wide};

use super::{
    nodes::{Offers, lanes::Lanes, peaks::Peaks},
    trail::Trail,
    tree::{Tree, Waste},
    units::{CLASS_COUNT, REGION_BITS},
};

/// An unsuccessful search costs a leaf visit, and maintaining a class costs about one visit per take. With fewer visits than
/// this, a class is not worthwhile.
const VISITS_PER_TAKE: u64 = 1;
/// Minimum number of unsuccessful visits before a class is added, even if there are few leaves.
const VISITS_MIN: u64 = 64;

impl Tree {
    /// Updates the offers after a hole of the leaf was created or grew to `start` and `len`. Updates all levels, because
    /// stopping at the first level with a larger offer is an unpredictable branch at every level.
    #[inline(always)]
    pub(super) fn raise(&mut self, trail: &Trail, start: i32, len: i32) {
        for offers in &mut self.offers {
            let now = offers.of_hole(start, len);
            for &(node, slot) in trail.steps() {
                offers.peaks_mut(node).raise(index(slot), now);
            }
        }
    }

    /// Updates the offers before the hole at place `at` of the leaf shrinks to two pieces (start, length), either of which may
    /// be empty. It is called before the leaf is changed, because a vector load right after a narrow store would wait for it.
    #[inline(always)]
    pub(super) fn lower(&mut self, trail: &Trail, at: usize, below: (i32, i32), above: (i32, i32)) {
        let leaf = &self.leaves[index(trail.leaf)];
        for offers in &mut self.offers {
            let left = offers.of_hole(below.0, below.1).max(offers.of_hole(above.0, above.1));
            let (parent, slot) = trail.step[0];
            let mut now = offers.of_leaf_after(leaf, at, offers.get(parent, slot), left);
            for &(node, slot) in trail.steps() {
                let peaks = offers.peaks_mut(node);
                if peaks.get(index(slot)) == now {
                    break;
                }
                now = peaks.set(index(slot), now);
            }
        }
    }

    /// Recomputes the offer of the child at `slot` of `node`, which is `level` levels above the parents of leaves.
    pub(super) fn refresh(&mut self, level: usize, node: u32, slot: usize) {
        let child = self.inners[index(node)].child(slot);
        for offers in &mut self.offers {
            let most = if level == 0 { offers.of_leaf(&self.leaves[index(child)]) } else { offers.peaks(child).max() };
            offers.peaks_mut(node).set(slot, most);
        }
    }

    /// Recomputes the offers for every step of the trail from `level` up.
    pub(super) fn refresh_from(&mut self, trail: &Trail, level: usize) {
        for (level, &(node, slot)) in trail.steps().iter().enumerate().skip(level) {
            self.refresh(level, node, index(slot));
        }
    }

    /// Recomputes the offer of the root of a region whose height has changed.
    pub(super) fn refresh_root(&mut self, region: u32) {
        let (node, slot) = Self::table(region);
        self.refresh(index(self.regions[index(region)].height), node, index(slot));
    }

    /// Counts a search for multiples of `1 << shift` that visited `visits` leaves without success, and adds the class if this
    /// is worthwhile.
    #[cold]
    pub(super) fn waste(&mut self, shift: u32, visits: u64) {
        let shift = shift.min(REGION_BITS);
        if self.has_class(shift) {
            return;
        }
        let takes = self.takes;
        let waste = &mut self.wasted[index(shift)];
        let leaked = VISITS_PER_TAKE.saturating_mul(takes - waste.takes);
        *waste = Waste { visits: waste.visits.saturating_sub(leaked) + visits, takes };
        if waste.visits > VISITS_MIN.max(wide(self.leaves.len()) / 2) {
            self.add_class(shift);
        }
    }

    pub(super) fn has_class(&self, shift: u32) -> bool {
        let lane = self.lane_of[index(shift)];
        self.offers[usize::from(lane) / 4].mask.get(lane.into()) == (1 << shift) - 1
    }

    /// Adds a class. Does nothing if there is no memory for it; the next unsuccessful search tries again.
    fn add_class(&mut self, shift: u32) {
        if self.offers.last().is_none_or(|last| last.used == 4) {
            let mut offers = Offers { mask: Lanes::NONE, active: Lanes::NONE, used: 0, peaks: Vec::new() };
            if offers.reserve(self.inners.capacity()).is_err() || self.offers.try_reserve(1).is_err() {
                return;
            }
            offers.peaks.resize(self.inners.len(), Peaks::NONE);
            self.offers.push(offers);
        }
        let last = self.offers.len() - 1;
        let lane = (4 * last + self.offers[last].used) as u8;
        let served = (shift + 1..CLASS_COUNT).find(|&larger| self.has_class(larger)).unwrap_or(CLASS_COUNT);
        self.lane_of[index(shift)..index(served)].fill(lane);
        self.offers[last].add_class(shift);
        for region in 0..self.region_count() {
            let most = self.fill(last, self.root(region), self.regions[index(region)].height);
            let (node, slot) = Self::table(region);
            self.offers[last].peaks_mut(node).set(index(slot), most);
        }
    }

    #[cfg(test)]
    pub(in crate::holes) fn add_class_for_test(&mut self, shift: u32) {
        if !self.has_class(shift) {
            self.add_class(shift);
        }
    }

    /// Recomputes the offers of `node` and of all nodes below it.
    fn fill(&mut self, offers: usize, node: u32, height: u32) -> Lanes {
        if height == 0 {
            return self.offers[offers].of_leaf(&self.leaves[index(node)]);
        }
        for slot in 0..self.inners[index(node)].count() {
            let most = self.fill(offers, self.inners[index(node)].child(slot), height - 1);
            self.offers[offers].peaks_mut(node).put(slot, most);
        }
        let peaks = self.offers[offers].peaks_mut(node);
        peaks.replay();
        peaks.max()
    }
}
