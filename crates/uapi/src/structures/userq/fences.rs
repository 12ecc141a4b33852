//! Fences of user queues for others, and of others for user queues.
//!
//! Source: Linux 6.17 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_userq_fence.c`.

use crate::structures::{
    macros::{requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// USERQ_SIGNAL: makes a fence for what the queue was given so far.
    struct UserqSignal = "drm_amdgpu_userq_signal", 48 bytes {
        /// The queue.
        0 queue_id: u32,
        /// Ignored.
        4 pad: u32,
        /// Address of u32 handles of sync objects that get the fence.
        8 syncobj_handles: u64,
        /// Number of them. Linux 6.17 declares 64 bits here and takes no more than 65536.
        16 num_syncobj_handles: u16,
        /// Zero.
        18 pad0: u16 as "",
        /// Zero.
        20 pad1: u32 as "",
        /// Address of u32 handles of BOs that the queue reads.
        24 bo_read_handles: u64,
        /// Address of u32 handles of BOs that the queue writes.
        32 bo_write_handles: u64,
        /// Number of BOs that are read.
        40 num_bo_read_handles: u32,
        /// Number of BOs that are written.
        44 num_bo_write_handles: u32,
    }

    /// A fence of a user queue as the GPU waits for it.
    struct UserqFenceInfo = "drm_amdgpu_userq_fence_info", 16 bytes {
        /// GPU address of eight bytes.
        0 va: u64,
        /// The fence has signalled once they hold this value or a greater one.
        8 value: u64,
    }

    /// USERQ_WAIT: turns fences into addresses and values that a queue can wait for. Asked with room for none it tells the
    /// number of fences.
    struct UserqWait = "drm_amdgpu_userq_wait", 72 bytes {
        /// The queue that is going to wait.
        0 waitq_id: u32,
        /// Ignored.
        4 pad: u32,
        /// Address of u32 handles of sync objects.
        8 syncobj_handles: u64,
        /// Address of u32 handles of sync objects with points.
        16 syncobj_timeline_handles: u64,
        /// Address of a point for each of those. Linux 6.17 reads 32 bits of each, one after the other.
        24 syncobj_timeline_points: u64,
        /// Address of u32 handles of BOs that are going to be read.
        32 bo_read_handles: u64,
        /// Address of u32 handles of BOs that are going to be written.
        40 bo_write_handles: u64,
        /// Number of sync objects with points.
        48 num_syncobj_timeline_handles: u16,
        /// Room for fences, and then their number.
        50 num_fences: u16,
        /// Number of sync objects.
        52 num_syncobj_handles: u16,
        /// Zero.
        54 pad0: u16 as "",
        /// Number of BOs that are going to be read.
        56 num_bo_read_handles: u32,
        /// Number of BOs that are going to be written.
        60 num_bo_write_handles: u32,
        /// Address of the fences, each a [`UserqFenceInfo`].
        64 out_fences: u64,
    }
}

requests! {
    UserqSignal: "AMDGPU_USERQ_SIGNAL" = read_write(DRIVER_BASE + 0x17), 0xc030_6457;
    UserqWait: "AMDGPU_USERQ_WAIT" = read_write(DRIVER_BASE + 0x18), 0xc048_6458;
}
