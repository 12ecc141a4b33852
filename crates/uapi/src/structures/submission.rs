//! BO lists, command submission and fences.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_bo_list.c` and
//! `amdgpu_cs.c`.

use super::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// BO_LIST, and the payload of a BO_HANDLES chunk.
    struct BoList = "drm_amdgpu_bo_list_in", 24 bytes {
        /// One of [`bo_list_op`]; ignored in a chunk.
        0 operation: u32,
        /// The list, for DESTROY and UPDATE; ignored in a chunk.
        4 list_handle: u32,
        /// Number of entries, at most 131072.
        8 bo_number: u32,
        /// Stride of the entries in bytes: the size of [`BoListEntry`].
        12 bo_info_size: u32,
        /// Address of the entries.
        16 bo_info_ptr: u64,
    }

    /// One BO of a list.
    struct BoListEntry = "drm_amdgpu_bo_list_entry", 8 bytes {
        /// The BO.
        0 bo_handle: u32,
        /// Validation order, 0..=32; higher stays resident longer.
        4 bo_priority: u32,
    }

    /// Answer to [`BoList`].
    struct BoListAnswer = "drm_amdgpu_bo_list_out", 8 bytes {
        /// The list.
        0 list_handle: u32,
        /// Zero.
        4 pad: u32 as "_pad",
    }

    /// CS: one submission.
    struct Cs = "drm_amdgpu_cs_in", 24 bytes {
        /// The context.
        0 ctx_id: u32,
        /// A BO list, or 0.
        4 bo_list_handle: u32,
        /// Number of chunks.
        8 num_chunks: u32,
        /// Ignored.
        12 flags: u32,
        /// Address of an array of u64, each the address of a [`CsChunk`].
        16 chunks: u64,
    }

    /// Answer to [`Cs`].
    struct CsAnswer = "drm_amdgpu_cs_out", 8 bytes {
        /// Sequence number on the entity of the last IB, from 1.
        0 handle: u64,
    }

    /// Header of a chunk.
    struct CsChunk = "drm_amdgpu_cs_chunk", 16 bytes {
        /// One of [`chunk_id`].
        0 chunk_id: u32,
        /// Length of the payload in dwords.
        4 length_dw: u32,
        /// Address of the payload.
        8 chunk_data: u64,
    }

    /// Payload of an IB chunk.
    struct CsChunkIb = "drm_amdgpu_cs_chunk_ib", 32 bytes {
        /// Ignored.
        0 pad: u32 as "_pad",
        /// [`IbFlags`].
        4 flags: u32,
        /// GPU address of the first dword.
        8 va_start: u64,
        /// Length in bytes.
        16 ib_bytes: u32,
        /// `AMDGPU_HW_IP_*`.
        20 ip_type: u32,
        /// Must be 0.
        24 ip_instance: u32,
        /// Queue index of the context on that IP.
        28 ring: u32,
    }

    /// Element of a DEPENDENCIES or SCHEDULED_DEPENDENCIES chunk.
    struct CsChunkDep = "drm_amdgpu_cs_chunk_dep", 24 bytes {
        /// `AMDGPU_HW_IP_*`.
        0 ip_type: u32,
        /// Must be 0.
        4 ip_instance: u32,
        /// Queue index.
        8 ring: u32,
        /// Context.
        12 ctx_id: u32,
        /// Sequence number; all ones is the latest.
        16 handle: u64,
    }

    /// Payload of a FENCE chunk: where the GPU writes the sequence number.
    struct CsChunkFence = "drm_amdgpu_cs_chunk_fence", 8 bytes {
        /// A BO of exactly one page.
        0 handle: u32,
        /// Byte offset, at most 4088.
        4 offset: u32,
    }

    /// Element of a SYNCOBJ_IN or SYNCOBJ_OUT chunk.
    struct CsChunkSem = "drm_amdgpu_cs_chunk_sem", 4 bytes {
        /// The sync object.
        0 handle: u32,
    }

    /// Element of a SYNCOBJ_TIMELINE_WAIT or SYNCOBJ_TIMELINE_SIGNAL chunk.
    struct CsChunkSyncobj = "drm_amdgpu_cs_chunk_syncobj", 16 bytes {
        /// The sync object.
        0 handle: u32,
        /// Waits: WAIT_FOR_SUBMIT or 0. Signals: ignored.
        4 flags: u32,
        /// The point; 0 for binary use.
        8 point: u64,
    }

    /// Payload of a CP_GFX_SHADOW chunk.
    struct CsChunkCpGfxShadow = "drm_amdgpu_cs_chunk_cp_gfx_shadow", 32 bytes {
        /// GPU address of the shadow area.
        0 shadow_va: u64,
        /// GPU address of the context save area.
        8 csa_va: u64,
        /// GPU address of the GDS backup.
        16 gds_va: u64,
        /// Bit 0: initialise the shadow.
        24 flags: u64,
    }

    /// A fence by number: a point on a queue.
    struct CsFence = "drm_amdgpu_fence", 24 bytes {
        /// Context.
        0 ctx_id: u32,
        /// `AMDGPU_HW_IP_*`.
        4 ip_type: u32,
        /// Must be 0.
        8 ip_instance: u32,
        /// Queue index.
        12 ring: u32,
        /// Sequence number; 0 has passed, all ones is the latest.
        16 seq_no: u64,
    }

    /// WAIT_CS.
    struct WaitCs = "drm_amdgpu_wait_cs_in", 32 bytes {
        /// Sequence number; 0 has passed, all ones is the latest.
        0 handle: u64,
        /// Absolute CLOCK_MONOTONIC ns; 0 polls, bit 63 waits for ever.
        8 timeout: u64,
        /// `AMDGPU_HW_IP_*`.
        16 ip_type: u32,
        /// Must be 0.
        20 ip_instance: u32,
        /// Queue index.
        24 ring: u32,
        /// Context.
        28 ctx_id: u32,
    }

    /// Answer to [`WaitCs`].
    struct WaitCsAnswer = "drm_amdgpu_wait_cs_out", 8 bytes {
        /// 0 done, 1 busy.
        0 status: u64,
    }

    /// WAIT_FENCES.
    struct WaitFences = "drm_amdgpu_wait_fences_in", 24 bytes {
        /// Address of [`CsFence`]s.
        0 fences: u64,
        /// Their number.
        8 fence_count: u32,
        /// Non-zero waits for all, zero for any.
        12 wait_all: u32,
        /// Absolute CLOCK_MONOTONIC ns; 0 polls, bit 63 waits for ever.
        16 timeout_ns: u64,
    }

    /// Answer to [`WaitFences`].
    struct WaitFencesAnswer = "drm_amdgpu_wait_fences_out", 8 bytes {
        /// 1 when the condition was met, 0 at the timeout: the opposite of [`WaitCsAnswer`].
        0 status: u32,
        /// Index of a signalled fence when waiting for any.
        4 first_signaled: u32,
    }

    /// FENCE_TO_HANDLE.
    struct FenceToHandle = "", 32 bytes {
        /// The fence.
        0 fence: CsFence,
        /// [`FENCE_TO_SYNCOBJ`], [`FENCE_TO_SYNCOBJ_FD`] or [`FENCE_TO_SYNC_FILE_FD`].
        24 what: u32,
        /// Ignored.
        28 pad: u32,
    }

    /// Answer to [`FenceToHandle`].
    struct FenceToHandleAnswer = "", 4 bytes {
        /// A handle or a descriptor.
        0 handle: u32,
    }
}

requests! {
    BoList: "AMDGPU_BO_LIST" = read_write(DRIVER_BASE + 0x03), 0xc018_6443;
    Cs: "AMDGPU_CS" = read_write(DRIVER_BASE + 0x04), 0xc018_6444;
    WaitCs: "AMDGPU_WAIT_CS" = read_write(DRIVER_BASE + 0x09), 0xc020_6449;
    WaitFences: "AMDGPU_WAIT_FENCES" = read_write(DRIVER_BASE + 0x12), 0xc018_6452;
    FenceToHandle: "AMDGPU_FENCE_TO_HANDLE" = read_write(DRIVER_BASE + 0x14), 0xc020_6454;
}

answers! {
    BoList => BoListAnswer;
    Cs => CsAnswer;
    WaitCs => WaitCsAnswer;
    WaitFences => WaitFencesAnswer;
    FenceToHandle => FenceToHandleAnswer;
}

/// [`FenceToHandle::what`]: a new sync object's handle.
pub const FENCE_TO_SYNCOBJ: u32 = 0;
/// [`FenceToHandle::what`]: a descriptor that shares a new sync object.
pub const FENCE_TO_SYNCOBJ_FD: u32 = 1;
/// [`FenceToHandle::what`]: a sync file's descriptor.
pub const FENCE_TO_SYNC_FILE_FD: u32 = 2;

/// Operations of BO_LIST.
pub mod bo_list_op {
    /// A new list.
    pub const CREATE: u32 = 0;
    /// Forget a list; always succeeds.
    pub const DESTROY: u32 = 1;
    /// Replace the entries of a list.
    pub const UPDATE: u32 = 2;
}

/// Identifiers of chunks.
pub mod chunk_id {
    /// [`CsChunkIb`](super::CsChunkIb).
    pub const IB: u32 = 0x01;
    /// [`CsChunkFence`](super::CsChunkFence).
    pub const FENCE: u32 = 0x02;
    /// [`CsChunkDep`](super::CsChunkDep)s to wait for.
    pub const DEPENDENCIES: u32 = 0x03;
    /// [`CsChunkSem`](super::CsChunkSem)s to wait for.
    pub const SYNCOBJ_IN: u32 = 0x04;
    /// [`CsChunkSem`](super::CsChunkSem)s to signal.
    pub const SYNCOBJ_OUT: u32 = 0x05;
    /// [`BoList`](super::BoList).
    pub const BO_HANDLES: u32 = 0x06;
    /// [`CsChunkDep`](super::CsChunkDep)s whose start is waited for.
    pub const SCHEDULED_DEPENDENCIES: u32 = 0x07;
    /// [`CsChunkSyncobj`](super::CsChunkSyncobj)s to wait for.
    pub const SYNCOBJ_TIMELINE_WAIT: u32 = 0x08;
    /// [`CsChunkSyncobj`](super::CsChunkSyncobj)s to signal.
    pub const SYNCOBJ_TIMELINE_SIGNAL: u32 = 0x09;
    /// [`CsChunkCpGfxShadow`](super::CsChunkCpGfxShadow).
    pub const CP_GFX_SHADOW: u32 = 0x0a;
}

/// The most entries a BO list may have (`AMDGPU_BO_LIST_MAX_ENTRIES`).
pub const BO_LIST_MAX_ENTRIES: u32 = 131_072;

bitflags::bitflags! {
    /// Flags of an IB.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct IbFlags: u32 {
        /// For the constant engine.
        const CE = 1 << 0;
        /// State set-up before the main IB.
        const PREAMBLE = 1 << 1;
        /// May be preempted.
        const PREEMPT = 1 << 2;
        /// Write L2 back without invalidating it.
        const TC_WB_NOT_INVALIDATE = 1 << 3;
        /// Reset GDS_COMPUTE_MAX_WAVE_ID.
        const RESET_GDS_MAX_WAVE_ID = 1 << 4;
        /// Reads and writes TMZ memory.
        const SECURE = 1 << 5;
        /// Flush memory caches first.
        const EMIT_MEM_SYNC = 1 << 6;
    }
}
