//! The kind of memory in which IBs are allocated.

use crate::{
    uapi::{GemCreateFlags, GemDomain},
    winsys::GpuInfo,
};

/// The kind of memory in which IBs are allocated.
///
/// ```
/// use amdgpu_winsys::cs::{IbPlacement, Stream};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// // If all CPU-visible VRAM is in use, IBs are placed in system memory.
/// assert_eq!(IbPlacement::of(device.info(), u64::MAX), IbPlacement::System);
/// // A list that the CPU will read, for example to copy it into another stream, should be in cached memory:
/// let stream = Stream::with_placement(&device, target, 64, IbPlacement::Cached)?;
/// assert!(stream.remaining() >= 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IbPlacement {
    /// Write-combined system memory: the CPU writes at full speed, and the GPU fetches over the bus.
    #[default]
    System,
    /// Cached system memory, for streams that are likely to be copied into others: the CPU reads it at full speed.
    Cached,
    /// CPU-visible video memory, or system memory if that is full: the GPU fetches at full speed.
    Vram,
}

impl IbPlacement {
    /// The slowest link across which IBs are written to VRAM, in MB/s: eight lanes of PCIe 3.0.
    const FAST_LINK_MBPS: u64 = 8 * 985 * 1024 / 1000;

    /// Returns the best placement of IBs on this GPU. Video memory requires a GPU with dedicated VRAM, a fast or unknown link, and
    /// enough CPU-visible VRAM: either all VRAM is visible, or at most half of the visible part is in use. Otherwise this is system
    /// memory.
    ///
    /// `visible_vram_in_use` is the CPU-visible VRAM that this process has allocated, in bytes, as
    /// [`UsageTracker`](crate::heaps::UsageTracker) counts it. [`Stream::new`](crate::cs::Stream::new) uses 0.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_domain`.
    pub fn of(info: &GpuInfo, visible_vram_in_use: u64) -> Self {
        let has_room =
            info.memory.all_vram_visible() || visible_vram_in_use.saturating_mul(2) <= info.memory.visible_vram;
        let link = info.pcie_bandwidth_mbps();
        let is_fast = link == 0 || link >= Self::FAST_LINK_MBPS;
        if info.has_dedicated_vram && has_room && is_fast { Self::Vram } else { Self::System }
    }

    /// Returns the domains and flags for GEM_CREATE.
    pub(super) fn domains_and_flags(self) -> (GemDomain, GemCreateFlags) {
        let flags = GemCreateFlags::CPU_ACCESS_REQUIRED | GemCreateFlags::EXPLICIT_SYNC;
        match self {
            Self::System => (GemDomain::GTT, flags | GemCreateFlags::CPU_GTT_USWC),
            Self::Cached => (GemDomain::GTT, flags),
            Self::Vram => (GemDomain::VRAM | GemDomain::GTT, flags | GemCreateFlags::CPU_GTT_USWC),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ib_is_written_by_the_cpu_and_waits_for_nothing_of_itself() {
        let flags = GemCreateFlags::CPU_ACCESS_REQUIRED.union(GemCreateFlags::EXPLICIT_SYNC);
        let combined = flags.union(GemCreateFlags::CPU_GTT_USWC);
        assert_eq!(IbPlacement::System.domains_and_flags(), (GemDomain::GTT, combined));
        assert_eq!(IbPlacement::Cached.domains_and_flags(), (GemDomain::GTT, flags));
        assert_eq!(IbPlacement::Vram.domains_and_flags(), (GemDomain::VRAM.union(GemDomain::GTT), combined));
    }
}
