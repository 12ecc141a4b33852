//! Per-thread shards of counters, caches and reference counts.
//!
//! A cache line that two processors write travels between them each time, which takes as long as twenty additions. State that
//! every allocation of every thread touches therefore exists [`SHARDS`] times, each on lines of its own, and a thread
//! stays with one of them. Threads may share a shard: that costs time and nothing else.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

/// Number of shards.
pub const SHARDS: usize = 8;

/// The shard of the next thread that asks for the first time. A number and no state: devices do not learn of one another
/// through it.
static NEXT: AtomicU8 = AtomicU8::new(0);

/// The value of a thread that has not asked yet.
const NONE: u8 = u8::MAX;

thread_local! {
    static OWN: Cell<u8> = const { Cell::new(NONE) };
}

/// Returns the index of the calling thread's shard, below [`SHARDS`].
///
/// ```
/// use amdgpu_va::shard::{SHARDS, own_shard};
///
/// assert!(own_shard() < SHARDS);
/// assert_eq!(own_shard(), own_shard()); // a thread keeps its shard
/// ```
#[inline]
pub fn own_shard() -> usize {
    let own = OWN.get();
    usize::from(if own == NONE { choose() } else { own }) % SHARDS
}

#[cold]
fn choose() -> u8 {
    let own = NEXT.fetch_add(1, Relaxed) % SHARDS as u8;
    OWN.set(own);
    own
}

/// A value on cache lines of its own. Lines are 64 bytes, and fetched in pairs.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use amdgpu_va::shard::{CachePadded, SHARDS};
///
/// let counters: [CachePadded<AtomicU64>; SHARDS] = Default::default();
/// assert_eq!(size_of_val(&counters), SHARDS * 128);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_thread_keeps_its_shard() {
        let (first, second) = (own_shard(), own_shard());
        assert_eq!(first, second);
        assert!(first < SHARDS);
    }

    /// Other tests of this process start threads too, so a shard may be missed once but not in many turns.
    #[test]
    fn threads_in_a_row_have_all_shards() {
        let taken: Vec<_> = (0..32 * SHARDS).map(|_| std::thread::spawn(own_shard).join().unwrap()).collect();
        let different: BTreeSet<_> = taken.iter().copied().collect();
        assert!(different.into_iter().eq(0..SHARDS), "{taken:?}");
    }
}
