//! Contexts, VMIDs and scheduling priorities.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_ctx.c`,
//! `amdgpu_vm.c` (`amdgpu_vm_ioctl`) and `amdgpu_sched.c`.

use super::{
    macros::{answers, requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// CTX: creates, frees and queries contexts.
    struct Ctx = "drm_amdgpu_ctx_in", 16 bytes {
        /// The operation: a constant of [`ctx_op`].
        0 op: u32,
        /// 0, or the stable pstate to set.
        4 flags: u32,
        /// ID of the context; ignored by ALLOC_CTX.
        8 ctx_id: u32,
        /// Priority of the new context: a constant of [`priority`]; other values count as normal.
        12 priority: i32,
    }

    /// PROC_OPTIONS: sets an option of the process for compute without this node (Linux 7.3).
    struct ProcOptions = "", 8 bytes {
        /// The option: [`PROC_OPTION_SIGBUS_DELAY`].
        0 op: u32,
        /// The value: for the delay, milliseconds; 0xffffffff for never.
        4 value: u32,
    }

    /// The answer to ALLOC_CTX. All zero if the allocation fails.
    struct CtxAllocAnswer = "", 8 bytes {
        /// The context ID: the lowest free one of 1..=4095.
        0 ctx_id: u32,
        /// Always 0.
        4 pad: u32 as "_pad",
    }

    /// The answer to QUERY_STATE and QUERY_STATE2.
    struct CtxStateAnswer = "", 16 bytes {
        /// The [`CtxStateFlags`] for QUERY_STATE2, otherwise 0.
        0 flags: u64,
        /// Always 0.
        8 hangs: u32,
        /// For QUERY_STATE: 0 if there was no reset since the last query, 3 if there was one. Otherwise 0.
        12 reset_status: u32,
    }

    /// The answer to GET_STABLE_PSTATE.
    struct CtxPstateAnswer = "", 8 bytes {
        /// The device's stable pstate, 0 to 4.
        0 flags: u32,
        /// Always 0.
        4 pad: u32 as "_pad",
    }

    /// VM: reserves or releases a VMID, for debugging tools.
    struct Vm = "drm_amdgpu_vm_in", 8 bytes {
        /// The operation: [`VM_OP_RESERVE_VMID`] or [`VM_OP_UNRESERVE_VMID`].
        0 op: u32,
        /// Must be 0.
        4 flags: u32,
    }

    /// SCHED: overrides the priority of another file's contexts (DRM master only).
    struct Sched = "drm_amdgpu_sched_in", 16 bytes {
        /// The operation: [`SCHED_OP_PROCESS_PRIORITY_OVERRIDE`] or [`SCHED_OP_CONTEXT_PRIORITY_OVERRIDE`].
        0 op: u32,
        /// A file descriptor of the file whose contexts change priority.
        4 fd: u32,
        /// The new priority: a constant of [`priority`].
        8 priority: i32,
        /// ID of the context, for [`SCHED_OP_CONTEXT_PRIORITY_OVERRIDE`].
        12 ctx_id: u32,
    }
}

requests! {
    Ctx: "AMDGPU_CTX" = read_write(DRIVER_BASE + 0x02), 0xc010_6442, create;
    Vm: "AMDGPU_VM" = read_write(DRIVER_BASE + 0x13), 0xc008_6453, change;
    ProcOptions: "AMDGPU_PROC_OPTIONS" = read_write(DRIVER_BASE + 0x1a), 0xc008_645a, change;
    Sched: "AMDGPU_SCHED" = write(DRIVER_BASE + 0x15), 0x4010_6455, change;
}

answers! {
    Ctx => CtxStateAnswer;
}

/// A value of [`ProcOptions::op`]: the time after which a process without use of `/dev/kfd` gets SIGBUS.
pub const PROC_OPTION_SIGBUS_DELAY: u32 = 0;

/// The operations of CTX.
pub mod ctx_op {
    /// Creates a context.
    pub const ALLOC_CTX: u32 = 1;
    /// Frees a context. Queued jobs still run.
    pub const FREE_CTX: u32 = 2;
    /// Queries whether there was a reset since the last query.
    pub const QUERY_STATE: u32 = 3;
    /// Queries the reset flags, which are sticky.
    pub const QUERY_STATE2: u32 = 4;
    /// Queries the device's current stable pstate.
    pub const GET_STABLE_PSTATE: u32 = 5;
    /// Sets the stable pstate, which pins the clocks.
    pub const SET_STABLE_PSTATE: u32 = 6;
}

/// Context priorities. Priorities above normal need CAP_SYS_NICE or the DRM master.
pub mod priority {
    /// Not set; counts as normal.
    pub const UNSET: i32 = -2048;
    /// The lowest priority.
    pub const VERY_LOW: i32 = -1023;
    /// A low priority.
    pub const LOW: i32 = -512;
    /// The default priority.
    pub const NORMAL: i32 = 0;
    /// A high priority.
    pub const HIGH: i32 = 512;
    /// The highest priority.
    pub const VERY_HIGH: i32 = 1023;
}

/// A value of [`Sched::op`] that overrides the priority of all contexts of the file.
pub const SCHED_OP_PROCESS_PRIORITY_OVERRIDE: u32 = 1;
/// A value of [`Sched::op`] that overrides the priority of one context.
pub const SCHED_OP_CONTEXT_PRIORITY_OVERRIDE: u32 = 2;

/// A value of [`Vm::op`] that reserves a VMID for this file.
pub const VM_OP_RESERVE_VMID: u32 = 1;
/// A value of [`Vm::op`] that releases the reserved VMID.
pub const VM_OP_UNRESERVE_VMID: u32 = 2;

/// A `reset_status` of QUERY_STATE: no reset since the last query.
pub const CTX_NO_RESET: u32 = 0;
/// A `reset_status` of QUERY_STATE: there was a reset since the last query.
pub const CTX_UNKNOWN_RESET: u32 = 3;

bitflags::bitflags! {
    /// The flags that QUERY_STATE2 reports. They are sticky unless noted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CtxStateFlags: u64 {
        /// The GPU was reset since the context was created.
        const RESET = 1 << 0;
        /// VRAM contents were lost.
        const VRAMLOST = 1 << 1;
        /// A job of this context caused a full reset.
        const GUILTY = 1 << 2;
        /// Correctable memory errors occurred since the last query.
        const RAS_CE = 1 << 3;
        /// Uncorrectable memory errors occurred since the last query.
        const RAS_UE = 1 << 4;
        /// A reset is in progress (minor 54).
        const RESET_IN_PROGRESS = 1 << 5;
    }
}
