//! Device memory.

use std::{ops::Deref, sync::Arc};

use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, DeviceMemory, MemoryPropertyFlags};
use ash::vk;

use super::Gpu;
use crate::border::Failure;

/// A `VkDeviceMemory`. Memory that the kernel does not always keep resident is a member of the GPU's residency set as long as it
/// exists, and every submission lists the set.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The library's memory object, until `free` takes it.
    memory: Option<DeviceMemory>,
    /// The GPU whose residency set contains the memory, if any.
    resident_of: Option<Arc<Gpu>>,
}

impl Memory {
    /// Creates the object for memory of the library.
    pub(crate) fn new(gpu: &Arc<Gpu>, memory: DeviceMemory) -> Self {
        let resident_of = (!memory.is_always_valid()).then(|| {
            gpu.residents.add(memory.binding());
            Arc::clone(gpu)
        });
        Self { memory: Some(memory), resident_of }
    }

    /// Allocates cached system memory for the driver's own use: events and queries.
    ///
    /// # Errors
    ///
    /// The errors of the allocation.
    pub(crate) fn internal(gpu: &Arc<Gpu>, size: u64) -> Result<Self, Failure> {
        use MemoryPropertyFlags as Flags;
        let properties = gpu.memory.properties();
        let wanted = Flags::HOST_VISIBLE | Flags::HOST_COHERENT | Flags::HOST_CACHED;
        let unwanted = Flags::DEVICE_UNCACHED_AMD | Flags::PROTECTED;
        let usable = properties.buffer_types(amdgpu_winsys::heaps::Addressing::Bits64, false);
        let kind = properties.find_type(usable, wanted, unwanted).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let info = AllocateInfo { flags: AllocateFlags::INTERNAL, ..AllocateInfo::new(kind, size) };
        Ok(Self::new(gpu, gpu.memory.allocate(&info)?))
    }

    /// Frees the memory. Unlike dropping it, this leaves its reference to the device to the next allocation.
    #[inline]
    pub(crate) fn free(mut self, gpu: &Gpu) {
        self.leave();
        if let Some(memory) = self.memory.take() {
            gpu.memory.free(memory);
        }
    }

    /// Removes the memory from the set of the GPU.
    #[inline]
    fn leave(&mut self) {
        if let Some((gpu, memory)) = self.resident_of.take().zip(self.memory.as_ref()) {
            gpu.residents.remove(memory.binding());
        }
    }
}

impl Deref for Memory {
    type Target = DeviceMemory;

    #[inline]
    fn deref(&self) -> &DeviceMemory {
        // PANIC: only `free` takes it, which takes this object too.
        self.memory.as_ref().expect("the memory was not freed")
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.leave();
    }
}
