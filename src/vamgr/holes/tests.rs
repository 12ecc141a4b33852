//! Tests of the index against a simple and slow model, and of its invariants under many kinds of load.

use std::num::NonZeroU64;

use proptest::{collection::vec, prelude::*};

use super::*;

/// Returns the number of operations of a test. It is smaller under Miri, which checks every step.
const fn at_most(usual: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { usual }
}

/// A reference model: first fit over a sorted list of holes.
struct Slow {
    span: Range<u64>,
    holes: Vec<Range<u64>>,
}

impl Slow {
    fn new(span: Range<u64>) -> Self {
        Self { holes: if span.is_empty() { vec![] } else { vec![span.clone()] }, span }
    }

    fn take_at(&mut self, start: u64, len: u64) -> Result<(), TakeError> {
        if len == 0 {
            return Err(TakeError::Empty);
        }
        if !self.span.contains(&start) || len > self.span.end - start {
            return Err(TakeError::Outside);
        }
        let Some(at) = self.holes.iter().position(|hole| hole.start <= start && start + len <= hole.end) else {
            let from =
                self.holes.iter().rev().find(|hole| hole.start <= start).map_or(self.span.start, |hole| hole.end);
            let to = self.holes.iter().find(|hole| hole.start > start).map_or(self.span.end, |hole| hole.start);
            return Err(TakeError::Taken { from, to });
        };
        let hole = self.holes[at].clone();
        let rest = [hole.start..start, start + len..hole.end];
        self.holes.splice(at..=at, rest.into_iter().filter(|rest| !rest.is_empty()));
        Ok(())
    }

    fn take(&mut self, len: u64, step: u64, highest: bool) -> Result<u64, TakeError> {
        if len == 0 {
            return Err(TakeError::Empty);
        }
        let fit = |hole: &Range<u64>| {
            let lowest = hole.start.div_ceil(step) * step;
            let top = hole.end.checked_sub(len)?;
            (lowest <= top).then(|| if highest { top / step * step } else { lowest })
        };
        let found = if highest { self.holes.iter().rev().find_map(fit) } else { self.holes.iter().find_map(fit) };
        let start = found.ok_or(TakeError::NoFit)?;
        self.take_at(start, len)?;
        Ok(start)
    }

    fn give(&mut self, start: u64, len: u64) -> Result<(), NotTaken> {
        let given = start..start.saturating_add(len);
        let inside = len > 0 && self.span.start <= start && given.end <= self.span.end;
        if !inside || self.holes.iter().any(|hole| hole.start < given.end && given.start < hole.end) {
            return Err(NotTaken { start, end: given.end });
        }
        self.holes.push(given);
        self.holes.sort_by_key(|hole| hole.start);
        self.holes.dedup_by(|next, hole| {
            let joins = hole.end == next.start;
            hole.end = if joins { next.end } else { hole.end };
            joins
        });
        Ok(())
    }
}

fn step(cells: u64) -> Step {
    Step::new(NonZeroU64::new(cells).unwrap())
}

impl Holes {
    /// Panics if an invariant of the index is broken.
    fn check(&self) {
        let in_tree = self.tree.check();
        let all: Vec<Hole> = self.list.as_slice().iter().copied().chain(in_tree.iter().copied()).collect();
        assert!(self.iter().eq(all.iter().copied()));
        assert!(all.windows(2).all(|two| two[0].end < two[1].start), "holes touch or overlap");
        assert!(all.iter().all(|hole| self.span.start <= hole.start && hole.end <= self.span.end));
        assert_eq!((all.len() as u64, all.iter().map(|hole| hole.cells()).sum()), (self.count(), self.free()));
        assert_eq!(all.iter().map(|hole| hole.cells()).max().unwrap_or(0), self.largest());
        assert!(self.list.as_slice().len() <= self.list_max);
        assert!(in_tree.is_empty() || self.list_max == 0 || in_tree.len() as u64 > TREE_MIN);
        assert!(self.live <= self.reserved, "{} live, reserved for {}", self.live, self.reserved);
        if self.reserved > 0 {
            self.tree.check_reserved(self.reserved);
        }
    }

    /// Creates an index that uses the tree from the first hole on.
    fn only_tree(span: Range<u64>) -> Self {
        Self::with_list(span, 0).unwrap()
    }

    /// Creates such an index as on a processor without wide vectors.
    fn narrow(mut self) -> Self {
        self.tree.narrow();
        self
    }
}

fn assert_equal(fast: &Holes, slow: &Slow) {
    let holes: Vec<_> = fast.iter().map(|hole| hole.start..hole.end).collect();
    assert_eq!(holes, slow.holes);
    // Miri takes about a second for each. It checks the operations themselves, so few of them suffice.
    if !cfg!(miri) {
        fast.check();
    }
}

#[derive(Clone, Debug)]
enum Op {
    Take {
        len: u64,
        step: u64,
        highest: bool,
    },
    TakeAt {
        start: u64,
        len: u64,
    },
    /// The live run at this position of the list, modulo its length.
    Give(usize),
    /// Arbitrary cells, most of them invalid.
    GiveAny {
        start: u64,
        len: u64,
    },
}

/// Applies `ops` to both, and checks them after every `every` operations.
fn agree(span: &Range<u64>, ops: &[Op], every: usize) {
    let list_and_tree = Holes::new(span.clone()).unwrap();
    for fast in [list_and_tree, Holes::only_tree(span.clone()), Holes::only_tree(span.clone()).narrow()] {
        agrees(fast, span, ops, every);
    }
}

fn agrees(mut fast: Holes, span: &Range<u64>, ops: &[Op], every: usize) {
    let mut slow = Slow::new(span.clone());
    let mut live: Vec<(u64, u64)> = Vec::new();
    for (done, op) in ops.iter().cloned().enumerate() {
        match op {
            Op::Take { len, step: cells, highest } => {
                let take = if highest { Holes::take_highest } else { Holes::take_lowest };
                let (got, want) = (take(&mut fast, len, step(cells)), slow.take(len, cells, highest));
                assert_eq!(got, want, "{len} cells at {cells}, highest: {highest}");
                live.extend(got.map(|start| (start, len)));
            }
            Op::TakeAt { start, len } => {
                let got = fast.take_at(start, len);
                assert_eq!(got, slow.take_at(start, len), "{len} cells at {start} exactly");
                live.extend(got.map(|()| (start, len)));
            }
            Op::Give(which) if !live.is_empty() => {
                let (start, len) = live.swap_remove(which % live.len());
                assert_eq!((fast.give(start, len), slow.give(start, len)), (Ok(()), Ok(())));
            }
            Op::Give(_) => {}
            Op::GiveAny { start, len } => {
                // A run that is taken by chance would make the list of live runs wrong.
                if let Err(refused) = slow.give(start, len) {
                    assert_eq!(fast.give(start, len), Err(refused));
                } else {
                    slow.take_at(start, len).unwrap();
                }
            }
        }
        if done % every == 0 {
            assert_equal(&fast, &slow);
        }
    }
    for (start, len) in live {
        fast.give(start, len).unwrap();
    }
    fast.check();
    assert!(fast.iter().eq((!span.is_empty()).then_some(Hole { start: span.start, end: span.end })));
    assert_eq!((fast.live(), fast.free()), (0, span.end - span.start));
}

/// Returns operations on a span of `cells` cells from `start`, with runs of up to `longest` cells.
fn ops(start: u64, cells: u64, longest: u64, count: usize) -> impl Strategy<Value = Vec<Op>> {
    let step = prop_oneof![4 => Just(1), 3 => (0..7u32).prop_map(|shift| 1 << shift), 1 => 1..50u64];
    let any_start = start.saturating_sub(3)..start + cells + 3;
    let op = prop_oneof![
        6 => (0..=longest, step, any::<bool>()).prop_map(|(len, step, highest)| Op::Take { len, step, highest }),
        2 => (any_start.clone(), 0..=longest).prop_map(|(start, len)| Op::TakeAt { start, len }),
        5 => any::<usize>().prop_map(Op::Give),
        1 => (any_start, 0..=longest).prop_map(|(start, len)| Op::GiveAny { start, len }),
    ];
    vec(op, 0..count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(at_most(48, 1) as u32))]

    #[test]
    fn a_small_index_agrees_with_the_list(ops in ops(5, 120, 12, at_most(200, 30))) {
        agree(&(5..125), &ops, 1);
    }

    #[test]
    fn an_index_with_inner_nodes_agrees_with_the_list(ops in ops(1000, 4000, 4, at_most(2500, 100))) {
        agree(&(1000..5000), &ops, 500);
    }

    /// Runs of about a third of a region, so that holes extend across regions and some are giants.
    #[test]
    fn an_index_of_several_regions_agrees_with_the_list(ops in ops((1 << 30) - 7, 5 << 30, (1 << 30) / 3, at_most(60, 30))) {
        agree(&((1 << 30) - 7..(6 << 30) - 7), &ops, 1);
    }
}

#[test]
fn every_hole_alignment_and_size_of_a_small_world_is_placed_as_the_list_does() {
    const WORLD: u64 = at_most(16, 4) as u64;
    for (start, end) in (0..WORLD).flat_map(|start| (start + 1..=WORLD).map(move |end| (start, end))) {
        for (cells, len) in (1..=WORLD).flat_map(|cells| (1..=WORLD).map(move |len| (cells, len))) {
            for highest in [false, true] {
                let (mut fast, mut slow) = (Holes::only_tree(0..WORLD), Slow::new(0..WORLD));
                for taken in [0..start, end..WORLD] {
                    if !taken.is_empty() {
                        fast.take_at(taken.start, taken.end - taken.start).unwrap();
                        slow.take_at(taken.start, taken.end - taken.start).unwrap();
                    }
                }
                let take = if highest { Holes::take_highest } else { Holes::take_lowest };
                let got = take(&mut fast, len, step(cells));
                assert_eq!(got, slow.take(len, cells, highest), "{start}..{end}: {len} at {cells}, {highest}");
                assert_equal(&fast, &slow);
            }
        }
    }
}

/// Tries every sequence of four takes and frees on six cells.
#[test]
fn every_short_sequence_in_a_tiny_world_agrees_with_the_list() {
    let takes = [(1, 1, false), (2, 1, false), (2, 2, false), (1, 1, true), (3, 2, true), (2, 3, false)];
    let (choices, length) = (takes.len() + 3, at_most(4, 2) as u32);
    for code in 0..choices.pow(length) {
        let ops = (0..length).map(|digit| match code / choices.pow(digit) % choices {
            choice if choice < takes.len() => {
                let (len, step, highest) = takes[choice];
                Op::Take { len, step, highest }
            }
            choice => Op::Give(choice - takes.len()),
        });
        agree(&(1..7), &ops.collect::<Vec<_>>(), usize::MAX);
    }
}

/// The worst case of the benchmark: half of all blocks are holes that are too small or misaligned.
#[test]
#[cfg_attr(miri, ignore = "needs more leaves than Miri has time for")]
fn misaligned_holes_make_an_alignment_class_and_are_passed_over_from_then_on() {
    const BLOCKS: u64 = 40_000;
    let mut holes = Holes::new(16..1 << 30).unwrap();
    let starts: Vec<_> = (0..BLOCKS).map(|_| holes.take_lowest(16, step(16)).unwrap()).collect();
    for start in starts.iter().filter(|&start| start % 32 == 16) {
        holes.give(*start, 16).unwrap();
    }
    holes.check();
    assert_eq!((holes.count(), holes.tree.classes()), (BLOCKS / 2 + 1, vec![0]));
    let end = 16 + 16 * BLOCKS;
    assert_eq!(holes.take_lowest(32, step(16)), Ok(end));
    assert_eq!(holes.tree.classes(), [0], "too small is seen at the top");
    assert_eq!(holes.take_lowest(16, step(32)), Ok(end + 32 + 16));
    assert_eq!(holes.tree.classes(), [0, 5], "one search in vain is enough among so many leaves");
    holes.check();
    assert_eq!(holes.take_lowest(16, step(16)), Ok(16));
    assert_eq!(holes.take_highest(16, step(64)), Ok((1 << 30) - 64));
    holes.check();
}

#[test]
fn all_thirty_one_classes_can_be_there_at_once() {
    let mut holes = Holes::new(1..1 << 31).unwrap();
    let mut live: Vec<_> = (0..at_most(5000, 100)).map(|_| holes.take_lowest(3, Step::ONE).unwrap()).collect();
    live.retain(|&start| start % 2 == 0 || holes.give(start, 3).is_err());
    for shift in [30, 3, 17].into_iter().chain(0..31) {
        holes.tree.add_class_for_test(shift);
        if shift % at_most(1, 15) as u32 == 0 {
            holes.check();
        }
    }
    assert_eq!(holes.tree.classes(), (0..31).collect::<Vec<_>>());
    assert_eq!(holes.tree.vectors(), 8, "four classes each");
    for shift in (0..31).rev() {
        let start = holes.take_highest(2, step(1 << shift)).unwrap();
        assert!(start.is_multiple_of(1 << shift) && start + (1 << shift) + 6 >= 1 << 31, "{start:#x} for {shift}");
        if shift % at_most(1, 15) as u32 == 0 {
            holes.check();
        }
    }
}

/// Uses thousands of holes, so that inner nodes split, share and merge on two levels.
#[test]
#[cfg_attr(miri, ignore = "a tree of two levels takes Miri too long")]
fn a_tall_tree_keeps_its_invariants_while_it_grows_and_shrinks() {
    let (mut holes, mut state) = (Holes::new(7..1 << 31).unwrap(), 1u64);
    let mut chance = |below: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % below
    };
    let mut live: Vec<(u64, u64)> = Vec::new();
    let mut most = 0;
    for target in [9000, 5000, 11_000, 300, 6000, 0] {
        let mut done = 0;
        while live.len() != target {
            if live.len() < target && chance(3) > 0 || live.is_empty() {
                let (len, cells) = (1 + chance(3) as u64, 1 << chance(4));
                live.push((holes.take_lowest(len, step(cells)).unwrap(), len));
            } else {
                let (start, len) = live.swap_remove(chance(live.len()));
                holes.give(start, len).unwrap();
            }
            done += 1;
            if done % 1500 == 0 {
                holes.check();
            }
        }
        most = most.max(holes.count());
        holes.check();
    }
    assert!(most > 2000, "only {most} holes");
    assert!(holes.iter().eq([Hole { start: 7, end: 1 << 31 }]));
}

#[test]
fn giving_back_needs_no_memory() {
    const RUNS: usize = at_most(20_000, 200);
    let mut holes = Holes::new(0..1 << 24).unwrap();
    let live: Vec<_> = (0..RUNS).map(|_| holes.take_lowest(3, Step::ONE).unwrap()).collect();
    let memory = (holes.host_bytes(), holes.tree.addresses());
    let (odd, even): (Vec<_>, Vec<_>) = live.into_iter().partition(|start| start % 2 == 1);
    for start in odd.into_iter().chain(even) {
        holes.give(start, 3).unwrap();
        assert_eq!((holes.host_bytes(), holes.tree.addresses()), memory);
    }
    holes.check();
    assert_eq!(holes.count(), 1);
    assert!(memory.0 > 8 * RUNS, "{} bytes for the places and lengths of {RUNS} runs", memory.0);
    // With few runs, the initial memory of an index matters.
    assert!(cfg!(miri) || memory.0 < 100 * RUNS, "{} bytes for {RUNS} runs", memory.0);
}

#[test]
fn memory_is_reserved_for_half_as_many_runs_again_and_only_when_all_of_it_is_promised() {
    let mut holes = Holes::new(0..1 << 20).unwrap();
    let reserved: Vec<u64> = (0..145)
        .map(|_| {
            holes.take_lowest(1, Step::ONE).unwrap();
            holes.reserved
        })
        .collect();
    let after = |takes: usize| reserved[takes - 1];
    assert_eq!([1, 64, 65, 96, 97, 144, 145].map(after), [64, 64, 96, 96, 144, 144, 216]);
}

#[test]
fn nine_holes_become_a_tree_and_two_a_list_again() {
    let mut holes = Holes::new(0..100).unwrap();
    let taken = [1, 3, 5, 7, 9, 11, 13, 15];
    let growing: Vec<_> = taken
        .iter()
        .map(|&cell| {
            holes.take_at(cell, 1).unwrap();
            (holes.count(), holes.is_list())
        })
        .collect();
    assert_eq!(growing[6..], [(8, true), (9, false)]);
    let shrinking: Vec<_> = taken
        .iter()
        .map(|&cell| {
            holes.give(cell, 1).unwrap();
            (holes.count(), holes.is_list())
        })
        .collect();
    assert_eq!(shrinking[5..], [(3, false), (2, true), (1, true)]);
}

#[test]
fn an_index_has_a_region_for_each_2_to_30_cells_that_its_span_meets() {
    const REGION: u64 = 1 << 30;
    for (span, regions) in [
        (0..1, 1),
        (0..REGION, 1),
        (0..REGION + 1, 2),
        (REGION - 1..REGION + 1, 2),
        (REGION - 1..3 * REGION, 3),
        (REGION..REGION, 1),
    ] {
        assert_eq!(Holes::new(span.clone()).unwrap().tree.regions(), regions, "{span:?}");
    }
}

#[test]
fn nothing_is_given_twice_or_in_vain() {
    let mut holes = Holes::new(10..100).unwrap();
    let start = holes.take_lowest(5, Step::ONE).unwrap();
    assert_eq!(holes.take_lowest(5, Step::ONE), Ok(15));
    for (start, len) in [(9, 2), (start, 0), (15, 6), (12, 20), (99, 2), (0, u64::MAX), (u64::MAX, 1), (20, 1)] {
        let end = start.saturating_add(len);
        assert_eq!(holes.give(start, len), Err(NotTaken { start, end }), "{start} + {len}");
    }
    assert_eq!(holes.give(start, 5), Ok(()));
    assert_eq!(holes.give(start, 5), Err(NotTaken { start, end: start + 5 }));
    holes.check();
}

#[test]
fn spans_without_cells_have_no_holes_and_absurd_ones_are_refused() {
    for start in [0, 5, CELLS_END] {
        let mut empty = Holes::new(start..start).unwrap();
        assert_eq!(empty.take_lowest(1, Step::ONE), Err(TakeError::NoFit));
        assert_eq!(empty.take_at(start, 1), Err(TakeError::Outside));
        assert_eq!((empty.count(), empty.largest(), empty.iter().next()), (0, 0, None));
        empty.check();
    }
    for (start, end) in [(1, 0), (0, SPAN_MAX + 1), (CELLS_END, CELLS_END + 1)] {
        assert_eq!(Holes::new(start..end).map(|_| ()), Err(BadSpan { start, end }));
    }
}

#[test]
fn requests_longer_than_any_offer_look_at_the_holes_themselves() {
    look_at_the_holes(Holes::new(0..SPAN_MAX).unwrap());
    look_at_the_holes(Holes::only_tree(0..SPAN_MAX));
    // Offers saturate at 2^30 - 1 cells, but holes of that length and longer ones differ.
    for len in (1 << 30) - 3..(1 << 30) + 3 {
        let mut holes = Holes::only_tree(0..1 << 33);
        holes.take_at((1 << 30) - 1, 1).unwrap();
        holes.take_at(2 << 30, 1).unwrap();
        holes.take_at((3 << 30) + 2, 1).unwrap();
        let starts = [0, 1 << 30, (2 << 30) + 1, (3 << 30) + 3];
        let lens = [(1 << 30) - 1, 1 << 30, (1 << 30) + 1, 5 << 30];
        let fits = starts.into_iter().zip(lens).find(|&(_, cells)| cells >= len).map(|(start, _)| start);
        assert_eq!(holes.take_lowest(len, Step::ONE).ok(), fits, "{len:#x}");
        holes.check();
    }
}

fn look_at_the_holes(mut holes: Holes) {
    let whole = holes.take_lowest(SPAN_MAX, Step::ONE).unwrap();
    assert_eq!(holes.take_lowest(1, Step::ONE), Err(TakeError::NoFit));
    holes.give(whole, SPAN_MAX).unwrap();
    holes.take_at(3 << 30, 1).unwrap();
    holes.take_at(9 << 30, 1).unwrap();
    assert_eq!(holes.take_lowest((3 << 30) + 1, Step::ONE), Ok((3 << 30) + 1));
    assert_eq!(holes.take_lowest(6 << 30, step(1 << 33)), Ok(2 << 33));
    assert_eq!(holes.take_highest(1 << 30, step(1 << 40)), Ok(0));
    holes.check();
}
