//! Taking cells from holes, and freeing them.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see super::width")]

use amdgpu_hw::num::index;

use super::{
    trail::Trail,
    tree::Tree,
    units::{GIANT, MAX_NEED, MAX_NEED_CELLS, length, local, recorded},
};
use crate::holes::{Hole, Step};

impl Tree {
    /// Takes the lowest `len` free cells that start at a multiple of `step`.
    #[inline(always)]
    pub(super) fn take_lowest_as_compiled(&mut self, len: u64, step: Step) -> Option<u64> {
        let mut trail = Trail::NONE;
        let (at, from) = self.lowest_fit(&mut trail, len, step)?;
        self.carve(&trail, at, from, len);
        Some(from)
    }

    /// Takes the highest `len` free cells that start at a multiple of `step`.
    pub(in crate::holes) fn take_highest(&mut self, len: u64, step: Step) -> Option<u64> {
        let mut trail = Trail::NONE;
        let (at, from) = self.highest_fit(&mut trail, len, step)?;
        self.carve(&trail, at, from, len);
        Some(from)
    }

    /// Takes cells from a hole of the tree.
    pub(in crate::holes) fn carve_hole(&mut self, hole: Hole, from: u64, len: u64) {
        let (trail, at) = self.find(hole);
        self.carve(&trail, at, from, len);
    }

    /// Removes `len` cells that start at `from` from the hole at place `at` of the leaf.
    #[inline(always)]
    fn carve(&mut self, trail: &Trail, at: usize, from: u64, len: u64) {
        self.takes += 1;
        let leaf = &self.leaves[index(trail.leaf)];
        let (start, cells) = (leaf.start(at), leaf.len(at));
        if cells > MAX_NEED || start > MAX_NEED - cells {
            return self.carve_across(trail, at, from, len);
        }
        // The hole ends in its region, so no sum exceeds 2^30.
        let below = (start, local(from) - start);
        let above = (local(from) + length(len), cells - below.1 - length(len));
        self.cut(trail, at, below, above);
    }

    /// Does the same for a hole that extends to the end of its region or beyond.
    #[inline(never)]
    fn carve_across(&mut self, trail: &Trail, at: usize, from: u64, len: u64) {
        let hole = self.hole(trail.region, trail.leaf, at);
        let below = (local(hole.start), recorded(from - hole.start));
        let rest = from + len..hole.end;
        if below.1 == GIANT {
            self.regions[index(trail.region)].giant_end = from;
        }
        if rest.is_empty() {
            self.cut(trail, at, below, (0, 0));
        } else if self.region_of(rest.start) == trail.region {
            // If a giant remains a giant, its end is unchanged.
            self.cut(trail, at, below, (local(rest.start), recorded(rest.end - rest.start)));
        } else {
            self.cut(trail, at, below, (0, 0));
            self.place(Hole { start: rest.start, end: rest.end });
        }
    }

    /// Replaces the hole at place `at` by the pieces (start, length) that remain before and after the removed cells. Either may
    /// be empty.
    #[inline(always)]
    fn cut(&mut self, trail: &Trail, at: usize, below: (i32, i32), above: (i32, i32)) {
        self.lower(trail, at, below, above);
        if above.1 > 0 {
            self.fence(trail, at, above.0);
        }
        let kept = if below.1 > 0 { below } else { above };
        if kept.1 == 0 {
            return self.take_out(trail, at);
        }
        self.leaves[index(trail.leaf)].set(at, kept.0, kept.1);
        if kept.0 != above.0 && above.1 > 0 {
            self.insert(trail, at + 1, above.0, above.1);
        }
    }

    /// Frees cells of the span. Returns `false`, and changes nothing, if some of them are free.
    #[inline(always)]
    pub(super) fn give_as_compiled(&mut self, given: Hole) -> bool {
        let mut trail = Trail::NONE;
        self.descend(&mut trail, given.start);
        let at = self.leaves[index(trail.leaf)].rank(local(given.start));
        self.give_inside(&trail, at, given).unwrap_or_else(|| self.give_at_edge(&trail, at, given))
    }

    /// Frees cells between two holes of one leaf, the most common case, in which only that leaf changes. Returns `None` if the
    /// cells are elsewhere, otherwise whether they were all taken.
    #[inline(always)]
    fn give_inside(&mut self, trail: &Trail, at: usize, given: Hole) -> Option<bool> {
        let leaf = &mut self.leaves[index(trail.leaf)];
        if at == 0 || !leaf.has(at) || leaf.len(at) > MAX_NEED - leaf.start(at) || given.cells() > MAX_NEED_CELLS {
            return None;
        }
        let below = (leaf.start(at - 1), leaf.start(at - 1) + leaf.len(at - 1));
        let above = (leaf.start(at), leaf.start(at) + leaf.len(at));
        let (start, end) = (local(given.start), local(given.start) + length(given.cells()));
        if below.1 > start || end > above.0 {
            return Some(false);
        }
        let (joins_below, joins_above) = (below.1 == start, end == above.0);
        if !joins_below && !joins_above {
            self.insert(trail, at, start, end - start);
            return Some(true);
        }
        let start = if joins_below { below.0 } else { start };
        let end = if joins_above { above.1 } else { end };
        leaf.set(at - usize::from(joins_below), start, end - start);
        self.raise(trail, start, end - start);
        if joins_below && joins_above {
            self.take_out(trail, at);
        }
        Some(true)
    }

    /// Frees cells whose neighbours may be in other leaves or regions, or extend into them.
    #[inline(never)]
    fn give_at_edge(&mut self, trail: &Trail, at: usize, given: Hole) -> bool {
        let (below, above) = self.around(trail, at);
        if below.is_some_and(|below| below.end > given.start) || above.is_some_and(|above| given.end > above.start) {
            return false;
        }
        let below = below.filter(|below| below.end == given.start);
        let above = above.filter(|above| above.start == given.end);
        let (below_is_here, above_is_here) = (at > 0, self.leaves[index(trail.leaf)].has(at));
        match (below, above) {
            (Some(below), None) if below_is_here => self.resize(trail, at - 1, below.start, given.end),
            (None, Some(above)) if above_is_here => self.resize(trail, at, given.start, above.end),
            (None, None) => self.insert_hole(trail, at, given),
            _ => self.join(below, given, above),
        }
        true
    }

    /// Merges up to three holes, wherever they are.
    fn join(&mut self, below: Option<Hole>, given: Hole, above: Option<Hole>) {
        let end = above.map_or(given.end, |above| above.end);
        if let Some(above) = above {
            self.withdraw(above);
        }
        match below {
            Some(below) => {
                let (trail, at) = self.find(below);
                self.resize(&trail, at, below.start, end);
            }
            None => self.place(Hole { start: given.start, end }),
        }
    }

    /// Returns the trail to a hole, and its place in the leaf.
    fn find(&self, hole: Hole) -> (Trail, usize) {
        let mut trail = Trail::NONE;
        self.descend(&mut trail, hole.start);
        let at = self.leaves[index(trail.leaf)].rank(local(hole.start)).saturating_sub(1);
        (trail, at)
    }

    /// Removes a whole hole from the tree.
    pub(in crate::holes) fn withdraw(&mut self, hole: Hole) {
        let (trail, at) = self.find(hole);
        self.lower(&trail, at, (0, 0), (0, 0));
        self.take_out(&trail, at);
    }

    /// Adds a hole that touches no other hole.
    pub(in crate::holes) fn place(&mut self, hole: Hole) {
        let mut trail = Trail::NONE;
        self.descend(&mut trail, hole.start);
        let at = self.leaves[index(trail.leaf)].rank(local(hole.start));
        self.insert_hole(&trail, at, hole);
    }

    fn insert_hole(&mut self, trail: &Trail, at: usize, hole: Hole) {
        let len = self.record(trail, hole.start, hole.end);
        self.insert(trail, at, local(hole.start), len);
    }

    /// Enlarges the hole at place `at`.
    fn resize(&mut self, trail: &Trail, at: usize, start: u64, end: u64) {
        let len = self.record(trail, start, end);
        self.leaves[index(trail.leaf)].set(at, local(start), len);
        self.raise(trail, local(start), len);
    }

    /// Returns the length of a hole as leaves record it, and stores the end of a giant.
    fn record(&mut self, trail: &Trail, start: u64, end: u64) -> i32 {
        let len = recorded(end - start);
        if len == GIANT {
            self.regions[index(trail.region)].giant_end = end;
        }
        len
    }
}
