//! Paths to cells, and to the holes adjacent to a leaf.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see super::width")]

use amdgpu_hw::num::index;

use super::{
    nodes::{inner, leaf},
    trail::{Trail, split_top},
    tree::Tree,
    units::{REGION_BITS, local, number},
};
use crate::holes::Hole;

impl Tree {
    /// Returns the table node and slot of a region's root.
    #[inline]
    pub(super) const fn table(region: u32) -> (u32, u32) {
        (region / inner::SLOTS, region % inner::SLOTS)
    }

    pub(super) fn root(&self, region: u32) -> u32 {
        let (node, slot) = Self::table(region);
        self.inners[index(node)].child(index(slot))
    }

    pub(super) fn set_root(&mut self, region: u32, root: u32) {
        let (node, slot) = Self::table(region);
        self.inners[index(node)].set_child(index(slot), root);
    }

    /// Returns the region of a cell inside the span.
    #[inline]
    pub(super) fn region_of(&self, cell: u64) -> u32 {
        ((cell >> REGION_BITS) - self.first) as u32
    }

    /// Returns the first cell of a region.
    #[inline]
    pub(super) fn region_start(&self, region: u32) -> u64 {
        (self.first + u64::from(region)) << REGION_BITS
    }

    /// Sets `trail` to the path to the leaf whose addresses include `cell`, which is inside the span.
    #[inline(always)]
    pub(super) fn descend(&self, trail: &mut Trail, cell: u64) {
        trail.region = self.region_of(cell);
        trail.height = self.regions[index(trail.region)].height;
        let (top, below) = split_top(trail);
        *top = Self::table(self.region_of(cell));
        let mut node = self.inners[index(top.0)].child(index(top.1));
        for step in below.iter_mut().rev() {
            let inner = &self.inners[index(node)];
            let slot = inner.slot(local(cell));
            *step = (node, number(slot));
            node = inner.child(slot);
        }
        trail.leaf = node;
    }

    /// Returns the hole at place `at` of a leaf of `region`.
    pub(super) fn hole(&self, region: u32, leaf: u32, at: usize) -> Hole {
        let leaf = &self.leaves[index(leaf)];
        let start = self.region_start(region) + u64::from(leaf.start(at).cast_unsigned());
        let end = if leaf.is_giant(at) {
            self.regions[index(region)].giant_end
        } else {
            start + u64::from(leaf.len(at).cast_unsigned())
        };
        Hole { start, end }
    }

    fn hole_if_any(&self, region: u32, leaf: u32, at: usize) -> Option<Hole> {
        self.leaves[index(leaf)].has(at).then(|| self.hole(region, leaf, at))
    }

    /// Returns the holes before and at place `at` of the leaf, which may be in other leaves or regions.
    pub(super) fn around(&self, trail: &Trail, at: usize) -> (Option<Hole>, Option<Hole>) {
        let below = match at.checked_sub(1) {
            Some(before) => self.hole_if_any(trail.region, trail.leaf, before),
            None => self.before(trail),
        };
        let above = self.hole_if_any(trail.region, trail.leaf, at).or_else(|| self.after(trail));
        (below, above)
    }

    /// Returns the last hole that starts at or before `cell`, and the next hole.
    pub(in crate::holes) fn around_cell(&self, cell: u64) -> (Option<Hole>, Option<Hole>) {
        let mut trail = Trail::NONE;
        self.descend(&mut trail, cell);
        self.around(&trail, self.leaves[index(trail.leaf)].rank(local(cell)))
    }

    /// Returns the last hole before the leaf.
    fn before(&self, trail: &Trail) -> Option<Hole> {
        for (level, &(node, slot)) in trail.steps()[..index(trail.height)].iter().enumerate() {
            if slot > 0 {
                return self.last_below(trail.region, self.inners[index(node)].child(index(slot) - 1), level);
            }
        }
        let earlier = (0..trail.region).rev();
        earlier.into_iter().find_map(|region| self.last_below(region, self.root(region), self.height(region)))
    }

    /// Returns the first hole after the leaf.
    fn after(&self, trail: &Trail) -> Option<Hole> {
        for (level, &(node, slot)) in trail.steps()[..index(trail.height)].iter().enumerate() {
            let inner = &self.inners[index(node)];
            if inner.has(index(slot) + 1) {
                return self.first_below(trail.region, inner.child(index(slot) + 1), level);
            }
        }
        self.first_from_region(trail.region + 1)
    }

    /// Returns the lowest hole that starts in `region` or a later one.
    pub(in crate::holes) fn first_from_region(&self, region: u32) -> Option<Hole> {
        let mut later = region..self.region_count();
        later.find_map(|region| self.first_below(region, self.root(region), self.height(region)))
    }

    fn height(&self, region: u32) -> usize {
        index(self.regions[index(region)].height)
    }

    fn last_below(&self, region: u32, mut node: u32, height: usize) -> Option<Hole> {
        for _ in 0..height {
            let inner = &self.inners[index(node)];
            node = inner.child(inner.count().saturating_sub(1));
        }
        let at = self.leaves[index(node)].count().checked_sub(1)?;
        Some(self.hole(region, node, at))
    }

    fn first_below(&self, region: u32, mut node: u32, height: usize) -> Option<Hole> {
        for _ in 0..height {
            node = self.inners[index(node)].child(0);
        }
        self.hole_if_any(region, node, 0)
    }

    /// Returns the length of a region's last hole. A hole of `MAX_NEED` cells or more is always the last, because no other
    /// starts after it.
    pub(super) fn last_length(&self, region: u32) -> u64 {
        self.last_below(region, self.root(region), self.height(region)).map_or(0, Hole::cells)
    }

    /// Raises the key of the next leaf if a hole at the end of this leaf now starts at `last`, at or above that key.
    pub(super) fn fence(&mut self, trail: &Trail, at: usize, last: i32) {
        if self.leaves[index(trail.leaf)].has(at + 1) {
            return;
        }
        let key = last + 1;
        for (level, &(node, slot)) in trail.steps()[..index(trail.height)].iter().enumerate() {
            let (inner, next) = (&mut self.inners[index(node)], index(slot) + 1);
            if !inner.has(next) {
                continue;
            }
            if inner.key(next) < key {
                inner.set_key(next, key);
                let mut node = inner.child(next);
                for _ in 0..level {
                    self.inners[index(node)].set_key(0, key);
                    node = self.inners[index(node)].child(0);
                }
            }
            return;
        }
    }
}

const _: () = assert!(leaf::CAP <= 32, "a leaf's offers are marked in 32 bits");
