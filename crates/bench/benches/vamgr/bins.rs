//! Holes in a B-tree map by address, and again in one ordered set per power of two of their length.
//!
//! First fit is the lowest hit over all sets of lengths that may do. Every set but the smallest has a fit as its first
//! hole, if alignment does not interfere; the smallest, and misaligned holes, are looked at one by one.

use std::collections::{BTreeMap, BTreeSet};

use crate::candidate::{Candidate, END, FIRST, Run};

pub(crate) struct Bins {
    holes: BTreeMap<u64, u64>,
    bins: Vec<BTreeSet<u64>>,
}

impl Bins {
    fn add(&mut self, start: u64, end: u64) {
        self.holes.insert(start, end);
        self.bins[(end - start).ilog2() as usize].insert(start);
    }

    fn remove(&mut self, start: u64) {
        if let Some(end) = self.holes.remove(&start) {
            self.bins[(end - start).ilog2() as usize].remove(&start);
        }
    }
}

impl Candidate for Bins {
    type Lease = Run;
    const NAME: &'static str = "B-tree map and size bins";
    const LIMIT: u64 = 10_000;

    fn new() -> Self {
        let mut bins = Self { holes: BTreeMap::new(), bins: vec![BTreeSet::new(); 64] };
        bins.add(FIRST, END);
        bins
    }

    fn take(&mut self, len: u64, align: u64) -> Option<Run> {
        let mut best: Option<(u64, u64, u64)> = None;
        for bin in &self.bins[len.ilog2() as usize..] {
            for &start in bin {
                if best.is_some_and(|best| best.0 <= start) {
                    break;
                }
                let (from, end) = (start.next_multiple_of(align), self.holes[&start]);
                if from + len <= end {
                    best = Some((start, from, end));
                    break;
                }
            }
        }
        let (start, from, end) = best?;
        self.remove(start);
        for (start, end) in [(start, from), (from + len, end)] {
            if start < end {
                self.add(start, end);
            }
        }
        Some((from, len))
    }

    fn give(&mut self, (mut start, len): Run) {
        let mut end = start + len;
        if let Some(&above) = self.holes.get(&end) {
            self.remove(end);
            end = above;
        }
        if let Some((&below, _)) = self.holes.range(..start).next_back().filter(|hole| *hole.1 == start) {
            self.remove(below);
            start = below;
        }
        self.add(start, end);
    }

    fn start(lease: &Run) -> u64 {
        lease.0
    }

    fn host_bytes(&self) -> usize {
        // Both trees hold a key, one a value too, at about two thirds.
        self.holes.len() * 3 * size_of::<u64>() * 3 / 2
    }
}
