//! Deadlines of waits in the kernel.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The time at which a wait gives up: an absolute time of CLOCK_MONOTONIC, so that a wait that is interrupted and restarted does
/// not start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(u64);

impl Deadline {
    /// A deadline that has already passed: the wait only polls.
    pub const POLL: Self = Self(0);
    /// No deadline: the wait has no time limit.
    pub const NEVER: Self = Self(i64::MAX as u64);

    /// Returns the deadline `duration` from now. Saturates at [`Deadline::NEVER`].
    pub fn after(duration: Duration) -> Self {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(monotonic_now().saturating_add(nanoseconds).min(Self::NEVER.0))
    }

    /// Returns the deadline at an absolute time of CLOCK_MONOTONIC in nanoseconds. Saturates at [`Deadline::NEVER`].
    pub fn at(nanoseconds: u64) -> Self {
        Self(nanoseconds.min(Self::NEVER.0))
    }

    /// Returns the remaining time; zero if the deadline has passed.
    pub fn remaining(self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(monotonic_now()))
    }

    /// Returns the deadline as an argument of WAIT_CS, WAIT_FENCES and GEM_WAIT_IDLE, for which bit 63 means no time limit and 0
    /// polls.
    ///
    /// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_timeout`.
    #[inline]
    pub fn for_amdgpu(self) -> u64 {
        if self == Self::NEVER { u64::MAX } else { self.0 }
    }

    /// Returns the deadline as an argument of sync object waits, for which the largest signed value means no time limit and a time
    /// that has passed polls.
    ///
    /// Source: Linux 6.12 `drm_syncobj.c`, `drm_timeout_abs_to_jiffies`.
    #[inline]
    pub fn for_syncobj(self) -> i64 {
        self.0.cast_signed()
    }
}

/// Returns the time of CLOCK_MONOTONIC in nanoseconds. The clock always exists on Linux. If it did not, the time would be 0.
fn monotonic_now() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
        let nanoseconds = u64::try_from(now.tv_nsec()).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_is_spelled_as_each_wait_wants_it() {
        assert_eq!(Deadline::NEVER.for_amdgpu(), u64::MAX);
        assert_eq!(Deadline::NEVER.for_syncobj(), i64::MAX);
        assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
        assert_eq!(Deadline::at(u64::MAX), Deadline::NEVER);
    }

    #[test]
    fn a_poll_is_zero_for_both_kinds_of_wait() {
        assert_eq!((Deadline::POLL.for_amdgpu(), Deadline::POLL.for_syncobj()), (0, 0));
        assert!(Deadline::after(Duration::ZERO) > Deadline::POLL);
    }
}
