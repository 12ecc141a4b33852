//! Holes in a sorted list, searched from its ends: what libdrm does.

use crate::candidate::{Candidate, END, FIRST, Run};

pub(crate) struct List(Vec<Run>);

impl Candidate for List {
    type Lease = Run;
    const NAME: &'static str = "sorted list (as in libdrm)";
    const LIMIT: u64 = 10_000;

    fn new() -> Self {
        Self(vec![(FIRST, END)])
    }

    fn take(&mut self, len: u64, align: u64) -> Option<Run> {
        for at in 0..self.0.len() {
            let (start, end) = self.0[at];
            let from = start.next_multiple_of(align);
            if from + len <= end {
                match (from > start, from + len < end) {
                    (false, false) => drop(self.0.remove(at)),
                    (true, false) => self.0[at].1 = from,
                    (false, true) => self.0[at].0 = from + len,
                    (true, true) => {
                        self.0[at].1 = from;
                        self.0.insert(at + 1, (from + len, end));
                    }
                }
                return Some((from, len));
            }
        }
        None
    }

    fn give(&mut self, (start, len): Run) {
        let end = start + len;
        let above = self.0.iter().rposition(|hole| hole.0 < start).map_or(0, |at| at + 1);
        let joins_above = self.0.get(above).is_some_and(|hole| hole.0 == end);
        let joins_below = above > 0 && self.0[above - 1].1 == start;
        match (joins_below, joins_above) {
            (false, false) => self.0.insert(above, (start, end)),
            (true, false) => self.0[above - 1].1 = end,
            (false, true) => self.0[above].0 = start,
            (true, true) => self.0[above - 1].1 = self.0.remove(above).1,
        }
    }

    fn start(lease: &Run) -> u64 {
        lease.0
    }

    fn host_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Run>()
    }
}
