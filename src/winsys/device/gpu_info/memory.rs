//! Sizes of the memory pools, as reported by the kernel and as rounded by RADV.

use crate::{
    uapi::{DevInfo, MemoryInfo},
    winsys::{Error, InvalidReply, Result},
};

/// Rounding unit of the VRAM size, in bytes: the kernel reports slightly less than the board has.
const VRAM_GRANULARITY: u64 = 256 << 20;

/// The largest accepted pool size in bytes, because GPU addresses have 48 bits.
const LARGEST_POOL: u64 = 1 << 48;

/// Sizes of the memory pools and pages, in bytes.
///
/// Source: Mesa `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`. Only `total_heap_size` of AMDGPU_INFO_MEMORY is used,
/// because the usable size depends on the kernel's pinned memory.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let memory = device.info().memory;
/// assert_eq!(memory.vram, memory.vram_reported.next_multiple_of(256 << 20)); // installed size
/// assert!(memory.visible_vram <= memory.vram_reported);
/// assert_eq!(memory.all_vram_visible(), memory.visible_vram > memory.vram / 10 * 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySizes {
    /// Size of VRAM, as the kernel reports it.
    pub vram_reported: u64,
    /// Size of VRAM rounded up to 256 MiB, which is the installed size.
    pub vram: u64,
    /// Size of the part of VRAM that the CPU can map; not rounded.
    pub visible_vram: u64,
    /// Size of the system memory that the GPU can map; not rounded.
    pub gtt: u64,
    /// Size of the page table fragments that the TLB handles best, in bytes.
    pub pte_fragment: u32,
    /// Page size of GTT, in bytes.
    pub gart_page: u32,
}

/// Returns the installed VRAM in bytes, given the size that the kernel reports.
pub(crate) const fn installed_vram(reported: u64) -> u64 {
    reported.next_multiple_of(VRAM_GRANULARITY)
}

impl MemorySizes {
    pub(super) fn new(memory: &MemoryInfo, dev: &DevInfo) -> Result<Self> {
        let believable = |field, value: u64| {
            if value > LARGEST_POOL {
                return Err(Error::InvalidReply(InvalidReply {
                    field,
                    value,
                    reason: "more than the GPU can address",
                }));
            }
            Ok(value)
        };
        let vram_reported = believable("vram.total_heap_size", memory.vram.total_heap_size)?;
        let gtt = believable("gtt.total_heap_size", memory.gtt.total_heap_size)?;
        let visible_vram =
            believable("cpu_accessible_vram.total_heap_size", memory.cpu_accessible_vram.total_heap_size)?;
        if vram_reported == 0 && gtt == 0 {
            let reason = "neither VRAM nor GTT has any memory";
            return Err(Error::InvalidReply(InvalidReply { field: "gtt.total_heap_size", value: 0, reason }));
        }
        Ok(Self {
            vram_reported,
            vram: installed_vram(vram_reported),
            visible_vram,
            gtt,
            pte_fragment: dev.pte_fragment_size,
            gart_page: dev.gart_page_size,
        })
    }

    /// Returns `true` if the CPU can map more than 90 % of VRAM: a resizable BAR, or an APU with a large carve-out.
    pub fn all_vram_visible(&self) -> bool {
        self.visible_vram * 10 > self.vram * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn pools(vram: u64, visible: u64, gtt: u64) -> Result<MemorySizes> {
        let mut memory = MemoryInfo::ZEROED;
        memory.vram.total_heap_size = vram;
        memory.cpu_accessible_vram.total_heap_size = visible;
        memory.gtt.total_heap_size = gtt;
        MemorySizes::new(&memory, &DevInfo { pte_fragment_size: 1 << 21, gart_page_size: 1 << 16, ..DevInfo::ZEROED })
    }

    #[test]
    fn pools_of_more_than_4_gib_are_rounded_up_and_compared_in_full() {
        let sizes = pools(24 * GIB - 1, 256 << 20, 40 * GIB + 5).unwrap();
        assert_eq!((sizes.vram_reported, sizes.vram, sizes.visible_vram), (24 * GIB - 1, 24 * GIB, 256 << 20));
        assert_eq!((sizes.gtt, sizes.pte_fragment, sizes.gart_page), (40 * GIB + 5, 1 << 21, 1 << 16));
        assert_eq!(pools(GIB, 0, 0).unwrap().vram, GIB);
    }

    #[test]
    fn vram_counts_as_visible_from_nine_tenths_on() {
        let is_visible = |vram, visible| pools(vram, visible, GIB).unwrap().all_vram_visible();
        for vram in [10 * GIB, 1000 * GIB] {
            assert!(!is_visible(vram, 256 << 20) && !is_visible(vram, vram / 10 * 9), "{vram}");
            assert!(is_visible(vram, vram / 10 * 9 + 1) && is_visible(vram, vram), "{vram}");
        }
    }

    #[test]
    fn one_pool_is_enough() {
        assert!(pools(0, 0, GIB).is_ok() && pools(GIB, 0, 0).is_ok());
        let none = pools(0, GIB, 0).unwrap_err();
        assert!(
            matches!(none, Error::InvalidReply(InvalidReply { field: "gtt.total_heap_size", value: 0, .. })),
            "{none:?}"
        );
    }
}
