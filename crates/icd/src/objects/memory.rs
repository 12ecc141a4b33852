//! Device memory.

use std::{ops::Deref, sync::Arc};

use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, DeviceMemory, MemoryPropertyFlags};
use ash::vk;

use super::{Gpu, MemoryId};
use crate::border::Failure;

/// A `VkDeviceMemory`. Memory that the kernel does not always keep resident is a member of the GPU's residency set as long as it
/// exists, and every submission lists the set.
#[derive(Debug)]
pub(crate) struct Memory {
    inner: DeviceMemory,
    /// The GPU whose residency set contains the memory, if any.
    resident_of: Option<Arc<Gpu>>,
    /// The identity in reports, if the program requested reports.
    pub(crate) id: Option<MemoryId>,
}

impl Memory {
    /// Creates the object for memory of the library.
    pub(crate) fn new(gpu: &Arc<Gpu>, memory: DeviceMemory) -> Self {
        let resident_of = (!memory.is_always_valid()).then(|| {
            gpu.residents.add(memory.binding());
            Arc::clone(gpu)
        });
        Self { inner: memory, resident_of, id: None }
    }

    /// Sets the identity in reports.
    pub(crate) fn reported_as(mut self, id: MemoryId) -> Self {
        self.id = Some(id);
        self
    }

    /// Returns the GPU address and the size in bytes.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.inner.address().as_u64(), self.inner.size())
    }

    /// Allocates cached system memory for the driver's own use, which CPU and GPU access at different times: queries.
    ///
    /// # Errors
    ///
    /// The errors of the allocation.
    pub(crate) fn internal(gpu: &Arc<Gpu>, size: u64) -> Result<Self, Failure> {
        Self::allocate_internal(gpu, size, AllocateFlags::INTERNAL)
    }

    /// Allocates cached system memory that CPU and GPU access while a job runs: events. It bypasses L2 from GFX9 on, where a ring
    /// that polls an event would otherwise find the line of its first look for ever, and the CPU would see the GPU's stores at the
    /// end of the job only.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_event.c`, `radv_create_event`, `RADEON_FLAG_VA_UNCACHED`.
    ///
    /// # Errors
    ///
    /// The errors of the allocation.
    pub(crate) fn polled(gpu: &Arc<Gpu>, size: u64) -> Result<Self, Failure> {
        Self::allocate_internal(gpu, size, AllocateFlags::INTERNAL | AllocateFlags::BYPASS_L2)
    }

    fn allocate_internal(gpu: &Arc<Gpu>, size: u64, flags: AllocateFlags) -> Result<Self, Failure> {
        use MemoryPropertyFlags as Flags;
        let properties = gpu.memory.properties();
        let wanted = Flags::HOST_VISIBLE | Flags::HOST_COHERENT | Flags::HOST_CACHED;
        let usable = properties.buffer_types(amdgpu_winsys::heaps::Addressing::Bits64, false);
        // Without being asked for, uncached and protected types are not found.
        let kind =
            properties.find_type(usable, wanted, Flags::empty()).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let info = AllocateInfo { flags, ..AllocateInfo::new(kind, size) };
        Ok(Self::new(gpu, gpu.memory.allocate(&info)?))
    }
}

impl Deref for Memory {
    type Target = DeviceMemory;

    #[inline]
    fn deref(&self) -> &DeviceMemory {
        &self.inner
    }
}

/// Removes the memory from the set of the GPU.
impl Drop for Memory {
    #[inline]
    fn drop(&mut self) {
        if let Some(gpu) = self.resident_of.take() {
            gpu.residents.remove(self.inner.binding());
        }
    }
}
