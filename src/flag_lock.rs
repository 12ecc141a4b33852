//! A lock for what nobody waits for.

use std::{
    sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use parking_lot::lock_api::{GuardSend, Mutex, RawMutex};

/// A mutex that is mostly tried, and hardly ever waited for: what belongs to one thread, but may be visited by others.
///
/// It knows nothing of waiters, so that letting go is a store, where a lock that might have to wake someone makes another
/// locked operation. Whoever waits nevertheless yields and looks again.
pub(crate) type FlagLock<T> = Mutex<Flag, T>;

/// Whether the lock is taken.
#[derive(Debug)]
pub(crate) struct Flag(AtomicBool);

// SAFETY: `try_lock` says yes only to the one caller whose exchange found the flag down, `lock` only where `try_lock` did,
// and the flag comes down only in `unlock`, which its contract lets only the holder call. Raising it acquires what lowering
// it released.
unsafe impl RawMutex for Flag {
    const INIT: Self = Self(AtomicBool::new(false));

    type GuardMarker = GuardSend;

    fn lock(&self) {
        while !self.try_lock() {
            thread::yield_now();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        !self.0.load(Relaxed) && self.0.compare_exchange(false, true, Acquire, Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.0.store(false, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_lock_is_not_taken_again_until_it_is_let_go() {
        let lock = FlagLock::new(1);
        let held = lock.try_lock().unwrap();
        assert!(lock.try_lock().is_none());
        drop(held);
        assert_eq!(lock.try_lock().as_deref(), Some(&1));
    }

    #[test]
    fn what_several_threads_add_under_the_lock_is_all_there() {
        const TIMES: u64 = 2_000;
        let lock = FlagLock::new(0_u64);
        let missed = thread::scope(|scope| {
            let add = || (0..TIMES).filter(|_| lock.try_lock().map(|mut sum| *sum += 1).is_none()).count() as u64;
            let waiters: Vec<_> = (0..2).map(|_| scope.spawn(|| (0..TIMES).for_each(|_| *lock.lock() += 1))).collect();
            let missed: u64 = [scope.spawn(add), scope.spawn(add)].into_iter().map(|one| one.join().unwrap()).sum();
            for waiter in waiters {
                waiter.join().unwrap();
            }
            missed
        });
        assert_eq!(*lock.lock() + missed, 4 * TIMES);
    }
}
