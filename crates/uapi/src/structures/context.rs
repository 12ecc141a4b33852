//! Contexts, VMIDs and scheduling priorities.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_ctx.c`,
//! `amdgpu_vm.c` (`amdgpu_vm_ioctl`) and `amdgpu_sched.c`.

use super::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// CTX.
    struct Ctx = "drm_amdgpu_ctx_in", 16 bytes {
        /// One of [`ctx_op`].
        0 op: u32,
        /// 0, or the stable pstate to set.
        4 flags: u32,
        /// The context; ignored by ALLOC.
        8 ctx_id: u32,
        /// One of [`priority`]; any other value counts as normal.
        12 priority: i32,
    }

    /// Answer to ALLOC_CTX; written as zero when the allocation is refused.
    struct CtxAllocAnswer = "", 8 bytes {
        /// The context, 1..=4095, lowest free first.
        0 ctx_id: u32,
        /// Zero.
        4 pad: u32 as "_pad",
    }

    /// Answer to QUERY_STATE and QUERY_STATE2.
    struct CtxStateAnswer = "", 16 bytes {
        /// [`CtxStateFlags`] for QUERY_STATE2, else 0.
        0 flags: u64,
        /// Always 0.
        8 hangs: u32,
        /// QUERY_STATE only: 0 no reset, 3 a reset since the last query.
        12 reset_status: u32,
    }

    /// Answer to GET_STABLE_PSTATE.
    struct CtxPstateAnswer = "", 8 bytes {
        /// The level, 0..=4.
        0 flags: u32,
        /// Zero.
        4 pad: u32 as "_pad",
    }

    /// VM: reserves a VMID for debugging tools.
    struct Vm = "drm_amdgpu_vm_in", 8 bytes {
        /// [`VM_OP_RESERVE_VMID`] or [`VM_OP_UNRESERVE_VMID`].
        0 op: u32,
        /// Must be 0.
        4 flags: u32,
    }

    /// SCHED: the master's override of another file's priority.
    struct Sched = "drm_amdgpu_sched_in", 16 bytes {
        /// [`SCHED_OP_PROCESS_PRIORITY_OVERRIDE`] or [`SCHED_OP_CONTEXT_PRIORITY_OVERRIDE`].
        0 op: u32,
        /// A descriptor of the other file.
        4 fd: u32,
        /// One of [`priority`].
        8 priority: i32,
        /// The context, for op 2.
        12 ctx_id: u32,
    }
}

requests! {
    Ctx: "AMDGPU_CTX" = read_write(DRIVER_BASE + 0x02), 0xc010_6442;
    Vm: "AMDGPU_VM" = read_write(DRIVER_BASE + 0x13), 0xc008_6453;
    Sched: "AMDGPU_SCHED" = write(DRIVER_BASE + 0x15), 0x4010_6455;
}

answers! {
    Ctx => CtxStateAnswer;
}

/// Operations of CTX.
pub mod ctx_op {
    /// A new context.
    pub const ALLOC_CTX: u32 = 1;
    /// Forget a context; queued jobs still run.
    pub const FREE_CTX: u32 = 2;
    /// Asks for a reset since the last query.
    pub const QUERY_STATE: u32 = 3;
    /// Sticky reset flags.
    pub const QUERY_STATE2: u32 = 4;
    /// The device's current stable pstate.
    pub const GET_STABLE_PSTATE: u32 = 5;
    /// Pins the clocks.
    pub const SET_STABLE_PSTATE: u32 = 6;
}

/// Context priorities. Above normal needs CAP_SYS_NICE or the DRM master.
pub mod priority {
    /// Not set; counts as normal.
    pub const UNSET: i32 = -2048;
    /// Lowest.
    pub const VERY_LOW: i32 = -1023;
    /// Low.
    pub const LOW: i32 = -512;
    /// The default.
    pub const NORMAL: i32 = 0;
    /// High.
    pub const HIGH: i32 = 512;
    /// Highest.
    pub const VERY_HIGH: i32 = 1023;
}

/// [`Sched::op`]: all contexts of the file.
pub const SCHED_OP_PROCESS_PRIORITY_OVERRIDE: u32 = 1;
/// [`Sched::op`]: one context.
pub const SCHED_OP_CONTEXT_PRIORITY_OVERRIDE: u32 = 2;

/// [`Vm::op`]: dedicate a VMID to this file.
pub const VM_OP_RESERVE_VMID: u32 = 1;
/// [`Vm::op`]: give it back.
pub const VM_OP_UNRESERVE_VMID: u32 = 2;

/// `reset_status` of QUERY_STATE: none since the last query.
pub const CTX_NO_RESET: u32 = 0;
/// `reset_status` of QUERY_STATE: there was one.
pub const CTX_UNKNOWN_RESET: u32 = 3;

bitflags::bitflags! {
    /// Flags that QUERY_STATE2 reports; sticky unless noted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CtxStateFlags: u64 {
        /// The GPU was reset since the context was made.
        const RESET = 1 << 0;
        /// VRAM contents were lost.
        const VRAMLOST = 1 << 1;
        /// A job of this context caused a full reset.
        const GUILTY = 1 << 2;
        /// Corrected memory errors since the last query.
        const RAS_CE = 1 << 3;
        /// Uncorrected memory errors since the last query.
        const RAS_UE = 1 << 4;
        /// A reset is running now (minor 54).
        const RESET_IN_PROGRESS = 1 << 5;
    }
}
