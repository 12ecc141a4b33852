//! The memory that really exists.
//!
//! GTT is system memory, and the kernel lets the GPU map more of it than may be free, or even there: by default half of
//! the RAM, by option all of it, beside a carve-out that is RAM too. RADV's heaps add these sizes up, so a machine of
//! 128 GB can offer 135. The kernel driver does not report how much system memory is available; `/proc/meminfo` does. The
//! library does not read that file: for exact numbers the caller passes a [`HostMemory`].

use crate::heaps::{MemoryFacts, OwnUsage, SystemUsage};

/// System memory, bytes.
///
/// ```
/// use amdgpu_winsys::heaps::HostMemory;
///
/// let text = "MemTotal:       32768 kB\nMemFree:        100 kB\nMemAvailable:   16384 kB\n";
/// assert_eq!(HostMemory::parse(text), Some(HostMemory { total: 32 << 20, available: 16 << 20 }));
/// assert_eq!(HostMemory::parse("MemTotal: 1 kB"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMemory {
    /// All that the CPU's kernel manages; a carve-out for the GPU is not in it.
    pub total: u64,
    /// Bytes that a new workload could have without swapping.
    pub available: u64,
}

impl HostMemory {
    /// Reads the text of `/proc/meminfo`. `None` unless it names MemTotal and MemAvailable (Linux 3.14) in kB.
    ///
    /// Source: Linux 6.12 `fs/proc/meminfo.c`, `meminfo_proc_show`.
    pub fn parse(meminfo: &str) -> Option<Self> {
        let bytes = |name: &str| {
            let rest = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            rest.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
        };
        Some(Self { total: bytes("MemTotal")?, available: bytes("MemAvailable")? })
    }
}

/// The limit of an effective pool.
///
/// ```
/// use amdgpu_winsys::heaps::{HostMemory, PoolLimit};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let plenty = HostMemory { total: 1 << 40, available: 1 << 40 };
/// assert_eq!(manager.effective_pool(&plenty)?.limit, PoolLimit::Gpu);
/// let little = HostMemory { total: 1 << 40, available: 64 << 20 };
/// assert_eq!(manager.effective_pool(&little)?.limit, PoolLimit::Host);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolLimit {
    /// The sizes that the GPU's driver reports.
    Gpu,
    /// The system's memory.
    Host,
}

/// All memory that a program can fill on a GPU, VRAM and GTT together, as one number: on an APU they are the same chips,
/// on a card VRAM is the part that is fast. Bytes.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, HostMemory};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 1 << 20))?;
/// let pool = manager.effective_pool(&HostMemory { total: 8 << 30, available: 1 << 30 })?;
/// assert_eq!(pool.own, 1 << 20);
/// // VRAM, and no more GTT than the host has memory.
/// assert_eq!(pool.size, manager.properties().facts().reported_vram() + (8 << 30));
/// assert!(pool.available < pool.size);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectivePool {
    /// VRAM, and as much GTT as there is system memory. On a machine of 128 GB never more than that.
    pub size: u64,
    /// Bytes that could still be allocated: free VRAM, and free GTT up to the available system memory.
    pub available: u64,
    /// Bytes that this file holds, each charged once.
    pub own: u64,
    /// The limit of [`available`](Self::available).
    pub limit: PoolLimit,
}

impl SystemUsage {
    /// Returns the usage with GTT that the host cannot back counted as used, so that no budget computed from it, by any
    /// [rule](crate::heaps::BudgetRule), promises more than the host has available.
    #[must_use]
    pub fn capped_by(self, facts: &MemoryFacts, host: &HostMemory) -> Self {
        let free = facts.gtt().saturating_sub(self.gtt).min(host.available);
        Self { gtt: self.gtt.max(facts.gtt() - free), ..self }
    }
}

impl EffectivePool {
    /// Works the pool out.
    pub fn new(facts: &MemoryFacts, own: &OwnUsage, system: &SystemUsage, host: &HostMemory) -> Self {
        let free_vram = facts.reported_vram().saturating_sub(system.vram);
        let free_gtt = facts.gtt().saturating_sub(system.gtt);
        let limit = if host.available < free_gtt { PoolLimit::Host } else { PoolLimit::Gpu };
        // Judged sizes are below 2^49 each.
        let size = facts.reported_vram() + facts.gtt().min(host.total);
        let available = (free_vram + free_gtt.min(host.available)).min(size);
        Self { size, available, own: own.total(), limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heaps::tables::facts::tests::navi10;

    #[test]
    fn gtt_without_system_memory_behind_it_counts_as_used() {
        let facts = navi10(|raw| raw.gtt = 1000 << 20).unwrap();
        let usage = SystemUsage { vram: 1, visible_vram: 2, gtt: 300 << 20 };
        let capped = |available| usage.capped_by(&facts, &HostMemory { total: 1 << 40, available });
        assert_eq!(capped(1 << 40), usage, "there is more than enough");
        assert_eq!(capped(700 << 20), usage, "there is just enough");
        assert_eq!(capped(100 << 20), SystemUsage { gtt: 900 << 20, ..usage });
        assert_eq!(capped(0), SystemUsage { gtt: 1000 << 20, ..usage });
    }
}
