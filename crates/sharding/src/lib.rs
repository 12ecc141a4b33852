//! Per-thread shards of counters, caches and reference counts.
//!
//! A cache line that two processors write travels between them each time, which takes as long as twenty additions. State that
//! every allocation of every thread touches therefore exists [`STRIPES`] times, each on lines of its own, and a thread
//! stays with one of them. Threads may share a stripe: that costs time and nothing else.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

/// Number of shards.
pub const STRIPES: usize = 8;

/// The stripes are given out in turn, to threads as they ask for the first time. A number and no state: devices do not
/// learn of one another through it.
static NEXT: AtomicU8 = AtomicU8::new(0);

/// Not yet asked.
const NONE: u8 = u8::MAX;

thread_local! {
    static MINE: Cell<u8> = const { Cell::new(NONE) };
}

/// Returns the calling thread's stripe, below [`STRIPES`].
#[inline]
pub fn stripe() -> usize {
    let mine = MINE.get();
    usize::from(if mine == NONE { choose() } else { mine }) % STRIPES
}

#[cold]
fn choose() -> u8 {
    let mine = NEXT.fetch_add(1, Relaxed) % STRIPES as u8;
    MINE.set(mine);
    mine
}

/// On cache lines of its own. Lines are 64 bytes, and fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Striped<T>(pub T);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_thread_keeps_its_stripe() {
        let (first, second) = (stripe(), stripe());
        assert_eq!(first, second);
        assert!(first < STRIPES);
    }

    /// No more than one thread comes between: that of the other test.
    #[test]
    fn threads_in_a_row_have_all_stripes() {
        let taken: Vec<_> = (0..2 * STRIPES).map(|_| std::thread::spawn(stripe).join().unwrap()).collect();
        let different: BTreeSet<_> = taken.iter().copied().collect();
        assert!(different.into_iter().eq(0..STRIPES), "{taken:?}");
    }
}
