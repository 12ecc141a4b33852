//! A device-wide notification of all changes that may end a wait.

use std::{
    sync::atomic::{AtomicU32, Ordering, fence},
    time::{Duration, Instant},
};

use nix::time::{ClockId, clock_gettime};
use parking_lot::{Condvar, Mutex};

use crate::kernel::client;

/// The number of checks before a wait sleeps, with a yield of the processor in between.
const LOOKS: u32 = 40;

/// A device-wide event. Fences, sync objects and queues ring it after changes, and waiters check their conditions again.
#[derive(Debug, Default)]
pub(crate) struct Events {
    lock: Mutex<()>,
    bell: Condvar,
    waiters: AtomicU32,
}

impl Events {
    /// Notifies waiters of a change. Must not be called with a lock that a waiter's condition takes.
    pub(crate) fn wake_all(&self) {
        // Pairs with the fence in `wait`: either this call sees the waiter, or the waiter sees the change.
        fence(Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) == 0 {
            return;
        }
        drop(self.lock.lock());
        self.bell.notify_all();
    }

    /// Waits until the condition returns a value. Returns `None` at the deadline, or if the client is interrupted.
    pub(crate) fn wait<T>(&self, until: Until, condition: impl FnMut() -> Option<T>) -> Option<T> {
        self.wait_unless(until, condition, client::is_interrupted)
    }

    /// Waits until the condition is true, even if the client is interrupted, for changes that complete soon and cannot be undone.
    pub(crate) fn wait_through(&self, mut condition: impl FnMut() -> bool) {
        let _ = self.wait_unless(Until::Never, || condition().then_some(()), || false);
    }

    fn wait_unless<T>(
        &self,
        until: Until,
        mut condition: impl FnMut() -> Option<T>,
        is_given_up: impl Fn() -> bool,
    ) -> Option<T> {
        if let Some(found) = condition() {
            return Some(found);
        }
        if matches!(until, Until::Now) {
            return None;
        }
        // Short waits end before a sleep would have begun.
        for _ in 0..LOOKS {
            std::thread::yield_now();
            if let Some(found) = condition() {
                return Some(found);
            }
        }
        self.waiters.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let mut guard = self.lock.lock();
        let found = loop {
            if let Some(found) = condition() {
                break Some(found);
            }
            if is_given_up() {
                break None;
            }
            match until.or_look_again() {
                Until::Now => break None,
                Until::At(instant) => {
                    if self.bell.wait_until(&mut guard, instant).timed_out() && until.is_over() {
                        break condition();
                    }
                }
                Until::Never => self.bell.wait(&mut guard),
            }
        };
        drop(guard);
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        found
    }
}

/// The deadline of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// No wait: the condition is checked once.
    Now,
    /// A deadline at this time.
    At(Instant),
    /// No deadline.
    Never,
}

/// The interval at which a wait on behalf of another process checks that the process still exists.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl Until {
    /// Returns the deadline for a timeout in nanoseconds; `None` means no deadline.
    pub(crate) fn after(timeout_ns: Option<u64>) -> Self {
        match timeout_ns {
            None => Self::Never,
            Some(0) => Self::Now,
            Some(left) => Instant::now().checked_add(Duration::from_nanos(left)).map_or(Self::Never, Self::At),
        }
    }

    /// Returns the time of the next check, because another process may be interrupted or die during its wait.
    fn or_look_again(self) -> Self {
        let soon = Instant::now() + LOOK_AGAIN;
        match self {
            Self::At(instant) if client::is_foreign() => Self::At(instant.min(soon)),
            Self::Never if client::is_foreign() => Self::At(soon),
            other => other,
        }
    }

    fn is_over(self) -> bool {
        match self {
            Self::Now => true,
            Self::At(instant) => instant <= Instant::now(),
            Self::Never => false,
        }
    }

    /// Returns the deadline for the timeout of amdgpu's own waits: bit 63 means no deadline, a time that has passed polls.
    ///
    /// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_timeout`.
    pub(crate) fn amdgpu(absolute: u64) -> Self {
        if absolute >> 63 != 0 { Self::Never } else { Self::monotonic(absolute) }
    }

    /// Returns the deadline for the timeout of sync object waits: zero and negative values poll.
    ///
    /// Source: Linux 6.12 `drm_syncobj.c`, `drm_timeout_abs_to_jiffies`.
    pub(crate) fn syncobj(absolute: i64) -> Self {
        u64::try_from(absolute).map_or(Self::Now, Self::monotonic)
    }

    fn monotonic(absolute: u64) -> Self {
        let left = absolute.saturating_sub(monotonic_now());
        if left == 0 {
            return Self::Now;
        }
        // A time that the clock cannot represent means no deadline.
        Instant::now().checked_add(Duration::from_nanos(left)).map_or(Self::Never, Self::At)
    }
}

/// Returns the time of CLOCK_MONOTONIC in nanoseconds.
pub(crate) fn monotonic_now() -> u64 {
    now(ClockId::CLOCK_MONOTONIC)
}

/// Returns the time of CLOCK_MONOTONIC_COARSE in nanoseconds: some milliseconds late at most, and cheap enough to be read before each
/// work-group of a dispatch.
pub(crate) fn coarse_now() -> u64 {
    now(ClockId::CLOCK_MONOTONIC_COARSE)
}

fn now(clock: ClockId) -> u64 {
    clock_gettime(clock).map_or(0, |now| {
        let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
        seconds * 1_000_000_000 + u64::try_from(now.tv_nsec()).unwrap_or(0)
    })
}
