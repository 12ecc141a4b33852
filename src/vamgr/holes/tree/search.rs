//! First fit from either end.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see super::width")]

use amdgpu_hw::num::index;

use super::{
    nodes::inner,
    trail::{Trail, split_top},
    tree::Tree,
    units::{MAX_NEED, REGION_BITS, number},
};
use crate::holes::Step;

/// A hole that fits: its place in the leaf of the trail, and the first cell to take.
pub(super) type Fit = (usize, u64);

/// The length and alignment to search for.
#[derive(Clone, Copy)]
struct Want {
    len: u64,
    step: Step,
    /// `len`, saturated like offers.
    need: i32,
    /// The lane of the largest class that divides the step.
    lane: usize,
    /// The largest power of two in `step`, at most a region, minus one.
    mask: i32,
    highest: bool,
}

impl Want {
    /// Returns `true` if the first hole that offers `need` always fits.
    fn is_exact(&self) -> bool {
        self.need < MAX_NEED && self.step.is_power_of_two() && self.step.shift() <= REGION_BITS
    }
}

impl Tree {
    #[inline(always)]
    fn want(&self, len: u64, step: Step, highest: bool) -> Want {
        let shift = step.shift().min(REGION_BITS);
        Want {
            len,
            step,
            need: i32::try_from(len).unwrap_or(MAX_NEED).min(MAX_NEED),
            lane: self.lane_of[index(shift)].into(),
            mask: (1 << shift) - 1,
            highest,
        }
    }

    /// Finds the lowest `len` free cells that start at a multiple of `step`.
    ///
    /// The search is a single descent: if the class is that of the step, an offer guarantees a fit, so each level is examined
    /// once. Otherwise (another class, a step that is not a power of two, more cells than offers can express), the leaf may
    /// have no fit, and [`Tree::search`] starts over.
    #[inline(always)]
    pub(super) fn lowest_fit(&mut self, trail: &mut Trail, len: u64, step: Step) -> Option<Fit> {
        let want = self.want(len, step, false);
        let offers = &self.offers[want.lane / 4];
        let region = (0..self.region_count()).find(|&region| {
            let (node, slot) = Self::table(region);
            offers.get(node, slot).get(want.lane) >= want.need
        })?;
        if !want.is_exact() {
            return self.search(trail, want);
        }
        trail.region = region;
        trail.height = self.regions[index(region)].height;
        let (top, below) = split_top(trail);
        *top = Self::table(region);
        let mut node = self.inners[index(top.0)].child(index(top.1));
        for step in below.iter_mut().rev() {
            let slot = offers.peaks(node).first(want.lane, want.need);
            *step = (node, number(slot));
            node = self.inners[index(node)].child(slot);
        }
        trail.leaf = node;
        let leaf = &self.leaves[index(node)];
        let at = leaf.first_offering(want.need, want.mask);
        if !leaf.has(at) {
            return self.search(trail, want);
        }
        let from = leaf.start(at) + (leaf.start(at).wrapping_neg() & want.mask);
        Some((at, self.region_start(region) + u64::from(from.cast_unsigned())))
    }

    /// Finds the highest `len` free cells that start at a multiple of `step`.
    pub(super) fn highest_fit(&mut self, trail: &mut Trail, len: u64, step: Step) -> Option<Fit> {
        self.search(trail, self.want(len, step, true))
    }

    /// Visits the leaves with sufficient offers in order, until a hole fits.
    #[inline(never)]
    fn search(&mut self, trail: &mut Trail, want: Want) -> Option<Fit> {
        let (mut visits, regions) = (0, self.region_count());
        let found = (0..regions).find_map(|region| {
            let region = if want.highest { regions - 1 - region } else { region };
            let (node, slot) = Self::table(region);
            let promised = self.offers[want.lane / 4].get(node, slot).get(want.lane) >= want.need;
            if promised { self.search_region(trail, region, want, &mut visits) } else { None }
        });
        if visits > 0 {
            self.waste(want.step.shift(), visits);
        }
        found
    }

    fn search_region(&self, trail: &mut Trail, region: u32, want: Want, visits: &mut u64) -> Option<Fit> {
        let height = index(self.regions[index(region)].height);
        (trail.region, trail.height) = (region, number(height));
        *split_top(trail).0 = Self::table(region);
        // The current node, its level, and the slot from which its search continues.
        let (mut node, mut level, mut from) = (self.root(region), height, None);
        loop {
            if level == 0 {
                if let Some(fit) = self.fit_in_leaf(region, node, want) {
                    trail.leaf = node;
                    return Some(fit);
                }
                *visits += 1;
            } else if let Some(slot) = self.promising_child(node, from, want) {
                trail.step[level - 1] = (node, number(slot));
                (node, level, from) = (self.inners[index(node)].child(slot), level - 1, None);
                continue;
            }
            if level == height {
                return None;
            }
            level += 1;
            let (parent, slot) = trail.step[level - 1];
            (node, from) = (parent, Some(index(slot)));
        }
    }

    /// Returns the next child after slot `from`, in the direction of the search, with a sufficient offer.
    fn promising_child(&self, node: u32, from: Option<usize>, want: Want) -> Option<usize> {
        let peaks = self.offers[want.lane / 4].peaks(node);
        if want.highest {
            peaks.last_before(from.unwrap_or(inner::CAP), want.lane, want.need)
        } else {
            peaks.first_from(from.map_or(0, |slot| slot + 1), want.lane, want.need)
        }
    }

    fn fit_in_leaf(&self, region: u32, leaf: u32, want: Want) -> Option<Fit> {
        let mut fits = self.leaves[index(leaf)].offering(want.need, want.mask);
        while fits != 0 {
            let at = if want.highest { fits.ilog2() } else { fits.trailing_zeros() };
            let hole = self.hole(region, leaf, index(at));
            let from = if want.highest { hole.highest(want.len, want.step) } else { hole.lowest(want.len, want.step) };
            if let Some(from) = from {
                return Some((index(at), from));
            }
            fits &= !(1 << at);
        }
        None
    }
}
