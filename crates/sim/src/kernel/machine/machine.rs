//! The state that the devices of a simulated machine share.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use crate::{
    features::Features,
    kernel::{
        machine::{descriptors::Descriptors, dmem::Regions},
        sync::{events::Events, timelines::Timelines},
        uevents::Uevents,
    },
};

/// The state that all devices of a machine share.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Events of all devices: a wait may depend on another device's fence.
    pub(crate) events: Arc<Events>,
    pub(crate) descriptors: Descriptors,
    /// The open sw_sync files.
    pub(crate) timelines: Timelines,
    /// The regions of memory that groups of processes can be limited in.
    pub(crate) regions: Regions,
    /// The events for user space.
    pub(crate) uevents: Arc<Uevents>,
    /// The features of the kernel, which is that of the first device.
    features: OnceLock<Features>,
    next_file: AtomicU64,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            events: Arc::default(),
            descriptors: Descriptors::default(),
            timelines: Timelines::default(),
            regions: Regions::default(),
            uevents: Arc::default(),
            features: OnceLock::new(),
            next_file: AtomicU64::new(1),
        }
    }
}

impl Machine {
    /// Sets the features of the kernel when the first device is added.
    pub(crate) fn boot(&self, features: Features) {
        self.features.get_or_init(|| features);
    }

    /// Returns `true` if the machine's kernel has all of these features. Without a device it has none.
    pub(crate) fn has(&self, features: Features) -> bool {
        self.features.get().is_some_and(|there| there.contains(features))
    }

    /// Returns a number for a new file of any device. Numbers are never reused.
    pub(crate) fn next_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }
}
