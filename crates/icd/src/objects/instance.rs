//! Instances.

use std::sync::Arc;

use super::{Gpu, Machine, PhysicalDevice};
use crate::border::Handed;

/// A `VkInstance`: the GPUs that could be opened. They are fixed from then on, so that every enumeration has one answer.
#[derive(Debug)]
pub(crate) struct Instance {
    /// Its physical devices, in the order of their nodes.
    pub(crate) physical_devices: Vec<Handed<PhysicalDevice>>,
}

impl Instance {
    /// Opens every GPU of a machine. One that cannot be opened is left out, with a line on standard error.
    pub(crate) fn open(machine: &Machine) -> Self {
        let opened = machine.gpus().into_iter().filter_map(|found| {
            machine.open(&found).inspect_err(|failure| eprintln!("amdgpu-winsys: {found:?}: {:?}", failure.0)).ok()
        });
        Self::of(opened)
    }

    /// Makes an instance of open GPUs.
    pub(crate) fn of(gpus: impl Iterator<Item = Gpu>) -> Self {
        Self { physical_devices: gpus.map(|gpu| Handed::new(PhysicalDevice::new(Arc::new(gpu)))).collect() }
    }
}
