//! The structure `amdgpu_gpu_info`, and the registers that initialisation reads for it.

use amdgpu_winsys::{uapi::query, winsys::Errno};

use super::facts::{DevInfoAnswer, ask};
use crate::{border::CValue, kernel::Lent};

/// The structure `amdgpu_gpu_info` of the header.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GpuInfo {
    asic_id: u32,
    chip_rev: u32,
    chip_external_rev: u32,
    family_id: u32,
    ids_flags: u64,
    max_engine_clk: u64,
    max_memory_clk: u64,
    num_shader_engines: u32,
    num_shader_arrays_per_engine: u32,
    avail_quad_shader_pipes: u32,
    max_quad_shader_pipes: u32,
    cache_entries_per_quad_pipe: u32,
    num_hw_gfx_contexts: u32,
    rb_pipes: u32,
    enabled_rb_pipes_mask: u32,
    gpu_counter_freq: u32,
    backend_disable: [u32; 4],
    mc_arb_ramcfg: u32,
    gb_addr_cfg: u32,
    gb_tile_mode: [u32; 32],
    gb_macro_tile_mode: [u32; 16],
    pa_sc_raster_cfg: [u32; 4],
    pa_sc_raster_cfg1: [u32; 4],
    cu_active_number: u32,
    cu_ao_mask: u32,
    cu_bitmap: [[u32; 4]; 4],
    vram_type: u32,
    vram_bit_width: u32,
    ce_ram_size: u32,
    vce_harvest_config: u32,
    pci_rev_id: u32,
}

const _: () = {
    assert!(size_of::<GpuInfo>() == 416);
    assert!(std::mem::offset_of!(GpuInfo, backend_disable) == 76);
    assert!(std::mem::offset_of!(GpuInfo, gb_tile_mode) == 100);
    assert!(std::mem::offset_of!(GpuInfo, pa_sc_raster_cfg) == 292);
    assert!(std::mem::offset_of!(GpuInfo, cu_bitmap) == 332);
    assert!(std::mem::offset_of!(GpuInfo, pci_rev_id) == 412);
};

// SAFETY: integers.
unsafe impl CValue for GpuInfo {}

/// The first family whose registers the kernel describes elsewhere: GFX9.
const FAMILY_AI: u32 = 141;
const FAMILY_CI: u32 = 120;

/// Dword offsets of registers.
mod register {
    pub(super) const CC_RB_BACKEND_DISABLE: u32 = 0x263d;
    pub(super) const GB_ADDR_CONFIG: u32 = 0x263e;
    pub(super) const GB_TILE_MODE0: u32 = 0x2644;
    pub(super) const GB_MACROTILE_MODE0: u32 = 0x2664;
    pub(super) const MC_ARB_RAMCFG: u32 = 0x9d8;
    pub(super) const PA_SC_RASTER_CONFIG: u32 = 0xa0d4;
    pub(super) const PA_SC_RASTER_CONFIG_1: u32 = 0xa0d5;
}

/// All engines and arrays.
const EVERYWHERE: u32 = 0xffff_ffff;

/// Reads registers into `values`.
fn read(node: &Lent<'_>, register: u32, instance: u32, values: &mut [u32]) -> Result<(), Errno> {
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    ask(node, query::READ_MMR_REG, [register, count, instance, 0], values)
}

impl GpuInfo {
    /// Collects the structure: what DEV_INFO says, and the registers that chips before GFX9 need.
    ///
    /// # Errors
    ///
    /// The first error of a register.
    pub(super) fn collect(node: &Lent<'_>, answer: &DevInfoAnswer) -> Result<Self, Errno> {
        let dev = &answer.known;
        let mut info = Self {
            asic_id: dev.device_id,
            chip_rev: dev.chip_rev,
            chip_external_rev: dev.external_rev,
            family_id: dev.family,
            ids_flags: dev.ids_flags,
            max_engine_clk: dev.max_engine_clock,
            max_memory_clk: dev.max_memory_clock,
            num_shader_engines: dev.num_shader_engines,
            num_shader_arrays_per_engine: dev.num_shader_arrays_per_engine,
            num_hw_gfx_contexts: dev.num_hw_gfx_contexts,
            rb_pipes: dev.num_rb_pipes,
            enabled_rb_pipes_mask: dev.enabled_rb_pipes_mask,
            gpu_counter_freq: dev.gpu_counter_freq,
            cu_active_number: dev.cu_active_number,
            cu_ao_mask: dev.cu_ao_mask,
            cu_bitmap: dev.cu_bitmap,
            vram_type: dev.vram_type,
            vram_bit_width: dev.vram_bit_width,
            ce_ram_size: dev.ce_ram_size,
            vce_harvest_config: dev.vce_harvest_config,
            pci_rev_id: dev.pci_rev,
            ..Self::default()
        };
        let (is_old, has_second) = (dev.family < FAMILY_AI, dev.family >= FAMILY_CI);
        if is_old {
            // The arrays have four elements, whatever the kernel says.
            for (engine, index) in (0..dev.num_shader_engines).zip(0..4) {
                let (instance, one) = (0xff00 | engine, index..=index);
                read(node, register::CC_RB_BACKEND_DISABLE, instance, &mut info.backend_disable[one.clone()])?;
                info.backend_disable[index] = info.backend_disable[index] >> 16 & 0xff;
                read(node, register::PA_SC_RASTER_CONFIG, instance, &mut info.pa_sc_raster_cfg[one.clone()])?;
                if has_second {
                    read(node, register::PA_SC_RASTER_CONFIG_1, instance, &mut info.pa_sc_raster_cfg1[one])?;
                }
            }
        }
        read(node, register::GB_ADDR_CONFIG, EVERYWHERE, std::slice::from_mut(&mut info.gb_addr_cfg))?;
        if is_old {
            read(node, register::GB_TILE_MODE0, EVERYWHERE, &mut info.gb_tile_mode)?;
            if has_second {
                read(node, register::GB_MACROTILE_MODE0, EVERYWHERE, &mut info.gb_macro_tile_mode)?;
            }
            read(node, register::MC_ARB_RAMCFG, EVERYWHERE, std::slice::from_mut(&mut info.mc_arb_ramcfg))?;
        }
        Ok(info)
    }
}
