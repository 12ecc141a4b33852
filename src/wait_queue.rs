//! Threads that wait for a lock which is held for long.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

/// Threads that wait until another thread wakes them.
///
/// Looking for waiting threads is a plain load, so that a thread that releases something in each of its operations pays nothing for
/// it. The load may come too early to see a thread that has just begun to wait. Such a thread therefore checks its condition once
/// more for some time before it sleeps, and does not sleep for longer than a limit.
#[derive(Debug, Default)]
pub(crate) struct WaitQueue {
    count: AtomicUsize,
    lock: Mutex<()>,
    woken: Condvar,
}

/// Number of checks before a thread sleeps. They take longer than the store of another thread stays invisible.
const CHECKS: u32 = 50;

impl WaitQueue {
    /// Sleeps until another thread calls [`WaitQueue::wake_all`], for at most `limit`. Does not sleep if `is_over` returns `true`.
    #[cold]
    pub(crate) fn wait_unless(&self, limit: Duration, is_over: impl Fn() -> bool) {
        let mut held = self.lock.lock();
        self.count.fetch_add(1, Ordering::SeqCst);
        let is_over_now = || {
            std::hint::spin_loop();
            is_over()
        };
        if !(0..CHECKS).any(|_| is_over_now()) {
            // A thread that sees the count from here on must take the lock before it notifies.
            self.woken.wait_for(&mut held, limit);
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes all threads, if there are any.
    #[inline]
    pub(crate) fn wake_all(&self) {
        if self.count.load(Ordering::Relaxed) > 0 {
            self.notify();
        }
    }

    #[cold]
    fn notify(&self) {
        drop(self.lock.lock());
        self.woken.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::AtomicBool,
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    #[cfg_attr(
        miri,
        ignore = "Miri since October 2026 refuses the reference that a waiting thread of parking_lot gives to futex"
    )]
    fn a_thread_sleeps_until_it_is_woken() {
        let (queue, is_open) = (WaitQueue::default(), AtomicBool::new(false));
        let limit = Duration::from_hours(1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                while !is_open.load(Ordering::Acquire) {
                    queue.wait_unless(limit, || is_open.load(Ordering::Acquire));
                }
            });
            thread::sleep(Duration::from_millis(3));
            assert!(!waiting.is_finished());
            is_open.store(true, Ordering::Release);
            queue.wake_all();
        });
        queue.wait_unless(limit, || is_open.load(Ordering::Acquire));
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "Miri since October 2026 refuses the reference that a waiting thread of parking_lot gives to futex"
    )]
    fn a_thread_that_nobody_wakes_sleeps_up_to_the_limit() {
        let (queue, start) = (WaitQueue::default(), Instant::now());
        queue.wait_unless(Duration::from_millis(2), || false);
        assert!(start.elapsed() >= Duration::from_millis(2));
    }
}
