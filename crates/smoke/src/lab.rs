//! What the checks share: an open device and the few moves that every one of them makes.

use std::{sync::Arc, time::Duration};

use amdgpu_winsys::{
    cs::{Fence, Queue},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

use crate::{
    outcome::{Doing, Stop, fail},
    target::Target,
};

/// How long a job of this test may take: far more than any needs, less than the kernel's own time-out.
const JOB_TIME: Duration = Duration::from_secs(4);

/// An open device and its memory manager.
pub(crate) struct Lab<'a> {
    pub(crate) target: &'a Target,
    pub(crate) device: Arc<Device>,
    pub(crate) memory: MemoryManager,
}

impl<'a> Lab<'a> {
    pub(crate) fn open(target: &'a Target) -> Result<Self, Stop> {
        let device = target.open().doing("opening the device")?;
        let memory = MemoryManager::new(&device, &TableOptions::default()).doing("building the memory tables")?;
        Ok(Self { target, device, memory })
    }

    /// The queue of a fresh context on one ring.
    pub(crate) fn queue(&self, ip: Ip, ring: u32) -> Result<Queue, Stop> {
        let context = Context::new(&self.device, Priority::Normal).doing("allocating a context")?;
        Queue::new(&Arc::new(context), ip, ring).doing("making the queue")
    }

    /// Memory of the first type with these properties.
    pub(crate) fn allocate(&self, size: u64, properties: MemoryPropertyFlags) -> Result<DeviceMemory, Stop> {
        let tables = self.memory.properties();
        let usable = tables.buffer_types(amdgpu_winsys::heaps::Addressing::Bits64, false);
        match tables.find_type(usable, properties, MemoryPropertyFlags::empty()) {
            Some(memory_type) => self
                .memory
                .allocate(&AllocateInfo::new(memory_type, size))
                .doing(&format!("allocating {size} bytes of type {memory_type}")),
            None => fail(format!("no memory type with {properties:?}")),
        }
    }

    /// Cached system memory that CPU and GPU both see: where results are read back from.
    pub(crate) fn host_memory(&self, size: u64) -> Result<DeviceMemory, Stop> {
        self.allocate(size, MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT)
    }

    /// Waits for a job, and tells a GPU that executes nothing from one that fails.
    pub(crate) fn wait(&self, fence: &Fence) -> Result<(), Stop> {
        let done = fence.wait(Deadline::after(JOB_TIME)).doing("waiting for the job")?;
        if done && fence.is_signalled() {
            return Ok(());
        }
        let fault = match self.device.page_fault() {
            Ok(Some(fault)) => format!("; last page fault at {}", fault.page),
            _ => String::new(),
        };
        fail(if done {
            format!("nothing executed: the kernel calls the job done, but no sequence number was written{fault}")
        } else {
            format!("nothing executed: the job was not done at the deadline{fault}")
        })
    }

    /// Every ring the library can record for.
    pub(crate) fn rings(&self) -> Vec<(Ip, u32)> {
        [Ip::Gfx, Ip::Compute, Ip::Sdma]
            .into_iter()
            .flat_map(|ip| (0..self.device.info().ring_count(ip)).map(move |ring| (ip, ring)))
            .collect()
    }
}
