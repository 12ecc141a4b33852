//! Instances.

use std::sync::{Arc, OnceLock};

use super::{Machine, Program};
use crate::{
    border::Handed,
    objects::{Face, Gpu, PhysicalDevice},
};

/// A `VkInstance`. Its GPUs are opened by the first enumeration, so that a program that creates an instance only to query
/// extensions does not wait for the kernel. They do not change afterwards, so that every enumeration returns the same GPUs.
pub(crate) struct Instance {
    machine: Machine,
    physical_devices: OnceLock<Vec<Handed<PhysicalDevice>>>,
    /// The enabled extensions and the message callbacks.
    pub(crate) program: Arc<Program>,
}

impl Instance {
    /// Creates an instance for the GPUs of a machine.
    pub(crate) fn new(machine: Machine, program: Program) -> Self {
        Self { machine, physical_devices: OnceLock::new(), program: Arc::new(program) }
    }

    /// Creates an instance with the open GPUs of a machine.
    #[cfg(test)]
    pub(crate) fn of(machine: Machine, gpus: impl Iterator<Item = Gpu>, program: Program) -> Self {
        let instance = Self::new(machine, program);
        let devices = instance.devices(gpus);
        Self { physical_devices: OnceLock::from(devices), ..instance }
    }

    /// Returns the physical devices, in the order of their nodes. A GPU that cannot be opened is omitted and reported on standard
    /// error.
    pub(crate) fn physical_devices(&self) -> &[Handed<PhysicalDevice>] {
        self.physical_devices.get_or_init(|| {
            let opened = self.machine.gpus().into_iter().filter_map(|found| {
                let opened = self.machine.open(&found);
                opened.inspect_err(|failure| eprintln!("amdgpu-winsys: {found:?}: {:?}", failure.0)).ok()
            });
            self.devices(opened)
        })
    }

    fn devices(&self, gpus: impl Iterator<Item = Gpu>) -> Vec<Handed<PhysicalDevice>> {
        gpus.map(|gpu| Handed::new(PhysicalDevice::new(Arc::new(gpu), &self.program))).collect()
    }

    /// Returns the face that the devices of the instance have.
    pub(crate) fn face(&self) -> Face {
        self.machine.face
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_enumeration_opens_the_gpus_and_later_ones_open_none() {
        let machine = Machine { simulated: vec!["navi21".to_owned()], ..Machine::default() };
        let instance = Instance::new(machine, Program::default());
        assert!(instance.physical_devices.get().is_none(), "nothing was asked for");
        let handles = || instance.physical_devices().iter().map(Handed::handle).collect::<Vec<_>>();
        let first = handles();
        assert_eq!((first.len(), handles()), (1, first));
    }
}
