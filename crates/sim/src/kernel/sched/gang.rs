//! Gangs: jobs that start together.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::kernel::sync::fence::Fence;

/// The gangs of a device. One gang starts at a time, because two gangs that each occupy some of the rings that both need would
/// deadlock.
#[derive(Debug, Default)]
pub(crate) struct Gangs {
    /// The leader of the gang that is starting, or that started last.
    current: Mutex<Weak<Fence>>,
}

/// The gang of a job.
#[derive(Debug)]
pub(crate) struct Gang {
    leader: Arc<Fence>,
    gangs: Arc<Gangs>,
}

impl Gang {
    pub(crate) fn new(leader: &Arc<Fence>, gangs: &Arc<Gangs>) -> Self {
        Self { leader: Arc::clone(leader), gangs: Arc::clone(gangs) }
    }

    /// Returns `true` if a job of the gang may start, which makes it the starting gang: all jobs of the previous gang must have
    /// started. A leader starts last, so its start is that of the whole gang.
    ///
    /// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_switch_gang`.
    pub(crate) fn may_start(&self) -> bool {
        let mut current = self.gangs.current.lock();
        let is_taken =
            current.upgrade().is_some_and(|other| !Arc::ptr_eq(&other, &self.leader) && !other.has_started());
        if !is_taken {
            *current = Arc::downgrade(&self.leader);
        }
        !is_taken
    }
}
