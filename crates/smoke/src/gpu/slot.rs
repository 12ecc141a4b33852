//! The slot of a simulated GPU, whose device changes when it is taken out and found again.

use std::sync::{Arc, Mutex, PoisonError};

use amdgpu_sim::SimDevice;

/// A slot with the simulated GPU in it. Clones are of the same slot.
#[derive(Clone, Debug)]
pub(crate) struct Slot(Arc<Mutex<SimDevice>>);

impl Slot {
    pub(crate) fn new(device: SimDevice) -> Self {
        Self(Arc::new(Mutex::new(device)))
    }

    /// Returns the GPU that is, or was last, in the slot.
    pub(crate) fn device(&self) -> SimDevice {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Finds the GPU again that was taken out.
    pub(crate) fn rescan(&self) {
        let mut device = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *device = device.found_again(device.place());
    }
}
