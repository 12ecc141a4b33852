//! Memory types for common uses of memory.

use super::{Addressing, MemoryProperties, MemoryPropertyFlags};

/// The use of an allocation, for callers that do not choose a memory type by its properties.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions}, winsys::Device};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let results = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
/// let memory = manager.allocate(&AllocateInfo::new(results, 4096))?;
/// assert_eq!(memory.map()?.load_u32(0)?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryUsage {
    /// Written and read by the GPU alone.
    GpuOnly,
    /// Written once by the CPU, in order, and read by the GPU: host-visible and not cached.
    Upload,
    /// Written by the GPU and read by the CPU: host-visible and cached.
    Readback,
}

impl MemoryProperties {
    /// Returns the index of the unprotected memory type with 64-bit addresses for a use; `None` if the device has none.
    pub fn type_for(&self, usage: MemoryUsage) -> Option<u32> {
        use MemoryPropertyFlags as Flags;
        let allowed = self.buffer_types(Addressing::Bits64, false);
        let (required, preferred) = match usage {
            MemoryUsage::GpuOnly => (Flags::DEVICE_LOCAL, Flags::empty()),
            MemoryUsage::Upload => (Flags::HOST_VISIBLE | Flags::HOST_COHERENT, Flags::empty()),
            MemoryUsage::Readback => (Flags::HOST_VISIBLE | Flags::HOST_COHERENT | Flags::HOST_CACHED, Flags::empty()),
        };
        self.find_type(allowed, required, preferred)
    }
}
