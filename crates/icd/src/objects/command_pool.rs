//! Command pools.

use std::sync::Arc;

use amdgpu_winsys::cs::{IbPlacement, IbPool, Target};
use ash::vk;
use parking_lot::Mutex;

use super::{CommandBuffer, Device, Family, Gpu, Program};
use crate::border::{Failure, Handed};

/// The number of idle dwords that a pool keeps for reuse: 4 MiB.
const KEPT_DWORDS: usize = 1 << 20;

/// A `VkCommandPool`: the memory of its command buffers' IBs, and the command buffers.
pub(crate) struct CommandPool {
    gpu: Arc<Gpu>,
    program: Arc<Program>,
    /// The IB memory of primary command buffers.
    primaries: IbPool,
    /// The IB memory of secondary command buffers, which the CPU may copy from.
    secondaries: IbPool,
    /// The rings that the command buffers are for.
    target: Target,
    /// The command buffers, which are freed with the pool.
    buffers: Mutex<Vec<Handed<CommandBuffer>>>,
}

impl CommandPool {
    /// Creates a pool for the rings of a family.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the library records no commands for the family.
    pub(crate) fn new(device: &Device, family: Family) -> Result<Self, Failure> {
        let gpu = &device.gpu;
        let info = gpu.device.info();
        let target = Target::new(info.gfx_level, family.ip).ok_or(vk::Result::ERROR_UNKNOWN)?;
        Ok(Self {
            gpu: Arc::clone(gpu),
            program: Arc::clone(&device.program),
            primaries: IbPool::new(&gpu.device, IbPlacement::of(info, 0), KEPT_DWORDS)?,
            secondaries: IbPool::new(&gpu.device, IbPlacement::Cached, KEPT_DWORDS)?,
            target,
            buffers: Mutex::default(),
        })
    }

    /// Creates a command buffer.
    pub(crate) fn allocate(&self, is_primary: bool) -> vk::CommandBuffer {
        let ibs = if is_primary { &self.primaries } else { &self.secondaries };
        let (gpu, program) = (Arc::clone(&self.gpu), Arc::clone(&self.program));
        let buffer = Handed::new(CommandBuffer::new(gpu, program, ibs.clone(), self.target, is_primary));
        let handle = buffer.handle();
        self.buffers.lock().push(buffer);
        handle
    }

    /// Frees command buffers. Null handles and handles of other pools are ignored.
    pub(crate) fn free(&self, handles: &[vk::CommandBuffer]) {
        let mut buffers = self.buffers.lock();
        let gone: Vec<_> = buffers.extract_if(.., |buffer| handles.contains(&buffer.handle())).collect();
        drop(buffers);
        drop(gone);
    }

    /// Resets all command buffers of the pool.
    pub(crate) fn reset(&self) {
        self.buffers.lock().iter().for_each(|buffer| buffer.reset());
    }

    /// Frees idle memory.
    pub(crate) fn trim(&self) {
        self.primaries.trim();
        self.secondaries.trim();
    }
}
