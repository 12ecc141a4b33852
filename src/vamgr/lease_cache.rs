//! A cache of recently freed leases.

use std::mem;

use parking_lot::{Mutex, MutexGuard};

use super::{
    VaLease,
    shard::{CachePadded, SHARDS, own_shard},
};

/// Maximum size of cached leases in bytes.
const LONGEST: u64 = 64 << 20;
/// Number of cached leases for each shard.
const CACHED: usize = 8;
/// Number of later frees for which a lease stays in quarantine.
const QUARANTINE: usize = 3;

/// Leases of freed device memory, kept for reuse.
///
/// All threads share an index of holes, and finding the lowest fit takes longer the more holes there are. Programs that free
/// and allocate continually mostly request the sizes that they have just freed. The last few leases of each thread are
/// therefore cached, and one of the requested size is reused before the index is searched.
///
/// Reusing addresses at once would hide uses after free, because no VM fault reports them. First fit reuses them at once if
/// there are no lower free addresses. Here, a lease is in quarantine until its thread has freed [`QUARANTINE`] more. The `VaMap` of
/// `winsys` is not affected, because it tracks bindings, not leases.
///
/// Cached leases count as free: code that queries the free space, or finds too little of it, [drains](LeaseCache::drain) the
/// cache first.
#[derive(Debug, Default)]
pub(super) struct LeaseCache {
    shards: [CachePadded<Mutex<Recent>>; SHARDS],
}

/// The leases that the threads of a shard freed last.
#[derive(Debug, Default)]
struct Recent {
    leases: [Option<VaLease>; CACHED],
    /// Index of the next entry to replace, which is the oldest one.
    next: usize,
}

impl Recent {
    #[inline]
    fn take(&mut self, len: u64, alignment: u64) -> Option<VaLease> {
        // A division takes as long as everything else in this function.
        let aligned = |start: u64| {
            if alignment.is_power_of_two() { start & (alignment - 1) == 0 } else { start.is_multiple_of(alignment) }
        };
        let fits = |lease: &VaLease| lease.len() == len && aligned(lease.start().as_u64());
        let reusable = (0..CACHED - QUARANTINE).map(|age| (self.next + age) % CACHED);
        // PANIC: a remainder is below the length.
        let at = reusable.into_iter().find(|&at| self.leases[at].as_ref().is_some_and(fits))?;
        self.leases[at].take()
    }

    #[inline]
    fn put(&mut self, lease: VaLease) -> Option<VaLease> {
        let at = self.next % CACHED;
        self.next = (at + 1) % CACHED;
        // PANIC: a remainder is below the length.
        self.leases[at].replace(lease)
    }
}

impl LeaseCache {
    /// Removes a cached lease of the calling thread's shard, of exactly `len` bytes at a multiple of `alignment`; `None` if
    /// there is none.
    #[inline]
    pub(super) fn take(&self, len: u64, alignment: u64) -> Option<VaLease> {
        self.recent()?.take(len, alignment)
    }

    /// Caches a lease, and frees the oldest one in exchange. Frees the lease at once if it is too long or the shard is locked.
    #[inline]
    pub(super) fn put(&self, lease: VaLease) {
        if lease.len() > LONGEST {
            return;
        }
        let Some(mut recent) = self.recent() else { return };
        let oldest = recent.put(lease);
        // Do not take the lock of the index inside this one.
        drop(recent);
        drop(oldest);
    }

    /// Returns the calling thread's shard, unless it is locked.
    #[inline]
    fn recent(&self) -> Option<MutexGuard<'_, Recent>> {
        // PANIC: a shard is below the length.
        self.shards[own_shard()].0.try_lock()
    }

    /// Frees every cached lease. Returns `true` if there was one.
    #[cold]
    pub(super) fn drain(&self) -> bool {
        let mut any = false;
        for shard in &self.shards {
            let leases = mem::take(&mut shard.0.lock().leases);
            any |= leases.iter().any(Option::is_some);
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use crate::{VaError, VaLease, VaLimits, VaManager, VaRange, VaRequest, VaWindow};

    const PAGE: u64 = 4096;
    const GIB_4: u64 = 1 << 32;

    /// Returns a manager for a chip without a high half, whose usual window has the given number of bytes.
    fn manager(bytes: u64) -> VaManager {
        let limits = VaLimits {
            low_offset: 0x1_0000,
            low_max: GIB_4 + bytes,
            high_offset: 0,
            high_max: 0,
            alignment: PAGE,
            pte_fragment: 2 << 20,
            half_for_sparse: false,
        };
        VaManager::new(&limits).unwrap()
    }

    fn request(pages: u64) -> VaRequest {
        VaRequest::new(pages * PAGE)
    }

    fn again_or_lowest(manager: &VaManager, request: VaRequest) -> Result<VaLease, VaError> {
        manager.cached(&request).map_or_else(|| manager.allocate(request), Ok)
    }

    /// Leases addresses, frees them, and returns their range.
    fn round(manager: &VaManager, request: VaRequest) -> VaRange {
        let lease = again_or_lowest(manager, request).unwrap();
        let range = lease.range();
        manager.free(lease);
        range
    }

    #[test]
    fn addresses_rest_until_three_more_were_given_back() {
        let manager = manager(1 << 30);
        let rounds: Vec<_> = (0..100).map(|_| round(&manager, request(16)).start().as_u64()).collect();
        for (at, start) in rounds.iter().enumerate() {
            let soon = rounds.get(at + 1..at + 1 + super::QUARANTINE.min(rounds.len() - at - 1)).unwrap();
            assert!(!soon.contains(start), "round {at}: {rounds:x?}");
        }
        let places: std::collections::BTreeSet<_> = rounds.iter().collect();
        assert_eq!(places.len(), super::QUARANTINE + 1, "they are leased again: {rounds:x?}");
    }

    #[test]
    fn only_the_wanted_size_and_alignment_is_leased_again() {
        let manager = manager(1 << 30);
        for pages in [1, 2, 3, 16, 3, 2, 1, 16, 16, 2] {
            let range = round(&manager, request(pages).aligned(16 * PAGE));
            assert_eq!(range.len(), pages * PAGE);
            assert!(range.start().is_aligned(16 * PAGE));
        }
    }

    #[test]
    fn what_rests_counts_as_free() {
        let manager = manager(1 << 30);
        let all = manager.stats(VaWindow::Low);
        for pages in 1..20 {
            round(&manager, request(pages));
        }
        let (now, leased) = (manager.stats(VaWindow::Low), manager.leased_bytes());
        assert_eq!((now.leases, now.leased, now.free, now.holes), (0, 0, all.free, all.holes));
        assert_eq!((leased, manager.hole_histogram(VaWindow::Low).count()), (0, 1));
    }

    #[test]
    fn what_rests_is_given_back_before_a_lease_is_refused() {
        let manager = manager(64 * PAGE);
        for _ in 0..8 {
            round(&manager, request(8));
        }
        let whole = manager.allocate(request(64).within(VaWindow::Low)).unwrap();
        assert_eq!(whole.len(), 64 * PAGE);
        drop(whole);
        let range = round(&manager, request(8));
        let again = manager.allocate(request(8).within(VaWindow::Low).at(range.start())).unwrap();
        assert!(matches!(again_or_lowest(&manager, request(64)), Err(VaError::NoSpace { .. })));
        drop(again);
        assert!(again_or_lowest(&manager, request(64)).is_ok());
    }

    #[test]
    fn leases_of_other_managers_and_windows_go_home() {
        let (one, two) = (manager(1 << 30), manager(1 << 30));
        one.free(two.allocate(request(1)).unwrap());
        let low = one.allocate(request(1).within(VaWindow::Low32)).unwrap();
        one.free(low);
        assert!(!one.shared_lease_cache().drain());
        assert_eq!((one.leased_bytes(), two.leased_bytes()), (0, 0));
    }

    #[cfg_attr(
        miri,
        ignore = "Miri since October 2026 refuses the reference that a waiting thread of parking_lot gives to futex"
    )]
    #[test]
    fn many_threads_give_back_what_others_leased() {
        let manager = manager(1 << 30);
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for pages in 1..5 {
                let (manager, send) = (&manager, send.clone());
                scope.spawn(move || {
                    for _ in 0..200 {
                        round(manager, request(pages));
                        send.send(again_or_lowest(manager, request(pages)).unwrap()).unwrap();
                    }
                });
            }
            drop(send);
            let mut kept: Vec<VaLease> = Vec::new();
            for lease in receive {
                let meets =
                    |other: &VaLease| other.range().contains(lease.start()) || lease.range().contains(other.start());
                assert!(!kept.iter().any(meets), "two leases of one address");
                if kept.len() < 50 { kept.push(lease) } else { manager.free(lease) }
            }
            assert_eq!(manager.stats(VaWindow::Low).leases, 50);
        });
        assert_eq!(manager.stats(VaWindow::Low).leases, 0);
    }
}
