//! Properties of the GPU, queried once when the device is created.
//!
//! One pass of INFO queries fills [`GpuInfo`]. Derived values follow RADV (Mesa `src/amd/common/ac_gpu_info.c`,
//! `ac_query_gpu_info`); `tests/winsys/bring_up.rs` compares them, chip by chip, with the values that RADV derives from the
//! same captures.

mod answer;
mod caches;
mod capabilities;
mod firmware;
mod memory;
mod raw;
mod rings;
mod shader;
mod tiling;

pub(crate) use self::memory::installed_vram;
pub use self::{
    answer::DevInfoAnswer,
    caches::{CacheSizes, ShadowAreas},
    capabilities::Capabilities,
    firmware::Firmware,
    memory::MemorySizes,
    raw::{RawInfo, RegisterValue},
    rings::{IpBlock, IpVersion},
    shader::ShaderArray,
    tiling::TilingRegisters,
};

use amdgpu_hw::{Peaks, Topology, Units, identify, num, radv_name};
use amdgpu_surface::{Chip as SurfaceChip, ChipRegisters, Reported, chip::ChipError};
use libdrm_amdgpu_sys::AMDGPU;

use super::query::{capability, check_driver, info, info_counted};
use crate::{
    uapi::{DevInfo, IdsFlags, MemoryInfo, cap, query},
    vamgr::VaLimits,
    winsys::{Chip, DriverVersion, Error, Family, GfxLevel, InvalidReply, Ip, Kernel, OpenError, Result, VramType},
};

/// The properties of a GPU and of its kernel driver.
///
/// ```
/// use amdgpu_winsys::winsys::{GfxLevel, Ip};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let info = device.info();
/// assert_eq!((info.chip_name(), info.gfx_level), ("NAVI21", GfxLevel::Gfx10_3));
/// assert_eq!([Ip::Gfx, Ip::Compute, Ip::Sdma].map(|ip| info.ring_count(ip)), [1, 4, 2]);
/// assert!(info.has_dedicated_vram);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GpuInfo {
    /// Version of the kernel driver.
    pub driver: DriverVersion,
    /// The chip, identified by the family's table of revisions.
    pub chip: Chip,
    /// The family that the chip belongs to.
    pub family: Family,
    /// Generation of the graphics block.
    pub gfx_level: GfxLevel,
    /// Product name from libdrm's `amdgpu.ids`; "AMD Radeon Graphics" if that table lacks the chip.
    pub marketing_name: String,
    /// PCI device ID.
    pub device_id: u32,
    /// PCI revision.
    pub pci_revision: u32,
    /// Chip number within the family (`external_rev`).
    pub external_revision: u32,
    /// Revision number of the chip (`chip_rev`).
    pub chip_revision: u32,
    /// `true` if the GPU has dedicated memory, `false` for an APU.
    pub has_dedicated_vram: bool,
    /// IP blocks with at least one ring, indexed by [`Ip::index`].
    pub ip_blocks: [Option<IpBlock>; 10],
    /// Maximum number of IBs in a submission for each IP, indexed by [`Ip::index`].
    pub max_ibs: [u32; 10],
    /// Sizes of the memory pools and pages.
    pub memory: MemorySizes,
    /// First usable GPU address.
    pub va_offset: u64,
    /// End of the low GPU address range, exclusive.
    pub va_max: u64,
    /// First address of the high range; 0 if there is none.
    pub high_va_offset: u64,
    /// End of the high range, exclusive; 0 if there is none.
    pub high_va_max: u64,
    /// Granularity of GPU addresses, in bytes.
    pub va_alignment: u32,
    /// Type of the memory chips.
    pub vram_type: VramType,
    /// Width of the memory bus, in bits.
    pub vram_bit_width: u32,
    /// Lowest shader clock in MHz; 0 if unknown (before DRM 3.50).
    pub min_engine_clock_mhz: u32,
    /// Lowest memory clock in MHz; 0 if unknown (before DRM 3.50).
    pub min_memory_clock_mhz: u32,
    /// Highest shader clock in MHz.
    pub max_engine_clock_mhz: u32,
    /// Highest memory clock in MHz.
    pub max_memory_clock_mhz: u32,
    /// Frequency of the GPU clock counter in kHz.
    pub clock_counter_khz: u32,
    /// PCIe generation; 0 if unknown (before DRM 3.51).
    pub pcie_generation: u32,
    /// Number of PCIe lanes; 0 if unknown (before DRM 3.51).
    pub pcie_lanes: u32,
    /// Numbers of shader engines, compute units, render backends and L2 slices.
    pub shader: ShaderArray,
    /// Sizes of the caches.
    pub caches: CacheSizes,
    /// Sizes of the register shadow areas; `None` if the driver need not provide them.
    pub shadow: Option<ShadowAreas>,
    /// Number of hardware register contexts of the graphics engine.
    pub register_contexts: u32,
    /// Firmware of the micro engine (ME).
    pub me_firmware: Firmware,
    /// Firmware of the prefetch parser (PFP).
    pub pfp_firmware: Firmware,
    /// Firmware of the compute micro engine (MEC).
    pub mec_firmware: Firmware,
    /// Value for PA_SC_TILE_STEERING_OVERRIDE, which a driver writes if it does not use CLEAR_STATE; 0 before GFX10.
    pub tile_steering_override: u32,
    /// Registers that describe the tiling of surfaces.
    pub tiling: TilingRegisters,
    /// Capabilities of the kernel and the chip.
    pub capabilities: Capabilities,
    /// The fields of DEV_INFO that the kernel filled in. The values of other fields are unknown.
    pub answered: DevInfoAnswer,
}

impl GpuInfo {
    /// Queries all properties of a GPU.
    ///
    /// # Errors
    ///
    /// * [`OpenError::NotAmdgpu`] if the driver is not amdgpu;
    /// * [`OpenError::DriverVersion`] if the driver is not 3.27 or a later 3.x;
    /// * [`OpenError::NoAcceleration`] if the kernel could not start the GPU;
    /// * [`OpenError::NoSyncobj`] if the kernel has no sync objects;
    /// * [`OpenError::NoRings`] if neither graphics nor compute has a ring;
    /// * [`OpenError::UnknownChip`], [`OpenError::UnknownGfxVersion`] if the chip is not in the library's tables;
    /// * [`Error::Kernel`] if the kernel refuses a required query;
    /// * [`Error::InvalidReply`] if an answer is out of range.
    pub fn query(kernel: &dyn Kernel) -> Result<Self> {
        let driver = check_driver(kernel)?;
        if info::<u32>(kernel, "ACCEL_WORKING", query::ACCEL_WORKING, [0; 4])? == 0 {
            return Err(Error::Open(OpenError::NoAcceleration));
        }
        if capability(kernel, cap::SYNCOBJ)? == 0 {
            return Err(Error::Open(OpenError::NoSyncobj));
        }
        let (dev, bytes): (DevInfo, _) = info_counted(kernel, "DEV_INFO", query::DEV_INFO, [0; 4])?;
        check_addresses(&dev)?;
        let family = Family::from(dev.family);
        let chip = identify(family, dev.external_rev)
            .ok_or(Error::Open(OpenError::UnknownChip { family: dev.family, external_rev: dev.external_rev }))?;
        let ip_blocks = rings::query(kernel, driver, chip, family)?;
        let gfx_level = rings::gfx_level(&ip_blocks)?;
        let memory_info: MemoryInfo = info(kernel, "MEMORY", query::MEMORY, [0; 4])?;
        let memory = MemorySizes::new(&memory_info, &dev)?;
        let shader = ShaderArray::new(&dev, driver, gfx_level)?;
        let has_dedicated_vram = !IdsFlags::from_bits_retain(dev.ids_flags).contains(IdsFlags::FUSION);
        Ok(Self {
            driver,
            chip,
            family,
            gfx_level,
            marketing_name: AMDGPU::find_device_name_or_default(dev.device_id, dev.pci_rev),
            device_id: dev.device_id,
            pci_revision: dev.pci_rev,
            external_revision: dev.external_rev,
            chip_revision: dev.chip_rev,
            has_dedicated_vram,
            max_ibs: rings::max_ibs(kernel, gfx_level, &ip_blocks),
            memory,
            va_offset: dev.virtual_address_offset,
            va_max: dev.virtual_address_max,
            high_va_offset: dev.high_va_offset,
            high_va_max: dev.high_va_max,
            va_alignment: dev.virtual_address_alignment,
            vram_type: VramType::from(dev.vram_type),
            vram_bit_width: dev.vram_bit_width,
            min_engine_clock_mhz: if driver.minor >= 50 { mhz("min_engine_clock", dev.min_engine_clock)? } else { 0 },
            min_memory_clock_mhz: if driver.minor >= 50 { mhz("min_memory_clock", dev.min_memory_clock)? } else { 0 },
            max_engine_clock_mhz: mhz("max_engine_clock", dev.max_engine_clock)?,
            max_memory_clock_mhz: mhz("max_memory_clock", dev.max_memory_clock)?,
            clock_counter_khz: dev.gpu_counter_freq,
            pcie_generation: if driver.minor >= 51 { dev.pcie_gen } else { 0 },
            pcie_lanes: if driver.minor >= 51 { dev.pcie_num_lanes } else { 0 },
            caches: CacheSizes::new(&dev, gfx_level, chip, shader.l2_slices, has_dedicated_vram),
            shadow: ShadowAreas::new(&dev),
            register_contexts: dev.num_hw_gfx_contexts,
            shader,
            me_firmware: Firmware::query(kernel, Firmware::ME)?,
            pfp_firmware: Firmware::query(kernel, Firmware::PFP)?,
            mec_firmware: Firmware::query(kernel, Firmware::MEC)?,
            tile_steering_override: dev.pa_sc_tile_steering_override,
            tiling: TilingRegisters::query(kernel, &dev)?,
            capabilities: Capabilities::query(kernel, driver, gfx_level, chip, &dev)?,
            answered: DevInfoAnswer::new(bytes, driver),
            ip_blocks,
        })
    }

    /// Returns the block of `ip`; `None` if the chip lacks it or it has no ring.
    pub fn ip_block(&self, ip: Ip) -> Option<&IpBlock> {
        self.ip_blocks.get(ip.index())?.as_ref()
    }

    /// Returns the number of rings of `ip` that user space may submit to.
    pub fn ring_count(&self, ip: Ip) -> u32 {
        self.ip_block(ip).map_or(0, |block| block.rings)
    }

    /// Returns RADV's name of the chip, such as `NAVI21`.
    pub fn chip_name(&self) -> &'static str {
        radv_name(self.chip)
    }

    /// Returns the limits of GPU addresses for the VA manager. Half of the topmost range is reserved for sparse buffers, as
    /// in libdrm.
    pub fn address_limits(&self) -> VaLimits {
        VaLimits {
            low_offset: self.va_offset,
            low_max: self.va_max,
            high_offset: self.high_va_offset,
            high_max: self.high_va_max,
            alignment: self.va_alignment.into(),
            pte_fragment: self.memory.pte_fragment.into(),
            half_for_sparse: VaLimits::halves_for_sparse(self.gfx_level),
        }
    }

    /// Returns the data rate of the memory bus, in millions of transfers per second on each data line.
    pub fn effective_memory_clock_mhz(&self) -> u64 {
        u64::from(self.max_memory_clock_mhz) * self.units().transfers_per_clock()
    }

    /// Returns the bandwidth of the memory bus in GB/s, rounded up.
    pub fn memory_bandwidth_gbps(&self) -> u64 {
        self.peaks().memory_gb_per_s
    }

    /// Returns the bandwidth of the PCIe link in MB/s; 0 if unknown.
    pub fn pcie_bandwidth_mbps(&self) -> u64 {
        // MB/s of a lane, by generation.
        const PER_LANE: [u64; 7] = [250, 500, 985, 1969, 3938, 7563, 15125];
        let generation = self.pcie_generation.checked_sub(1).and_then(|index| PER_LANE.get(num::index(index)));
        generation.map_or(0, |per_lane| u64::from(self.pcie_lanes) * per_lane * 1024 / 1000)
    }

    /// Returns the numbers of units and their clocks. Shader engines are counted as in RADV: on GFX10.3 and later, engines without
    /// compute units are not counted.
    pub fn units(&self) -> Units {
        let shader = &self.shader;
        let counts_alive = self.gfx_level >= GfxLevel::Gfx10_3 && shader.max_engines > 1;
        Units {
            level: self.gfx_level,
            chip: self.chip,
            engines: if counts_alive { shader.engines } else { shader.max_engines },
            engines_made: shader.max_engines,
            arrays_per_engine: shader.arrays_per_engine,
            compute_units: shader.compute_units,
            render_backends: shader.render_backends,
            engine_mhz: self.max_engine_clock_mhz,
            memory_mhz: self.max_memory_clock_mhz,
            memory_bits: self.vram_bit_width,
            memory: self.vram_type,
        }
    }

    /// Returns the chip's parameters for image layouts.
    ///
    /// # Errors
    ///
    /// [`ChipError`] if no layout is defined for the chip's GB_ADDR_CONFIG.
    pub fn surface_chip(&self) -> Result<SurfaceChip, ChipError> {
        SurfaceChip::new(&ChipRegisters::reported(&Reported {
            level: self.gfx_level,
            family_id: self.family as u32,
            external_rev: self.external_revision,
            chip_rev: self.chip_revision,
            gb_addr_config: self.tiling.gb_addr_config,
            tile_modes: self.tiling.tile_modes,
            macrotile_modes: self.tiling.macro_tile_modes,
            enabled_rb_mask: self.shader.render_backend_mask,
            render_backends: self.shader.render_backends,
            compute_units: self.shader.compute_units,
            drm_minor: u32::try_from(self.driver.minor).unwrap_or(0),
            has_graphics: self.ring_count(Ip::Gfx) > 0,
            is_apu: !self.has_dedicated_vram,
        }))
    }

    /// Returns the peak compute, fill and memory rates of the GPU.
    pub fn peaks(&self) -> Peaks {
        self.units().peaks()
    }

    /// Returns the numbers of pipes and hardware queues of the graphics and compute engines. They come from the
    /// library's tables of chips and generations.
    pub fn topology(&self) -> Topology {
        Topology::of(self.gfx_level, self.chip)
    }

    /// Returns the peak single-precision rate at the highest clock, in GFLOPS.
    pub fn peak_gflops(&self) -> u64 {
        self.peaks().gflops
    }
}

/// Checks the address fields that are used everywhere. The VA manager checks the rest when it computes its windows.
fn check_addresses(dev: &DevInfo) -> Result<()> {
    let power_of_two = |field, value: u32| {
        if value.is_power_of_two() {
            Ok(())
        } else {
            Err(Error::InvalidReply(InvalidReply { field, value: value.into(), reason: "not a power of two" }))
        }
    };
    power_of_two("virtual_address_alignment", dev.virtual_address_alignment)?;
    power_of_two("pte_fragment_size", dev.pte_fragment_size)?;
    power_of_two("gart_page_size", dev.gart_page_size)?;
    if dev.virtual_address_max <= dev.virtual_address_offset {
        let reason = "not above virtual_address_offset";
        return Err(Error::InvalidReply(InvalidReply {
            field: "virtual_address_max",
            value: dev.virtual_address_max,
            reason,
        }));
    }
    Ok(())
}

fn mhz(field: &'static str, khz: u64) -> Result<u32> {
    u32::try_from(khz / 1000)
        .map_err(|_| Error::InvalidReply(InvalidReply { field, value: khz, reason: "more than 4 PHz" }))
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimKernel, profile};

    use super::*;

    fn navi21() -> GpuInfo {
        GpuInfo::query(&SimKernel::open(profile("navi21").unwrap())).unwrap()
    }

    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`: `num_se`.
    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn dead_engines_are_left_out_from_gfx10_3_on_unless_there_is_one_engine() {
        let info = navi21();
        for level in GfxLevel::ALL {
            let engines = |max_engines, engines| {
                let mut info = GpuInfo { gfx_level: level, ..info.clone() };
                (info.shader.max_engines, info.shader.engines) = (max_engines, engines);
                let units = info.units();
                (units.engines, units.engines_made)
            };
            let counted = if level >= GfxLevel::Gfx10_3 { 3 } else { 4 };
            assert_eq!(engines(4, 3), (counted, 4), "{level}");
            assert_eq!(engines(2, 1), (if level >= GfxLevel::Gfx10_3 { 1 } else { 2 }, 2), "{level}");
            assert_eq!(engines(1, 0), (1, 1), "{level}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn rates_of_the_buses_are_not_cut_to_32_bits() {
        let info = GpuInfo {
            max_memory_clock_mhz: u32::MAX,
            vram_type: VramType::GDDR6,
            vram_bit_width: 256,
            pcie_generation: 7,
            pcie_lanes: 1 << 20,
            ..navi21()
        };
        assert_eq!(info.effective_memory_clock_mhz(), u64::from(u32::MAX) * 16);
        assert_eq!(info.memory_bandwidth_gbps(), (u64::from(u32::MAX) * 16 * 256 / 8).div_ceil(1000));
        assert_eq!(info.pcie_bandwidth_mbps(), (15125 << 20) * 1024 / 1000);
        let of = |pcie_generation| GpuInfo { pcie_generation, pcie_lanes: 16, ..info.clone() }.pcie_bandwidth_mbps();
        assert_eq!([0, 1, 4, 7, 8].map(of), [0, 4096, 32260, 247_808, 0]);
    }

    #[test]
    fn a_clock_is_a_32_bit_number_of_megahertz() {
        assert_eq!((mhz("clock", 2_500_999), mhz("clock", 999)), (Ok(2500), Ok(0)));
        assert_eq!(mhz("clock", (1 << 32) * 1000 - 1), Ok(u32::MAX));
        let refused = mhz("clock", (1 << 32) * 1000).unwrap_err();
        assert!(
            matches!(refused, Error::InvalidReply(InvalidReply { field: "clock", value: 0x3e8_0000_0000, .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn addresses_end_above_their_start_and_come_in_powers_of_two() {
        let good = DevInfo {
            virtual_address_offset: 1 << 21,
            virtual_address_max: (1 << 21) + 1,
            virtual_address_alignment: 4096,
            pte_fragment_size: 1 << 21,
            gart_page_size: 4096,
            ..DevInfo::ZEROED
        };
        let field = |dev: DevInfo| match check_addresses(&dev) {
            Err(Error::InvalidReply(InvalidReply { field, value, .. })) => Some((field, value)),
            outcome => outcome.map(|()| None).unwrap(),
        };
        assert_eq!(field(good), None);
        let max = "virtual_address_max";
        assert_eq!(field(DevInfo { virtual_address_max: 1 << 21, ..good }), Some((max, 1 << 21)));
        assert_eq!(field(DevInfo { virtual_address_max: 0, ..good }), Some((max, 0)));
        assert_eq!(field(DevInfo { virtual_address_alignment: 3, ..good }), Some(("virtual_address_alignment", 3)));
        assert_eq!(field(DevInfo { pte_fragment_size: 0, ..good }), Some(("pte_fragment_size", 0)));
        assert_eq!(field(DevInfo { gart_page_size: 12288, ..good }), Some(("gart_page_size", 12288)));
    }
}
