//! GPU memory as Vulkan presents it: heaps, memory types, budgets, and the kernel requests of an allocation.
//!
//! The tables and plans are computed from facts that were queried earlier. Only [`MemoryManager`] and the objects that it
//! creates call the kernel:
//!
//! ```text
//!  GpuInfo --> RawMemoryFacts --judge--> MemoryFacts --+
//!                                                      +--> MemoryProperties --resolve--> AllocationPlan
//!                                     TableOptions ----+          |                            |
//!                                                                 |                      kernel, VA manager
//!                     budget and usage of each heap <-- budgets --+                            |
//!                                                          ^                                   v
//!                                                          +-- OwnUsage -- UsageTracker <-- UsageEntry, one per BO
//! ```
//!
//! ```
//! use amdgpu_winsys::heaps::*;
//! use amdgpu_winsys::winsys::{Chip, GfxLevel, TilingRegisters};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A card of 8 GiB that shows 256 MiB of it to the CPU. (For an open device: `MemoryFacts::try_from(gpu_info)`.)
//! let facts = MemoryFacts::new(&RawMemoryFacts {
//!     vram: 8176 << 20,
//!     visible_vram: 256 << 20,
//!     gtt: 16 << 30,
//!     has_dedicated_vram: true,
//!     offers_tmz: false,
//!     chip: Chip::CHIP_NAVI10,
//!     gart_page_size: 4096,
//!     pte_fragment_size: 2 << 20,
//!     drm_minor: 54,
//!     gfx_level: GfxLevel::Gfx10,
//!     tiling: TilingRegisters::default(),
//! })?;
//! let memory = MemoryProperties::new(&facts, &TableOptions::default());
//! assert_eq!(memory.heaps().iter().map(|heap| heap.size >> 20).collect::<Vec<_>>(), [7936, 16384, 256]);
//!
//! // Where to put what the CPU writes and the GPU reads often?
//! let usable = memory.buffer_types(Addressing::Bits64, false);
//! let host = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
//! let upload = memory.find_type(usable, host, MemoryPropertyFlags::DEVICE_LOCAL).ok_or("no such type")?;
//! let plan = memory.resolve(&AllocateInfo::new(upload, 10_000))?;
//! assert_eq!((plan.bo.size, plan.account), (12_288, Account::VisibleVram));
//!
//! // While it lives, it is charged; the budget says what is left.
//! let tracker = UsageTracker::new(facts.page_size());
//! let _charge = tracker.charge(plan.account, plan.bo.size);
//! let budgets = memory.budgets(&tracker.usage(), &SystemUsage::default(), BudgetRule::default());
//! assert_eq!(budgets.heaps()[2], HeapBudget { budget: 256 << 20, usage: 12_288 });
//! # Ok(())
//! # }
//! ```
//!
//! # The memory of a GPU
//!
//! A *card* has memory of its own, VRAM, which the CPU accesses through a window, the PCI BAR. A *small BAR* is 256 MiB wide,
//! and the rest of VRAM is *invisible*. With *resizable BAR*, nearly all VRAM is visible. The card also reads and writes system
//! memory over PCIe: *GTT*.
//!
//! An *APU* has system memory only. The firmware reserves a *carve-out* of it, which the kernel calls VRAM (all visible); the
//! rest can be mapped as GTT. Both are equally fast, and the carve-out is often too small for programs that require a certain
//! amount of "video memory".
//!
//! # Heaps
//!
//! 1. The size of VRAM is the kernel's value [rounded up to 256 MiB](MemoryFacts::vram), and at most
//!    [`override_vram_mib`](TableOptions::override_vram_mib). The part that the CPU can map is *visible*, the rest is
//!    *invisible*.
//! 2. On an APU all memory is one pool of `total = visible + GTT`. Two thirds of it, rounded up to a page, form a device-local
//!    heap, and the rest forms a GTT heap. Alternatively, [all of it forms one heap](TableOptions::unified_heap_on_apu).
//! 3. On a card whose VRAM is all visible, [an option](TableOptions::hide_rebar) simulates a small BAR.
//! 4. An invisible part smaller than a ninth of the visible part is left out. It mostly results from the rounding: a 24560 MiB
//!    card with resizable BAR would get a heap of 16 MiB, which allocators would choose as the main one.
//!    `DEVICE_LOCAL`.
//!
//! # Memory types
//!
//! | | for | heap | properties | GEM_CREATE |
//! |---|---|---|---|---|
//! | a | the GPU alone | invisible, else visible | `DEVICE_LOCAL` | VRAM + GTT, NO_CPU_ACCESS |
//! | b | uploads | GTT | `HOST_VISIBLE`, `HOST_COHERENT` | GTT, CPU_GTT_USWC, CPU_ACCESS_REQUIRED |
//! | c | data the CPU writes | visible | as b, and `DEVICE_LOCAL` | VRAM + GTT, CPU_ACCESS_REQUIRED |
//! | d | reading back | GTT | as b, and `HOST_CACHED` | GTT, CPU_ACCESS_REQUIRED |
//!
//! A type exists if its heap does. Types a, c and d are each followed by a *twin* with addresses in the [32-bit
//! window](Addressing::Bits32). If the device has [TMZ](MemoryFacts::has_tmz), the *protected* types with ENCRYPTED follow
//! (invisible or visible VRAM, visible VRAM, GTT, each with a twin). Last come, on [GFX9 to
//! GFX11](MemoryFacts::has_uncached_l2), the *uncached* copies of a, b, c and d, which are device-coherent. A GFX8 card
//! therefore has 7 types, later ones have 11, or 17 with TMZ.
//!
//! Vulkan requires that a type whose properties are a subset of another's comes first. RADV's order, which is kept here
//! exactly, violates this once: `PROTECTED` alone (GTT) comes after `DEVICE_LOCAL` with `PROTECTED`.
//!
//! # Effects of the allocation flags
//!
//! | flag | GEM_CREATE | GEM_VA | from minor |
//! |---|---|---|---|
//! | none | EXPLICIT_SYNC, VM_ALWAYS_VALID | READABLE, WRITEABLE, EXECUTABLE | |
//! | [`EXPORTABLE`](AllocateFlags::EXPORTABLE) | no VM_ALWAYS_VALID; in VRAM CPU_GTT_USWC | | |
//! | [`LISTED`](AllocateFlags::LISTED) | no VM_ALWAYS_VALID | | |
//! | [`IMPLICIT_SYNC`](AllocateFlags::IMPLICIT_SYNC) | no EXPLICIT_SYNC | | |
//! | [`ZERO`](AllocateFlags::ZERO) | in VRAM VRAM_CLEARED | | 59: always |
//! | [`DISCARDABLE`](AllocateFlags::DISCARDABLE) | DISCARDABLE | | 47 |
//! | [`ALLOW_DCC`](AllocateFlags::ALLOW_DCC) | GFX12_DCC, for GFX12's own VRAM | | 60 |
//! | [`NO_SPILL`](AllocateFlags::NO_SPILL) | VRAM without GTT | | |
//! | [`READ_ONLY`](AllocateFlags::READ_ONLY) | | no WRITEABLE | |
//! | [`NO_EXECUTE`](AllocateFlags::NO_EXECUTE) | | no EXECUTABLE | |
//! | [`BYPASS_L2`](AllocateFlags::BYPASS_L2) | | MTYPE_UC, from GFX9 on | |
//! | [`BYPASS_INFINITY_CACHE`](AllocateFlags::BYPASS_INFINITY_CACHE) | | NOALLOC | 47 |
//!
//! The memory type determines the width of addresses, encryption and CPU access. A flag that the kernel is too old for is
//! ignored, as in RADV, whereas [`Bo::create`](crate::winsys::Bo::create) refuses it.
//!
//! # Import and export
//!
//! [`MemoryManager::import_fd`] and [`MemoryManager::import_host_pointer`] create device memory from existing memory, and
//! [`DeviceMemory::export`] shares it. The size, placement and flags of an import are those that the kernel reports. A BO that
//! is imported several times is one object and charged once.
//!
//! # Budget and admission
//!
//! One [`UsageTracker`] counts every BO of a device. [`MemoryManager::cached_budgets`] compares it with the usage that the
//! kernel reports, and limits the rate of kernel queries. [`SystemUsage::capped_by`] and [`EffectivePool`] take the host's
//! memory into account. An [`AdmissionPolicy`] reports or refuses allocations that would over-commit a heap, and a
//! [`WorkingSet`] checks before a submission that its memory fits.
//!
//! # Older tables
//!
//! [`Profile`] disables some of these rules, to get the tables of earlier RADV releases.
//!
//! # Source
//!
//! Mesa 26.2 `src/amd/vulkan/radv_physical_device.c`, `radv_physical_device_init_mem_types`, and the tables of RADV 26.2.6 on
//! the chips with recorded answers with fifteen options, which `tests/heaps/golden.rs` compares field by field.

mod budget;
#[cfg(feature = "dump")]
mod dump;
mod error;
mod memory;
mod sparse;
pub mod suballocation;
mod tables;

pub use crate::winsys::{Account, Charge, OwnUsage, SystemUsage, UsageEntry, UsageTracker};

#[cfg(feature = "dump")]
pub use self::dump::DUMP_SCHEMA;
pub use self::{
    budget::{
        AdmissionPolicy, BudgetRule, Budgets, CoarseClock, EffectivePool, HeapBudget, HostMemory, Limit, OverCommit,
        Pool, PoolLimit, Refusal, ResidencyPolicy, Response, UsageReading, WorkingSet,
    },
    error::{
        AllocateMemoryError, CreateManagerError, ExportImageError, ExportMemoryError, FdTypesError, FlushError,
        ImportFault, ImportFdError, ImportHostPointerError, MapPlacedError, MemoryError, SparseQueueError,
        SparseRangeError, UnmapError, UnsupportedHandleType, WorkingSetError,
    },
    memory::{
        AllocateError, AllocateFlags, AllocateInfo, AllocationPlan, DeviceMemory, ExternalBufferProperties,
        ExternalFeatures, ExternalHandleTypes, ImageMetadataError, ImageRequirements, ImportInfo, MemoryManager,
        MemoryPolicy, NON_COHERENT_ATOM, Replay, Resource, SharedImage, WHOLE_SIZE, image_metadata,
    },
    sparse::{Backing, SparseBind, SparseFence, SparsePoint, SparseQueue, SparseRange, SparseSubmission},
    tables::{
        Accounting, Addressing, FactsError, HeapFlags, HeapKind, MAX_HEAPS, MAX_TYPES, MemoryFacts, MemoryHeap,
        MemoryProperties, MemoryPropertyFlags, MemoryType, MemoryUsage, Profile, RawMemoryFacts, TableOptions,
        TypeMask, UnknownPipeConfig, max_alignment,
    },
};
pub use crate::vk_result::VkResult;
