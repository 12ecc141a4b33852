//! BO lists, command submission and fences.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_bo_list.c` and
//! `amdgpu_cs.c`.

use super::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// BO_LIST: creates, updates and destroys BO lists. Also the payload of a BO_HANDLES chunk.
    struct BoList = "drm_amdgpu_bo_list_in", 24 bytes {
        /// The operation: a constant of [`bo_list_op`]; ignored in a chunk.
        0 operation: u32,
        /// The list for DESTROY and UPDATE; ignored in a chunk.
        4 list_handle: u32,
        /// Number of entries, at most 131072.
        8 bo_number: u32,
        /// Stride of the entries in bytes: the size of [`BoListEntry`].
        12 bo_info_size: u32,
        /// Address of the entries.
        16 bo_info_ptr: u64,
    }

    /// An entry of a BO list.
    struct BoListEntry = "drm_amdgpu_bo_list_entry", 8 bytes {
        /// GEM handle of the BO.
        0 bo_handle: u32,
        /// Validation priority, 0 to 32; BOs with a higher priority stay resident longer.
        4 bo_priority: u32,
    }

    /// The answer to [`BoList`].
    struct BoListAnswer = "drm_amdgpu_bo_list_out", 8 bytes {
        /// Handle of the list.
        0 list_handle: u32,
        /// Always 0.
        4 pad: u32 as "_pad",
    }

    /// CS: submits command buffers.
    struct Cs = "drm_amdgpu_cs_in", 24 bytes {
        /// ID of the context.
        0 ctx_id: u32,
        /// Handle of a BO list; 0 for none.
        4 bo_list_handle: u32,
        /// Number of chunks.
        8 num_chunks: u32,
        /// Ignored.
        12 flags: u32,
        /// Address of an array of u64 addresses of [`CsChunk`]s.
        16 chunks: u64,
    }

    /// The answer to [`Cs`].
    struct CsAnswer = "drm_amdgpu_cs_out", 8 bytes {
        /// Sequence number of the submission on the queue of its last IB, counted from 1.
        0 handle: u64,
    }

    /// The header of a chunk.
    struct CsChunk = "drm_amdgpu_cs_chunk", 16 bytes {
        /// The kind of chunk: a constant of [`chunk_id`].
        0 chunk_id: u32,
        /// Length of the payload in dwords.
        4 length_dw: u32,
        /// Address of the payload.
        8 chunk_data: u64,
    }

    /// The payload of an IB chunk.
    struct CsChunkIb = "drm_amdgpu_cs_chunk_ib", 32 bytes {
        /// Ignored.
        0 pad: u32 as "_pad",
        /// The flags of the IB, [`IbFlags`].
        4 flags: u32,
        /// GPU address of the first dword.
        8 va_start: u64,
        /// Length of the IB in bytes.
        16 ib_bytes: u32,
        /// The IP that executes the IB: a constant `AMDGPU_HW_IP_*`.
        20 ip_type: u32,
        /// Must be 0.
        24 ip_instance: u32,
        /// Index of the context's queue on that IP.
        28 ring: u32,
    }

    /// An element of a DEPENDENCIES or SCHEDULED_DEPENDENCIES chunk.
    struct CsChunkDep = "drm_amdgpu_cs_chunk_dep", 24 bytes {
        /// The IP of the queue: a constant `AMDGPU_HW_IP_*`.
        0 ip_type: u32,
        /// Must be 0.
        4 ip_instance: u32,
        /// Index of the context's queue on that IP.
        8 ring: u32,
        /// ID of the context that the queue belongs to.
        12 ctx_id: u32,
        /// Sequence number of the submission; all bits set for the latest.
        16 handle: u64,
    }

    /// The payload of a FENCE chunk: the location to which the GPU writes the sequence number.
    struct CsChunkFence = "drm_amdgpu_cs_chunk_fence", 8 bytes {
        /// GEM handle of a BO of exactly one page.
        0 handle: u32,
        /// Offset in bytes, at most 4088.
        4 offset: u32,
    }

    /// An element of a SYNCOBJ_IN or SYNCOBJ_OUT chunk.
    struct CsChunkSem = "drm_amdgpu_cs_chunk_sem", 4 bytes {
        /// Handle of the sync object.
        0 handle: u32,
    }

    /// An element of a SYNCOBJ_TIMELINE_WAIT or SYNCOBJ_TIMELINE_SIGNAL chunk.
    struct CsChunkSyncobj = "drm_amdgpu_cs_chunk_syncobj", 16 bytes {
        /// Handle of the sync object.
        0 handle: u32,
        /// For waits WAIT_FOR_SUBMIT or 0; ignored for signals.
        4 flags: u32,
        /// The timeline point; 0 for a binary sync object.
        8 point: u64,
    }

    /// The payload of a CP_GFX_SHADOW chunk.
    struct CsChunkCpGfxShadow = "drm_amdgpu_cs_chunk_cp_gfx_shadow", 32 bytes {
        /// GPU address of the shadow area.
        0 shadow_va: u64,
        /// GPU address of the context save area.
        8 csa_va: u64,
        /// GPU address of the GDS backup.
        16 gds_va: u64,
        /// Options of shadowing: [`CP_GFX_SHADOW_INIT`] or 0.
        24 flags: u64,
    }

    /// A fence, named by a sequence number on a queue.
    struct CsFence = "drm_amdgpu_fence", 24 bytes {
        /// ID of the context that the queue belongs to.
        0 ctx_id: u32,
        /// The IP of the queue: a constant `AMDGPU_HW_IP_*`.
        4 ip_type: u32,
        /// Must be 0.
        8 ip_instance: u32,
        /// Index of the context's queue on that IP.
        12 ring: u32,
        /// Sequence number; 0 is always signalled, all bits set for the latest.
        16 seq_no: u64,
    }

    /// WAIT_CS: waits for a submission.
    struct WaitCs = "drm_amdgpu_wait_cs_in", 32 bytes {
        /// Sequence number; 0 is always signalled, all bits set for the latest.
        0 handle: u64,
        /// Deadline in ns of CLOCK_MONOTONIC; 0 polls, bit 63 waits without limit.
        8 timeout: u64,
        /// The IP of the queue: a constant `AMDGPU_HW_IP_*`.
        16 ip_type: u32,
        /// Must be 0.
        20 ip_instance: u32,
        /// Index of the context's queue on that IP.
        24 ring: u32,
        /// ID of the context that the queue belongs to.
        28 ctx_id: u32,
    }

    /// The answer to [`WaitCs`].
    struct WaitCsAnswer = "drm_amdgpu_wait_cs_out", 8 bytes {
        /// 0 if the submission has completed, 1 if it is still busy at the deadline.
        0 status: u64,
    }

    /// WAIT_FENCES: waits for one or all of several submissions.
    struct WaitFences = "drm_amdgpu_wait_fences_in", 24 bytes {
        /// Address of the [`CsFence`]s.
        0 fences: u64,
        /// Number of fences.
        8 fence_count: u32,
        /// Non-zero to wait for all fences, zero to wait for any.
        12 wait_all: u32,
        /// Deadline in ns of CLOCK_MONOTONIC; 0 polls, bit 63 waits without limit.
        16 timeout_ns: u64,
    }

    /// The answer to [`WaitFences`].
    struct WaitFencesAnswer = "drm_amdgpu_wait_fences_out", 8 bytes {
        /// 1 if the condition was met, 0 at the deadline: the opposite of [`WaitCsAnswer`].
        0 status: u32,
        /// Index of a signalled fence, when waiting for any.
        4 first_signaled: u32,
    }

    /// FENCE_TO_HANDLE: exports a fence as a sync object or sync file.
    struct FenceToHandle = "", 32 bytes {
        /// The fence to export.
        0 fence: CsFence,
        /// The kind of handle: [`FENCE_TO_SYNCOBJ`], [`FENCE_TO_SYNCOBJ_FD`] or [`FENCE_TO_SYNC_FILE_FD`].
        24 what: u32,
        /// Ignored.
        28 pad: u32,
    }

    /// The answer to [`FenceToHandle`].
    struct FenceToHandleAnswer = "", 4 bytes {
        /// The sync object handle or the file descriptor, depending on [`FenceToHandle::what`].
        0 handle: u32,
    }
}

requests! {
    BoList: "AMDGPU_BO_LIST" = read_write(DRIVER_BASE + 0x03), 0xc018_6443, create with addresses;
    Cs: "AMDGPU_CS" = read_write(DRIVER_BASE + 0x04), 0xc018_6444, submit with addresses;
    WaitCs: "AMDGPU_WAIT_CS" = read_write(DRIVER_BASE + 0x09), 0xc020_6449, wait;
    WaitFences: "AMDGPU_WAIT_FENCES" = read_write(DRIVER_BASE + 0x12), 0xc018_6452, wait with addresses;
    FenceToHandle: "AMDGPU_FENCE_TO_HANDLE" = read_write(DRIVER_BASE + 0x14), 0xc020_6454, share;
}

answers! {
    BoList => BoListAnswer;
    Cs => CsAnswer;
    WaitCs => WaitCsAnswer;
    WaitFences => WaitFencesAnswer;
    FenceToHandle => FenceToHandleAnswer;
}

/// A value of [`FenceToHandle::what`] that creates a sync object and returns its handle.
pub const FENCE_TO_SYNCOBJ: u32 = 0;
/// A value of [`FenceToHandle::what`] that creates a sync object and returns a descriptor that shares it.
pub const FENCE_TO_SYNCOBJ_FD: u32 = 1;
/// A value of [`FenceToHandle::what`] that returns the descriptor of a sync file.
pub const FENCE_TO_SYNC_FILE_FD: u32 = 2;

/// The operations of BO_LIST.
pub mod bo_list_op {
    /// Creates a list.
    pub const CREATE: u32 = 0;
    /// Destroys a list. Always succeeds.
    pub const DESTROY: u32 = 1;
    /// Replaces the entries of a list.
    pub const UPDATE: u32 = 2;
}

/// The identifiers of chunks.
pub mod chunk_id {
    /// An IB to execute: a [`CsChunkIb`](super::CsChunkIb).
    pub const IB: u32 = 0x01;
    /// A user fence: a [`CsChunkFence`](super::CsChunkFence).
    pub const FENCE: u32 = 0x02;
    /// Fences to wait for: [`CsChunkDep`](super::CsChunkDep)s.
    pub const DEPENDENCIES: u32 = 0x03;
    /// Binary sync objects to wait for: [`CsChunkSem`](super::CsChunkSem)s.
    pub const SYNCOBJ_IN: u32 = 0x04;
    /// Binary sync objects to signal: [`CsChunkSem`](super::CsChunkSem)s.
    pub const SYNCOBJ_OUT: u32 = 0x05;
    /// A BO list: a [`BoList`](super::BoList).
    pub const BO_HANDLES: u32 = 0x06;
    /// Fences of jobs that must have started: [`CsChunkDep`](super::CsChunkDep)s.
    pub const SCHEDULED_DEPENDENCIES: u32 = 0x07;
    /// Timeline points to wait for: [`CsChunkSyncobj`](super::CsChunkSyncobj)s.
    pub const SYNCOBJ_TIMELINE_WAIT: u32 = 0x08;
    /// Timeline points to signal: [`CsChunkSyncobj`](super::CsChunkSyncobj)s.
    pub const SYNCOBJ_TIMELINE_SIGNAL: u32 = 0x09;
    /// The memory for register shadowing: a [`CsChunkCpGfxShadow`](super::CsChunkCpGfxShadow).
    pub const CP_GFX_SHADOW: u32 = 0x0a;
}

/// [`CsChunkCpGfxShadow::flags`]: the firmware initializes the shadow area
/// (`AMDGPU_CS_CHUNK_CP_GFX_SHADOW_FLAGS_INIT_SHADOW`).
pub const CP_GFX_SHADOW_INIT: u64 = 0x1;

/// The maximum number of entries of a BO list (`AMDGPU_BO_LIST_MAX_ENTRIES`).
pub const BO_LIST_MAX_ENTRIES: u32 = 131_072;

bitflags::bitflags! {
    /// The flags of an IB.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct IbFlags: u32 {
        /// The IB is for the constant engine.
        const CE = 1 << 0;
        /// The IB sets up state before the main IB.
        const PREAMBLE = 1 << 1;
        /// The IB may be preempted.
        const PREEMPT = 1 << 2;
        /// Writes back L2 without invalidating it.
        const TC_WB_NOT_INVALIDATE = 1 << 3;
        /// Resets GDS_COMPUTE_MAX_WAVE_ID.
        const RESET_GDS_MAX_WAVE_ID = 1 << 4;
        /// The IB reads and writes TMZ memory.
        const SECURE = 1 << 5;
        /// Flushes memory caches before the IB.
        const EMIT_MEM_SYNC = 1 << 6;
    }
}
