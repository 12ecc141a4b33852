//! Buffer objects and their GPU page-table bindings.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_gem.c`,
//! `amdgpu_object.c` and `amdgpu_vm.c`.

use super::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// GEM_CREATE: a new BO.
    struct GemCreate = "drm_amdgpu_gem_create_in", 32 bytes {
        /// Size in bytes, rounded up to a page by the kernel; 0 is ENOSPC.
        0 bo_size: u64,
        /// Physical alignment in bytes; in VRAM a power-of-two number of pages, below 2 GiB.
        8 alignment: u64,
        /// [`GemDomain`].
        16 domains: u64,
        /// [`GemCreateFlags`].
        24 domain_flags: u64,
    }

    /// Answer to [`GemCreate`].
    struct GemCreateAnswer = "drm_amdgpu_gem_create_out", 8 bytes {
        /// The new handle, lowest free first.
        0 handle: u32,
        /// Zero.
        4 pad: u32 as "_pad",
    }

    /// GEM_MMAP: the offset at which the node's descriptor maps a BO. Zeroed by the kernel before it checks anything.
    struct GemMmap = "drm_amdgpu_gem_mmap_in", 8 bytes {
        /// The BO.
        0 handle: u32,
        /// Ignored.
        4 pad: u32 as "_pad",
    }

    /// Answer to [`GemMmap`].
    struct GemMmapAnswer = "drm_amdgpu_gem_mmap_out", 8 bytes {
        /// Offset for mmap; opaque, page aligned, the same in every file.
        0 addr_ptr: u64,
    }

    /// GEM_METADATA: the tiling word and up to 256 opaque bytes that travel with a BO.
    struct GemMetadata = "drm_amdgpu_gem_metadata", 288 bytes {
        /// The BO.
        0 handle: u32,
        /// [`METADATA_OP_SET`] or [`METADATA_OP_GET`]; anything else does nothing and succeeds.
        4 op: u32,
        /// Opaque flags.
        8 flags: u64 as "data.flags",
        /// The tiling word.
        16 tiling_info: u64 as "data.tiling_info",
        /// Bytes of `data` that count, at most 256.
        24 data_size_bytes: u32 as "data.data_size_bytes",
        /// The opaque data.
        28 data: [u32; 64] as "data.data",
        /// Padding the C compiler inserts.
        284 pad: u32 as "",
    }

    /// GEM_WAIT_IDLE.
    struct GemWaitIdle = "drm_amdgpu_gem_wait_idle_in", 16 bytes {
        /// The BO.
        0 handle: u32,
        /// Ignored.
        4 flags: u32,
        /// Absolute CLOCK_MONOTONIC ns; 0 polls, bit 63 waits for ever.
        8 timeout: u64,
    }

    /// Answer to [`GemWaitIdle`].
    struct GemWaitIdleAnswer = "drm_amdgpu_gem_wait_idle_out", 8 bytes {
        /// 0 idle, 1 still busy at the timeout.
        0 status: u32,
        /// Always 0.
        4 domain: u32,
    }

    /// GEM_VA as Linux 6.12 defines it: binds and unbinds GPU addresses.
    struct GemVa = "drm_amdgpu_gem_va", 40 bytes {
        /// The BO; ignored by CLEAR and with PRT.
        0 handle: u32,
        /// Ignored.
        4 pad: u32 as "_pad",
        /// [`VaOperation`].
        8 operation: u32,
        /// [`VaFlags`].
        12 flags: u32,
        /// GPU address, a multiple of 4096.
        16 va_address: u64,
        /// Offset into the BO in bytes, a multiple of 4096.
        24 offset_in_bo: u64,
        /// Bytes to bind, a multiple of 4096.
        32 map_size: u64,
    }

    /// GEM_VA as kernels after 6.12 define it, with page-table updates on a timeline. Older kernels ignore the tail.
    struct GemVaTimeline = "", 64 bytes {
        /// The BO; ignored by CLEAR and with PRT.
        0 handle: u32,
        /// Ignored.
        4 pad: u32 as "_pad",
        /// [`VaOperation`].
        8 operation: u32,
        /// [`VaFlags`].
        12 flags: u32,
        /// GPU address, a multiple of 4096.
        16 va_address: u64,
        /// Offset into the BO in bytes, a multiple of 4096.
        24 offset_in_bo: u64,
        /// Bytes to bind, a multiple of 4096.
        32 map_size: u64,
        /// Point at which the update's fence is stored.
        40 vm_timeline_point: u64,
        /// Sync object that receives the fence.
        48 vm_timeline_syncobj_out: u32,
        /// Number of input handles.
        52 num_syncobj_handles: u32,
        /// Address of u32 handles to wait for first.
        56 input_fence_syncobj_handles: u64,
    }

    /// GEM_OP.
    struct GemOp = "drm_amdgpu_gem_op", 16 bytes {
        /// The BO.
        0 handle: u32,
        /// [`GEM_OP_GET_CREATE_INFO`] or [`GEM_OP_SET_PLACEMENT`].
        4 op: u32,
        /// Address of a [`GemCreate`] to fill, or the new domains.
        8 value: u64,
    }

    /// GEM_USERPTR: pages of this process as a BO.
    struct GemUserptr = "drm_amdgpu_gem_userptr", 24 bytes {
        /// First byte, page aligned.
        0 addr: u64,
        /// Bytes, a multiple of the page size.
        8 size: u64,
        /// [`UserptrFlags`].
        16 flags: u32,
        /// The new handle.
        20 handle: u32,
    }
}

requests! {
    GemCreate: "AMDGPU_GEM_CREATE" = read_write(DRIVER_BASE), 0xc020_6440;
    GemMmap: "AMDGPU_GEM_MMAP" = read_write(DRIVER_BASE + 0x01), 0xc008_6441;
    GemMetadata: "AMDGPU_GEM_METADATA" = read_write(DRIVER_BASE + 0x06), 0xc120_6446;
    GemWaitIdle: "AMDGPU_GEM_WAIT_IDLE" = read_write(DRIVER_BASE + 0x07), 0xc010_6447;
    GemVa: "AMDGPU_GEM_VA" = write(DRIVER_BASE + 0x08), 0x4028_6448;
    GemVaTimeline: "AMDGPU_GEM_VA" = write(DRIVER_BASE + 0x08), 0x4040_6448;
    GemOp: "AMDGPU_GEM_OP" = read_write(DRIVER_BASE + 0x10), 0xc010_6450;
    GemUserptr: "AMDGPU_GEM_USERPTR" = read_write(DRIVER_BASE + 0x11), 0xc018_6451;
}

answers! {
    GemCreate => GemCreateAnswer;
    GemMmap => GemMmapAnswer;
    GemWaitIdle => GemWaitIdleAnswer;
}

/// [`GemMetadata::op`]: store.
pub const METADATA_OP_SET: u32 = 1;
/// [`GemMetadata::op`]: fetch.
pub const METADATA_OP_GET: u32 = 2;
/// [`GemOp::op`]: write the creation parameters to the address in `value`.
pub const GEM_OP_GET_CREATE_INFO: u32 = 0;
/// [`GemOp::op`]: prefer the domains in `value` from the next validation on.
pub const GEM_OP_SET_PLACEMENT: u32 = 1;

/// Operations of GEM_VA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum VaOperation {
    /// Bind; any overlap is EINVAL.
    Map = 1,
    /// Remove the one binding of this BO that starts at the address; none is ENOENT.
    Unmap = 2,
    /// Remove everything in the range, splitting what sticks out.
    Clear = 3,
    /// Clear, then bind, in one step.
    Replace = 4,
}

bitflags::bitflags! {
    /// Domains in which the kernel may place a BO.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct GemDomain: u64 {
        /// System memory that the GPU cannot reach.
        const CPU = 0x1;
        /// System memory that the GPU can map.
        const GTT = 0x2;
        /// Video memory.
        const VRAM = 0x4;
        /// Global data share.
        const GDS = 0x8;
        /// Global wave sync.
        const GWS = 0x10;
        /// Ordered append.
        const OA = 0x20;
        /// Doorbells of user queues.
        const DOORBELL = 0x40;
    }

    /// Flags of GEM_CREATE.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct GemCreateFlags: u64 {
        /// The CPU will map it: place it in visible VRAM if it goes to VRAM. A hint.
        const CPU_ACCESS_REQUIRED = 1 << 0;
        /// The CPU will never map it; mmap is refused for ever.
        const NO_CPU_ACCESS = 1 << 1;
        /// Write-combined CPU mappings when in GTT.
        const CPU_GTT_USWC = 1 << 2;
        /// Zeroed VRAM; always on since minor 59.
        const VRAM_CLEARED = 1 << 3;
        /// Kernel use only: EINVAL.
        const VRAM_CONTIGUOUS = 1 << 5;
        /// Resident for every submission of this file; never shareable.
        const VM_ALWAYS_VALID = 1 << 6;
        /// No implicit synchronisation.
        const EXPLICIT_SYNC = 1 << 7;
        /// Kernel use only: EINVAL.
        const CP_MQD_GFX9 = 1 << 8;
        /// Kernel use only: EINVAL.
        const VRAM_WIPE_ON_RELEASE = 1 << 9;
        /// TMZ memory; EINVAL where TMZ is off.
        const ENCRYPTED = 1 << 10;
        /// Kernel use only: EINVAL.
        const PREEMPTIBLE = 1 << 11;
        /// Contents may be dropped at eviction (minor 47).
        const DISCARDABLE = 1 << 12;
        /// EINVAL from user space.
        const COHERENT = 1 << 13;
        /// EINVAL from user space.
        const UNCACHED = 1 << 14;
        /// EINVAL from user space.
        const EXT_COHERENT = 1 << 15;
        /// DCC in VRAM (GFX12, minor 58).
        const GFX12_DCC = 1 << 16;
    }

    /// Flags of GEM_VA: access rights, memory type, PRT.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct VaFlags: u32 {
        /// Update the page tables at the next submission.
        const DELAY_UPDATE = 1 << 0;
        /// The GPU may read.
        const READABLE = 1 << 1;
        /// The GPU may write.
        const WRITEABLE = 1 << 2;
        /// Shaders may run from here.
        const EXECUTABLE = 1 << 3;
        /// Partially resident: no BO behind it, reads are zero.
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
        /// The whole memory-type field.
        const MTYPE_MASK = 0xf << 5;
        /// Bypass the infinity cache (minor 47).
        const NOALLOC = 1 << 9;
    }

    /// Flags of GEM_USERPTR.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct UserptrFlags: u32 {
        /// The GPU only reads.
        const READONLY = 1 << 0;
        /// Refuse file-backed memory and ranges of several areas.
        const ANONONLY = 1 << 1;
        /// Look the pages up now instead of at the first submission.
        const VALIDATE = 1 << 2;
        /// Follow changes of the CPU page tables.
        const REGISTER = 1 << 3;
    }
}
