//! A cache of recently freed leases, and of the objects that their owners want to reuse.

use std::{any::Any, mem, ops::DerefMut, sync::Arc};

use super::VaLease;
use super::shard::{CachePadded, SHARDS, own_shard};

/// A lock that is usually tried only by the thread whose shard it belongs to, and hardly ever waited for. It keeps no record
/// of waiters, so that releasing it is a store; releasing a lock of `parking_lot` is another locked operation.
type Lock<T> = spin::mutex::SpinMutex<T, spin::Yield>;

/// Maximum size of cached leases in bytes.
const LONGEST: u64 = 64 << 20;
/// Number of cached leases for each shard.
const RING: usize = 8;
/// Number of later frees after which a lease may be reused.
const REST: usize = 3;
/// Maximum number of spare objects of each shard.
const SPARE: usize = 8;

/// An object whose owner freed it together with a lease, and whose host memory the owner of a later lease may reuse. A manager
/// keeps such objects beside its freed leases, because both are then found under one lock.
pub type SpareObject = Arc<dyn Any + Send + Sync>;

/// Leases of freed device memory, kept for reuse.
///
/// All threads share an index of holes, and finding the lowest fit takes longer the more holes there are. Programs that free
/// and allocate continually mostly request the sizes that they have just freed. The last few leases of each thread are
/// therefore cached, and one of the requested size is reused before the index is searched.
///
/// Reusing addresses at once would hide uses after free, because no VM fault reports them. First fit reuses them at once if
/// there are no lower free addresses. Here, a lease can be reused only after its thread has freed [`REST`] more. The `VaMap` of
/// `winsys` is not affected, because it tracks bindings, not leases.
///
/// Cached leases count as free: code that queries the free space, or finds too little of it, [drains](LeaseCache::drain) the
/// cache first.
#[derive(Debug, Default)]
pub(super) struct LeaseCache {
    shards: [CachePadded<Lock<Ring>>; SHARDS],
}

#[derive(Debug, Default)]
struct Ring {
    leases: [Option<VaLease>; RING],
    /// Index of the next entry to replace, which is the oldest one.
    next: usize,
    /// A stack of spare objects.
    spare: [Option<SpareObject>; SPARE],
    spare_count: usize,
}

impl Ring {
    #[inline]
    fn take(&mut self, len: u64, alignment: u64) -> Option<VaLease> {
        // A division takes as long as everything else in this function.
        let aligned = |start: u64| {
            if alignment.is_power_of_two() { start & (alignment - 1) == 0 } else { start.is_multiple_of(alignment) }
        };
        let fits = |lease: &VaLease| lease.len() == len && aligned(lease.start().as_u64());
        let rested = (0..RING - REST).map(|age| (self.next + age) % RING);
        // PANIC: a remainder is below the length.
        let at = rested.into_iter().find(|&at| self.leases[at].as_ref().is_some_and(fits))?;
        self.leases[at].take()
    }

    #[inline]
    fn put(&mut self, lease: VaLease) -> Option<VaLease> {
        let at = self.next % RING;
        self.next = (at + 1) % RING;
        // PANIC: a remainder is below the length.
        self.leases[at].replace(lease)
    }

    #[inline]
    fn take_spare(&mut self) -> Option<SpareObject> {
        let top = self.spare_count.checked_sub(1)?;
        self.spare_count = top;
        self.spare.get_mut(top)?.take()
    }

    /// Returns the object if the stack is full.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "otherwise the reference is copied through memory right after it was stored"
    )]
    fn put_spare(&mut self, object: SpareObject) -> Option<SpareObject> {
        let Some(place) = self.spare.get_mut(self.spare_count) else { return Some(object) };
        self.spare_count += 1;
        *place = Some(object);
        None
    }
}

impl LeaseCache {
    /// Removes a cached lease of the calling thread's shard, of exactly `len` bytes at a multiple of `alignment`; `None` if
    /// there is none.
    #[inline]
    pub(super) fn take(&self, len: u64, alignment: u64) -> Option<VaLease> {
        self.ring()?.take(len, alignment)
    }

    /// Removes such a lease, and the spare object that was cached last, as far as there are any.
    #[inline]
    pub(super) fn take_both(&self, len: u64, alignment: u64) -> (Option<VaLease>, Option<SpareObject>) {
        self.ring().map_or((None, None), |mut ring| (ring.take(len, alignment), ring.take_spare()))
    }

    /// Removes the spare object of the calling thread's shard that was cached last.
    #[inline]
    pub(super) fn take_spare(&self) -> Option<SpareObject> {
        self.ring()?.take_spare()
    }

    /// Caches a lease, and frees the oldest one in exchange. Frees the lease at once if it is too long or the shard is locked.
    /// Likewise caches a spare object, or drops it if there are too many.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "otherwise the lease is copied through memory right after it was stored")]
    pub(super) fn put(&self, lease: Option<VaLease>, object: Option<SpareObject>) {
        let Some(mut ring) = self.ring() else { return };
        let oldest = match lease {
            Some(lease) if lease.len() <= LONGEST => ring.put(lease),
            too_long => too_long,
        };
        let left = object.and_then(|object| ring.put_spare(object));
        // Do not take the lock of the index, or drop an object, inside this one.
        drop(ring);
        if left.is_some() {
            drop_object(left);
        }
        drop(oldest);
    }

    /// Returns the calling thread's shard, unless it is locked.
    #[inline]
    fn ring(&self) -> Option<impl DerefMut<Target = Ring>> {
        // PANIC: a shard is below the length.
        self.shards[own_shard()].0.try_lock()
    }

    /// Drops every spare object.
    #[cold]
    pub(super) fn drop_spare(&self) {
        for shard in &self.shards {
            let mut ring = shard.0.lock();
            let objects = mem::take(&mut ring.spare);
            ring.spare_count = 0;
            drop(ring);
            drop(objects);
        }
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

/// Drops an object. Not inlined, so that the reference is in memory only if it is dropped.
#[cold]
#[inline(never)]
fn drop_object(object: Option<SpareObject>) {
    drop(object);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{SpareObject, VaError, VaLease, VaLimits, VaManager, VaRange, VaRequest, VaWindow};

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
        manager.rested(&request).map_or_else(|| manager.allocate(request), Ok)
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
            let soon = rounds.get(at + 1..at + 1 + super::REST.min(rounds.len() - at - 1)).unwrap();
            assert!(!soon.contains(start), "round {at}: {rounds:x?}");
        }
        let places: std::collections::BTreeSet<_> = rounds.iter().collect();
        assert_eq!(places.len(), super::REST + 1, "they are leased again: {rounds:x?}");
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

    fn spare(number: u32) -> (Arc<u32>, SpareObject) {
        let object = Arc::new(number);
        (Arc::clone(&object), object)
    }

    fn number(object: SpareObject) -> u32 {
        *object.downcast().unwrap()
    }

    #[test]
    fn the_spare_object_kept_last_is_taken_first_and_more_than_fit_are_dropped() {
        let manager = manager(1 << 30);
        let usual = request(1);
        assert!(matches!(manager.rested_with_spare(&usual), (None, None)));
        let (watched, objects): (Vec<_>, Vec<_>) = (0..10).map(spare).unzip();
        for object in objects {
            manager.free_with_spare(Some(manager.allocate(usual).unwrap()), object);
        }
        assert_eq!(watched.iter().map(Arc::strong_count).collect::<Vec<_>>(), [2, 2, 2, 2, 2, 2, 2, 2, 1, 1]);
        assert!(manager.rested(&usual).is_some(), "takes no object");
        // With a lease, without one of that size, and for addresses that are not cached.
        let (lease, first) = manager.rested_with_spare(&usual);
        let (none, second) = manager.rested_with_spare(&request(2));
        let (low, third) = manager.rested_with_spare(&usual.within(VaWindow::Low32));
        assert_eq!([first, second, third].map(|object| object.map(number)), [7, 6, 5].map(Some));
        assert!(lease.is_some() && none.is_none() && low.is_none());
        manager.drop_spare();
        assert!(watched.iter().all(|object| Arc::strong_count(object) == 1));
        assert!(manager.rested_with_spare(&usual).1.is_none());
    }

    #[test]
    fn a_spare_object_is_kept_also_with_a_lease_that_is_not_or_without_one() {
        let manager = manager(1 << 30);
        let low = manager.allocate(request(1).within(VaWindow::Low32)).unwrap();
        manager.free_with_spare(Some(low), spare(1).1);
        manager.free_with_spare(None, spare(2).1);
        assert_eq!(manager.leased_bytes(), 0);
        let taken = [(); 3].map(|()| manager.rested_with_spare(&request(1)).1.map(number));
        assert_eq!(taken, [Some(2), Some(1), None]);
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
