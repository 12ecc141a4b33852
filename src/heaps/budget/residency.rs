//! When memory is resident for every submission, and when submissions list it.

use amdgpu_hw::num::index;

use crate::{
    heaps::{Account, AllocationPlan, MemoryProperties, UsageTracker},
    uapi::GemCreateFlags,
};

/// Policy that decides how an allocation is kept resident, if both ways are possible.
///
/// An *always valid* BO (VM_ALWAYS_VALID) costs a submission nothing: the kernel keeps it resident for all of them, and
/// looks at it again only after it was moved. A *listed* one costs an entry in every submission that uses it. But
/// submissions that do not use it can run while it is evicted; with always-valid memory alone, a program that holds more
/// than fits has all of it moved in and out for each submission. Making an always-valid BO also takes the lock of the
/// file's page tables, which submissions hold too.
///
/// So: always valid while everything fits comfortably, listed beyond. Exportable memory is always listed.
///
/// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`, and `amdgpu_vm.c`, `amdgpu_vm_validate`. RADV makes all of
/// it always valid (Mesa 25.0.7 `radv_device_memory.c`, `radv_alloc_memory`), radeonsi nothing (`amdgpu_winsys.c`,
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
    /// Always valid, as in RADV.
    #[default]
    AlwaysValid,
    /// Listed, as in radeonsi.
    Listed,
    /// Always valid while this process holds less of a kind of memory than the given percentage of the heap.
    UpTo {
        /// 0 to 100; more counts as 100.
        percent: u8,
    },
}

impl ResidencyPolicy {
    /// Changes a plan that asks for always-valid memory into one for listed memory, if the policy wants that.
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
                // A heap is below 2^49 bytes, so a hundred of them fit.
                used.saturating_add(plan.bo.size) <= heap / 100 * u64::from(percent.min(100))
            }
        };
        if !is_kept {
            plan.bo.flags -= GemCreateFlags::VM_ALWAYS_VALID;
        }
    }
}
