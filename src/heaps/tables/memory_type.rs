//! Memory heaps and memory types.

use crate::{
    heaps::{HeapFlags, HeapKind, MemoryPropertyFlags},
    uapi::{GemCreateFlags, GemDomain, VaFlags},
};

/// The maximum number of memory heaps: Vulkan's `VK_MAX_MEMORY_HEAPS`.
pub const MAX_HEAPS: usize = 16;

/// The maximum number of memory types: Vulkan's `VK_MAX_MEMORY_TYPES`.
pub const MAX_TYPES: usize = 32;

/// A memory heap: `VkMemoryHeap`, and the kind of memory that it consists of.
///
/// ```
/// use amdgpu_winsys::heaps::{HeapFlags, HeapKind};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let heaps = manager.properties().heaps();
/// let gtt = heaps.iter().find(|heap| heap.kind == HeapKind::Gtt).ok_or("no GTT")?;
/// assert!(!gtt.flags.contains(HeapFlags::DEVICE_LOCAL));
/// assert_eq!(gtt.size, manager.properties().facts().gtt());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryHeap {
    /// Size of the heap in bytes.
    pub size: u64,
    /// Property flags, as Vulkan defines them.
    pub flags: HeapFlags,
    /// Kind of memory that the heap consists of.
    pub kind: HeapKind,
}

/// Width of an allocation's GPU addresses.
///
/// ```
/// use amdgpu_winsys::heaps::{Addressing, AllocateInfo};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let descriptors = manager.properties().buffer_types(Addressing::Bits32, false).iter().next().ok_or("no such type")?;
/// let (first, second) = (
///     manager.allocate(&AllocateInfo::new(descriptors, 4096))?.address(),
///     manager.allocate(&AllocateInfo::new(descriptors, 1 << 20))?.address(),
/// );
/// assert_eq!(first.as_u64() >> 32, second.as_u64() >> 32); // shaders know the upper half
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// Any address in the general window, which starts 4 GiB above the start of its half of the address space.
    #[default]
    Bits64,
    /// An address in a 4 GiB window whose upper 32 address bits are known, so that a shader gets a pointer in one register.
    Bits32,
}

/// A memory type: `VkMemoryType`, and the parameters of the kernel requests for its allocations.
///
/// ```
/// use amdgpu_winsys::{heaps::MemoryPropertyFlags, uapi::GemDomain};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let properties = manager.properties();
/// let first = &properties.types()[0];
/// assert_eq!(first.properties, MemoryPropertyFlags::DEVICE_LOCAL); // for the GPU alone
/// assert!(first.domains.contains(GemDomain::VRAM) && !first.is_protected());
/// assert!(usize::try_from(first.heap)? < properties.heaps().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryType {
    /// Index of the heap that the memory type belongs to.
    pub heap: u32,
    /// Property flags, as Vulkan defines them.
    pub properties: MemoryPropertyFlags,
    /// Domains in which the kernel may place the BO.
    pub domains: GemDomain,
    /// The GEM_CREATE flags for every allocation of this type. An [allocation plan](crate::heaps::AllocationPlan) adds more.
    pub create_flags: GemCreateFlags,
    /// The flags for GEM_VA.
    pub va_flags: VaFlags,
    /// The width of addresses, which selects the address window.
    pub addressing: Addressing,
}

impl MemoryType {
    pub(super) const FILLER: Self = Self {
        heap: 0,
        properties: MemoryPropertyFlags::empty(),
        domains: GemDomain::empty(),
        create_flags: GemCreateFlags::empty(),
        va_flags: VaFlags::empty(),
        addressing: Addressing::Bits64,
    };

    /// Returns `true` if the memory is encrypted.
    pub const fn is_protected(&self) -> bool {
        self.properties.contains(MemoryPropertyFlags::PROTECTED)
    }
}
