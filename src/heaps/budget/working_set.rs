//! The memory that one submission needs resident at once, and the check that it fits.

use std::collections::HashSet;

use crate::{
    heaps::{OverCommit, Pool, WorkingSetError},
    uapi::{GemCreateFlags, GemDomain, MemoryInfo},
    winsys::{Binding, Device, ResidencySet},
};

/// The BOs that a submission lists, each counted once, by the domains in which they can be placed.
/// [`MemoryManager::check_working_set`](crate::heaps::MemoryManager::check_working_set) adds the always-valid memory of the
/// file.
///
/// The sums count whole BOs, because the kernel makes a whole BO resident even if only a part of it is bound.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, WorkingSet};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let listed = AllocateInfo { flags: AllocateFlags::LISTED, ..AllocateInfo::new(0, 1 << 20) };
/// let (texture, always_valid) = (manager.allocate(&listed)?, manager.allocate(&AllocateInfo::new(0, 1 << 20))?);
/// let mut set = WorkingSet::new();
/// set.add(texture.binding());
/// set.add(texture.binding()); // each BO counts once
/// set.add(always_valid.binding()); // and this one is resident anyway
/// assert_eq!(set.bytes(), 1 << 20);
/// manager.check_working_set(&set)?; // it fits: the submission can be made
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct WorkingSet {
    handles: HashSet<u32>,
    only_vram: u64,
    /// BOs that can be placed in VRAM, or in GTT if VRAM is full.
    either: u64,
    only_gtt: u64,
}

impl WorkingSet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the BO of a binding, unless it is already in the set. An always-valid BO is not listed, and therefore not added.
    pub fn add(&mut self, memory: &Binding) {
        let bo = memory.bo();
        if bo.flags().contains(GemCreateFlags::VM_ALWAYS_VALID) || !self.handles.insert(bo.handle()) {
            return;
        }
        let (vram, gtt) = (bo.domains().contains(GemDomain::VRAM), bo.domains().contains(GemDomain::GTT));
        let sum = match (vram, gtt) {
            (true, true) => &mut self.either,
            (true, false) => &mut self.only_vram,
            (false, true) => &mut self.only_gtt,
            (false, false) => return,
        };
        *sum = sum.saturating_add(bo.size());
    }

    /// Adds all members of a residency set.
    pub fn add_set(&mut self, set: &ResidencySet) {
        for memory in set.snapshot().iter() {
            self.add(memory);
        }
    }

    /// Returns the size of the listed BOs in bytes.
    pub fn bytes(&self) -> u64 {
        self.only_vram.saturating_add(self.either).saturating_add(self.only_gtt)
    }

    /// Checks that the set fits together with the always-valid memory of the device. Takes one ioctl.
    pub(in crate::heaps) fn check(&self, device: &Device) -> Result<(), WorkingSetError> {
        let always = device.usage_tracker().always_valid();
        let vram = always.invisible_vram.saturating_add(always.visible_vram);
        Ok(self.fits(vram, always.gtt, &device.memory_info()?)?)
    }

    /// Checks that the set fits together with always-valid BOs: `vram` bytes of VRAM requests and `gtt` bytes of GTT requests.
    /// VRAM requests may spill into GTT, and BOs of other processes can be evicted, so all usable memory counts.
    fn fits(&self, vram: u64, gtt: u64, memory: &MemoryInfo) -> Result<(), OverCommit> {
        let (usable_vram, usable_gtt) = (memory.vram.usable_heap_size, memory.gtt.usable_heap_size);
        let needs = [
            (Pool::Vram, self.only_vram, usable_vram),
            (Pool::Gtt, self.only_gtt.saturating_add(gtt), usable_gtt),
            (Pool::Both, self.bytes().saturating_add(vram).saturating_add(gtt), usable_vram.saturating_add(usable_gtt)),
        ];
        let too_much = needs.into_iter().find(|&(_, needed, usable)| needed > usable);
        too_much.map_or(Ok(()), |(pool, needed, usable)| Err(OverCommit { pool, needed, usable }))
    }
}
