//! The facts about a device that determine the memory tables: memory sizes, generation, and hardware bugs.

use amdgpu_hw::num::{index, wide};

use super::tiling::{UnknownPipeConfig, max_alignment};
use crate::winsys::{Capabilities, Chip, GfxLevel, GpuInfo, TilingRegisters, installed_vram};

/// The facts about a device as the kernel reports them, not validated. Sizes are in bytes.
///
/// They can be taken from [`GpuInfo`], or written out to describe any device.
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryFacts, RawMemoryFacts};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let raw = RawMemoryFacts::from(device.info());
/// // The same card behind a BAR of 256 MiB:
/// let facts = MemoryFacts::new(&RawMemoryFacts { visible_vram: 256 << 20, ..raw })?;
/// assert_eq!((facts.visible_vram(), facts.has_all_vram_visible()), (256 << 20, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawMemoryFacts {
    /// Size of VRAM: `vram.total_heap_size`. The other sizes of the heap (`usable_heap_size`, `max_allocation`) are not used.
    pub vram: u64,
    /// Size of the VRAM in the PCI BAR: `cpu_accessible_vram.total_heap_size`.
    pub visible_vram: u64,
    /// Size of GTT: `gtt.total_heap_size`.
    pub gtt: u64,
    /// `true` if the device is a card with its own VRAM. Otherwise VRAM is a carve-out of an APU's system memory.
    pub has_dedicated_vram: bool,
    /// `true` if the kernel supports encrypted memory (`ids_flags`, TMZ).
    pub offers_tmz: bool,
    /// The chip, which determines hardware bugs and features.
    pub chip: Chip,
    /// `gart_page_size` in bytes: 4096, or the CPU's page size if that is larger.
    pub gart_page_size: u32,
    /// `pte_fragment_size` in bytes, usually 2 MiB: allocations of at least this size are aligned to it. Zero disables this.
    pub pte_fragment_size: u32,
    /// Minor version of the kernel driver; the major is 3.
    pub drm_minor: u32,
    /// The graphics generation.
    pub gfx_level: GfxLevel,
    /// Tiling registers, which determine the largest image alignment.
    pub tiling: TilingRegisters,
}

/// The reason why the memory facts of a device are invalid.
///
/// ```
/// use amdgpu_winsys::heaps::{FactsError, MemoryFacts, RawMemoryFacts};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let raw = RawMemoryFacts::from(device.info());
/// let nothing = RawMemoryFacts { vram: 0, visible_vram: 0, gtt: 0, ..raw };
/// assert_eq!(MemoryFacts::new(&nothing), Err(FactsError::NoMemory));
/// let odd = RawMemoryFacts { gart_page_size: 5000, ..raw };
/// assert_eq!(MemoryFacts::new(&odd), Err(FactsError::PageSize { bytes: 5000 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FactsError {
    /// The device has neither VRAM nor GTT, so there would be no heap.
    #[error("the device reports neither VRAM nor GTT")]
    NoMemory,
    /// A size exceeds 2^48 bytes, the range of GPU page tables.
    #[error("{what} of {bytes} bytes is more than a page table can address")]
    TooLarge {
        /// The kind of memory: "VRAM", "visible VRAM" or "GTT".
        what: &'static str,
        /// The reported size in bytes.
        bytes: u64,
    },
    /// The page size is not a power of two of at least 4096 bytes.
    #[error("gart page size {bytes} is not a power of two from 4096 on")]
    PageSize {
        /// The reported `gart_page_size` in bytes.
        bytes: u32,
    },
    /// The tile table of a GFX6 to GFX8 chip has an unknown pipe configuration.
    #[error(transparent)]
    PipeConfig(#[from] UnknownPipeConfig),
}

/// Validated facts about the memory of a device. Every size is below 2^49 and the page size is a power of two, so arithmetic on
/// them cannot overflow.
///
/// ```
/// use amdgpu_winsys::heaps::MemoryFacts;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let facts = MemoryFacts::try_from(device.info())?;
/// assert_eq!(facts.vram(), facts.reported_vram().next_multiple_of(256 << 20)); // the size on the box
/// assert!(facts.has_dedicated_vram() && facts.has_uncached_l2());
/// assert_eq!(facts.page_size(), 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFacts {
    raw: RawMemoryFacts,
    vram: u64,
    max_alignment: u64,
}

/// Bytes that page-table entries can address: 2^48.
const ADDRESSABLE: u64 = 1 << 48;

impl From<&GpuInfo> for RawMemoryFacts {
    fn from(gpu: &GpuInfo) -> Self {
        Self {
            vram: gpu.memory.vram_reported,
            visible_vram: gpu.memory.visible_vram,
            gtt: gpu.memory.gtt,
            has_dedicated_vram: gpu.has_dedicated_vram,
            offers_tmz: gpu.capabilities.contains(Capabilities::TMZ),
            chip: gpu.chip,
            gart_page_size: gpu.memory.gart_page,
            pte_fragment_size: gpu.memory.pte_fragment,
            drm_minor: u32::try_from(gpu.driver.minor).unwrap_or(0),
            gfx_level: gpu.gfx_level,
            tiling: gpu.tiling,
        }
    }
}

impl TryFrom<&GpuInfo> for MemoryFacts {
    type Error = FactsError;

    fn try_from(gpu: &GpuInfo) -> Result<Self, FactsError> {
        Self::new(&gpu.into())
    }
}

impl MemoryFacts {
    /// Validates the values that the kernel reported.
    ///
    /// If visible VRAM exceeds total VRAM, the smaller value is used ([`MemoryFacts::visible_vram`]). A GPU may have no VRAM as
    /// long as it has GTT, and the reverse.
    ///
    /// # Errors
    ///
    /// * [`FactsError::NoMemory`] if VRAM and GTT are both zero;
    /// * [`FactsError::TooLarge`] if a size exceeds 2^48 bytes;
    /// * [`FactsError::PageSize`] if `gart_page_size` is below 4096 or not a power of two;
    /// * [`FactsError::PipeConfig`] if the tile table of a GFX6 to GFX8 chip has an unknown pipe configuration.
    pub fn new(raw: &RawMemoryFacts) -> Result<Self, FactsError> {
        for (what, bytes) in [("VRAM", raw.vram), ("visible VRAM", raw.visible_vram), ("GTT", raw.gtt)] {
            if bytes > ADDRESSABLE {
                return Err(FactsError::TooLarge { what, bytes });
            }
        }
        if raw.vram == 0 && raw.gtt == 0 {
            return Err(FactsError::NoMemory);
        }
        if raw.gart_page_size < 4096 || !raw.gart_page_size.is_power_of_two() {
            return Err(FactsError::PageSize { bytes: raw.gart_page_size });
        }
        let max_alignment = max_alignment(raw.gfx_level, &raw.tiling)?;
        Ok(Self { raw: *raw, vram: installed_vram(raw.vram), max_alignment })
    }

    /// Returns the size of VRAM in bytes, rounded up to 256 MiB.
    ///
    /// The kernel subtracts the memory that it reserves, so an 8 GiB card reports 8176 MiB; the rounding restores the nominal
    /// size. On a card whose VRAM is all visible it leaves a remainder that cannot be used, see [the heap
    /// rule](crate::heaps#heaps). An APU's carve-out is rounded as well, but only its visible part is used.
    ///
    /// Source: Mesa `src/amd/common/ac_gpu_info.c`, `fix_vram_size`.
    pub const fn vram(&self) -> u64 {
        self.vram
    }

    /// Returns the size of VRAM in bytes as the kernel reports it. This much can be allocated, whereas [`MemoryFacts::vram`] is
    /// the nominal size.
    pub const fn reported_vram(&self) -> u64 {
        self.raw.vram
    }

    /// Returns the part of [`MemoryFacts::vram`] that the CPU can map, in bytes, rounded up to whole KiB as in RADV.
    ///
    /// The result never exceeds [`MemoryFacts::vram`]: if the kernel reports more, all VRAM counts as visible.
    pub fn visible_vram(&self) -> u64 {
        self.raw.visible_vram.next_multiple_of(1024).min(self.vram)
    }

    /// Returns the size of the system memory that the GPU may map, in bytes, rounded up to whole KiB.
    pub const fn gtt(&self) -> u64 {
        self.raw.gtt.next_multiple_of(1024)
    }

    /// Returns `true` if the device has its own VRAM. Returns `false` for an APU, whose VRAM is a carve-out of system memory.
    pub const fn has_dedicated_vram(&self) -> bool {
        self.raw.has_dedicated_vram
    }

    /// Returns `true` if (nearly) all VRAM is in the BAR: more than nine tenths of it.
    ///
    /// Source: Mesa `src/amd/common/ac_gpu_info.c`, `ac_fill_memory_info`, where it is `all_vram_visible`.
    pub fn has_all_vram_visible(&self) -> bool {
        self.vram * 9 < self.visible_vram() * 10
    }

    /// Returns the GPU page size in bytes: a power of two, at least 4096.
    pub const fn page_size(&self) -> u64 {
        wide(index(self.raw.gart_page_size))
    }

    /// Returns the size in bytes to which the addresses of allocations of at least this size are aligned; 0 if they are not.
    pub const fn pte_fragment_size(&self) -> u64 {
        wide(index(self.raw.pte_fragment_size))
    }

    /// Returns the alignment of every allocation in bytes, see [`max_alignment`].
    pub const fn max_alignment(&self) -> u64 {
        self.max_alignment
    }

    /// Returns the graphics generation.
    pub const fn gfx_level(&self) -> GfxLevel {
        self.raw.gfx_level
    }

    /// Returns the minor version of the kernel driver.
    pub const fn drm_minor(&self) -> u32 {
        self.raw.drm_minor
    }

    /// Returns `true` if page-table entries can disable the L2 cache (MTYPE UC), as on GFX9 and later.
    pub fn has_uncached_l2(&self) -> bool {
        self.raw.gfx_level >= GfxLevel::Gfx9
    }

    /// Returns `true` if uncached accesses to the same address may be reordered, which Vulkan's device-coherent memory forbids.
    /// This is the case on GFX12.
    pub fn has_unordered_uncached_l2(&self) -> bool {
        self.raw.gfx_level == GfxLevel::Gfx12
    }

    /// Returns `true` if encrypted memory works: the kernel reports TMZ, and the chip is Vega 10 or has GFX10 or later.
    ///
    /// On GFX9 APUs the rings hang with TMZ, although Renoir reports it.
    ///
    /// Source: Mesa 26.2 `src/amd/vulkan/radv_physical_device.c`, `radv_tmz_enabled`.
    pub fn has_tmz(&self) -> bool {
        let works = self.raw.gfx_level >= GfxLevel::Gfx10 || self.raw.chip == Chip::CHIP_VEGA10;
        works && self.raw.offers_tmz
    }

    /// Returns `true` if a scalar load past the end of a buffer accesses memory and can fault, as on GFX6 and GFX7.
    ///
    /// Source: Mesa 26.2 `src/amd/common/ac_gpu_info.c`, `has_smem_oob_access_bug`.
    pub fn scalar_loads_overrun(&self) -> bool {
        self.raw.gfx_level <= GfxLevel::Gfx7
    }

    /// Returns `true` if a scalar load that extends past the end of a buffer into unmapped memory hangs the GPU, as on GFX9
    /// except Raven 2 and Renoir.
    ///
    /// Source: Mesa 26.2 `src/amd/common/ac_gpu_info.c`, `has_smem_partial_oob_access_bug`.
    pub fn partial_scalar_loads_hang(&self) -> bool {
        let is_spared = matches!(self.raw.chip, Chip::CHIP_RAVEN2 | Chip::CHIP_RENOIR);
        self.raw.gfx_level == GfxLevel::Gfx9 && !is_spared
    }
}

#[cfg(test)]
pub(in crate::heaps) mod tests {
    use super::*;

    /// A small-BAR card of 8 GiB, as its kernel reports it.
    const NAVI10: RawMemoryFacts = RawMemoryFacts {
        vram: 0x1_ff00_0000,
        visible_vram: 256 << 20,
        gtt: 0x1_f23e_4800,
        has_dedicated_vram: true,
        offers_tmz: false,
        chip: Chip::CHIP_NAVI10,
        gart_page_size: 4096,
        pte_fragment_size: 2 << 20,
        drm_minor: 54,
        gfx_level: GfxLevel::Gfx10,
        tiling: TilingRegisters {
            gb_addr_config: 0x0010_0044,
            tile_modes: [0; 32],
            macro_tile_modes: [0; 16],
            mc_arb_ramcfg: 0,
            backend_disable: [0; 4],
            raster_config: [0; 4],
            raster_config_1: [0; 4],
        },
    };

    /// Returns the facts of the card with changes.
    pub(in crate::heaps) fn navi10(change: impl FnOnce(&mut RawMemoryFacts)) -> Result<MemoryFacts, FactsError> {
        let mut raw = NAVI10;
        change(&mut raw);
        MemoryFacts::new(&raw)
    }

    #[test]
    fn vram_is_rounded_to_256_mib_and_the_rest_to_whole_kib() {
        let facts = navi10(|raw| (raw.visible_vram, raw.gtt) = (1025, 4097)).unwrap();
        assert_eq!((facts.vram(), facts.visible_vram(), facts.gtt()), (8 << 30, 2048, 5120));
    }

    #[test]
    fn more_visible_than_total_vram_counts_as_all_of_it() {
        let facts = navi10(|raw| (raw.vram, raw.visible_vram) = (1, 1 << 40)).unwrap();
        assert_eq!((facts.vram(), facts.visible_vram()), (256 << 20, 256 << 20));
        assert!(facts.has_all_vram_visible());
    }

    #[test]
    fn all_visible_means_more_than_nine_tenths() {
        let all_visible = |visible| {
            navi10(|raw| (raw.vram, raw.visible_vram) = (2560 << 20, visible)).unwrap().has_all_vram_visible()
        };
        assert!(!all_visible(256 << 20));
        assert!(!all_visible(2304 << 20));
        assert!(all_visible((2304 << 20) + 1));
    }

    #[test]
    fn absurd_numbers_are_refused_with_their_value() {
        assert_eq!(navi10(|raw| (raw.vram, raw.gtt) = (0, 0)), Err(FactsError::NoMemory));
        for bytes in [0, 1, 2048, 4097, 12288, u32::MAX] {
            assert_eq!(navi10(|raw| raw.gart_page_size = bytes), Err(FactsError::PageSize { bytes }));
        }
        let bytes = (1 << 48) + 1;
        assert_eq!(navi10(|raw| raw.vram = bytes), Err(FactsError::TooLarge { what: "VRAM", bytes }));
        assert_eq!(navi10(|raw| raw.gtt = u64::MAX), Err(FactsError::TooLarge { what: "GTT", bytes: u64::MAX }));
        let odd_pipes = navi10(|raw| {
            raw.gfx_level = GfxLevel::Gfx6;
            raw.tiling.tile_modes[0] = 1 << 6;
        });
        assert!(matches!(odd_pipes, Err(FactsError::PipeConfig(_))));
    }

    #[test]
    fn tmz_counts_on_vega10_and_from_gfx10_on() {
        let tmz = |offers_tmz, chip, gfx_level| {
            MemoryFacts::new(&RawMemoryFacts { offers_tmz, chip, gfx_level, ..NAVI10 }).unwrap().has_tmz()
        };
        assert!(tmz(true, Chip::CHIP_NAVI10, GfxLevel::Gfx10) && tmz(true, Chip::CHIP_VANGOGH, GfxLevel::Gfx10_3));
        assert!(tmz(true, Chip::CHIP_VEGA10, GfxLevel::Gfx9));
        assert!(!tmz(true, Chip::CHIP_VEGA12, GfxLevel::Gfx9) && !tmz(true, Chip::CHIP_RENOIR, GfxLevel::Gfx9));
        assert!(!tmz(false, Chip::CHIP_GFX1100, GfxLevel::Gfx11), "the kernel does not offer it");
    }
}
