//! State shared by the devices of a simulated computer.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::kernel::{
    files::descriptors::Descriptors,
    sync::{events::Events, timelines::Timelines},
};

/// State shared by all devices of a machine.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Rung by all devices: a wait may be for another one's fence.
    pub(crate) events: Arc<Events>,
    pub(crate) descriptors: Descriptors,
    /// Open sw_sync files.
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
    /// A number for a new file of any device, never used again.
    pub(crate) fn next_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }
}
