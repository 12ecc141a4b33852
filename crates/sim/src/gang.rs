//! Gangs: jobs that start together.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::fence::Fence;

/// Which gang of a device is about to start. The next one may begin when all of this one has started: two that each have
/// a part of the rings they need would wait for each other for ever.
///
/// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_switch_gang`.
#[derive(Debug, Default)]
pub(crate) struct Gangs(Mutex<Weak<Fence>>);

impl Gangs {
    /// Whether a job of the gang with this leader may start now. The leader starts last, so once it has, nothing of its
    /// gang is left.
    pub(crate) fn admit(&self, leader: &Arc<Fence>) -> bool {
        let mut current = self.0.lock();
        let is_another_starting =
            current.upgrade().is_some_and(|other| !Arc::ptr_eq(&other, leader) && !other.has_started());
        if !is_another_starting {
            *current = Arc::downgrade(leader);
        }
        !is_another_starting
    }
}
