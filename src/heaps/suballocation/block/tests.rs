//! Tests of the block against a simple and slow model, with random and with exhaustive sequences of operations.

use proptest::prelude::*;

use super::*;

const GRANULE: u64 = 256;

/// The model, with one flag for each cell.
#[derive(Clone)]
struct Slow(Vec<bool>);

impl Slow {
    /// Returns `true` if any hole fits.
    fn fits(&self, cells: usize, align: usize) -> bool {
        let last = self.0.len().checked_sub(cells);
        last.is_some_and(|last| (0..=last).step_by(align).any(|at| self.is(at..at + cells, false)))
    }

    fn is(&self, cells: std::ops::Range<usize>, taken: bool) -> bool {
        self.0[cells].iter().all(|&cell| cell == taken)
    }

    fn largest_hole(&self) -> usize {
        self.0.split(|&taken| taken).map(<[bool]>::len).max().unwrap_or(0)
    }
}

/// A block, its model, and the allocated chunks.
struct Pair {
    block: VirtualBlock,
    slow: Slow,
    live: Vec<(Chunk, usize, usize)>,
}

impl Pair {
    fn new(cells: usize) -> Self {
        let block = VirtualBlock::new(cells as u64 * GRANULE, GRANULE).unwrap();
        Self { block, slow: Slow(vec![false; cells]), live: Vec::new() }
    }

    fn allocate(&mut self, cells: usize, align: usize) {
        let outcome = self.block.allocate(cells as u64 * GRANULE - 1, align as u64 * GRANULE);
        assert_eq!(outcome.is_ok(), self.slow.fits(cells, align), "{cells} cells at multiples of {align}");
        if let Ok(chunk) = outcome {
            let at = (chunk.offset() / GRANULE) as usize;
            assert_eq!(at % align, 0);
            assert!(self.slow.is(at..at + cells, false), "{at} is taken already");
            assert_eq!(self.block.len_of(&chunk), Some(cells as u64 * GRANULE));
            self.slow.0[at..at + cells].fill(true);
            self.live.push((chunk, at, cells));
        }
        self.compare();
    }

    fn free(&mut self, which: usize) {
        let (chunk, at, cells) = self.live.swap_remove(which);
        self.block.free(chunk).unwrap();
        self.slow.0[at..at + cells].fill(false);
        self.compare();
    }

    fn compare(&self) {
        self.block.validate().unwrap();
        let stats = self.block.stats();
        let taken = self.slow.0.iter().filter(|&&taken| taken).count() as u64;
        assert_eq!((stats.used, stats.chunks as usize), (taken * GRANULE, self.live.len()));
        assert_eq!(stats.free + stats.used, self.block.size());
        assert_eq!(stats.largest_hole, self.slow.largest_hole() as u64 * GRANULE);
        let end = self.live.iter().map(|(_, at, cells)| at + cells).max().unwrap_or(0);
        assert_eq!(self.block.highest_end(), end as u64 * GRANULE);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

    /// Sizes exceed those of the exact bins, and a third of the requests are aligned.
    #[test]
    fn a_block_gives_out_what_is_free_and_refuses_only_what_fits_no_hole(
        cells in 1usize..if cfg!(miri) { 200 } else { 3000 },
        steps in prop::collection::vec((0usize..5, 0u32..10, 0usize..32, 0u32..12), 1..if cfg!(miri) { 20 } else { 200 }),
    ) {
        let mut pair = Pair::new(cells);
        for (step, exponent, more, align) in steps {
            match step {
                0 | 1 if !pair.live.is_empty() => pair.free(more * 31 % pair.live.len()),
                2 => pair.allocate((1 << exponent) + more, 1 << align),
                _ => pair.allocate((1 << exponent) + more * (1 << exponent) / 32, 1),
            }
        }
        while let Some(last) = pair.live.len().checked_sub(1) {
            pair.free(last / 2);
        }
        prop_assert_eq!(pair.block.stats().holes, 1);
        prop_assert_eq!(pair.block.stats().fragmentation_permille(), 0);
    }
}

/// Tries every sequence of a few steps in a block of a few cells.
#[test]
fn a_small_world_tried_whole_agrees_with_the_model() {
    fn replay(cells: usize, steps: &[Step]) -> Pair {
        let mut pair = Pair::new(cells);
        for &step in steps {
            match step {
                Step::Take(cells, align) => pair.allocate(cells, align),
                Step::Give(which) => pair.free(which),
            }
        }
        pair
    }

    fn explore(cells: usize, steps: &mut Vec<Step>, depth: usize) -> usize {
        let live = replay(cells, steps).live.len();
        if depth == 0 {
            return 1;
        }
        let takes = (1..=cells + 1).flat_map(|take| [1, 2, 4].map(|align| Step::Take(take, align)));
        takes
            .chain((0..live).map(Step::Give))
            .map(|step| {
                steps.push(step);
                let worlds = explore(cells, steps, depth - 1);
                steps.pop();
                worlds
            })
            .sum()
    }

    let (depth, most) = if cfg!(miri) { (2, 2) } else { (4, 4) };
    for cells in 1..=most {
        assert!(explore(cells, &mut Vec::new(), depth) > 1);
    }
}

#[derive(Clone, Copy)]
enum Step {
    Take(usize, usize),
    Give(usize),
}

#[test]
fn chunks_of_another_block_or_of_an_earlier_life_are_handed_back() {
    let (mut one, mut other) = (VirtualBlock::new(4096, GRANULE).unwrap(), VirtualBlock::new(4096, GRANULE).unwrap());
    let (mine, theirs) = (one.allocate(256, 1).unwrap(), other.allocate(256, 1).unwrap());
    let refused = one.free(theirs).unwrap_err();
    assert_eq!(refused.to_string(), "the chunk at 0x0 is not of this block");
    other.free(refused.chunk).unwrap();
    one.clear();
    assert!(one.free(mine).is_err());
    assert_eq!(one.stats().free, 4096);
    one.validate().unwrap();
}

#[test]
fn requests_without_sense_are_refused_with_their_numbers() {
    let mut block = VirtualBlock::new(4096, GRANULE).unwrap();
    assert_eq!(block.allocate(0, 1), Err(ChunkError::ZeroSize));
    assert_eq!(block.allocate(1, 0), Err(ChunkError::Alignment { alignment: 0 }));
    assert_eq!(block.allocate(1, 3), Err(ChunkError::Alignment { alignment: 3 }));
    for size in [4097, u64::MAX] {
        assert_eq!(block.allocate(size, 1), Err(ChunkError::NoSpace { size, alignment: 1, free: 4096 }));
    }
    assert_eq!(block.allocate(1, 1 << 63).unwrap().offset(), 0);
    assert!(matches!(block.allocate(1, 1 << 63), Err(ChunkError::NoSpace { .. })));
}

#[test]
fn blocks_that_cannot_be_are_refused() {
    for granule in [0, 1, 128, 300] {
        assert_eq!(VirtualBlock::new(4096, granule).unwrap_err(), BlockError::Granule { granule });
    }
    let most = u64::from(MAX_CELLS) * GRANULE;
    for size in [0, 255, 4095, most + GRANULE, u64::MAX] {
        assert_eq!(VirtualBlock::new(size, GRANULE).unwrap_err(), BlockError::Size { size, granule: GRANULE });
    }
    let mut largest = VirtualBlock::new(most, GRANULE).unwrap();
    assert_eq!(largest.allocate(most, 1).unwrap().offset(), 0);
    largest.validate().unwrap();
}

#[test]
fn a_block_is_empty_until_something_is_taken_and_after_all_of_it_is_given_back() {
    let mut block = VirtualBlock::new(1 << 20, 256).unwrap();
    assert!(block.is_empty());
    assert_eq!((block.size(), block.granule()), (1 << 20, 256));
    let chunk = block.allocate(1000, 1).unwrap();
    assert!(!block.is_empty());
    block.free(chunk).unwrap();
    assert!(block.is_empty());
}

/// Returns a block with ten chunks of two cells, of which the third, fifth and sixth were freed, and a hole at the end.
fn with_holes() -> VirtualBlock {
    let mut block = VirtualBlock::new(64 * GRANULE, GRANULE).unwrap();
    let mut chunks: Vec<_> = (0..10).map(|_| Some(block.allocate(2 * GRANULE, GRANULE).unwrap())).collect();
    for at in [2, 4, 5] {
        block.free(chunks[at].take().unwrap()).unwrap();
    }
    block
}

#[test]
fn each_invariant_that_is_broken_is_found_and_named() {
    let sound = with_holes();
    sound.validate().unwrap();
    assert_eq!((sound.used, sound.chunks, sound.holes), (14, 7, 3));
    let broken = |change: &dyn Fn(&mut VirtualBlock)| {
        let mut block = with_holes();
        change(&mut block);
        block.validate()
    };
    let sums = Err("what is used is not what the chunks add up to");
    assert_eq!(broken(&|block| block.used += 1), sums);
    assert_eq!(broken(&|block| block.chunks -= 1), sums);
    let lost = Err("a node is neither a chunk nor in a bin");
    assert_eq!(broken(&|block| block.holes += 1), lost);
    assert_eq!(broken(&|block| block.cells += 1), Err("the stretches do not end where the block does"));
    // Returns the node that starts at a cell.
    let node = |start| sound.nodes.in_use().find(|(_, node)| node.start == start).unwrap().0;
    let gap = Err("a stretch does not start where the one below it ends");
    for start in [4, 6, 20] {
        assert_eq!(broken(&|block| block.nodes[node(start)].start += 1), gap, "{start}");
        assert_eq!(broken(&|block| block.nodes[node(start)].below = node(0)), gap, "{start}");
    }
    assert_eq!(broken(&|block| block.nodes[node(0)].below = node(2)), Err("no stretch is the lowest"));
    // A chunk that became a hole next to another, and a hole among chunks that is in no bin.
    let holed = |start| move |block: &mut VirtualBlock, at: u32| block.nodes[at].become_hole(start, 2);
    assert_eq!(broken(&|block| holed(6)(block, node(6))), Err("two holes lie side by side"));
    assert_eq!(
        broken(&|block| {
            holed(0)(block, node(0));
            (block.used, block.chunks, block.holes) = (12, 6, 4);
        }),
        lost
    );
    let misplaced = Err("a bin holds what does not belong there");
    assert_eq!(broken(&|block| block.nodes[node(4)].left = node(20)), misplaced);
    assert_eq!(
        broken(&|block| {
            block.nodes[node(4)].become_chunk(4, 2);
            (block.used, block.chunks, block.holes) = (16, 8, 2);
        }),
        misplaced
    );
}

#[test]
fn host_memory_grows_by_a_node_for_each_stretch() {
    let mut block = VirtualBlock::new(1 << 20, GRANULE).unwrap();
    let empty = block.stats().host_memory;
    assert!(empty >= size_of::<VirtualBlock>() + size_of_val(&block.bins), "{empty}");
    let chunks: Vec<_> = (0..1000).map(|_| block.allocate(GRANULE, GRANULE).unwrap()).collect();
    let full = block.stats().host_memory;
    assert!((1000 * 24..3000 * 24).contains(&(full - empty)), "{empty} {full}");
    for chunk in chunks {
        block.free(chunk).unwrap();
    }
    assert_eq!(block.stats().host_memory, full, "kept for the next");
}
