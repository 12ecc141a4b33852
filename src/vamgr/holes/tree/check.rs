//! Checks of all invariants of the tree.

use amdgpu_hw::num::{index, wide};

use super::{
    nodes::{inner, lanes::Lanes, leaf, peaks::Peaks},
    tree::Tree,
    units::{MAX_NEED, REGION_BITS, number},
};
use crate::holes::Hole;

impl Tree {
    /// Panics if an invariant of the tree is broken, and returns its holes.
    pub(in crate::holes) fn check(&self) -> Vec<Hole> {
        let mut all = Vec::new();
        for region in 0..self.region_count() {
            let height = self.regions[index(region)].height;
            let ends = 0..1 << REGION_BITS;
            let most = Check { holes: self, region, top: height }.node(self.root(region), height, ends, &mut all);
            let (node, slot) = Self::table(region);
            let recorded: Vec<Lanes> = self.offers.iter().map(|offers| offers.get(node, slot)).collect();
            assert_eq!(most, recorded, "region {region}");
        }
        assert_eq!(wide(all.len()), self.count());
        assert!(all.windows(2).all(|two| two[0].end < two[1].start), "holes touch or overlap");
        assert_eq!(all.iter().map(|hole| hole.cells()).max().unwrap_or(0), self.largest());
        all
    }

    /// Panics if memory for `holes` holes is not reserved.
    pub(in crate::holes) fn check_reserved(&self, holes: u64) {
        let leaves = usize::try_from(holes).unwrap() / leaf::MIN + 1;
        assert!(self.leaves.capacity() >= leaves && self.free_leaves.capacity() >= leaves);
        assert!(self.inners.capacity() > leaves / inner::MIN);
    }

    /// Returns the number of regions, with or without holes.
    pub(in crate::holes) fn regions(&self) -> usize {
        self.regions.len()
    }

    /// Returns the addresses of the nodes in host memory.
    pub(in crate::holes) fn addresses(&self) -> (*const u8, *const u8) {
        (self.leaves.as_ptr().cast(), self.inners.as_ptr().cast())
    }

    /// Returns the number of vectors of offers, each of which has room for four alignment classes.
    pub(in crate::holes) fn vectors(&self) -> usize {
        self.offers.len()
    }

    /// Returns the base-2 logarithms of the alignment classes that the tree has.
    pub(in crate::holes) fn classes(&self) -> Vec<u32> {
        (0..=REGION_BITS).filter(|&shift| self.has_class(shift)).collect()
    }
}

struct Check<'a> {
    holes: &'a Tree,
    region: u32,
    top: u32,
}

impl Check<'_> {
    /// Checks a node whose holes start inside `ends`, adds them to `all`, and returns their best offers.
    fn node(&self, node: u32, height: u32, ends: std::ops::Range<i32>, all: &mut Vec<Hole>) -> Vec<Lanes> {
        if height == 0 {
            return self.leaf(node, &ends, all);
        }
        let inner = &self.holes.inners[index(node)];
        let count = inner.count();
        assert!(count >= if height == self.top { 2 } else { inner::MIN }, "{count} children");
        assert_eq!(inner.key(0), ends.start);
        for slot in 0..inner::CAP {
            let mut offers = vec![Lanes::NONE; self.holes.offers.len()];
            if slot < count {
                let end = if slot + 1 < count { inner.key(slot + 1) } else { ends.end };
                offers = self.node(inner.child(slot), height - 1, inner.key(slot)..end, all);
            }
            let recorded: Vec<Lanes> = self.holes.offers.iter().map(|o| o.get(node, number(slot))).collect();
            assert_eq!(offers, recorded, "slot {slot} at height {height}");
        }
        self.holes.offers.iter().map(|offers| played(offers.peaks(node))).collect()
    }

    fn leaf(&self, node: u32, ends: &std::ops::Range<i32>, all: &mut Vec<Hole>) -> Vec<Lanes> {
        let leaf = &self.holes.leaves[index(node)];
        let count = leaf.count();
        assert!(self.top == 0 || count >= leaf::MIN, "{count} holes");
        for at in 0..leaf::CAP {
            assert_eq!(leaf.has(at), at < count);
            if at < count {
                assert!(ends.contains(&leaf.start(at)), "{} is outside {ends:?}", leaf.start(at));
                assert!(leaf.len(at) > 0 && leaf.start(at) <= MAX_NEED);
                all.push(self.holes.hole(self.region, node, at));
            }
        }
        self.holes.offers.iter().map(|offers| offers.of_leaf(leaf)).collect()
    }
}

/// Returns the winner of a tournament.
fn played(peaks: &Peaks) -> Lanes {
    let best = (0..inner::CAP).map(|slot| peaks.get(slot)).fold(Lanes::NONE, Lanes::max);
    assert_eq!(best, peaks.max());
    best
}
