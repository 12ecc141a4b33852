//! Vulkan's flag words for heaps and memory types, bit for bit.
//!
//! They are plain words here, so that neither this library nor its users need Vulkan headers; a driver casts them.

bitflags::bitflags! {
    /// `VkMemoryHeapFlags`.
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
        /// The heap is the GPU's own memory, or (on an APU) the share of system memory that is presented as such.
        const DEVICE_LOCAL = 0x1;
    }

    /// `VkMemoryPropertyFlags`.
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
        /// Fastest for the GPU. Set exactly where the heap has [`HeapFlags::DEVICE_LOCAL`].
        const DEVICE_LOCAL = 0x1;
        /// The CPU may map it.
        const HOST_VISIBLE = 0x2;
        /// CPU and GPU see each other's writes without flush or invalidate.
        const HOST_COHERENT = 0x4;
        /// CPU reads go through the CPU's caches: the type for reading back.
        const HOST_CACHED = 0x8;
        /// Backed by memory only as far as needed. No type here has it.
        const LAZILY_ALLOCATED = 0x10;
        /// Encrypted (TMZ): only protected submissions may touch it.
        const PROTECTED = 0x20;
        /// Device writes are coherent without cache operations (`VK_AMD_device_coherent_memory`).
        const DEVICE_COHERENT_AMD = 0x40;
        /// The GPU does not cache it in L2 (`VK_AMD_device_coherent_memory`).
        const DEVICE_UNCACHED_AMD = 0x80;
    }
}
