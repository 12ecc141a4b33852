//! The memory that is really available to a GPU.
//!
//! GTT is system memory, and the kernel lets the GPU map more of it than may be free or even installed: by default half of the
//! RAM, by option all of it, in addition to a carve-out that is RAM too. RADV's heaps add these sizes, so a machine with 128 GB
//! can report 135 GB. The kernel driver does not report how much system memory is available, but `/proc/meminfo` does. The
//! library does not read that file: for exact figures the caller passes a [`HostMemory`].

use crate::heaps::{MemoryFacts, OwnUsage, SystemUsage};

/// The size and availability of the host's system memory in bytes.
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
    /// The memory that the kernel manages, which excludes a carve-out for the GPU.
    pub total: u64,
    /// Bytes that a new workload can use without swapping.
    pub available: u64,
}

impl HostMemory {
    /// Parses the text of `/proc/meminfo`. Returns `None` if MemTotal or MemAvailable (Linux 3.14) is missing or not in kB.
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

/// The kind of memory that limits an effective pool.
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
    /// The VRAM and GTT that the kernel driver reports.
    Gpu,
    /// The system memory of the host.
    Host,
}

/// The total memory that a program can use on a GPU, VRAM and GTT together. On an APU both are system memory; on a card VRAM is
/// the faster part. Sizes are in bytes.
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
    /// The size of VRAM, plus that of GTT up to the size of system memory.
    pub size: u64,
    /// Bytes that can still be allocated: free VRAM, and free GTT up to the available system memory.
    pub available: u64,
    /// Bytes that this file holds, with each BO counted once.
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
    /// Computes the pool from the facts about the device, the usages, and the host's memory.
    pub fn new(facts: &MemoryFacts, own: &OwnUsage, system: &SystemUsage, host: &HostMemory) -> Self {
        let free_vram = facts.reported_vram().saturating_sub(system.vram);
        let free_gtt = facts.gtt().saturating_sub(system.gtt);
        let limit = if host.available < free_gtt { PoolLimit::Host } else { PoolLimit::Gpu };
        // Validated sizes are below 2^49 each.
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
