//! The figures of one GPU.

use crate::{
    effective::Free,
    heaps::OwnUsage,
    model::{CgroupLimit, Domains, Effective, Heap, Limit, Missing, Pair, Process, Unattributed, Unreadable},
};

/// A GPU of the driver amdgpu.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gpu {
    /// The index of the GPU in the order of PCI addresses.
    pub index: usize,
    /// The PCI address, which identifies the GPU across reports.
    pub pci: String,
    /// The path of the render node.
    pub render: String,
    /// The PCI device ID; `None` if it cannot be read.
    pub device_id: Option<u32>,
    /// `true` if the GPU is an APU, whose memory is system memory; `None` if neither INFO, nor its PCI device ID, nor its memory
    /// tells.
    pub apu: Option<bool>,
    /// The runtime power state as the kernel reports it, such as `active` or `suspended`.
    pub power: Option<String>,
    /// `true` if the GPU is asleep and was left so: heaps and usable sizes are unknown.
    pub is_asleep: bool,
    /// The page size of GTT; `None` if the GPU was not asked.
    pub page_size: Option<u32>,
    /// The memory domains, as the kernel reports them.
    pub domains: Domains,
    /// The memory that a program can actually allocate.
    pub effective: Effective,
    /// Vulkan's heaps, as the own process sees them; `None` if the GPU was not asked.
    pub heaps: Option<Vec<Heap>>,
    /// The limit of this process's cgroups on the GPU's own memory.
    pub cgroup_limit: Option<CgroupLimit>,
    /// Every limit, with the reason.
    pub limits: Vec<Limit>,
    /// The largest single allocation.
    pub largest: Largest,
    /// The processes that hold memory; `None` if processes were not read.
    pub processes: Option<Vec<Process>>,
    /// The usage of the own process; `None` if processes were not read, or there is no own process on this machine.
    pub own: Option<OwnUsage>,
    /// The usage of all others and the kernel: the whole less `own`.
    pub others: Pair,
    /// Memory in use that belongs to no process.
    pub unattributed: Option<Unattributed>,
    /// The processes that could not be read.
    pub unreadable: Unreadable,
    /// Figures that could not be read or contradict themselves, with the reason.
    pub missing: Vec<Missing>,
    pub(crate) free: FreeShares,
}

/// The largest allocations now, by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FreeShares(pub(crate) Free);

/// The largest single allocation in bytes: one buffer lies in one place, so on an APU it is less than the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Largest {
    /// The size that one buffer can have now without evicting others.
    pub now: Option<u64>,
    /// The size that the kernel accepts on an empty GPU. A buffer as large as the whole domain is refused at once.
    ///
    /// Source: Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_validate_size`.
    pub accepted: Option<u64>,
    /// The size that the kernel recommends: three quarters of the usable size.
    pub recommended: Option<u64>,
}

/// A GPU of another driver, which has no figures here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The render node, such as `renderD129`.
    pub node: String,
    /// The driver, such as `i915`; `None` if it is not said.
    pub driver: Option<String>,
    /// The PCI address; `None` if it is no PCI device.
    pub pci: Option<String>,
}

impl Gpu {
    pub(crate) fn set_largest(&mut self) {
        let (vram, gtt) = (&self.domains.vram, &self.domains.gtt);
        let whole = if self.apu == Some(true) { vram.total.max(gtt.total) } else { vram.total };
        let recommended = match self.apu {
            Some(true) => vram.max_allocation.max(gtt.max_allocation),
            _ => vram.max_allocation,
        };
        let page = u64::from(self.page_size.unwrap_or(4096));
        let accepted = whole.map(|whole| whole.saturating_sub(page));
        let free = match self.apu {
            Some(true) => self.free.0.vram.zip(self.free.0.gtt).map(|(vram, gtt)| vram.max(gtt)),
            Some(false) => self.free.0.vram,
            None => None,
        };
        let now = free.zip(accepted).map(|(free, accepted)| free.min(accepted));
        self.largest = Largest { now, accepted, recommended };
    }
}
