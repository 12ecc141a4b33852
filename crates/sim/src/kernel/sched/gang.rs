//! Gangs: jobs that start together.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::kernel::sync::fence::Fence;

/// The gangs of a device, of which one starts at a time: two that each have a part of the rings they need would wait for
/// each other for ever.
#[derive(Debug, Default)]
pub(crate) struct Gangs {
    /// The leader of the gang that starts, or was the last to.
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

    /// Returns `true` if a job of it may start, which makes it the one that starts: when all of the one before has started.
    /// A leader starts last, so it speaks for its gang.
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
