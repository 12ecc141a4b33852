//! Registers that describe the tiling of surfaces.

use crate::{
    uapi::DevInfo,
    winsys::{GfxLevel, Kernel, Result, device::query::registers},
};

/// The tiling registers. Only `gb_addr_config` exists on every generation; the others are zero on GFX9 and later.
///
/// Source: libdrm 2.4.124 `amdgpu_gpu_info.c`, `amdgpu_query_gpu_info_init`.
///
/// ```
/// use amdgpu_winsys::heaps::max_alignment;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let registers = device.info().tiling;
/// assert!(registers.gb_addr_config != 0 && registers.tile_modes == [0; 32]); // tile mode tables exist up to GFX8
/// assert!(max_alignment(device.info().gfx_level, &registers)?.is_power_of_two());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TilingRegisters {
    /// GB_ADDR_CONFIG: pipes, interleave, packers.
    pub gb_addr_config: u32,
    /// GB_TILE_MODE0..31 (GFX6 to GFX8).
    pub tile_modes: [u32; 32],
    /// GB_MACROTILE_MODE0..15 (GFX7 and GFX8).
    pub macro_tile_modes: [u32; 16],
    /// MC_ARB_RAMCFG (GFX6 to GFX8).
    pub mc_arb_ramcfg: u32,
    /// CC_RB_BACKEND_DISABLE bits 23..16 of each shader engine (GFX6 to GFX8).
    pub backend_disable: [u32; 4],
    /// PA_SC_RASTER_CONFIG of each shader engine (GFX6 to GFX8).
    pub raster_config: [u32; 4],
    /// PA_SC_RASTER_CONFIG_1 of each shader engine (GFX7 and GFX8).
    pub raster_config_1: [u32; 4],
}

/// `AMDGPU_FAMILY_CI`, the first family of GFX7.
const FAMILY_CI: u32 = 120;
/// `AMDGPU_FAMILY_AI`, the first family of GFX9.
const FAMILY_AI: u32 = 141;
/// The instance that selects all engines and arrays.
const BROADCAST: u32 = u32::MAX;

impl TilingRegisters {
    pub(super) fn query(kernel: &dyn Kernel, dev: &DevInfo) -> Result<Self> {
        let one = |register, instance| registers::<1>(kernel, register, instance).map(|[value]| value);
        let mut found = Self {
            gb_addr_config: one(0x263e, BROADCAST)?,
            tile_modes: [0; 32],
            macro_tile_modes: [0; 16],
            mc_arb_ramcfg: 0,
            backend_disable: [0; 4],
            raster_config: [0; 4],
            raster_config_1: [0; 4],
        };
        if dev.family >= FAMILY_AI {
            return Ok(found);
        }
        let has_ci_registers = dev.family >= FAMILY_CI;
        for engine in 0..dev.num_shader_engines.min(4) {
            // Shader engine in bits 7..0, all arrays in bits 15..8.
            let instance = engine | 0xff << 8;
            let index = engine as usize;
            found.backend_disable[index] = one(0x263d, instance)? >> 16 & 0xff;
            found.raster_config[index] = one(0xa0d4, instance)?;
            if has_ci_registers {
                found.raster_config_1[index] = one(0xa0d5, instance)?;
            }
        }
        found.tile_modes = registers(kernel, 0x2644, BROADCAST)?;
        if has_ci_registers {
            found.macro_tile_modes = registers(kernel, 0x2664, BROADCAST)?;
        }
        found.mc_arb_ramcfg = one(0x09d8, BROADCAST)?;
        Ok(found)
    }

    /// Returns the number of pipes of a chip of a generation; `None` if GB_TILE_MODE0 names a configuration that no chip has.
    pub(crate) fn pipes(&self, level: GfxLevel) -> Option<u32> {
        if level >= GfxLevel::Gfx9 {
            return Some(1 << (self.gb_addr_config & 7));
        }
        // The first tile mode always uses all pipes.
        let [tile_mode, ..] = self.tile_modes;
        match tile_mode >> 6 & 31 {
            0 => Some(2),
            4..=7 => Some(4),
            8..=14 => Some(8),
            16 | 17 => Some(16),
            _ => None,
        }
    }
}
