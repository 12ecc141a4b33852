//! The choice between memory that is always resident and memory that submissions list.

use amdgpu_hw::num::index;

use crate::{
    heaps::{Account, AllocationPlan, MemoryProperties, UsageTracker},
    uapi::GemCreateFlags,
};

/// A policy that decides how an allocation is kept resident, if the allocation permits both ways.
///
/// An *always valid* BO (VM_ALWAYS_VALID) adds no cost to a submission: the kernel keeps it resident for all submissions, and
/// validates it again only after it was moved. A *listed* BO adds an entry to every submission that uses it, but submissions
/// that do not use it can run while it is evicted. If a program holds more always-valid memory than fits, all of it is moved in
/// and out for each submission. Creating an always-valid BO also takes the lock of the file's page tables, which submissions
/// take too.
///
/// Memory is therefore best always valid while everything fits easily, and listed otherwise. Exportable memory is always
/// listed.
///
/// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`, and `amdgpu_vm.c`, `amdgpu_vm_validate`. RADV makes all of
/// this memory always valid (Mesa 25.0.7 `radv_device_memory.c`, `radv_alloc_memory`), radeonsi none of it (`amdgpu_winsys.c`,
/// `do_winsys_init`).
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, MemoryManager, MemoryPolicy, ResidencyPolicy, TableOptions};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let policy = MemoryPolicy { residency: ResidencyPolicy::UpTo { percent: 1 }, ..MemoryPolicy::default() };
/// let manager = MemoryManager::with_policy(&device, &TableOptions::default(), policy)?;
/// let first = manager.allocate(&AllocateInfo::new(0, manager.properties().heaps()[0].size / 50))?;
/// let second = manager.allocate(&AllocateInfo::new(0, 4096))?;
/// assert!(!second.is_always_valid()); // two percent are in use: submissions must list it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResidencyPolicy {
    /// All memory is always valid, as in RADV.
    #[default]
    AlwaysValid,
    /// All memory is listed, as in radeonsi.
    Listed,
    /// Memory is always valid if this process's usage of the heap, including the new allocation, is at most the given percentage
    /// of the heap's size. Otherwise the memory is listed.
    UpTo {
        /// Percentage, 0 to 100; larger values count as 100.
        percent: u8,
    },
}

impl ResidencyPolicy {
    /// Changes a plan for always-valid memory into one for listed memory, if the policy requires it.
    #[inline]
    pub(in crate::heaps) fn apply(
        self,
        plan: &mut AllocationPlan,
        properties: &MemoryProperties,
        tracker: &UsageTracker,
    ) {
        let is_kept = match self {
            Self::AlwaysValid => true,
            Self::Listed => false,
            Self::UpTo { percent } => {
                let heap = properties.heaps().get(index(plan.heap)).map_or(0, |heap| heap.size);
                let usage = tracker.usage();
                let used = match plan.account {
                    Account::InvisibleVram => usage.invisible_vram,
                    Account::VisibleVram => usage.visible_vram,
                    Account::Gtt => usage.gtt,
                };
                // A heap is below 2^49 bytes, so a hundred times its size does not overflow.
                used.saturating_add(plan.bo.size) <= heap / 100 * u64::from(percent.min(100))
            }
        };
        if !is_kept {
            plan.bo.flags -= GemCreateFlags::VM_ALWAYS_VALID;
        }
    }
}
