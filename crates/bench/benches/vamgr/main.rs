//! The VA manager against the structures it was chosen over, on the traces `va(n)` and `holes(n)`.
//!
//! `cargo bench -p amdgpu-bench --bench vamgr` prints nanoseconds; `-- quick` leaves out the million. Every candidate makes the same
//! placements, which is checked: they differ in time only. The peers' figures at the end were measured elsewhere and
//! are there for orientation.

#![expect(clippy::cast_precision_loss, reason = "times are printed in whole nanoseconds")]

mod bins;
mod candidate;
mod list;
mod traces;
mod treap;

use std::{env, hint::black_box, time::Instant};

use amdgpu_bench::measure::{first_decile, median};
use amdgpu_winsys::vamgr::{Holes, VaManager};
use candidate::Candidate;
use traces::{Checksum, Draws, Pair, VA, Wanted, checksum};

/// Pairs timed in one go, and how often.
const BATCH: usize = 1000;
const BATCHES: usize = 200;
/// Pairs whose halves are timed one by one.
const SINGLE: usize = 20_000;

fn main() {
    let quick = env::args().any(|arg| arg == "quick");
    let traces: Vec<u64> = VA.iter().map(|trace| trace.0).filter(|&n| !quick || n < 1_000_000).collect();
    for (n, want) in VA {
        assert!(!traces.contains(&n) || checksum(n) == want, "va({n}) is not the trace it should be");
        println!("va({n}): checksum {:016x}", want.0);
    }
    println!("\nns, median of {BATCHES} batches of {BATCH} pairs; alloc and free: mean of {SINGLE} timed one by one");
    let mut placements = vec![None; traces.len()];
    report::<VaManager>(&traces, &mut placements);
    report::<Holes>(&traces, &mut placements);
    report::<treap::Treap>(&traces, &mut placements);
    report::<bins::Bins>(&traces, &mut placements);
    report::<list::List>(&traces, &mut placements);
    println!("\n{}, every range 64 KiB at 64 KiB: freed and allocated at random", VaManager::NAME);
    println!("{:>9} {:>8} {:>8} {:>8}", "live", "pair", "p10", "x 1st");
    let mut first = None;
    for &n in &traces {
        let (pair, fast) = equal_sizes::<VaManager>(n);
        println!("{n:>9} {pair:>8.0} {fast:>8.0} {:>8.2}", pair / *first.get_or_insert(pair));
    }
    println!("\nmeasured elsewhere, for orientation: libdrm 24 empty, 1300 at va(1000), 25000 at va(10000);");
    println!("VMA's TLSF, which does not keep to first fit: 76, 123, 1013, 4383 at va(1000) to va(1000000)");
    println!("\nholes(100000), ns per allocation");
    println!("{:34} {:>12} {:>12} {:>12}", "", "too small", "misaligned", "fitting");
    worst_case::<Holes>(100_000);
    worst_case::<treap::Treap>(10_000);
    worst_case::<list::List>(10_000);
}

/// One table: a line per trace.
fn report<C: Candidate>(traces: &[u64], placements: &mut [Option<Checksum>]) {
    println!("\n{}", C::NAME);
    println!(
        "{:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>11}",
        "live", "pair", "p10", "alloc", "free", "x 1st", "bytes/live"
    );
    println!("{:>9} {:>8.0}", "empty", empty_pair::<C>());
    let mut first = None;
    for (&n, placement) in traces.iter().zip(placements).filter(|(n, _)| **n <= C::LIMIT) {
        let (times, placed, bytes) = run::<C>(n);
        let ratio = times.pair / *first.get_or_insert(times.pair);
        let Times { pair, fast, alloc, free } = times;
        println!("{n:>9} {pair:>8.0} {fast:>8.0} {alloc:>8.0} {free:>8.0} {ratio:>8.2} {:>11}", bytes as u64 / n);
        assert!(*placement.get_or_insert(placed) == placed, "{} placed va({n}) otherwise", C::NAME);
    }
}

struct Times {
    pair: f64,
    fast: f64,
    alloc: f64,
    free: f64,
}

/// Fills, churns and measures one trace.
fn run<C: Candidate>(n: u64) -> (Times, Checksum, usize) {
    let (mut index, mut draws) = (C::new(), Draws::va(n));
    let take = |index: &mut C, wanted: Wanted| index.take(wanted.size >> 12, wanted.align >> 12).unwrap();
    let mut live: Vec<Option<C::Lease>> = (0..n).map(|_| Some(take(&mut index, draws.range()))).collect();
    let replace = |index: &mut C, live: &mut [Option<C::Lease>], pair: Pair| {
        let lease = &mut live[pair.slot];
        if let Some(old) = lease.take() {
            index.give(old);
        }
        *lease = Some(take(index, pair.wanted));
    };
    for _ in 0..4 * n {
        replace(&mut index, &mut live, draws.pair(n));
    }
    let mut batches: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let pairs: Vec<Pair> = (0..BATCH).map(|_| draws.pair(n)).collect();
            let start = Instant::now();
            for pair in pairs {
                replace(&mut index, &mut live, pair);
            }
            start.elapsed().as_nanos() as f64 / BATCH as f64
        })
        .collect();
    let (mut alloc, mut free, mut placed) = (Vec::new(), Vec::new(), Checksum::EMPTY);
    for pair in (0..SINGLE).map(|_| draws.pair(n)) {
        let old = live[pair.slot].take().unwrap();
        let start = Instant::now();
        index.give(old);
        let between = Instant::now();
        let new = take(&mut index, pair.wanted);
        let end = Instant::now();
        free.push((between - start).as_nanos() as f64);
        alloc.push((end - between).as_nanos() as f64);
        placed.add(C::start(&new));
        live[pair.slot] = Some(new);
    }
    let typical = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        // The mean of all but the slowest hundredth, which is what else ran on the machine.
        let kept = &times[..SINGLE - SINGLE / 100];
        kept.iter().sum::<f64>() / kept.len() as f64 - clock()
    };
    let (alloc, free) = (typical(alloc), typical(free));
    let times = Times { pair: median(&mut batches), fast: first_decile(&mut batches), alloc, free };
    (times, placed, index.host_bytes())
}

/// The kind world: ranges of one size and alignment, as a pool of equal buffers makes them. Median and first decile of
/// a pair.
fn equal_sizes<C: Candidate>(n: u64) -> (f64, f64) {
    const CELLS: u64 = 16;
    let (mut index, mut draws) = (C::new(), Draws::va(n));
    let mut live: Vec<Option<C::Lease>> = (0..n).map(|_| index.take(CELLS, CELLS)).collect();
    let mut churn = |index: &mut C, pairs: usize| {
        let slots: Vec<usize> = (0..pairs).map(|_| draws.pair(n).slot).collect();
        let start = Instant::now();
        // A few are free at any time, so that there are holes to choose from.
        for window in slots.windows(8) {
            if let Some(old) = live[window[7]].take() {
                index.give(old);
            }
            if live[window[0]].is_none() {
                live[window[0]] = index.take(CELLS, CELLS);
            }
        }
        start.elapsed().as_nanos() as f64 / pairs as f64
    };
    churn(&mut index, 4 * n as usize);
    let mut batches: Vec<f64> = (0..BATCHES).map(|_| churn(&mut index, BATCH)).collect();
    (median(&mut batches), first_decile(&mut batches))
}

/// Returns the cost of reading the clock, in ns.
fn clock() -> f64 {
    let start = Instant::now();
    for _ in 0..1000 {
        black_box(Instant::now());
    }
    start.elapsed().as_nanos() as f64 / 1000.0
}

/// A pair in an index without other leases.
fn empty_pair<C: Candidate>() -> f64 {
    let (mut index, pairs) = (C::new(), 1_000_000);
    let start = Instant::now();
    for _ in 0..pairs {
        let lease = index.take(black_box(16), 1).unwrap();
        index.give(black_box(lease));
    }
    start.elapsed().as_nanos() as f64 / f64::from(pairs)
}

/// Every second block of 64 KiB free: allocations that fit in none of the holes, first by size and then by alignment,
/// and some that fit in the first.
fn worst_case<C: Candidate>(n: usize) {
    let mut index = C::new();
    let blocks: Vec<_> = (0..n).map(|_| index.take(16, 16).unwrap()).collect();
    let mut kept = Vec::new();
    for block in blocks {
        if C::start(&block) % 32 == 16 { index.give(block) } else { kept.push(block) }
    }
    let mut time = |len, align| {
        let start = Instant::now();
        let batch: Vec<_> = (0..n / 8).map(|_| index.take(len, align).unwrap()).collect();
        let time = start.elapsed().as_nanos() as f64 / (n / 8) as f64;
        for lease in batch {
            index.give(lease);
        }
        time
    };
    let times = [time(32, 16), time(16, 32), time(16, 16)];
    println!("{:34} {:>12.0} {:>12.0} {:>12.0}", format!("{}, {n}", C::NAME), times[0], times[1], times[2]);
}
