//! Vulkan's flags of heaps and memory types, with the same bit values.
//!
//! They are defined here so that neither this library nor its users need Vulkan headers; a driver casts the bits.

bitflags::bitflags! {
    /// Properties of a memory heap, with the bits of `VkMemoryHeapFlags`.
    ///
    /// ```
    /// use amdgpu_winsys::heaps::{HeapFlags, HeapKind};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
    /// for heap in manager.properties().heaps() {
    ///     assert_eq!(heap.flags.contains(HeapFlags::DEVICE_LOCAL), heap.kind != HeapKind::Gtt);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct HeapFlags: u32 {
        /// The heap is the GPU's own memory or, on an APU, the share of system memory that is presented as such.
        const DEVICE_LOCAL = 0x1;
    }

    /// Properties of a memory type, with the bits of `VkMemoryPropertyFlags`.
    ///
    /// ```
    /// use amdgpu_winsys::heaps::{Addressing, MemoryPropertyFlags};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
    /// let memory = manager.properties();
    /// let usable = memory.buffer_types(Addressing::Bits64, false);
    /// let (mapped, cached) = (MemoryPropertyFlags::HOST_VISIBLE, MemoryPropertyFlags::HOST_CACHED);
    /// let written = memory.find_type(usable, mapped, MemoryPropertyFlags::DEVICE_LOCAL); // the CPU writes, the GPU reads
    /// let read = memory.find_type(usable, mapped | cached, MemoryPropertyFlags::empty()); // the other way round
    /// assert_ne!(written, read);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct MemoryPropertyFlags: u32 {
        /// The memory is local to the GPU. Set if and only if the heap has [`HeapFlags::DEVICE_LOCAL`].
        const DEVICE_LOCAL = 0x1;
        /// The CPU can map the memory.
        const HOST_VISIBLE = 0x2;
        /// CPU and GPU see each other's writes without flushing or invalidating mapped ranges.
        const HOST_COHERENT = 0x4;
        /// CPU reads are cached, as needed for readback.
        const HOST_CACHED = 0x8;
        /// Memory is committed lazily. No memory type has this property.
        const LAZILY_ALLOCATED = 0x10;
        /// The memory is encrypted (TMZ), and only protected submissions may access it.
        const PROTECTED = 0x20;
        /// Device writes are coherent without cache operations (`VK_AMD_device_coherent_memory`).
        const DEVICE_COHERENT_AMD = 0x40;
        /// The GPU does not cache the memory in L2 (`VK_AMD_device_coherent_memory`).
        const DEVICE_UNCACHED_AMD = 0x80;
    }
}
