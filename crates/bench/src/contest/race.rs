//! Two allocators on one trace, in turns.

use std::{hint::black_box, time::Instant};

use amdgpu_bench::measure::median;

use super::traces::{Draws, Kind, Pair, Trace, Wanted};

/// Something that hands out ranges.
pub(crate) trait Allocator {
    /// State kept for a range.
    type Lease;

    /// Bytes, and what their start is a multiple of.
    fn take(&mut self, size: u64, align: u64) -> Option<Self::Lease>;
    fn give(&mut self, lease: Self::Lease);
    /// The first byte.
    fn start(lease: &Self::Lease) -> u64;
}

/// Turns of a contest.
const TURNS: usize = 21;
/// Pairs drawn, and then timed, in one go: few enough not to drive the allocator out of the first cache, and to be done
/// before something else has the processor.
const CHUNK: usize = 250;
/// Pairs timed in one go with nothing else alive, and how often.
const BATCH: usize = 1000;
const BATCHES: usize = 201;

/// Result of one side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Median over the chunks of all turns, ns a pair.
    pub(crate) pair: f64,
    /// Allocations that failed, of all.
    pub(crate) failed: u64,
    /// Live bytes in thousandths of what lies between the lowest start and the highest end; the median over the turns.
    pub(crate) space_use: f64,
}

/// One side: an allocator in the middle of a trace.
struct Side<A: Allocator> {
    allocator: A,
    trace: Trace,
    draws: Draws,
    live: Vec<Option<A::Lease>>,
    /// Size requested in each slot; kept apart, because no side needs it while it is timed.
    sizes: Vec<u64>,
    failed: u64,
    times: Vec<f64>,
    uses: Vec<f64>,
}

impl<A: Allocator> Side<A> {
    /// Fills the space, then allocates and frees the given number of pairs.
    fn new(allocator: A, trace: &Trace, churn: u64) -> Self {
        let slots = trace.live as usize;
        let (live, sizes) = (Vec::with_capacity(slots), Vec::with_capacity(slots));
        let (trace, draws) = (*trace, trace.draws());
        let mut side = Self { allocator, trace, draws, live, sizes, failed: 0, times: Vec::new(), uses: Vec::new() };
        for _ in 0..slots {
            let Wanted { size, align } = side.draws.wanted();
            let lease = side.allocator.take(size, align);
            side.failed += u64::from(lease.is_none());
            side.live.push(lease);
            side.sizes.push(size);
        }
        side.pairs(churn);
        side.times.clear();
        side
    }

    #[inline]
    fn replace(&mut self, Pair { slot, wanted: Wanted { size, align } }: Pair) {
        let Self { allocator, live, failed, .. } = self;
        let place = &mut live[slot];
        if let Some(lease) = place.take() {
            allocator.give(lease);
        }
        *place = allocator.take(size, align);
        *failed += u64::from(place.is_none());
    }

    /// The given number of pairs, timed without the draws.
    fn pairs(&mut self, count: u64) {
        let mut chunk = Vec::with_capacity(CHUNK);
        for first in (0..count).step_by(CHUNK) {
            chunk.extend((first..count).take(CHUNK).map(|_| self.draws.pair()));
            let start = Instant::now();
            for &pair in &chunk {
                self.replace(pair);
            }
            self.times.push(start.elapsed().as_secs_f64() * 1e9 / chunk.len() as f64);
            for Pair { slot, wanted } in chunk.drain(..) {
                self.sizes[slot] = wanted.size;
            }
        }
    }

    fn turn(&mut self) {
        self.pairs(self.trace.turn());
        let space_use = self.space_use();
        self.uses.push(space_use);
    }

    fn space_use(&self) -> f64 {
        let ranges = self.live.iter().zip(&self.sizes);
        let ranges = ranges.filter_map(|(lease, &size)| Some((A::start(lease.as_ref()?), size)));
        let bytes: u64 = ranges.clone().map(|(_, size)| size).sum();
        // Parts start at 0, addresses somewhere.
        let lowest = match self.trace.kind {
            Kind::Parts { .. } => 0,
            Kind::Addresses => ranges.clone().map(|(start, _)| start).min().unwrap_or(0),
        };
        let highest = ranges.map(|(start, size)| start + size).max().unwrap_or(0);
        bytes as f64 * 1000.0 / (highest - lowest).max(1) as f64
    }

    fn outcome(&mut self) -> Outcome {
        Outcome { pair: median(&mut self.times), failed: self.failed, space_use: median(&mut self.uses) }
    }
}

impl<A: Allocator> Drop for Side<A> {
    fn drop(&mut self) {
        for lease in self.live.drain(..).flatten() {
            self.allocator.give(lease);
        }
    }
}

/// Ours and theirs on a trace, a [turn](Trace::turn) of each after the other, once `churn` pairs have gone before.
pub(crate) fn contest<A: Allocator, B: Allocator>(trace: &Trace, ours: A, theirs: B, churn: u64) -> (Outcome, Outcome) {
    assert!(trace.is_genuine(), "{}({}) is not the trace it should be", trace.name, trace.live);
    let (mut ours, mut theirs) = (Side::new(ours, trace, churn), Side::new(theirs, trace, churn));
    for _ in 0..TURNS {
        ours.turn();
        theirs.turn();
    }
    (ours.outcome(), theirs.outcome())
}

/// Ours on a trace, without a peer.
pub(crate) fn alone<A: Allocator>(trace: &Trace, ours: A, churn: u64) -> Outcome {
    assert!(trace.is_genuine(), "{}({}) is not the trace it should be", trace.name, trace.live);
    let mut ours = Side::new(ours, trace, churn);
    for _ in 0..TURNS {
        ours.turn();
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
    /// Of the batch being timed: made once, so that its memory is not what is timed.
    taken: Vec<A::Lease>,
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
        Self { allocator, kept, taken: Vec::with_capacity(n / 8), batch: n / 8 }
    }

    pub(crate) fn time(&mut self, size: u64, align: u64) -> f64 {
        let Self { allocator, taken, .. } = self;
        let mut times = Vec::with_capacity(self.batch.div_ceil(CHUNK));
        for _ in (0..self.batch).step_by(CHUNK) {
            let start = Instant::now();
            taken.extend((0..CHUNK).filter_map(|_| allocator.take(size, align)));
            times.push(start.elapsed().as_secs_f64() * 1e9 / CHUNK as f64);
        }
        for lease in taken.drain(..) {
            allocator.give(lease);
        }
        median(&mut times)
    }
}

impl<A: Allocator> Drop for Holes<A> {
    fn drop(&mut self) {
        for lease in self.kept.drain(..) {
            self.allocator.give(lease);
        }
    }
}
