//! Fences between user queues and other users of memory.
//!
//! Source: Linux 6.17 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_userq_fence.c`.

use crate::structures::{
    macros::{requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// USERQ_SIGNAL: creates a fence for all work that has been submitted to the queue.
    struct UserqSignal = "drm_amdgpu_userq_signal", 48 bytes {
        /// ID of the queue.
        0 queue_id: u32,
        /// Ignored.
        4 pad: u32,
        /// Address of the u32 handles of sync objects that receive the fence.
        8 syncobj_handles: u64,
        /// Number of sync objects. Linux 6.17 declares 64 bits here and accepts at most 65536.
        16 num_syncobj_handles: u16,
        /// Always 0.
        18 pad0: u16 as "",
        /// Always 0.
        20 pad1: u32 as "",
        /// Address of the u32 handles of BOs that the queue reads.
        24 bo_read_handles: u64,
        /// Address of the u32 handles of BOs that the queue writes.
        32 bo_write_handles: u64,
        /// Number of BOs that are read.
        40 num_bo_read_handles: u32,
        /// Number of BOs that are written.
        44 num_bo_write_handles: u32,
    }

    /// A fence of a user queue, in the form in which the GPU waits for it.
    struct UserqFenceInfo = "drm_amdgpu_userq_fence_info", 16 bytes {
        /// GPU address of a 64-bit value.
        0 va: u64,
        /// The fence is signalled once the value at the address is at least this number.
        8 value: u64,
    }

    /// USERQ_WAIT: converts fences to addresses and values that a queue can wait for. With no room for fences it returns their
    /// number.
    struct UserqWait = "drm_amdgpu_userq_wait", 72 bytes {
        /// The queue that will wait.
        0 waitq_id: u32,
        /// Ignored.
        4 pad: u32,
        /// Address of the u32 handles of binary sync objects.
        8 syncobj_handles: u64,
        /// Address of the u32 handles of timeline sync objects.
        16 syncobj_timeline_handles: u64,
        /// Address of the points of the timeline sync objects. Linux 6.17 reads an array of 32-bit points.
        24 syncobj_timeline_points: u64,
        /// Address of the u32 handles of BOs that will be read.
        32 bo_read_handles: u64,
        /// Address of the u32 handles of BOs that will be written.
        40 bo_write_handles: u64,
        /// Number of timeline sync objects.
        48 num_syncobj_timeline_handles: u16,
        /// Capacity for fences; on return the number of fences.
        50 num_fences: u16,
        /// Number of binary sync objects.
        52 num_syncobj_handles: u16,
        /// Always 0.
        54 pad0: u16 as "",
        /// Number of BOs that will be read.
        56 num_bo_read_handles: u32,
        /// Number of BOs that will be written.
        60 num_bo_write_handles: u32,
        /// Address of the [`UserqFenceInfo`]s to fill in.
        64 out_fences: u64,
    }
}

requests! {
    UserqSignal: "AMDGPU_USERQ_SIGNAL" = read_write(DRIVER_BASE + 0x17), 0xc030_6457, change with addresses;
    UserqWait: "AMDGPU_USERQ_WAIT" = read_write(DRIVER_BASE + 0x18), 0xc048_6458, change with addresses;
}
