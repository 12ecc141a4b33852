//! A memory manager on a simulated GPU, its kernel within reach.

use std::sync::Arc;

use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{
        Addressing, AllocateFlags, AllocateInfo, AllocateMemoryError, DeviceMemory, MemoryManager, MemoryPropertyFlags,
        TableOptions,
    },
    winsys::{Device, Observer},
};

use crate::support::chip;

pub(crate) const PAGE: u64 = 4096;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;

pub(crate) type Kernel = Arc<FaultInjector<SimKernel>>;

pub(crate) struct Rig {
    pub(crate) gpu: SimDevice,
    pub(crate) kernel: Kernel,
    pub(crate) device: Device,
}

pub(crate) fn gpu(name: &str) -> SimDevice {
    SimDevice::new(chip(name), SimOptions::default())
}

impl Rig {
    pub(crate) fn new(name: &str) -> Self {
        Self::on(&gpu(name), None)
    }

    /// Another process on the same GPU.
    pub(crate) fn beside(&self) -> Self {
        Self::on(&self.gpu, None)
    }

    pub(crate) fn observed(name: &str, observer: impl Observer + 'static) -> Self {
        Self::on(&gpu(name), Some(Box::new(observer)))
    }

    fn on(gpu: &SimDevice, observer: Option<Box<dyn Observer>>) -> Self {
        let kernel: Kernel = Arc::new(FaultInjector::new(gpu.open()));
        let device = match observer {
            Some(observer) => Device::with_observer(Arc::clone(&kernel), observer),
            None => Device::new(Arc::clone(&kernel)),
        };
        Self { gpu: gpu.clone(), kernel, device: device.unwrap() }
    }

    pub(crate) fn manager(&self) -> MemoryManager {
        MemoryManager::new(&self.device, &TableOptions::default()).unwrap()
    }
}

/// A type with these properties, and no others.
pub(crate) fn memory_type(manager: &MemoryManager, required: MemoryPropertyFlags) -> u32 {
    let tables = manager.properties();
    let usable = tables.buffer_types(Addressing::Bits64, false);
    tables.find_type(usable, required, MemoryPropertyFlags::empty()).unwrap()
}

/// Video memory.
pub(crate) fn vram(manager: &MemoryManager, size: u64) -> AllocateInfo {
    AllocateInfo::new(memory_type(manager, MemoryPropertyFlags::DEVICE_LOCAL), size)
}

/// System memory.
pub(crate) fn gtt(manager: &MemoryManager, size: u64) -> AllocateInfo {
    AllocateInfo::new(memory_type(manager, MemoryPropertyFlags::HOST_CACHED), size)
}

pub(crate) fn shared(info: AllocateInfo) -> AllocateInfo {
    AllocateInfo { flags: info.flags | AllocateFlags::EXPORTABLE, ..info }
}

/// Returns the refusal of an outcome.
pub(crate) fn refusal(outcome: Result<DeviceMemory, AllocateMemoryError>) -> amdgpu_winsys::heaps::Refusal {
    match outcome {
        Err(AllocateMemoryError::Refused(refusal)) => *refusal,
        other => panic!("not refused: {other:?}"),
    }
}
