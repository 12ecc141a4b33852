//! The reason why memory of a process, or of all, is not where it is wanted: which memory is full, who holds it, who grew since it
//! was there, what protects it, and what would bring it back.
//!
//! The kernel has no such answer. It is concluded from figures that the kernel does have, and a conclusion is drawn only as far as
//! they go: what is not known is said to be unknown.
//!
//! Source: Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_get_memory` (what fdinfo counts as evicted: buffers that prefer VRAM and are
//! elsewhere); `amdgpu_cs.c`, `amdgpu_cs_bo_validate` (a submission brings buffers back as far as
//! `amdgpu_cs_get_threshold_for_moves` allows); `kernel/cgroup/dmem.c` (Linux 6.14, who is protected).

mod judge;
mod since;
mod subject;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::{
    judge::judge,
    since::Since,
    subject::{Subject, select},
};

/// The name and major version of the JSON schema.
pub const SCHEMA: &str = "amdgpu-budget-why/1";

/// The answer for one process, or for all processes of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The index of the GPU.
    pub gpu: usize,
    /// Its PCI address.
    pub pci: String,
    /// Its name.
    pub gpu_name: Option<String>,
    /// `true` if the GPU is an APU.
    pub apu: Option<bool>,
    /// The process; `None` for all processes of the GPU.
    pub process: Option<Named>,
    /// The cgroup of the process.
    pub cgroup: Option<String>,
    /// Bytes that are wanted in VRAM.
    pub wanted: Option<u64>,
    /// Bytes of them that are not in VRAM.
    pub displaced: Option<u64>,
    /// Bytes of `displaced` that the CPU must reach; `None` if the kernel does not say (Linux 6.14 and later).
    pub displaced_visible: Option<u64>,
    /// The processes that the displaced bytes belong to, the largest share first.
    pub owners: Vec<Share>,
    /// The conclusions, the weightiest first.
    pub causes: Vec<Cause>,
    /// The memory domains that matter.
    pub pools: Vec<Pool>,
    /// The processes that hold most of the first full domain.
    pub holders: Vec<Share>,
    /// The processes that grew since the memory was where it is wanted; `None` if no past is known.
    pub since: Option<Growth>,
    /// The protection against eviction.
    pub protection: Protection,
    /// The ways to bring it back, the easiest first.
    pub remedies: Vec<Remedy>,
    /// The reasons for which the firmware holds the clocks of the GPU back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttled: Vec<String>,
}

impl Finding {
    /// Returns `true` if visible VRAM is full or likely to be what lacks, and VRAM as a whole is not.
    pub fn is_about_visible_vram(&self) -> bool {
        let is_visible = |cause: &Cause| matches!(cause, Cause::VisibleVramFull | Cause::VisibleVramLikely);
        self.causes.first().is_some_and(is_visible) && !self.causes.contains(&Cause::VramFull)
    }
}

/// A process by number and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The process ID.
    pub pid: u32,
    /// The name.
    pub name: Option<String>,
}

/// Bytes of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The process.
    #[serde(flatten)]
    pub process: Named,
    /// The bytes.
    pub bytes: u64,
}

/// A reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The kernel does not report the figures.
    Unknown,
    /// All of it is where it is wanted.
    InPlace,
    /// The GPU is an APU: its GTT is as fast as its carve-out, and that a carve-out is full is normal.
    Apu,
    /// The CPU must reach it, and the part of VRAM that the CPU reaches is full.
    VisibleVramFull,
    /// The part of VRAM that the CPU reaches is full, and the kernel does not say whether the CPU must reach it (Linux 6.14 and
    /// later).
    VisibleVramLikely,
    /// VRAM is full.
    VramFull,
    /// The cgroup of the process may hold no more VRAM.
    CgroupLimit,
    /// There is room: nothing that uses it was submitted since there is, or moves are still being rationed.
    RoomAgain,
}

/// A memory domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pool {
    /// The name: `vram`, `visible_vram` or `gtt`.
    pub name: &'static str,
    /// Bytes in use.
    pub used: Option<u64>,
    /// Usable bytes, or all bytes if that is not known.
    pub total: Option<u64>,
    /// Free bytes.
    pub free: Option<u64>,
    /// Bytes that would have to fit.
    pub needed: Option<u64>,
    /// `true` if they do not.
    pub full: Option<bool>,
}

/// Processes that grew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Growth {
    /// The moment that now is compared with.
    pub time: String,
    /// Seconds between both.
    pub seconds: u64,
    /// `true` if all of it was in place at that moment, `false` if less of it or just as much was displaced as now.
    pub was_in_place: bool,
    /// Bytes that were displaced at that moment.
    pub displaced: u64,
    /// The processes whose memory in the domain grew, the most first.
    pub grew: Vec<Share>,
    /// Bytes by which all processes that shrank or ended did so.
    pub shrank: u64,
}

/// The protection of VRAM by the `dmem` controller of cgroup v2.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Protection {
    /// `true` if the figures of the controller are known.
    pub known: bool,
    /// Bytes of the process's cgroup that are protected.
    pub bytes: Option<u64>,
    /// The cgroup that protects the least.
    pub at: Option<String>,
    /// Other cgroups of this GPU that are protected, with the bytes.
    pub others: Vec<Group>,
}

/// A cgroup with bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The path.
    pub path: String,
    /// The bytes.
    pub bytes: u64,
}

/// Something that would bring memory back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// A stable name.
    pub code: &'static str,
    /// A sentence.
    pub text: String,
    /// A command that does it, or tells more.
    pub command: Option<String>,
}
