//! The facts about a device that the memory tables depend on: sizes, generation, and a few quirks.

use amdgpu_hw::num::{index, wide};

use super::tiling::{UnknownPipeConfig, max_alignment};
use crate::winsys::{Capabilities, Chip, GfxLevel, GpuInfo, TilingRegisters, installed_vram};

/// The facts as the kernel reports them, before any of them is judged. Sizes are bytes.
///
/// [`GpuInfo`] has them all; written out, they describe a device that need not exist.
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
    /// `vram.total_heap_size`. The other sizes of the heap (`usable_heap_size`, `max_allocation`) are not used.
    pub vram: u64,
    /// `cpu_accessible_vram.total_heap_size`: what the PCI BAR shows.
    pub visible_vram: u64,
    /// `gtt.total_heap_size`.
    pub gtt: u64,
    /// `true` if the VRAM is a card's own. Otherwise it is a carve-out of an APU's system memory.
    pub has_dedicated_vram: bool,
    /// `true` if the kernel offers encrypted memory (`ids_flags`, TMZ).
    pub offers_tmz: bool,
    /// The chip.
    pub chip: Chip,
    /// `gart_page_size`, 4096 or the CPU's page if that is larger.
    pub gart_page_size: u32,
    /// `pte_fragment_size`, usually 2 MiB: from this size on, addresses are aligned to it. Zero aligns nothing.
    pub pte_fragment_size: u32,
    /// Minor version of the kernel driver; the major is 3.
    pub drm_minor: u32,
    /// The graphics generation.
    pub gfx_level: GfxLevel,
    /// Tiling registers, which determine the largest image alignment.
    pub tiling: TilingRegisters,
}

/// A number that no device can mean.
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
    /// Neither VRAM nor GTT: there would be no heap at all.
    #[error("the device reports neither VRAM nor GTT")]
    NoMemory,
    /// More than the 2^48 bytes that GPU page tables can point at.
    #[error("{what} of {bytes} bytes is more than a page table can address")]
    TooLarge {
        /// The field of [`RawMemoryFacts`].
        what: &'static str,
        /// Its value.
        bytes: u64,
    },
    /// Not a power of two of at least 4096 bytes.
    #[error("gart page size {bytes} is not a power of two from 4096 on")]
    PageSize {
        /// The value of `gart_page_size`.
        bytes: u32,
    },
    /// The tile table of an old chip is not readable.
    #[error(transparent)]
    PipeConfig(#[from] UnknownPipeConfig),
}

/// Judged facts: every size is below 2^49 and the page size is a power of two, so the arithmetic on them cannot overflow.
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

/// Bytes that page-table entries can point at: 48 address bits.
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
    /// * [`FactsError::NoMemory`] when VRAM and GTT are both zero;
    /// * [`FactsError::TooLarge`] when a size passes 2^48 bytes;
    /// * [`FactsError::PageSize`] when `gart_page_size` is below 4096 or no power of two;
    /// * [`FactsError::PipeConfig`] when the tile table of a GFX6 to GFX8 chip is nonsense.
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

    /// Returns the video memory in bytes, rounded up to 256 MiB.
    ///
    /// The kernel subtracts what it keeps for itself, so an 8 GiB card reports 8176 MiB; the rounding gives the size on
    /// the box back. On a card whose VRAM is all visible it leaves an unusable remainder: see
    /// [the heap rule](crate::heaps#heaps). An APU's carve-out is rounded as well, but only its visible part counts there.
    ///
    /// Source: Mesa `src/amd/common/ac_gpu_info.c`, `fix_vram_size`.
    pub const fn vram(&self) -> u64 {
        self.vram
    }

    /// Returns the video memory as the kernel reports it, bytes: what can be allocated, where [`MemoryFacts::vram`] is what the
    /// board carries.
    pub const fn reported_vram(&self) -> u64 {
        self.raw.vram
    }

    /// Returns the part of [`MemoryFacts::vram`] that the CPU can map, in bytes; whole KiB, because RADV counts in those.
    ///
    /// Never more than [`MemoryFacts::vram`]: a kernel that says otherwise is taken to mean "all of it".
    pub fn visible_vram(&self) -> u64 {
        self.raw.visible_vram.next_multiple_of(1024).min(self.vram)
    }

    /// Returns the system memory that the GPU may map, in bytes; whole KiB.
    pub const fn gtt(&self) -> u64 {
        self.raw.gtt.next_multiple_of(1024)
    }

    /// Returns `true` if the VRAM is the card's own: an APU's "VRAM" is a carve-out of system memory.
    pub const fn has_dedicated_vram(&self) -> bool {
        self.raw.has_dedicated_vram
    }

    /// Returns `true` if the BAR shows (nearly) all VRAM: more than nine tenths of it.
    ///
    /// Source: Mesa `src/amd/common/ac_gpu_info.c`, `ac_fill_memory_info`, where it is `all_vram_visible`.
    pub fn has_all_vram_visible(&self) -> bool {
        self.vram * 9 < self.visible_vram() * 10
    }

    /// Returns the GPU page size in bytes: a power of two, at least 4096.
    pub const fn page_size(&self) -> u64 {
        wide(index(self.raw.gart_page_size))
    }

    /// Returns the size in bytes from which on an allocation's address is aligned to that size. Zero: never.
    pub const fn pte_fragment_size(&self) -> u64 {
        wide(index(self.raw.pte_fragment_size))
    }

    /// Returns the alignment every allocation gets, in bytes: see [`max_alignment`].
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

    /// Returns `true` if page-table entries can switch the L2 cache off (memory type UC): from GFX9 on.
    pub fn has_uncached_l2(&self) -> bool {
        self.raw.gfx_level >= GfxLevel::Gfx9
    }

    /// Returns `true` if uncached accesses to one address may pass each other, which Vulkan's device-coherent memory
    /// forbids: GFX12.
    pub fn has_unordered_uncached_l2(&self) -> bool {
        self.raw.gfx_level == GfxLevel::Gfx12
    }

    /// Returns `true` if encrypted memory works: the kernel reports TMZ, and the chip is Vega 10 or has GFX10 or later.
    ///
    /// On the APUs of GFX9 (Renoir says TMZ) the rings hang.
    ///
    /// Source: Mesa 26.2 `src/amd/vulkan/radv_physical_device.c`, `radv_tmz_enabled`.
    pub fn has_tmz(&self) -> bool {
        let works = self.raw.gfx_level >= GfxLevel::Gfx10 || self.raw.chip == Chip::CHIP_VEGA10;
        works && self.raw.offers_tmz
    }

    /// Returns `true` if a scalar load past the end of a buffer reaches memory (GFX6 and GFX7) and can fault.
    ///
    /// Source: Mesa 26.2 `src/amd/common/ac_gpu_info.c`, `has_smem_oob_access_bug`.
    pub fn scalar_loads_overrun(&self) -> bool {
        self.raw.gfx_level <= GfxLevel::Gfx7
    }

    /// Returns `true` if a scalar load that is partly past the end hangs if that part is unmapped: GFX9 without Raven 2 and
    /// Renoir.
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

    /// The card with changes.
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
