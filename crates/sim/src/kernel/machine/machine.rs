//! The state that the devices of a simulated machine share.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::kernel::{
    machine::descriptors::Descriptors,
    sync::{events::Events, timelines::Timelines},
};

/// The state that all devices of a machine share.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Events of all devices: a wait may depend on another device's fence.
    pub(crate) events: Arc<Events>,
    pub(crate) descriptors: Descriptors,
    /// The open sw_sync files.
    pub(crate) timelines: Timelines,
    next_file: AtomicU64,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            events: Arc::default(),
            descriptors: Descriptors::default(),
            timelines: Timelines::default(),
            next_file: AtomicU64::new(1),
        }
    }
}

impl Machine {
    /// Returns a number for a new file of any device. Numbers are never reused.
    pub(crate) fn next_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }
}
