//! A device whose kernel refuses on demand, with what the operations need beside it.

use std::{
    collections::BTreeSet,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use amdgpu_layers::FaultInjector;
use amdgpu_sim::{Census, SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, ExternalHandleTypes, MemoryManager, OwnUsage, TableOptions},
    winsys::{Device, Errno},
};
use parking_lot::Mutex;

use crate::{calls::Call, operations::Operation, pages::Pages, support::chip};

pub(crate) type Kernel = Arc<FaultInjector<SimKernel>>;

pub(crate) const SIZE: u64 = 64 << 10;

pub(crate) struct Bench {
    gpu: SimDevice,
    pub(crate) kernel: Kernel,
    pub(crate) device: Device,
    pub(crate) manager: MemoryManager,
    /// Cached system memory.
    pub(crate) cached: u32,
    /// Memory that is there already, mapped.
    pub(crate) memory: DeviceMemory,
    /// Memory of another file, by descriptor.
    pub(crate) dma_buf: OwnedFd,
    pub(crate) pages: Pages,
    pub(crate) place: Pages,
}

/// Counts that must be unchanged.
pub(crate) type Counts = (Census, u64, OwnUsage);

impl Bench {
    pub(crate) fn new(name: &str) -> Self {
        let gpu = SimDevice::new(chip(name), SimOptions::default());
        let kernel: Kernel = Arc::new(FaultInjector::new(gpu.open()));
        let manager = |device: &Device| MemoryManager::new(device, &TableOptions::default()).unwrap();
        let theirs = manager(&Device::new(gpu.open()).unwrap());
        let cached = theirs.properties().host_pointer_types().iter().next().unwrap();
        let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(cached, SIZE) };
        let dma_buf = theirs.allocate(&info).unwrap().export(ExternalHandleTypes::DMA_BUF).unwrap();
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        let manager = manager(&device);
        let memory = manager.allocate(&AllocateInfo::new(cached, SIZE)).unwrap();
        memory.map().unwrap();
        let (pages, place) = (Pages::new(SIZE as usize), Pages::reserved(SIZE as usize));
        Self { gpu, kernel, device, manager, cached, memory, dma_buf, pages, place }
    }

    /// Another open file of the GPU, whose calls count with those of the device.
    pub(crate) fn file_beside(&self) -> FaultInjector<SimKernel> {
        self.kernel.beside(self.gpu.open())
    }

    /// Another open file of the GPU, without a device.
    pub(crate) fn another_file(&self) -> Kernel {
        Arc::new(FaultInjector::new(self.gpu.open()))
    }

    pub(crate) fn counts(&self) -> Counts {
        (self.kernel.inner().census(), self.device.addresses().leased_bytes(), self.manager.usage_tracker().usage())
    }

    /// The kinds of calls that an operation makes when nothing fails. Once before, it is done without being watched: what is
    /// asked once in a device's life is no part of it.
    pub(crate) fn calls_of(&self, operation: &Operation) -> BTreeSet<Call> {
        let seen = Arc::<Mutex<BTreeSet<Call>>>::default();
        let watched = Arc::clone(&seen);
        self.kernel.fail_every_where(Errno::ENOSYS, move |attempt| {
            watched.lock().insert(Call::of(attempt));
            false
        });
        let outcome = (operation.run)(self);
        self.kernel.stop();
        outcome.unwrap_or_else(|error| panic!("{}: {error:?}", operation.name));
        std::mem::take(&mut *seen.lock())
    }

    /// Lets `n` calls through, and then none.
    pub(crate) fn unplug_after(&self, n: u64) {
        let done = AtomicU64::new(0);
        self.kernel.fail_every_where(Errno::ENODEV, move |_| done.fetch_add(1, Relaxed) >= n);
    }
}
