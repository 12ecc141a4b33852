//! What one submission needs in memory at once, and what the device has.

use std::{collections::HashSet, fmt, sync::Arc};

use super::{MemoryError, MemoryManager};
use crate::{
    uapi::{GemCreateFlags, GemDomain, MemoryInfo},
    winsys::{Binding, ResidentSet},
};

/// The BOs that a submission lists, each once, by where they may be. The memory that is valid for every submission of the
/// file is added when it is [checked](MemoryManager::check_working_set).
///
/// Bytes are sums over whole BOs: the kernel makes a BO resident as a whole, however little of it is bound.
#[derive(Clone, Debug, Default)]
pub struct WorkingSet {
    handles: HashSet<u32>,
    only_vram: u64,
    /// In VRAM, or in GTT when VRAM is full.
    either: u64,
    only_gtt: u64,
}

/// Memory that does not fit at once. A submission of it fails with ENOMEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a working set needs {needed} bytes of {pool} at once, which has {usable} usable")]
pub struct OverCommit {
    /// What is too small.
    pub pool: Pool,
    /// Bytes that must be resident in it at once.
    pub needed: u64,
    /// Bytes it has, less what the kernel has pinned.
    pub usable: u64,
}

/// Where BOs can be resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pool {
    /// Video memory, for BOs that may be nowhere else.
    Vram,
    /// System memory, for BOs that may be nowhere else.
    Gtt,
    /// Both together, for everything.
    Both,
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vram => "VRAM",
            Self::Gtt => "GTT",
            Self::Both => "VRAM and GTT",
        })
    }
}

impl WorkingSet {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the BO behind a binding, if it is not in the set yet. One that is always valid is not listed, and not added.
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

    /// Adds all members of a set.
    pub fn add_set(&mut self, set: &ResidentSet) {
        for memory in set.snapshot().iter() {
            self.add(memory);
        }
    }

    /// Listed bytes, each BO once.
    pub fn bytes(&self) -> u64 {
        self.only_vram.saturating_add(self.either).saturating_add(self.only_gtt)
    }

    /// Whether it fits, with what is always valid: `vram` bytes of VRAM requests and `gtt` bytes of GTT. VRAM requests
    /// may spill into GTT, and BOs of other processes can be thrown out, so all usable memory counts.
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

impl MemoryManager {
    /// Whether what a submission lists, and what is always valid, can be resident together. One ioctl; a set that passes
    /// can still be refused when the kernel pins more meanwhile.
    ///
    /// # Errors
    ///
    /// [`MemoryError::DoesNotFit`]; [`MemoryError::Winsys`] when the kernel does not tell the sizes.
    ///
    /// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_parser_bos` (every listed BO is validated for one job), and
    /// `amdgpu_vm.c`, `amdgpu_vm_validate` (so are those that are always valid, once any was evicted).
    pub fn check_working_set(&self, set: &WorkingSet) -> Result<(), MemoryError> {
        let always = self.ledger().always_valid();
        let vram = always.invisible_vram.saturating_add(always.visible_vram);
        Ok(set.fits(vram, always.gtt, &self.device().memory_info()?)?)
    }

    /// The device-wide set: memory that every submission is to list, such as what shaders reach through addresses in
    /// other memory. Pass it in [`Submission::sets`](crate::cs::Submission::sets).
    ///
    /// RADV calls it the global BO list and holds its lock during every submission (Mesa 25.0.7
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`); adding, removing and
    /// submitting do not wait for each other here.
    pub fn residents(&self) -> &ResidentSet {
        &self.residents
    }

    /// Adds memory to the device-wide set, if it needs that: what is always valid is resident for every submission of the
    /// file anyway. Whether it was added; then it stays alive until it was
    /// [removed](ResidentSet::remove) from [`MemoryManager::residents`].
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_make_resident`.
    pub fn make_resident(&self, memory: &Arc<Binding>) -> bool {
        !memory.bo().flags().contains(GemCreateFlags::VM_ALWAYS_VALID) && self.residents.add(memory)
    }
}
