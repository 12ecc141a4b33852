//! Instances.

use std::sync::Arc;

use super::{Machine, Program};
use crate::{
    border::Handed,
    objects::{Face, Gpu, PhysicalDevice},
};

/// A `VkInstance`: the GPUs that could be opened. They are fixed from then on, so that every enumeration has one answer.
pub(crate) struct Instance {
    /// Its physical devices, in the order of their nodes.
    pub(crate) physical_devices: Vec<Handed<PhysicalDevice>>,
    /// Extensions that were enabled, and where messages go.
    pub(crate) program: Arc<Program>,
}

impl Instance {
    /// Opens every GPU of a machine. One that cannot be opened is left out, with a line on standard error.
    pub(crate) fn open(machine: &Machine, program: Program) -> Self {
        let opened = machine.gpus().into_iter().filter_map(|found| {
            machine.open(&found).inspect_err(|failure| eprintln!("amdgpu-winsys: {found:?}: {:?}", failure.0)).ok()
        });
        Self::of(opened, program)
    }

    /// Makes an instance of open GPUs.
    pub(crate) fn of(gpus: impl Iterator<Item = Gpu>, program: Program) -> Self {
        let program = Arc::new(program);
        let made = |gpu| Handed::new(PhysicalDevice::new(Arc::new(gpu), &program));
        Self { physical_devices: gpus.map(made).collect(), program }
    }

    /// Returns the face of its devices.
    pub(crate) fn face(&self) -> Face {
        self.physical_devices.first().map_or(Face::Transfer, |physical| physical.gpu.face)
    }
}
