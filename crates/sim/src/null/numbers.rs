//! Numbers of handles, contexts and lists.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// The number of numbers that a thread reserves at a time.
const BLOCK: u32 = 64;

/// A source of unused numbers for any number of threads. Numbers start at 2, because a context ID of 1 would need special
/// treatment. Each thread reserves a block of numbers at a time, so that threads do not contend for one counter, which would
/// distort measurements.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The identity of the kernel that the block belongs to.
    of: u32,
    blocks: AtomicU32,
}

/// The rest of a thread's block.
#[derive(Clone, Copy, Debug)]
struct Block {
    of: u32,
    next: u32,
    end: u32,
}

thread_local! {
    static MINE: Cell<Block> = const { Cell::new(Block { of: 0, next: 0, end: 0 }) };
}

impl Numbers {
    pub(super) fn new() -> Self {
        static KERNELS: AtomicU32 = AtomicU32::new(1);
        Self { of: KERNELS.fetch_add(1, Relaxed), blocks: AtomicU32::new(0) }
    }

    /// Returns the next number of this thread. Numbers repeat after 2^32 of them.
    #[inline]
    pub(super) fn next(&self) -> u32 {
        let mine = MINE.get();
        let block = if mine.of == self.of && mine.next < mine.end { mine } else { self.block() };
        MINE.set(Block { next: block.next + 1, ..block });
        block.next
    }

    #[cold]
    fn block(&self) -> Block {
        let start = self.blocks.fetch_add(1, Relaxed) % (u32::MAX / BLOCK) * BLOCK;
        Block { of: self.of, next: start.max(2), end: start + BLOCK }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, thread};

    use super::*;

    #[test]
    fn numbers_begin_at_two_and_count_up() {
        let numbers = Numbers::new();
        assert_eq!([(); 100].map(|()| numbers.next()).to_vec(), (2..=101).collect::<Vec<_>>());
    }

    #[test]
    fn kernels_that_are_used_in_turn_repeat_no_number() {
        let [one, other] = [Numbers::new(), Numbers::new()];
        let mut seen = [HashSet::new(), HashSet::new()];
        for _ in 0..200 {
            assert!(seen[0].insert(one.next()) && seen[1].insert(other.next()));
        }
    }

    #[test]
    fn no_two_threads_get_the_same_number() {
        let numbers = Numbers::new();
        let all: Vec<u32> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..1000).map(|_| numbers.next()).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4000);
    }
}
