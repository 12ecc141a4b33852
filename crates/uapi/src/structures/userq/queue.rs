//! Creation and destruction of user queues.
//!
//! Source: Linux 6.17 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_userq.c`,
//! `amdgpu_userq_fence.c` and `mes_userqueue.c`. The driver supports user queues since minor version 64 on GFX11 and later, if its
//! parameter `user_queue` enables them.

use crate::structures::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// USERQ: creates or frees a queue.
    struct Userq = "drm_amdgpu_userq_in", 72 bytes {
        /// The operation: a constant of [`userq_op`]. With FREE, all fields but `op` and `queue_id` must be zero.
        0 op: u32,
        /// The queue to free.
        4 queue_id: u32,
        /// The IP of the engine: graphics, compute or SDMA.
        8 ip_type: u32,
        /// GEM handle of a BO in the doorbell domain.
        12 doorbell_handle: u32,
        /// Index of the queue's doorbell in the BO, in units of eight bytes.
        16 doorbell_offset: u32,
        /// The priority ([`userq_priority`]) and [`USERQ_SECURE`].
        20 flags: u32,
        /// GPU address of the ring.
        24 queue_va: u64,
        /// Size of the ring in bytes: a power of two, at least a page.
        32 queue_size: u64,
        /// GPU address of the 64-bit read pointer, which the engine writes.
        40 rptr_va: u64,
        /// GPU address of the 64-bit write pointer, in a BO of one page.
        48 wptr_va: u64,
        /// Address of the parameters for the engine: a [`UserqGfx`], [`UserqCompute`] or [`UserqSdma`].
        56 mqd: u64,
        /// Size of the parameters in bytes.
        64 mqd_size: u64,
    }

    /// The answer to [`Userq`] with CREATE.
    struct UserqAnswer = "drm_amdgpu_userq_out", 8 bytes {
        /// ID of the queue, from 1.
        0 queue_id: u32,
        /// Always 0.
        4 pad: u32 as "_pad",
    }

    /// The parameters of a graphics queue of GFX11.
    struct UserqGfx = "drm_amdgpu_userq_mqd_gfx11", 16 bytes {
        /// GPU address of the register shadow area.
        0 shadow_va: u64,
        /// GPU address of the context save area.
        8 csa_va: u64,
    }

    /// The parameters of a copy queue of GFX11.
    struct UserqSdma = "drm_amdgpu_userq_mqd_sdma_gfx11", 8 bytes {
        /// GPU address of the context save area.
        0 csa_va: u64,
    }

    /// The parameters of a compute queue of GFX11.
    struct UserqCompute = "drm_amdgpu_userq_mqd_compute_gfx11", 8 bytes {
        /// GPU address of the end-of-pipe area.
        0 eop_va: u64,
    }

    /// The answer to UQ_FW_AREAS for graphics: the areas that the firmware needs for a queue.
    struct UqFwAreas = "drm_amdgpu_info_uq_fw_areas_gfx", 16 bytes {
        /// Size of the register shadow area in bytes.
        0 shadow_size: u32,
        /// Alignment of the register shadow area in bytes.
        4 shadow_alignment: u32,
        /// Size of the context save area in bytes.
        8 csa_size: u32,
        /// Alignment of the context save area in bytes.
        12 csa_alignment: u32,
    }
}

requests! {
    Userq: "AMDGPU_USERQ" = read_write(DRIVER_BASE + 0x16), 0xc048_6456, create with addresses;
}

answers! {
    Userq => UserqAnswer;
}

/// The operations of USERQ.
pub mod userq_op {
    /// Creates a queue.
    pub const CREATE: u32 = 1;
    /// Frees a queue and stops its running work.
    pub const FREE: u32 = 2;
}

/// The priorities of a user queue, in the lowest two bits of [`Userq::flags`].
pub mod userq_priority {
    /// The default priority.
    pub const NORMAL_LOW: u32 = 0;
    /// The lowest priority.
    pub const LOW: u32 = 1;
    /// A priority above the default.
    pub const NORMAL_HIGH: u32 = 2;
    /// The highest priority, which needs CAP_SYS_NICE or the DRM master.
    pub const HIGH: u32 = 3;
}

/// The mask of the priority in [`Userq::flags`].
pub const USERQ_PRIORITY_MASK: u32 = 3;
/// A flag of [`Userq::flags`]: the queue uses TMZ memory.
pub const USERQ_SECURE: u32 = 1 << 2;
/// The first minor version of the driver that reports user queues in DEV_INFO.
pub const USERQ_DRM_MINOR: i32 = 64;
