//! From a size and a memory type to the requests to the kernel and the VA manager.

use amdgpu_hw::num::{count, index};

use crate::{
    heaps::{Account, Addressing, MemoryProperties, MemoryType, VkResult},
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::GpuVa,
    winsys::{BoRequest, GfxLevel, PAGE_SIZE},
};

bitflags::bitflags! {
    /// Options of an allocation besides its type and size.
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
        /// It will be exported as a file descriptor (`VkExportMemoryAllocateInfo` with a handle type).
        ///
        /// Without this the BO is always valid: the kernel keeps it resident for every submission of this file, and
        /// refuses ever to share it. With it, VRAM is write-combined when it spills to GTT, because the display engine
        /// of an APU cannot show anything else.
        const EXPORTABLE = 1 << 0;
        /// Other users' fences are waited for (window-system memory).
        const IMPLICIT_SYNC = 1 << 1;
        /// The GPU's L2 is bypassed, as for the target of a copy to another GPU's scan-out. Nothing before GFX9.
        const BYPASS_L2 = 1 << 2;
        /// Zeroed where it is VRAM (`VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT`). GTT always is.
        const ZERO = 1 << 3;
        /// Contents may be thrown away instead of being moved to GTT. Nothing before DRM minor 47.
        const DISCARDABLE = 1 << 4;
        /// The GPU may compress it where the chip (GFX12), the kernel (DRM minor 60) and the type (only for the GPU)
        /// allow. Code that sets this also sets the BO's metadata, or the kernel compresses again with the wrong format.
        const ALLOW_DCC = 1 << 5;
        /// The driver's own memory: no guard page.
        const INTERNAL = 1 << 6;
        /// The GPU only reads it: a write is a page fault.
        const READ_ONLY = 1 << 7;
        /// No shader runs from it. With [`AllocateFlags::READ_ONLY`] on what shaders do run from, nothing is both
        /// writable and executable; RADV binds everything for both.
        const NO_EXECUTE = 1 << 8;
        /// The infinity cache is left to others, as for what is streamed once. Nothing before DRM minor 47.
        const BYPASS_INFINITY_CACHE = 1 << 9;
        /// VRAM is asked for without GTT beside it, so that the kernel evicts others rather than place it in GTT. When
        /// VRAM does not suffice even so, it is in GTT in the end, unless it is also [`AllocateFlags::DISCARDABLE`].
        const NO_SPILL = 1 << 10;
        /// Not always valid: submissions list it, and those that do not use it leave it out. See
        /// [`ResidencyPolicy`](crate::heaps::ResidencyPolicy) for when that is worth it.
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
    /// Any address.
    #[default]
    No,
    /// Any address for now, but one that a later run can ask for: from the top of the window, which is kept for such
    /// memory ([`ReplayWindows`](crate::vamgr::ReplayWindows); `VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT`).
    Capture,
    /// This address, captured earlier (`VkMemoryOpaqueCaptureAddressAllocateInfo`).
    At(GpuVa),
}

/// An allocation as Vulkan asks for it: the part of `VkMemoryAllocateInfo` that is not an import.
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
    /// Index into [`MemoryProperties::types`].
    pub memory_type: u32,
    /// Bytes; any number but zero, up to the heap's size.
    pub size: u64,
    /// Wishes.
    pub flags: AllocateFlags,
    /// Priority for staying in VRAM when it is full, 0.0 to 1.0 (`VkMemoryPriorityAllocateInfoEXT`). Values outside count as
    /// the nearer end, NaN as 0.0.
    pub priority: f32,
    /// Address capture or replay, if wanted.
    pub replay: Replay,
}

impl AllocateInfo {
    /// Asks for `size` bytes of a type, with Vulkan's default priority of 0.5 and no special wish.
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
    /// The request of GEM_CREATE. Its size, a multiple of 4096, is also the size that GEM_VA maps.
    pub bo: BoRequest,
    /// GEM_VA's flags.
    pub va_flags: VaFlags,
    /// Bytes of addresses to lease: the BO's size, and the guard page if there is one.
    pub va_size: u64,
    /// Alignment of the lease, bytes.
    pub va_alignment: u64,
    /// The window to lease from.
    pub addressing: Addressing,
    /// The address to lease.
    pub replay: Replay,
    /// Map the BO's first page once more, read-only ([`AllocationPlan::guard_va_flags`]), right behind it.
    pub guard_page: bool,
    /// Priority of the BO in submissions: 0 to 27, higher stays longer in VRAM.
    pub priority: u32,
    /// The account to charge.
    pub account: Account,
}

/// The reason why a request is invalid.
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
    /// Nothing was asked for. Vulkan forbids it, but RADV answers success with a null handle: a caller that forwards
    /// [`AllocateError::vk_result`] must have written the null handle by then.
    #[error("allocation of no bytes of memory type {memory_type}")]
    ZeroSize {
        /// The type asked for.
        memory_type: u32,
    },
    /// There is no such type. RADV reads past its table.
    #[error("memory type {memory_type} does not exist, there are {count}")]
    NoSuchType {
        /// The type asked for.
        memory_type: u32,
        /// Number of memory types.
        count: u32,
    },
    /// More than the whole heap, which Vulkan forbids. RADV leaves it to the kernel, which refuses it then.
    #[error("{size} bytes do not fit heap {heap} of {heap_size} bytes")]
    BeyondHeap {
        /// Bytes asked for.
        size: u64,
        /// Index of the heap.
        heap: u32,
        /// Its size.
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

/// Priorities from here on are the driver's own (query pools, descriptors, shaders).
const APPLICATION_PRIORITIES: u32 = 28;

impl MemoryProperties {
    /// Works out what an allocation asks of the kernel and of the VA manager. Asks neither.
    ///
    /// # Errors
    ///
    /// * [`AllocateError::NoSuchType`] when `memory_type` is no index of [`MemoryProperties::types`];
    /// * [`AllocateError::ZeroSize`] when `size` is zero;
    /// * [`AllocateError::BeyondHeap`] when `size` is more than the heap's.
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

    /// GEM_VA's flags for memory of a type. Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_bo_va_op`.
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

    /// DCC lives in VRAM that the CPU never sees; from minor 60 on the kernel can leave it alone when it moves the BO.
    fn may_compress(&self, ty: &MemoryType) -> bool {
        let facts = self.facts();
        let only_for_gpu = GemCreateFlags::NO_CPU_ACCESS;
        facts.gfx_level() >= GfxLevel::Gfx12 && facts.drm_minor() >= 60 && ty.create_flags.contains(only_for_gpu)
    }
}

impl MemoryType {
    /// Returns the account its allocations are charged to.
    pub fn account(&self) -> Account {
        // Every type is in VRAM or GTT, so the fallback is never taken.
        Account::of_bo(self.domains, self.create_flags).unwrap_or(Account::Gtt)
    }
}

impl AllocationPlan {
    /// Returns GEM_VA's flags for the guard page: those of the allocation, but read-only.
    pub fn guard_va_flags(&self) -> VaFlags {
        self.va_flags - VaFlags::WRITEABLE
    }
}

/// Returns the domains in which the kernel may place memory of a type.
fn domains(ty: &MemoryType, wishes: AllocateFlags) -> GemDomain {
    let only_vram = wishes.contains(AllocateFlags::NO_SPILL) && ty.domains.contains(GemDomain::VRAM);
    if only_vram { GemDomain::VRAM } else { ty.domains }
}

/// Source: `radv_alloc_memory`; a cast from float to integer saturates, and makes 0 of NaN.
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "negative numbers are meant to become 0; 28 is exact"
)]
pub(super) fn bo_priority(priority: f32) -> u32 {
    ((priority * APPLICATION_PRIORITIES as f32) as u32).min(APPLICATION_PRIORITIES - 1)
}
