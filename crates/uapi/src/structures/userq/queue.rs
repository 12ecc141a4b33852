//! Queues that are made and freed.
//!
//! Source: Linux 6.17 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_userq.c`,
//! `amdgpu_userq_fence.c` and `mes_userqueue.c`. The driver has them since minor version 64 on GFX11 and later, where its
//! parameter `user_queue` turns them on.

use crate::structures::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// USERQ: makes or frees a queue.
    struct Userq = "drm_amdgpu_userq_in", 72 bytes {
        /// One of [`userq_op`]. With FREE, every field but the queue must be zero.
        0 op: u32,
        /// The queue, for FREE.
        4 queue_id: u32,
        /// The engine's IP: graphics, compute or SDMA.
        8 ip_type: u32,
        /// A BO of the doorbell domain.
        12 doorbell_handle: u32,
        /// The queue's doorbell, counted in doorbells of eight bytes from the start of the BO.
        16 doorbell_offset: u32,
        /// Priority and [`USERQ_SECURE`].
        20 flags: u32,
        /// GPU address of the ring.
        24 queue_va: u64,
        /// Bytes of the ring: a power of two, at least a page.
        32 queue_size: u64,
        /// GPU address of eight bytes to which the engine writes its read pointer.
        40 rptr_va: u64,
        /// GPU address of eight bytes that hold the write pointer, in a BO of one page.
        48 wptr_va: u64,
        /// Address of the engine's own parameters: [`UserqGfx`], [`UserqCompute`] or [`UserqSdma`].
        56 mqd: u64,
        /// Bytes of those.
        64 mqd_size: u64,
    }

    /// Answer to [`Userq`] with CREATE.
    struct UserqAnswer = "drm_amdgpu_userq_out", 8 bytes {
        /// The queue, from 1.
        0 queue_id: u32,
        /// Zero.
        4 pad: u32 as "_pad",
    }

    /// Parameters of a graphics queue of GFX11.
    struct UserqGfx = "drm_amdgpu_userq_mqd_gfx11", 16 bytes {
        /// GPU address of the area for shadowed registers.
        0 shadow_va: u64,
        /// GPU address of the context save area.
        8 csa_va: u64,
    }

    /// Parameters of a copy queue of GFX11.
    struct UserqSdma = "drm_amdgpu_userq_mqd_sdma_gfx11", 8 bytes {
        /// GPU address of the context save area.
        0 csa_va: u64,
    }

    /// Parameters of a compute queue of GFX11.
    struct UserqCompute = "drm_amdgpu_userq_mqd_compute_gfx11", 8 bytes {
        /// GPU address of the end-of-pipe area.
        0 eop_va: u64,
    }

    /// UQ_FW_AREAS of graphics: areas that the firmware wants beside a queue.
    struct UqFwAreas = "drm_amdgpu_info_uq_fw_areas_gfx", 16 bytes {
        /// Bytes of the area for shadowed registers.
        0 shadow_size: u32,
        /// Its alignment, bytes.
        4 shadow_alignment: u32,
        /// Bytes of the context save area.
        8 csa_size: u32,
        /// Its alignment, bytes.
        12 csa_alignment: u32,
    }
}

requests! {
    Userq: "AMDGPU_USERQ" = read_write(DRIVER_BASE + 0x16), 0xc048_6456;
}

answers! {
    Userq => UserqAnswer;
}

/// Operations of USERQ.
pub mod userq_op {
    /// A new queue.
    pub const CREATE: u32 = 1;
    /// Frees a queue; what it still runs is stopped.
    pub const FREE: u32 = 2;
}

/// Priorities of a user queue, in the lowest two bits of [`Userq::flags`].
pub mod userq_priority {
    /// The default.
    pub const NORMAL_LOW: u32 = 0;
    /// The lowest.
    pub const LOW: u32 = 1;
    /// Above the default.
    pub const NORMAL_HIGH: u32 = 2;
    /// The highest, for those who may raise priorities: CAP_SYS_NICE or the DRM master.
    pub const HIGH: u32 = 3;
}

/// The bits of [`Userq::flags`] that hold the priority.
pub const USERQ_PRIORITY_MASK: u32 = 3;
/// [`Userq::flags`]: the queue works on protected memory.
pub const USERQ_SECURE: u32 = 1 << 2;
/// The first minor version of the driver that tells of user queues in DEV_INFO.
pub const USERQ_DRM_MINOR: i32 = 64;
