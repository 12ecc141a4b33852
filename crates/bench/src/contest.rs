//! Two allocators on one trace, in turns.

use std::{hint::black_box, time::Instant};

use crate::traces::{Draws, Kind, Pair, Trace, Wanted};

/// Something that hands out ranges.
pub(crate) trait Allocator {
    /// What is kept of a range.
    type Lease;

    /// Bytes, and what their start is a multiple of.
    fn take(&mut self, size: u64, align: u64) -> Option<Self::Lease>;
    fn give(&mut self, lease: Self::Lease);
    /// The first byte.
    fn start(lease: &Self::Lease) -> u64;
}

/// Pairs timed in one go, and how often by default.
const BATCH: usize = 1000;
const BATCHES: usize = 201;

/// What came of one side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Median over the batches, ns a pair.
    pub(crate) pair: f64,
    /// Allocations that failed, of all.
    pub(crate) failed: u64,
    /// Live bytes in thousandths of what lies between the lowest start and the highest end.
    pub(crate) space_use: f64,
}

/// One side: an allocator in the middle of a trace.
struct Side<A: Allocator> {
    allocator: A,
    kind: Kind,
    draws: Draws,
    live: Vec<Option<(A::Lease, u64)>>,
    failed: u64,
    times: Vec<f64>,
}

impl<A: Allocator> Side<A> {
    /// Fills, and churns for so many pairs.
    fn new(allocator: A, trace: &Trace, churn: u64) -> Self {
        let live = Vec::with_capacity(trace.live as usize);
        let mut side = Self { allocator, kind: trace.kind, draws: trace.draws(), live, failed: 0, times: Vec::new() };
        for _ in 0..trace.live {
            let wanted = side.draws.wanted();
            let lease = side.take(wanted);
            side.live.push(lease);
        }
        for _ in 0..churn {
            let pair = side.draws.pair();
            side.replace(pair);
        }
        side
    }

    #[inline]
    fn take(&mut self, Wanted { size, align }: Wanted) -> Option<(A::Lease, u64)> {
        let lease = self.allocator.take(size, align);
        self.failed += u64::from(lease.is_none());
        lease.map(|lease| (lease, size))
    }

    #[inline]
    fn replace(&mut self, Pair { slot, wanted }: Pair) {
        if let Some((lease, _)) = self.live[slot].take() {
            self.allocator.give(lease);
        }
        self.live[slot] = self.take(wanted);
    }

    fn batch(&mut self) {
        let pairs: Vec<Pair> = (0..BATCH).map(|_| self.draws.pair()).collect();
        let start = Instant::now();
        for pair in pairs {
            self.replace(pair);
        }
        self.times.push(start.elapsed().as_secs_f64() * 1e9 / BATCH as f64);
    }

    fn outcome(&mut self) -> Outcome {
        let ranges = self.live.iter().flatten().map(|(lease, size)| (A::start(lease), *size));
        let bytes: u64 = ranges.clone().map(|(_, size)| size).sum();
        // Parts start at 0, addresses somewhere.
        let lowest = match self.kind {
            Kind::Parts { .. } => 0,
            Kind::Addresses => ranges.clone().map(|(start, _)| start).min().unwrap_or(0),
        };
        let highest = ranges.map(|(start, size)| start + size).max().unwrap_or(0);
        let space_use = bytes as f64 * 1000.0 / (highest - lowest).max(1) as f64;
        Outcome { pair: median(&mut self.times), failed: self.failed, space_use }
    }
}

impl<A: Allocator> Drop for Side<A> {
    fn drop(&mut self) {
        for (lease, _) in self.live.drain(..).flatten() {
            self.allocator.give(lease);
        }
    }
}

/// Ours and theirs on a trace, a batch of each in turn after `churn` pairs.
pub(crate) fn contest<A: Allocator, B: Allocator>(trace: &Trace, ours: A, theirs: B, churn: u64) -> (Outcome, Outcome) {
    assert!(trace.is_genuine(), "{}({}) is not the trace it should be", trace.name, trace.live);
    let (mut ours, mut theirs) = (Side::new(ours, trace, churn), Side::new(theirs, trace, churn));
    for _ in 0..BATCHES {
        ours.batch();
        theirs.batch();
    }
    (ours.outcome(), theirs.outcome())
}

/// Ours on a trace, without a peer.
pub(crate) fn alone<A: Allocator>(trace: &Trace, ours: A, churn: u64) -> Outcome {
    assert!(trace.is_genuine(), "{}({}) is not the trace it should be", trace.name, trace.live);
    let mut ours = Side::new(ours, trace, churn);
    for _ in 0..BATCHES {
        ours.batch();
    }
    ours.outcome()
}

/// Nanoseconds of a pair with nothing else alive, ours and theirs in turn.
pub(crate) fn empty<A: Allocator, B: Allocator>(ours: &mut A, theirs: &mut B, size: u64) -> (f64, f64) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        times.0.push(empty_batch(ours, size));
        times.1.push(empty_batch(theirs, size));
    }
    (median(&mut times.0), median(&mut times.1))
}

fn empty_batch<A: Allocator>(allocator: &mut A, size: u64) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        if let Some(lease) = allocator.take(black_box(size), size) {
            allocator.give(black_box(lease));
        }
    }
    start.elapsed().as_secs_f64() * 1e9 / BATCH as f64
}

/// `holes(n)`: every second range of 64 KiB is free. Nanoseconds of an allocation that finds all holes too small, all
/// misaligned, or the first one right.
pub(crate) struct Holes<A: Allocator> {
    allocator: A,
    kept: Vec<A::Lease>,
    batch: usize,
}

/// The three questions to `holes(n)`: name, size, alignment.
pub(crate) const HOLES: [(&str, u64, u64); 3] = [
    ("holes-small", 128 << 10, 64 << 10),
    ("holes-misaligned", 64 << 10, 128 << 10),
    ("holes-fit", 64 << 10, 64 << 10),
];

impl<A: Allocator> Holes<A> {
    pub(crate) fn new(mut allocator: A, n: usize) -> Self {
        let all: Vec<A::Lease> = (0..n).filter_map(|_| allocator.take(64 << 10, 64 << 10)).collect();
        let mut kept = Vec::with_capacity(n / 2);
        for lease in all {
            if A::start(&lease) & (64 << 10) == 0 { kept.push(lease) } else { allocator.give(lease) }
        }
        Self { allocator, kept, batch: n / 8 }
    }

    pub(crate) fn time(&mut self, size: u64, align: u64) -> f64 {
        let start = Instant::now();
        let leases: Vec<A::Lease> = (0..self.batch).filter_map(|_| self.allocator.take(size, align)).collect();
        let time = start.elapsed().as_secs_f64() * 1e9 / self.batch as f64;
        for lease in leases {
            self.allocator.give(lease);
        }
        time
    }
}

impl<A: Allocator> Drop for Holes<A> {
    fn drop(&mut self) {
        for lease in self.kept.drain(..) {
            self.allocator.give(lease);
        }
    }
}

/// The middle one of an odd number.
pub(crate) fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}
