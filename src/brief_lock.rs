//! A lock that is held for a few steps at a time.

use std::{hint, thread, time::Duration};

use spin::mutex::{SpinMutex, SpinMutexGuard};

/// A lock for state that is read and changed in a few steps, without a system call in between.
///
/// Releasing it is a plain store. A lock that wakes the threads that wait for it needs a second locked instruction there, which
/// takes as long as twenty others. So nothing is woken: a thread that finds the lock taken looks again a few times, and then sleeps
/// between two looks, so that a thread with a lower priority that holds the lock gets to run.
#[derive(Debug, Default)]
pub(crate) struct BriefLock<T>(SpinMutex<T>);

/// Looks before the first sleep: some microseconds.
const LOOKS: u32 = 100;

/// Time between two looks from then on.
const PAUSE: Duration = Duration::from_micros(20);

impl<T> BriefLock<T> {
    /// Waits for the lock.
    #[inline]
    pub(crate) fn lock(&self) -> SpinMutexGuard<'_, T> {
        match self.0.try_lock() {
            Some(guard) => guard,
            None => self.wait(),
        }
    }

    #[cold]
    fn wait(&self) -> SpinMutexGuard<'_, T> {
        let mut looks = 0;
        loop {
            if let Some(guard) = self.0.try_lock() {
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
