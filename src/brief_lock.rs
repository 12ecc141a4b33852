//! A spin lock for short critical sections.

use std::{hint, thread, time::Duration};

use spin::mutex::{SpinMutex, SpinMutexGuard};

/// A lock for state that is accessed in a few steps, without a system call in between.
///
/// Releasing it is a plain store. A lock that wakes waiting threads needs a second locked instruction for that, which takes
/// as long as twenty others. This lock wakes none: a waiting thread retries a few times and then sleeps between attempts,
/// so that a holder with a lower priority can run.
#[derive(Debug, Default)]
pub(crate) struct BriefLock<T>(SpinMutex<T>);

/// Number of attempts before the first sleep, which take some microseconds.
const LOOKS: u32 = 100;

/// The time between two later attempts.
const PAUSE: Duration = Duration::from_micros(20);

impl<T> BriefLock<T> {
    /// Acquires the lock, and waits for it if necessary.
    #[inline]
    pub(crate) fn lock(&self) -> SpinMutexGuard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => self.wait(),
        }
    }

    /// Acquires the lock if it is free.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<SpinMutexGuard<'_, T>> {
        self.0.try_lock()
    }

    #[cold]
    fn wait(&self) -> SpinMutexGuard<'_, T> {
        let mut looks = 0;
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            if looks < LOOKS {
                looks += 1;
                hint::spin_loop();
            } else {
                thread::sleep(PAUSE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn threads_that_meet_take_turns() {
        let (sum, start) = (BriefLock::<(u64, u64)>::default(), Barrier::new(4));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..500 {
                        let mut sum = sum.lock();
                        sum.0 += 1;
                        hint::spin_loop();
                        sum.1 += 1;
                        assert_eq!(sum.0, sum.1, "nobody is between the two steps");
                    }
                });
            }
        });
        assert_eq!(*sum.lock(), (2000, 2000));
    }

    #[test]
    fn a_thread_that_waits_longer_than_it_looks_gets_the_lock_in_the_end() {
        let lock = BriefLock::<u32>::default();
        let held = lock.lock();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| *lock.lock());
            thread::sleep(Duration::from_millis(2));
            assert!(!waiting.is_finished(), "the lock is taken");
            let mut held = held;
            *held = 7;
            drop(held);
            assert_eq!(waiting.join().expect("no panic"), 7);
        });
    }

    #[test]
    fn a_panic_releases_it() {
        let lock = BriefLock::<u32>::default();
        let panicked = thread::scope(|scope| {
            scope
                .spawn(|| {
                    let _held = lock.lock();
                    panic!("on purpose");
                })
                .join()
        });
        assert!(panicked.is_err());
        assert_eq!(*lock.lock(), 0);
    }
}
