//! An instance on a simulated kernel that fails when it is told to.

use std::sync::Arc;

use amdgpu_layers::FaultInjector;
use amdgpu_sim::{Census, SimDevice, SimKernel, SimOptions, Strictness};
use amdgpu_winsys::{
    heaps::Profile,
    winsys::{Device, PciAddress},
};

use crate::{
    border::{Failure, Handed},
    loader,
    objects::{Face, Gpu, Instance, Machine, Program, Watch},
};

/// An instance on a simulated kernel.
pub(super) struct Opened {
    pub(super) simulated: SimDevice,
    pub(super) kernel: Arc<FaultInjector<SimKernel>>,
    /// The kernel's objects before and after the driver has opened it.
    pub(super) before: Census,
    pub(super) after: Census,
    pub(super) owner: Handed<Instance>,
    pub(super) instance: ash::Instance,
}

impl Opened {
    pub(super) fn new() -> Result<Self, Failure> {
        Self::on("navi21")
    }

    /// Opens a chip.
    pub(super) fn on(chip: &str) -> Result<Self, Failure> {
        Self::strictly(chip, Strictness::Off)
    }

    /// Opens a chip whose caches are checked.
    pub(super) fn strictly(chip: &str, strictness: Strictness) -> Result<Self, Failure> {
        let options = SimOptions { strictness, ..SimOptions::default() };
        let simulated = SimDevice::new(amdgpu_sim::profile(chip).unwrap(), options);
        let kernel = Arc::new(FaultInjector::new(simulated.open()));
        let before = kernel.inner().census();
        let watch = Watch::default();
        let device = Device::with_observer(Arc::clone(&kernel), watch.clone())?;
        let pci = PciAddress { domain: 0, bus: 3, device: 0, function: 0 };
        let gpu = Gpu::new((device, watch), pci, (128, None), Face::Full, Profile::Radv)?;
        let after = kernel.inner().census();
        let machine = Machine { face: gpu.face, ..Machine::default() };
        let owner = Handed::new(Instance::of(machine, std::iter::once(gpu), Program::default()));
        let functions = ash::StaticFn { get_instance_proc_addr: loader::vk_icdGetInstanceProcAddr };
        // SAFETY: the function has the type and meaning of vkGetInstanceProcAddr, and the instance is live.
        let instance = unsafe { ash::Instance::load(&functions, owner.handle()) };
        Ok(Self { simulated, kernel, before, after, owner, instance })
    }
}
