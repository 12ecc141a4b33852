//! Allocation requests, and the requests to the kernel and to the VA manager that follow from them.

use amdgpu_hw::num::{count, index};

use crate::{
    heaps::{Account, Addressing, MemoryProperties, MemoryType, VkResult},
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::GpuVa,
    winsys::{BoRequest, GfxLevel, PAGE_SIZE},
};

bitflags::bitflags! {
    /// Options of an allocation besides its memory type and size.
    ///
    /// ```
    /// use amdgpu_winsys::{heaps::{AllocateFlags, AllocateInfo}, uapi::VaFlags};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
    /// let flags = AllocateFlags::READ_ONLY | AllocateFlags::LISTED;
    /// let shaders = AllocateInfo { flags, ..AllocateInfo::new(0, 4096) };
    /// let memory = manager.allocate(&shaders)?;
    /// assert!(!memory.binding().flags().contains(VaFlags::WRITEABLE));
    /// assert!(!memory.is_always_valid());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct AllocateFlags: u32 {
        /// The memory can be exported as a file descriptor (`VkExportMemoryAllocateInfo` with a handle type).
        ///
        /// Without this option the BO is always valid: the kernel keeps it resident for every submission of this file, and
        /// never shares it. With it, VRAM is write-combined when it spills to GTT, because the display engine of an APU cannot
        /// scan out any other GTT.
        const EXPORTABLE = 1 << 0;
        /// Submissions wait for the fences of other users of the memory (window-system memory).
        const IMPLICIT_SYNC = 1 << 1;
        /// The memory bypasses the GPU's L2 cache, such as the target of a copy to a scan-out buffer of another GPU. Ignored
        /// before GFX9.
        const BYPASS_L2 = 1 << 2;
        /// Clears VRAM to zero (`VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT`). GTT is always cleared.
        const ZERO = 1 << 3;
        /// The kernel may discard the contents instead of moving them to GTT. Ignored before DRM minor 47.
        const DISCARDABLE = 1 << 4;
        /// The GPU may compress the memory. Effective on GFX12 with DRM minor 60 or later, for memory types that the CPU cannot
        /// access. The caller must also set the BO's metadata, otherwise the kernel compresses with the wrong format when it
        /// moves the BO.
        const ALLOW_DCC = 1 << 5;
        /// Internal memory of the driver, which gets no guard page.
        const INTERNAL = 1 << 6;
        /// The GPU may only read the memory: a write is a VM fault.
        const READ_ONLY = 1 << 7;
        /// Shaders cannot be executed from the memory. Together with [`AllocateFlags::READ_ONLY`] for shader code, no memory is
        /// both writable and executable. RADV maps all memory as both.
        const NO_EXECUTE = 1 << 8;
        /// The memory bypasses the infinity cache, for data that is used once. Ignored before DRM minor 47.
        const BYPASS_INFINITY_CACHE = 1 << 9;
        /// Requests VRAM without GTT as a second domain, so that the kernel evicts other BOs instead of placing this one in
        /// GTT. If VRAM is still too small, the BO is placed in GTT after all, unless it is also
        /// [`AllocateFlags::DISCARDABLE`].
        const NO_SPILL = 1 << 10;
        /// The memory is not always valid: only the submissions that list it keep it resident. See
        /// [`ResidencyPolicy`](crate::heaps::ResidencyPolicy) for the cases in which this is worthwhile.
        const LISTED = 1 << 11;
    }
}

/// Address capture and replay of an allocation.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, Replay};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let captured = manager.allocate(&AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(0, 4096) })?.address();
/// // In a later run:
/// let replayed = manager.allocate(&AllocateInfo { replay: Replay::At(captured), ..AllocateInfo::new(0, 4096) })?;
/// assert_eq!(replayed.address(), captured);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// Uses any free address, and does not capture it for replay.
    #[default]
    No,
    /// Uses any address in the top part of the window, which is reserved for captured addresses so that a later run can request
    /// the same address ([`ReplayWindows`](crate::vamgr::ReplayWindows); `VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT`).
    Capture,
    /// Uses this address, which an earlier run captured (`VkMemoryOpaqueCaptureAddressAllocateInfo`).
    At(GpuVa),
}

/// The parameters of an allocation: the part of `VkMemoryAllocateInfo` that is not an import.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, MemoryUsage};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory_type = manager.properties().type_for(MemoryUsage::GpuOnly).ok_or("no such type")?;
/// let info = AllocateInfo { priority: 1.0, flags: AllocateFlags::NO_EXECUTE, ..AllocateInfo::new(memory_type, 5000) };
/// let memory = manager.allocate(&info)?;
/// assert_eq!((memory.size(), memory.memory_type(), memory.priority()), (8192, memory_type, 27));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocateInfo {
    /// Index of the memory type in [`MemoryProperties::types`].
    pub memory_type: u32,
    /// Size in bytes, from 1 to the size of the heap.
    pub size: u64,
    /// Options of the allocation.
    pub flags: AllocateFlags,
    /// Priority for staying in VRAM when it is full, 0.0 to 1.0 (`VkMemoryPriorityAllocateInfoEXT`). Values outside are
    /// clamped, and NaN counts as 0.0.
    pub priority: f32,
    /// Address capture or replay.
    pub replay: Replay,
}

impl AllocateInfo {
    /// Creates a request for `size` bytes of a memory type, with Vulkan's default priority of 0.5 and no options.
    pub const fn new(memory_type: u32, size: u64) -> Self {
        Self { memory_type, size, flags: AllocateFlags::empty(), priority: 0.5, replay: Replay::No }
    }
}

/// The requests to the kernel and to the VA manager for one allocation.
///
/// ```
/// use amdgpu_winsys::{heaps::AllocateInfo, uapi::{GemCreateFlags, GemDomain}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let plan = manager.properties().resolve(&AllocateInfo::new(0, 10_000))?; // nothing is allocated
/// assert_eq!((plan.bo.size, plan.va_size, plan.heap), (12_288, 12_288, 0));
/// assert_eq!(plan.bo.domains, GemDomain::VRAM | GemDomain::GTT);
/// assert!(plan.bo.flags.contains(GemCreateFlags::VM_ALWAYS_VALID));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationPlan {
    /// Index of the memory type.
    pub memory_type: u32,
    /// Index of the heap.
    pub heap: u32,
    /// The GEM_CREATE request for the BO. GEM_VA maps its whole size, which is a multiple of 4096.
    pub bo: BoRequest,
    /// The flags for GEM_VA.
    pub va_flags: VaFlags,
    /// Size of the address range to lease, in bytes: the size of the BO, plus the guard page if there is one.
    pub va_size: u64,
    /// Alignment of the lease in bytes.
    pub va_alignment: u64,
    /// The address width, which selects the window to lease from.
    pub addressing: Addressing,
    /// Address capture or replay for the lease.
    pub replay: Replay,
    /// `true` if a guard page follows the BO: its first page, mapped once more and read-only
    /// ([`AllocationPlan::guard_va_flags`]).
    pub guard_page: bool,
    /// Priority of the BO in submissions, 0 to 27. BOs with a higher priority stay longer in VRAM.
    pub priority: u32,
    /// The account that the BO is charged to.
    pub account: Account,
}

/// An invalid allocation request.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateError, AllocateInfo};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let properties = manager.properties();
/// let count = u32::try_from(properties.types().len())?;
/// let refused = |info| properties.resolve(&info).unwrap_err();
/// assert_eq!(refused(AllocateInfo::new(99, 4096)), AllocateError::NoSuchType { memory_type: 99, count });
/// assert_eq!(refused(AllocateInfo::new(0, 0)), AllocateError::ZeroSize { memory_type: 0 });
/// let heap_size = properties.heaps()[0].size;
/// let beyond = AllocateError::BeyondHeap { size: heap_size + 1, heap: 0, heap_size };
/// assert_eq!(refused(AllocateInfo::new(0, heap_size + 1)), beyond);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocateError {
    /// The size is zero. Vulkan forbids this, but RADV returns success with a null handle. A caller that returns
    /// [`AllocateError::vk_result`] must therefore write the null handle first.
    #[error("allocation of no bytes of memory type {memory_type}")]
    ZeroSize {
        /// Index of the requested memory type.
        memory_type: u32,
    },
    /// The memory type does not exist. RADV reads past its table.
    #[error("memory type {memory_type} does not exist, there are {count}")]
    NoSuchType {
        /// The requested index of a memory type, which is not below `count`.
        memory_type: u32,
        /// Number of memory types of the device.
        count: u32,
    },
    /// The size exceeds the size of the whole heap, which Vulkan forbids. RADV passes it to the kernel, which refuses it.
    #[error("{size} bytes do not fit heap {heap} of {heap_size} bytes")]
    BeyondHeap {
        /// The requested size in bytes.
        size: u64,
        /// Index of the heap.
        heap: u32,
        /// Size of the heap in bytes.
        heap_size: u64,
    },
}

impl AllocateError {
    /// Returns RADV's result of `vkAllocateMemory` for this error.
    pub const fn vk_result(&self) -> VkResult {
        match self {
            Self::ZeroSize { .. } => VkResult::Success,
            Self::NoSuchType { .. } => VkResult::Unknown,
            Self::BeyondHeap { .. } => VkResult::OutOfDeviceMemory,
        }
    }
}

/// Number of priorities for applications. Higher ones are for the driver's own BOs (query pools, descriptors, shaders).
const APPLICATION_PRIORITIES: u32 = 28;

impl MemoryProperties {
    /// Returns the requests to the kernel and to the VA manager for an allocation, without making them.
    ///
    /// # Errors
    ///
    /// * [`AllocateError::NoSuchType`] if `memory_type` is not an index of [`MemoryProperties::types`];
    /// * [`AllocateError::ZeroSize`] if `size` is zero;
    /// * [`AllocateError::BeyondHeap`] if `size` exceeds the size of the heap.
    ///
    /// Source: Mesa 26.2 `src/amd/vulkan/radv_device_memory.c`, `radv_alloc_memory`, and
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`.
    #[inline]
    pub fn resolve(&self, info: &AllocateInfo) -> Result<AllocationPlan, AllocateError> {
        let &AllocateInfo { memory_type, size, flags, priority, replay } = info;
        let ty = self.type_at(memory_type)?;
        self.check_size(info, ty)?;
        let size = size.next_multiple_of(PAGE_SIZE); // at most the heap's size, far from overflow
        let guard_page = self.has_guard_pages() && !flags.contains(AllocateFlags::INTERNAL);
        let alignment = self.facts().max_alignment();
        let fragment = self.facts().pte_fragment_size();
        Ok(AllocationPlan {
            memory_type,
            heap: ty.heap,
            bo: BoRequest { size, alignment, domains: domains(ty, flags), flags: self.create_flags(ty, flags) },
            va_flags: self.va_flags(ty, flags),
            va_size: if guard_page { size + PAGE_SIZE } else { size },
            va_alignment: if size >= fragment { alignment.max(fragment) } else { alignment },
            addressing: ty.addressing,
            replay,
            guard_page,
            priority: bo_priority(priority),
            account: ty.account(),
        })
    }

    pub(super) fn type_at(&self, memory_type: u32) -> Result<&MemoryType, AllocateError> {
        let count = count(self.types().len());
        self.types().get(index(memory_type)).ok_or(AllocateError::NoSuchType { memory_type, count })
    }

    fn check_size(&self, info: &AllocateInfo, ty: &MemoryType) -> Result<(), AllocateError> {
        let &AllocateInfo { memory_type, size, .. } = info;
        let heap_size = self.heaps().get(index(ty.heap)).map_or(0, |heap| heap.size);
        match size {
            0 => Err(AllocateError::ZeroSize { memory_type }),
            _ if size > heap_size => Err(AllocateError::BeyondHeap { size, heap: ty.heap, heap_size }),
            _ => Ok(()),
        }
    }

    fn create_flags(&self, ty: &MemoryType, wishes: AllocateFlags) -> GemCreateFlags {
        let is_vram = ty.domains.contains(GemDomain::VRAM);
        let exportable = wishes.contains(AllocateFlags::EXPORTABLE);
        let zero = wishes.contains(AllocateFlags::ZERO) || self.options().zero_vram;
        let mut flags = ty.create_flags;
        flags.set(GemCreateFlags::EXPLICIT_SYNC, !wishes.contains(AllocateFlags::IMPLICIT_SYNC));
        flags.set(GemCreateFlags::VM_ALWAYS_VALID, !exportable && !wishes.contains(AllocateFlags::LISTED));
        if is_vram && exportable {
            flags |= GemCreateFlags::CPU_GTT_USWC;
        }
        if is_vram && zero {
            flags |= GemCreateFlags::VRAM_CLEARED;
        }
        if wishes.contains(AllocateFlags::DISCARDABLE) && self.facts().drm_minor() >= 47 {
            flags |= GemCreateFlags::DISCARDABLE;
        }
        if wishes.contains(AllocateFlags::ALLOW_DCC) && self.may_compress(ty) {
            flags |= GemCreateFlags::GFX12_DCC;
        }
        flags
    }

    /// Returns the GEM_VA flags for memory of a type. Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_bo_va_op`.
    pub(super) fn va_flags(&self, ty: &MemoryType, wishes: AllocateFlags) -> VaFlags {
        let mut flags = ty.va_flags;
        if wishes.contains(AllocateFlags::BYPASS_L2) && self.facts().has_uncached_l2() {
            flags = (flags - VaFlags::MTYPE_MASK) | VaFlags::MTYPE_UC;
        }
        if wishes.contains(AllocateFlags::BYPASS_INFINITY_CACHE) && self.facts().drm_minor() >= 47 {
            flags |= VaFlags::NOALLOC;
        }
        if wishes.contains(AllocateFlags::READ_ONLY) {
            flags -= VaFlags::WRITEABLE;
        }
        if wishes.contains(AllocateFlags::NO_EXECUTE) {
            flags -= VaFlags::EXECUTABLE;
        }
        flags
    }

    /// Returns `true` if memory of the type may be compressed. Only VRAM without CPU access can be, and from DRM minor 60 on
    /// the kernel can keep the compression when it moves the BO.
    fn may_compress(&self, ty: &MemoryType) -> bool {
        let facts = self.facts();
        let only_for_gpu = GemCreateFlags::NO_CPU_ACCESS;
        facts.gfx_level() >= GfxLevel::Gfx12 && facts.drm_minor() >= 60 && ty.create_flags.contains(only_for_gpu)
    }
}

impl MemoryType {
    /// Returns the account that allocations of this type are charged to.
    pub fn account(&self) -> Account {
        // Every type is in VRAM or GTT, so the fallback is never taken.
        Account::of_bo(self.domains, self.create_flags).unwrap_or(Account::Gtt)
    }
}

impl AllocationPlan {
    /// Returns the GEM_VA flags for the guard page: the flags of the allocation, but read-only.
    pub fn guard_va_flags(&self) -> VaFlags {
        self.va_flags - VaFlags::WRITEABLE
    }
}

/// Returns the domains in which the kernel may place memory of a type.
fn domains(ty: &MemoryType, wishes: AllocateFlags) -> GemDomain {
    let only_vram = wishes.contains(AllocateFlags::NO_SPILL) && ty.domains.contains(GemDomain::VRAM);
    if only_vram { GemDomain::VRAM } else { ty.domains }
}

/// Returns the priority of a BO. Source: `radv_alloc_memory`. The cast from float to integer saturates, and turns NaN into 0.
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "negative numbers are meant to become 0; 28 is exact"
)]
pub(super) fn bo_priority(priority: f32) -> u32 {
    ((priority * APPLICATION_PRIORITIES as f32) as u32).min(APPLICATION_PRIORITIES - 1)
}
