//! Units, clocks, caches and registers of shaders.

use amdgpu_hw::{newer_radv_name, num::index};

use super::list::List;
use crate::winsys::{Chip, GfxLevel, GpuInfo, Ip};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

pub(super) fn device(info: &GpuInfo, list: &mut List<'_>) {
    let (units, caches) = (info.units(), &info.caches);
    list.add("name", newer_radv_name(info.chip).unwrap_or(info.chip_name()));
    list.add("marketing_name", &info.marketing_name);
    list.add("num_se", units.engines);
    list.add("num_rb", units.render_backends);
    list.add("num_cu", units.compute_units);
    list.add("max_gpu_freq", format_args!("{} MHz", info.max_engine_clock_mhz));
    list.add("max_gflops", format_args!("{} GFLOPS", info.peak_gflops()));
    for (name, size) in [("sqc_inst_cache_size", caches.instruction), ("sqc_scalar_cache_size", caches.scalar)] {
        if let Some(size) = size {
            let of_wgp = caches.scalar_per_wgp.unwrap_or(0);
            list.add(name, format_args!("{} KB ({of_wgp} per WGP)", size / KIB));
        }
    }
    list.add("tcp_cache_size", format_args!("{} KB", caches.vector / KIB));
    // GFX12 has no cache of a shader array, whatever DEV_INFO says.
    if let Some(size) = caches.shader_array.filter(|_| info.gfx_level < GfxLevel::Gfx12) {
        list.add("l1_cache_size", format_args!("{} KB", size / KIB));
    }
    list.add("l2_cache_size", format_args!("{} KB", caches.l2 / KIB));
    if let Some(size) = caches.infinity {
        list.add("l3_cache_size", format_args!("{} MB", size / MIB));
    }
    list.add("memory_channels", format_args!("{} (TCC blocks)", info.shader.l2_slices));
    let (vram, transfers) = (info.memory.vram, info.effective_memory_clock_mhz());
    // Mesa rounds all of them up.
    list.add("memory_size", format_args!("{} GB ({} MB)", vram.div_ceil(GIB), vram.div_ceil(MIB)));
    list.add("memory_freq", format_args!("{} GHz", transfers.div_ceil(1000)));
    list.add("memory_bus_width", format_args!("{} bits", info.vram_bit_width));
    list.add("memory_bandwidth", format_args!("{} GB/s", info.memory_bandwidth_gbps()));
    list.add("pcie_gen", info.pcie_generation);
    list.add("pcie_num_lanes", info.pcie_lanes);
    let link = info.pcie_bandwidth_mbps();
    let tenths = (link * 10 + 512) / 1024;
    list.add("pcie_bandwidth", format_args!("{}.{} GB/s", tenths / 10, tenths % 10));
    list.add("clock_crystal_freq", format_args!("{} KHz", info.clock_counter_khz));
}

pub(super) fn identification(info: &GpuInfo, list: &mut List<'_>) {
    list.add("pci_id", format_args!("{:#x}", info.device_id));
    list.add("pci_rev_id", format_args!("{:#x}", info.pci_revision));
    list.add("family_id", info.family as u32);
    list.add("chip_external_rev", info.external_revision);
    list.add("chip_rev", info.chip_revision);
}

pub(super) fn shader_core(info: &GpuInfo, list: &mut List<'_>) {
    let shader = &info.shader;
    for engine in 0..shader.max_engines {
        for array in 0..shader.arrays_per_engine {
            let mask = shader.unit_masks[index(engine % 4)][index(array + engine / 4 * 2)];
            let count = mask.count_ones();
            let packed = 1_u64.wrapping_shl(count) - 1;
            let value = format!("{mask:#x} \t({count})\tCU_EN = {packed:#x}");
            list.add(format!("cu_mask[SE{engine}][SA{array}]"), value);
        }
    }
    list.add("max_good_cu_per_sa", shader.most_units_per_array);
    list.add("min_good_cu_per_sa", shader.least_units_per_array);
    list.add("max_se", shader.max_engines);
    list.add("max_sa_per_se", shader.arrays_per_engine);
    list.add("num_cu_per_sh", shader.max_units_per_array);
    let scratch = info.scratch();
    // Mesa 26.2 counts with the largest array, and 25.0, like `ScratchLimits`, with the smallest.
    let (least, most) = (shader.least_units_per_array.max(1), shader.most_units_per_array);
    list.add("max_scratch_waves", scratch.waves / least * most);
    list.flag("has_scratch_base_registers", scratch.has_base_registers);
}

pub(super) fn compiler(info: &GpuInfo, list: &mut List<'_>) {
    let (waves, lds, level) = (info.waves(), info.lds(), info.gfx_level);
    let fuses = matches!(info.chip, Chip::CHIP_TAHITI | Chip::CHIP_HAWAII | Chip::CHIP_CARRIZO);
    let is_packed = level >= GfxLevel::Gfx11 || matches!(info.chip, Chip::CHIP_ALDEBARAN | Chip::CHIP_GFX940);
    list.add("max_waves_per_simd", waves.per_simd);
    list.add("num_physical_sgprs_per_simd", waves.sgprs_per_simd);
    list.add("num_physical_wave64_vgprs_per_simd", waves.vgprs_per_simd);
    list.add("num_simd_per_compute_unit", waves.simds_per_unit);
    list.add("min_sgpr_alloc", waves.sgpr_granularity);
    list.add("max_sgpr_alloc", waves.most_sgprs);
    list.add("sgpr_alloc_granularity", waves.sgpr_granularity);
    list.add("min_wave64_vgpr_alloc", waves.vgpr_granularity);
    list.add("max_vgpr_alloc", waves.most_vgprs);
    list.add("wave64_vgpr_alloc_granularity", waves.vgpr_granularity);
    list.add("lds_size_per_workgroup", lds.per_workgroup);
    list.flag("has_lds_bank_count_16", lds.banks == 16);
    // Of the chips for computing only, which the later ones descend from.
    let computes = matches!(info.chip, Chip::CHIP_ARCTURUS | Chip::CHIP_ALDEBARAN | Chip::CHIP_GFX940);
    let is_vega20 = info.chip == Chip::CHIP_VEGA20;
    list.flag("has_point_sample_accel", level == GfxLevel::Gfx11_5);
    list.flag("has_fast_fma32", level >= GfxLevel::Gfx9 || fuses);
    list.flag("has_fma_mix", is_vega20 || computes || level >= GfxLevel::Gfx10);
    list.flag("has_mad32", level <= GfxLevel::Gfx10 && info.chip != Chip::CHIP_GFX940);
    list.flag("has_packed_math_16bit", level >= GfxLevel::Gfx9);
    let multiplies = is_vega20 || computes || (level >= GfxLevel::Gfx10 && info.chip != Chip::CHIP_NAVI10);
    list.flag("has_accelerated_dot_product", multiplies);
    list.flag("has_image_bvh_intersect_ray", level >= GfxLevel::Gfx10_3);
    let needs_message =
        matches!(info.chip, Chip::CHIP_NAVI21 | Chip::CHIP_NAVI22 | Chip::CHIP_VANGOGH | Chip::CHIP_REMBRANDT);
    list.flag("has_ngg_passthru_no_msg", level >= GfxLevel::Gfx10_3 && !needs_message);
    list.flag("local_invocation_ids_packed", is_packed);
    list.flag("has_3d_cube_border_color_mipmap", info.ring_count(Ip::Gfx) > 0 || info.chip == Chip::CHIP_ARCTURUS);
    list.flag("conformant_trunc_coord", matches!(level, GfxLevel::Gfx11 | GfxLevel::Gfx11_5));
    list.flag("has_attr_ring", info.attribute_rings().is_some());
    // Of chips whose engines cannot share the patches of a draw.
    list.flag("smaller_tcs_workgroups", level <= GfxLevel::Gfx7 && info.shader.max_engines > 1);
}
