//! Buffer objects and their GPU page-table bindings.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_gem.c`,
//! `amdgpu_object.c` and `amdgpu_vm.c`.

use super::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// GEM_CREATE: allocates a BO.
    struct GemCreate = "drm_amdgpu_gem_create_in", 32 bytes {
        /// Size in bytes, which the kernel rounds up to pages; ENOSPC if it is 0.
        0 bo_size: u64,
        /// Physical alignment in bytes; in VRAM a power-of-two number of pages, below 2 GiB.
        8 alignment: u64,
        /// The allowed domains, a [`GemDomain`].
        16 domains: u64,
        /// The creation flags, [`GemCreateFlags`].
        24 domain_flags: u64,
    }

    /// The answer to [`GemCreate`].
    struct GemCreateAnswer = "drm_amdgpu_gem_create_out", 8 bytes {
        /// GEM handle of the new BO: the lowest free handle of the file.
        0 handle: u32,
        /// Always 0.
        4 pad: u32 as "_pad",
    }

    /// GEM_MMAP: queries the offset at which a BO can be mapped. The kernel zeroes the argument before it checks anything.
    struct GemMmap = "drm_amdgpu_gem_mmap_in", 8 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// Ignored.
        4 pad: u32 as "_pad",
    }

    /// The answer to [`GemMmap`].
    struct GemMmapAnswer = "drm_amdgpu_gem_mmap_out", 8 bytes {
        /// The offset for mmap: opaque, page-aligned, and the same in every file.
        0 addr_ptr: u64,
    }

    /// GEM_METADATA: reads or writes a BO's tiling flags and up to 256 opaque bytes.
    struct GemMetadata = "drm_amdgpu_gem_metadata", 288 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// [`METADATA_OP_SET`] or [`METADATA_OP_GET`]; other values succeed without effect.
        4 op: u32,
        /// Flags that the kernel does not interpret.
        8 flags: u64 as "data.flags",
        /// The tiling flags, whose layout depends on the generation.
        16 tiling_info: u64 as "data.tiling_info",
        /// The number of valid bytes in `data`, at most 256.
        24 data_size_bytes: u32 as "data.data_size_bytes",
        /// The opaque data, which the kernel does not interpret.
        28 data: [u32; 64] as "data.data",
        /// Padding that the C compiler inserts.
        284 pad: u32 as "",
    }

    /// GEM_WAIT_IDLE: waits until a BO is idle.
    struct GemWaitIdle = "drm_amdgpu_gem_wait_idle_in", 16 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// Ignored.
        4 flags: u32,
        /// Deadline in ns of CLOCK_MONOTONIC; 0 polls, bit 63 waits without limit.
        8 timeout: u64,
    }

    /// The answer to [`GemWaitIdle`].
    struct GemWaitIdleAnswer = "drm_amdgpu_gem_wait_idle_out", 8 bytes {
        /// 0 if the BO is idle, 1 if it is still busy at the deadline.
        0 status: u32,
        /// Always 0.
        4 domain: u32,
    }

    /// GEM_VA as of Linux 6.12: maps and unmaps GPU addresses.
    struct GemVa = "drm_amdgpu_gem_va", 40 bytes {
        /// GEM handle of the BO; ignored by CLEAR and with PRT.
        0 handle: u32,
        /// Ignored.
        4 pad: u32 as "_pad",
        /// The operation, a [`VaOperation`].
        8 operation: u32,
        /// The mapping flags, [`VaFlags`].
        12 flags: u32,
        /// GPU address, a multiple of 4096.
        16 va_address: u64,
        /// Offset into the BO in bytes, a multiple of 4096.
        24 offset_in_bo: u64,
        /// Number of bytes to map, a multiple of 4096.
        32 map_size: u64,
    }

    /// GEM_VA of kernels after 6.12, which can signal page table updates on a timeline. Older kernels ignore the additional fields.
    struct GemVaTimeline = "", 64 bytes {
        /// GEM handle of the BO; ignored by CLEAR and with PRT.
        0 handle: u32,
        /// Ignored.
        4 pad: u32 as "_pad",
        /// The operation, a [`VaOperation`].
        8 operation: u32,
        /// The mapping flags, [`VaFlags`].
        12 flags: u32,
        /// GPU address, a multiple of 4096.
        16 va_address: u64,
        /// Offset into the BO in bytes, a multiple of 4096.
        24 offset_in_bo: u64,
        /// Number of bytes to map, a multiple of 4096.
        32 map_size: u64,
        /// The timeline point that receives the fence of the update.
        40 vm_timeline_point: u64,
        /// The sync object that receives the fence of the update.
        48 vm_timeline_syncobj_out: u32,
        /// Number of handles to wait for.
        52 num_syncobj_handles: u32,
        /// Address of the u32 handles of sync objects that the update waits for.
        56 input_fence_syncobj_handles: u64,
    }

    /// GEM_OP: reads a BO's creation parameters, or changes its domains.
    struct GemOp = "drm_amdgpu_gem_op", 16 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// The operation: [`GEM_OP_GET_CREATE_INFO`] or [`GEM_OP_SET_PLACEMENT`].
        4 op: u32,
        /// Address of a [`GemCreate`] to fill in, or the new domains.
        8 value: u64,
    }

    /// GEM_OP of Linux 6.18 and later, which can also list the bindings of a BO. Older kernels ignore the additional fields.
    struct GemOpWithEntries = "", 24 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// The operation: one of [`GemOp`], or [`GEM_OP_GET_MAPPING_INFO`].
        4 op: u32,
        /// As in [`GemOp`], or the address of an array of [`GemVmEntry`].
        8 value: u64,
        /// The number of entries that the array has room for; the answer is the number of bindings.
        16 num_entries: u32,
        /// Must be 0.
        20 padding: u32,
    }

    /// A binding of a BO, as GET_MAPPING_INFO of GEM_OP lists it.
    struct GemVmEntry = "", 32 bytes {
        /// The first address, with 48 bits.
        0 addr: u64,
        /// The size in bytes.
        8 size: u64,
        /// The first byte of the BO.
        16 offset: u64,
        /// The mapping flags, [`VaFlags`].
        24 flags: u64,
    }

    /// GEM_LIST_HANDLES: lists the handles of the file (Linux 6.18).
    struct GemListHandles = "", 16 bytes {
        /// Address of an array of [`GemListHandlesEntry`].
        0 entries: u64,
        /// The number of entries that the array has room for; the answer is the number of handles.
        8 num_entries: u32,
        /// Ignored.
        12 padding: u32,
    }

    /// A handle, as GEM_LIST_HANDLES lists it.
    struct GemListHandlesEntry = "", 40 bytes {
        /// The handle.
        0 gem_handle: u32,
        /// [`LIST_HANDLES_IS_IMPORT`] or 0.
        4 flags: u32,
        /// The BO's size in bytes.
        8 size: u64,
        /// The preferred domains, a [`GemDomain`].
        16 preferred_domains: u64,
        /// The creation flags that user space can set, [`GemCreateFlags`].
        24 alloc_flags: u64,
        /// The alignment in bytes.
        32 alignment: u64,
    }

    /// GEM_USERPTR: creates a BO from pages of this process.
    struct GemUserptr = "drm_amdgpu_gem_userptr", 24 bytes {
        /// Address of the first byte, page-aligned.
        0 addr: u64,
        /// Size in bytes, a multiple of the page size.
        8 size: u64,
        /// The flags, [`UserptrFlags`].
        16 flags: u32,
        /// GEM handle of the new BO.
        20 handle: u32,
    }
}

requests! {
    GemCreate: "AMDGPU_GEM_CREATE" = read_write(DRIVER_BASE), 0xc020_6440, create;
    GemMmap: "AMDGPU_GEM_MMAP" = read_write(DRIVER_BASE + 0x01), 0xc008_6441, bind;
    GemMetadata: "AMDGPU_GEM_METADATA" = read_write(DRIVER_BASE + 0x06), 0xc120_6446, change;
    GemWaitIdle: "AMDGPU_GEM_WAIT_IDLE" = read_write(DRIVER_BASE + 0x07), 0xc010_6447, wait;
    GemVa: "AMDGPU_GEM_VA" = write(DRIVER_BASE + 0x08), 0x4028_6448, bind;
    GemVaTimeline: "AMDGPU_GEM_VA" = write(DRIVER_BASE + 0x08), 0x4040_6448, bind with addresses;
    GemOp: "AMDGPU_GEM_OP" = read_write(DRIVER_BASE + 0x10), 0xc010_6450, change with addresses;
    GemOpWithEntries: "AMDGPU_GEM_OP" = read_write(DRIVER_BASE + 0x10), 0xc018_6450, change with addresses;
    GemListHandles: "AMDGPU_GEM_LIST_HANDLES" = read_write(DRIVER_BASE + 0x19), 0xc010_6459, query with addresses;
    GemUserptr: "AMDGPU_GEM_USERPTR" = read_write(DRIVER_BASE + 0x11), 0xc018_6451, create with addresses;
}

answers! {
    GemCreate => GemCreateAnswer;
    GemMmap => GemMmapAnswer;
    GemWaitIdle => GemWaitIdleAnswer;
}

/// A value of [`GemMetadata::op`] that stores metadata.
pub const METADATA_OP_SET: u32 = 1;
/// A value of [`GemMetadata::op`] that reads metadata.
pub const METADATA_OP_GET: u32 = 2;
/// A value of [`GemOp::op`] that writes the creation parameters to the address in `value`.
pub const GEM_OP_GET_CREATE_INFO: u32 = 0;
/// A value of [`GemOp::op`] that makes the kernel prefer the domains in `value` when it next validates the BO.
pub const GEM_OP_SET_PLACEMENT: u32 = 1;
/// A value of [`GemOpWithEntries::op`] that lists the bindings of the BO in this file's address space (Linux 6.18).
pub const GEM_OP_GET_MAPPING_INFO: u32 = 2;
/// A flag of [`GemListHandlesEntry::flags`]: the BO comes from another device.
pub const LIST_HANDLES_IS_IMPORT: u32 = 1;

/// The operations of GEM_VA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum VaOperation {
    /// Maps a range; EINVAL if it overlaps an existing mapping.
    Map = 1,
    /// Removes the mapping of this BO that starts at the address; ENOENT if there is none.
    Unmap = 2,
    /// Removes all mappings in the range, splitting mappings that extend beyond it.
    Clear = 3,
    /// Clears the range, then maps it, in one step.
    Replace = 4,
}

bitflags::bitflags! {
    /// Domains in which the kernel may place a BO.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct GemDomain: u64 {
        /// System memory that the GPU cannot access.
        const CPU = 0x1;
        /// System memory that the GPU can map.
        const GTT = 0x2;
        /// Video memory (VRAM).
        const VRAM = 0x4;
        /// Global data share (GDS).
        const GDS = 0x8;
        /// Global wave sync (GWS).
        const GWS = 0x10;
        /// Ordered append (OA).
        const OA = 0x20;
        /// Doorbells of user queues.
        const DOORBELL = 0x40;
    }

    /// The flags of GEM_CREATE.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct GemCreateFlags: u64 {
        /// Prefers host-visible VRAM if the BO is placed in VRAM, because the CPU will map it.
        const CPU_ACCESS_REQUIRED = 1 << 0;
        /// The CPU will never map the BO. mmap is always refused.
        const NO_CPU_ACCESS = 1 << 1;
        /// Makes CPU mappings write-combined while the BO is in GTT.
        const CPU_GTT_USWC = 1 << 2;
        /// Zeroes VRAM. Always in effect since minor 59.
        const VRAM_CLEARED = 1 << 3;
        /// For the kernel only; EINVAL from user space.
        const VRAM_CONTIGUOUS = 1 << 5;
        /// Makes the BO resident for every submission of this file. The BO cannot be shared.
        const VM_ALWAYS_VALID = 1 << 6;
        /// Disables implicit synchronization.
        const EXPLICIT_SYNC = 1 << 7;
        /// For the kernel only; EINVAL from user space.
        const CP_MQD_GFX9 = 1 << 8;
        /// Wipes VRAM when it is freed, as the kernel always does. EINVAL from user space before Linux 7.2.
        const VRAM_WIPE_ON_RELEASE = 1 << 9;
        /// Allocates TMZ (encrypted) memory; EINVAL if TMZ is disabled.
        const ENCRYPTED = 1 << 10;
        /// For the kernel only; EINVAL from user space.
        const PREEMPTIBLE = 1 << 11;
        /// Allows the kernel to drop the contents at eviction (minor 47).
        const DISCARDABLE = 1 << 12;
        /// Coherent with the CPU's caches. EINVAL from user space before Linux 7.2.
        const COHERENT = 1 << 13;
        /// Not cached. EINVAL from user space before Linux 7.2.
        const UNCACHED = 1 << 14;
        /// Coherent with the caches of other GPUs. EINVAL from user space before Linux 7.2.
        const EXT_COHERENT = 1 << 15;
        /// Enables DCC in VRAM (GFX12, minor 58).
        const GFX12_DCC = 1 << 16;
    }

    /// The flags of GEM_VA: access rights, memory type, PRT.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct VaFlags: u32 {
        /// Delays the update of the page tables until the next submission.
        const DELAY_UPDATE = 1 << 0;
        /// Allows reads by the GPU.
        const READABLE = 1 << 1;
        /// Allows writes by the GPU.
        const WRITEABLE = 1 << 2;
        /// Allows the execution of shaders in the range.
        const EXECUTABLE = 1 << 3;
        /// Maps a partially resident range without a BO, which reads as zero.
        const PRT = 1 << 4;
        /// Memory type NC: non-coherently cached.
        const MTYPE_NC = 1 << 5;
        /// Memory type WC: write-combined.
        const MTYPE_WC = 2 << 5;
        /// Memory type CC: coherently cached.
        const MTYPE_CC = 3 << 5;
        /// Memory type UC: uncached in L2.
        const MTYPE_UC = 4 << 5;
        /// Memory type RW: read-write cached.
        const MTYPE_RW = 5 << 5;
        /// The mask of the memory type field.
        const MTYPE_MASK = 0xf << 5;
        /// Bypasses the infinity cache (minor 47).
        const NOALLOC = 1 << 9;
    }

    /// The flags of GEM_USERPTR.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct UserptrFlags: u32 {
        /// Restricts the GPU to reads.
        const READONLY = 1 << 0;
        /// Refuses file-backed memory, and ranges of several memory areas.
        const ANONONLY = 1 << 1;
        /// Looks up the pages now instead of at the first submission.
        const VALIDATE = 1 << 2;
        /// Tracks changes of the CPU page tables.
        const REGISTER = 1 << 3;
    }
}
