//! Runtime power management: a GPU without work is suspended, and the next use of it is recorded as a wake-up.
//!
//! There is no timer. Each look at the state computes whether the delay has passed, and dates the change back to that moment.
//!
//! Source: Linux 6.12 `drivers/base/power/runtime.c`, `rpm_suspend`, `rpm_resume`, `rpm_idle` and `update_autosuspend`;
//! `amdgpu_drv.c`, `amdgpu_pmops_runtime_idle` and `amdgpu_pmops_runtime_suspend`.

use std::{collections::VecDeque, time::Duration};

use parking_lot::Mutex;

use super::clock::Ticker;
use super::wake_up::{WakeCause, WakeUp, WakeUps};
use crate::kernel::process::identity::Process;

/// The delay that the driver sets, in milliseconds.
///
/// Source: Linux 6.12 `amdgpu_drv.c`, `amdgpu_pci_probe`.
const DELAY: i32 = 5000;
/// The maximum number of wake-ups that are kept.
const MOST_KEPT: usize = 1024;

/// The state of a device whose driver suspends it.
#[derive(Debug)]
pub(crate) struct RuntimePm {
    clock: Ticker,
    state: Mutex<RuntimeState>,
}

/// The values in the device's directory `power`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuntimeStatus {
    /// `true` if the driver may suspend the GPU.
    pub(crate) is_allowed: bool,
    pub(crate) is_suspended: bool,
    pub(crate) active: Duration,
    pub(crate) suspended: Duration,
    /// The number of reasons not to suspend.
    pub(crate) usage: u32,
    /// The delay in milliseconds; negative to never suspend.
    pub(crate) delay: i32,
}

/// The state behind the lock. Times are those of the GPU's clock.
#[derive(Debug)]
pub(crate) struct RuntimeState {
    has_display: bool,
    is_allowed: bool,
    delay: i32,
    /// The number of requests, jobs and user queues at this moment.
    uses: u32,
    last_busy: Duration,
    is_suspended: bool,
    /// The time of the last change between active and suspended.
    since: Duration,
    /// The times spent active and suspended before that.
    active: Duration,
    suspended: Duration,
    woken: u64,
    latest: VecDeque<WakeUp>,
}

impl RuntimePm {
    /// Returns the state of a device that was just found. A device with a display is never suspended.
    pub(crate) fn new(clock: Ticker, has_display: bool) -> Self {
        let now = clock.time();
        Self { clock, state: Mutex::new(RuntimeState::new(now, has_display)) }
    }

    /// Suspends the GPU if the delay has passed, and then performs an action on the state. Returns the result of the action, and
    /// `true` if the GPU was suspended.
    pub(crate) fn with<T>(&self, action: impl FnOnce(&mut RuntimeState, Duration) -> T) -> (T, bool) {
        let mut state = self.state.lock();
        let now = self.clock.time();
        let fell_asleep = state.suspend_if_due(now);
        (action(&mut state, now), fell_asleep)
    }

    /// Keeps the GPU active from now on, which it already is.
    pub(crate) fn begin_use(&self) {
        self.state.lock().uses += 1;
    }

    /// Ends a use: the delay begins again.
    pub(crate) fn end_use(&self) {
        let mut state = self.state.lock();
        state.uses = state.uses.saturating_sub(1);
        state.last_busy = state.last_busy.max(self.clock.time());
    }
}

impl RuntimeState {
    const fn new(now: Duration, has_display: bool) -> Self {
        Self {
            has_display,
            is_allowed: true,
            delay: DELAY,
            uses: 0,
            last_busy: now,
            is_suspended: false,
            since: now,
            active: Duration::ZERO,
            suspended: Duration::ZERO,
            woken: 0,
            latest: VecDeque::new(),
        }
    }

    const fn usage(&self) -> u32 {
        self.uses + !self.is_allowed as u32 + (self.delay < 0) as u32
    }

    fn suspend_if_due(&mut self, now: Duration) -> bool {
        if self.is_suspended || self.has_display || self.usage() > 0 {
            return false;
        }
        let due = self.last_busy + Duration::from_millis(self.delay.unsigned_abs().into());
        if now >= due {
            self.change(true, due);
        }
        self.is_suspended
    }

    fn change(&mut self, is_suspended: bool, at: Duration) {
        let spent = if self.is_suspended { &mut self.suspended } else { &mut self.active };
        *spent += at.saturating_sub(self.since);
        (self.is_suspended, self.since) = (is_suspended, at);
    }

    /// Resumes the GPU if it is suspended, and records who caused it.
    pub(crate) fn resume(&mut self, now: Duration, process: impl FnOnce() -> Process, cause: WakeCause) {
        if !self.is_suspended {
            return;
        }
        self.change(false, now);
        self.last_busy = now;
        self.woken += 1;
        if self.latest.len() == MOST_KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(WakeUp { process: process(), cause, at: now });
    }

    /// Resumes the GPU if necessary and keeps it active.
    pub(crate) fn get(&mut self, now: Duration, process: impl FnOnce() -> Process, cause: WakeCause) {
        self.resume(now, process, cause);
        self.uses += 1;
    }

    /// Sets whether the driver may suspend the GPU. If it may not, the GPU resumes.
    ///
    /// Source: Linux 6.12 `runtime.c`, `pm_runtime_allow` and `pm_runtime_forbid`.
    pub(crate) fn allow(&mut self, is_allowed: bool, now: Duration, process: impl FnOnce() -> Process) {
        if self.is_allowed == is_allowed {
            return;
        }
        self.is_allowed = is_allowed;
        if is_allowed {
            self.notice_idleness(now);
        } else {
            self.resume(now, process, WakeCause::Write("power/control".to_owned()));
        }
    }

    /// Sets the delay in milliseconds. With a negative delay the GPU resumes and stays active.
    pub(crate) fn set_delay(&mut self, delay: i32, now: Duration, process: impl FnOnce() -> Process) {
        let was_possible = self.delay >= 0;
        self.delay = delay;
        if delay >= 0 {
            self.notice_idleness(now);
        } else if was_possible {
            self.resume(now, process, WakeCause::Write("power/autosuspend_delay_ms".to_owned()));
        }
    }

    /// Starts the delay again if the GPU is idle, as the driver does when it is asked whether to suspend.
    fn notice_idleness(&mut self, now: Duration) {
        if !self.is_suspended && self.usage() == 0 {
            self.last_busy = now;
        }
    }

    /// Returns the values of the files at a time.
    pub(crate) fn status(&self, now: Duration) -> RuntimeStatus {
        let spent = now.saturating_sub(self.since);
        let (awake, asleep) = if self.is_suspended { (Duration::ZERO, spent) } else { (spent, Duration::ZERO) };
        RuntimeStatus {
            is_allowed: self.is_allowed,
            is_suspended: self.is_suspended,
            active: self.active + awake,
            suspended: self.suspended + asleep,
            usage: self.usage(),
            delay: self.delay,
        }
    }

    /// Returns the wake-ups until now.
    pub(crate) fn wake_ups(&self) -> WakeUps {
        WakeUps { count: self.woken, latest: self.latest.iter().cloned().collect() }
    }
}
