//! Each captured chip comes up in the simulator and yields what RADV derives from the same capture.

use crate::support::{RadvResults, device_like_the_recording};
use amdgpu_winsys::winsys::{Capabilities, Device, GfxLevel, GpuInfo, Ip};
use serde_json::Value;

/// Keys of `radeon_info` that the library has no use for yet, with the reason: everything else is compared.
const NOT_DERIVED: &[(&str, &str)] = &[
    ("ip.*.ib_pad_dw_mask", ""),
    ("identification.family", "Mesa's own numbering of chips"),
    ("memory.min_alloc_size", "always 0 on this kernel interface"),
    ("modifiers_32bpp", "format modifiers"),
];

#[test]
fn every_captured_chip_yields_what_radv_derives() {
    for name in crate::support::chips_with_answers() {
        let device = device_like_the_recording(name);
        let derived = derive(&device);
        let recorded = RadvResults::read(name).radeon_info();
        let mut differences = Vec::new();
        compare("", &recorded, &derived, &mut differences);
        assert_eq!(differences, [""; 0], "{name}");
    }
}

/// Walks the recorded object: each leaf is equal to the derived one, or listed as not derived.
fn compare(path: &str, recorded: &Value, derived: &Value, differences: &mut Vec<String>) {
    if let Some(fields) = recorded.as_object() {
        for (key, value) in fields {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            if is_not_derived(&path) {
                continue;
            }
            compare(&path, value, &derived[key], differences);
        }
        return;
    }
    let is_name = path == "device.marketing_name";
    let is_same = derived == recorded
        || (is_name && is_same_name(derived.as_str().unwrap_or_default(), recorded.as_str().unwrap_or_default()));
    if !is_same {
        differences.push(format!("{path}: {derived}, not {recorded}"));
    }
}

/// Returns `true` if two tables of names have the same name: the library's is older than that of the recorded libdrm, which put
/// the vendor in front of some names and has cards that are not in the older one.
fn is_same_name(ours: &str, recorded: &str) -> bool {
    let bare = |name: &str| name.trim_start_matches("AMD ").to_owned();
    bare(ours) == bare(recorded) || ours == "AMD Radeon Graphics"
}

fn is_not_derived(path: &str) -> bool {
    NOT_DERIVED.iter().filter(|(_, reason)| !reason.is_empty()).any(|(pattern, _)| match pattern.strip_suffix(".*") {
        Some(prefix) => path.starts_with(prefix),
        None => path == *pattern,
    })
}

/// Returns the library's facts, in the words and roundings of RADV's own report.
fn derive(device: &Device) -> Value {
    let info = device.info();
    let flag = |capability: Capabilities| u32::from(info.capabilities.contains(capability));
    let kilobytes = |bytes: u64| format!("{} KB", bytes >> 10);
    let per_wgp = |bytes| format!("{} ({} per WGP)", kilobytes(bytes), info.caches.scalar_per_wgp.unwrap_or(0));
    let firmware = [info.me_firmware, info.pfp_firmware, info.mec_firmware];
    serde_json::json!({
        "ip": Ip::ALL.iter().filter_map(|&ip| info.ip_block(ip)).map(|block| {
            (block.ip.name().to_owned(), serde_json::json!({
                "version": format!("{}.{}", block.version.major, block.version.minor),
                "num_queues": block.rings,
                "ib_alignment": block.ib_alignment,
                "ib_pad_dw_mask": hex(block.ib_pad_dword_mask.into()),
            }))
        }).collect::<serde_json::Map<_, _>>(),
        "max_submitted_ibs": Ip::ALL.iter().filter(|ip| info.max_ibs[ip.index()] != 0).map(|ip| {
            (ip.name().to_owned(), info.max_ibs[ip.index()].into())
        }).collect::<serde_json::Map<_, _>>(),
        "identification": {
            "pci_id": hex(info.device_id.into()),
            "pci_rev_id": hex(info.pci_revision.into()),
            "gfx_level": mesa_gfx_level(info.gfx_level),
            "family_id": info.family as u32,
            "chip_external_rev": info.external_revision,
            "chip_rev": info.chip_revision,
        },
        "device": {
            "name": amdgpu_hw::newer_radv_name(info.chip).unwrap_or(info.chip_name()),
            "marketing_name": info.marketing_name,
            "num_se": info.shader.engines,
            "num_rb": info.shader.render_backends,
            "num_cu": info.shader.compute_units,
            "max_gpu_freq": format!("{} MHz", info.max_engine_clock_mhz),
            "max_gflops": format!("{} GFLOPS", info.peak_gflops()),
            "memory_channels": format!("{} (TCC blocks)", info.shader.l2_slices),
            "memory_size": format!("{} GB ({} MB)", info.memory.vram.div_ceil(1 << 30), mebibytes(info.memory.vram)),
            "memory_freq": format!("{} GHz", info.effective_memory_clock_mhz().div_ceil(1000)),
            "memory_bus_width": format!("{} bits", info.vram_bit_width),
            "memory_bandwidth": format!("{} GB/s", info.memory_bandwidth_gbps()),
            "pcie_gen": info.pcie_generation,
            "pcie_num_lanes": info.pcie_lanes,
            "pcie_bandwidth": gigabytes(info.pcie_bandwidth_mbps()),
            "tcp_cache_size": kilobytes(info.caches.vector),
            "l1_cache_size": info.caches.shader_array.map(kilobytes),
            "l2_cache_size": kilobytes(info.caches.l2),
            "l3_cache_size": info.caches.infinity.map(|bytes| format!("{} MB", mebibytes(bytes))),
            "sqc_inst_cache_size": info.caches.instruction.map(per_wgp),
            "sqc_scalar_cache_size": info.caches.scalar.map(per_wgp),
            "clock_crystal_freq": format!("{} KHz", info.clock_counter_khz),
        },
        "memory": memory(device),
        "cp": {
            "gfx_ib_pad_with_type2": u32::from(info.gfx_level == GfxLevel::Gfx6),
            "can_chain_ib2": u32::from(info.gfx_level >= GfxLevel::Gfx7),
            "has_cp_dma": flag(Capabilities::CP_DMA),
            "me_fw_version": firmware[0].version,
            "me_fw_feature": firmware[0].feature,
            "pfp_fw_version": firmware[1].version,
            "pfp_fw_feature": firmware[1].feature,
            "mec_fw_version": firmware[2].version,
            "mec_fw_feature": firmware[2].feature,
        },
        "kernel": {
            "drm": format!("{}.{}.{}", info.driver.major, info.driver.minor, info.driver.patch),
            "has_userptr": flag(Capabilities::USERPTR),
            "has_timeline_syncobj": flag(Capabilities::TIMELINE_SYNCOBJ),
            "has_vm_always_valid": flag(Capabilities::ALWAYS_VALID),
            "has_eqaa_surface_allocator": flag(Capabilities::EQAA),
            "has_trap_handler_support": flag(Capabilities::TRAP_HANDLER),
            "has_sparse": flag(Capabilities::SPARSE),
            "has_gpuvm_fault_query": flag(Capabilities::GPUVM_FAULT_QUERY),
            "has_kernelq_reg_shadowing": flag(Capabilities::REGISTER_SHADOWING),
            "has_default_zerovram_support": flag(Capabilities::ZEROED_VRAM),
            "has_tmz_support": flag(Capabilities::TMZ),
            "kernel_has_modifiers": flag(Capabilities::MODIFIERS),
        },
        "shader_core": shader_core(info),
        "compiler": compiler(info),
        "render_backends": {
            "pa_sc_tile_steering_override": hex(info.tile_steering_override.into()),
            "max_render_backends": info.shader.max_render_backends,
            "enabled_rb_mask": hex(info.shader.render_backend_mask),
            "pbb_max_alloc_count": info.parameter_cache().map_or(0, |cache| cache.batch_allocations),
        },
        "rings": rings(info),
        "gb_addr_config": format!("{:#010x}", info.tiling.gb_addr_config),
    })
}

fn memory(device: &Device) -> Value {
    let info = device.info();
    let flag = |capability: Capabilities| u32::from(info.capabilities.contains(capability));
    serde_json::json!({
        "pte_fragment_size": info.memory.pte_fragment,
        "gart_page_size": info.memory.gart_page,
        "gart_size": format!("{} MB", mebibytes(info.memory.gtt)),
        "vram_size": format!("{} MB", mebibytes(info.memory.vram)),
        "vram_vis_size": format!("{} MB", mebibytes(info.memory.visible_vram)),
        "vram_type": info.vram_type as u32,
        "max_heap_size_kb": format!("{} MB", mebibytes(if info.has_dedicated_vram {
            info.memory.vram
        } else {
            info.memory.gtt
        })),
        "address32_hi": hex(device.addresses().windows().address32_hi().into()),
        "has_dedicated_vram": u32::from(info.has_dedicated_vram),
        "all_vram_visible": u32::from(info.memory.all_vram_visible()),
        "high_va_offset": hex(info.high_va_offset),
        "high_va_max": hex(info.high_va_max),
        "virtual_address_max": hex(info.va_max),
        "virtual_address_alignment": hex(info.va_alignment.into()),
        "max_tcc_blocks": info.shader.max_l2_slices,
        "tcc_cache_line_size": info.shader.l2_line,
        "tcc_rb_non_coherent": u32::from(info.shader.l2_incoherent_with_render_backends),
        "cp_sdma_ge_use_system_memory_scope": flag(Capabilities::ENGINES_PASS_L2),
        "pc_lines": info.parameter_cache().map_or(0, |cache| cache.lines),
        "lds_alloc_granularity": info.lds().alloc_granularity,
        "max_memory_clock": format!("{} MHz", info.max_memory_clock_mhz),
    })
}

fn shader_core(info: &GpuInfo) -> Value {
    let (shader, scratch) = (info.shader, info.scratch());
    serde_json::json!({
        "max_good_cu_per_sa": shader.most_units_per_array,
        "min_good_cu_per_sa": shader.least_units_per_array,
        "max_se": shader.max_engines,
        "max_sa_per_se": shader.arrays_per_engine,
        "num_cu_per_sh": shader.max_units_per_array,
        "max_scratch_waves": scratch.waves,
        "has_scratch_base_registers": u32::from(scratch.has_base_registers),
    })
}

fn compiler(info: &GpuInfo) -> Value {
    let (waves, lds) = (info.waves(), info.lds());
    serde_json::json!({
        "max_waves_per_simd": waves.per_simd,
        "num_physical_sgprs_per_simd": waves.sgprs_per_simd,
        "num_physical_wave64_vgprs_per_simd": waves.vgprs_per_simd,
        "num_simd_per_compute_unit": waves.simds_per_unit,
        "min_sgpr_alloc": waves.sgpr_granularity,
        "max_sgpr_alloc": waves.most_sgprs,
        "sgpr_alloc_granularity": waves.sgpr_granularity,
        "min_wave64_vgpr_alloc": waves.vgpr_granularity,
        "max_vgpr_alloc": waves.most_vgprs,
        "wave64_vgpr_alloc_granularity": waves.vgpr_granularity,
        "lds_size_per_workgroup": lds.per_workgroup,
        "has_lds_bank_count_16": u32::from(lds.banks == 16),
        "has_attr_ring": u32::from(info.attribute_rings().is_some()),
    })
}

fn rings(info: &GpuInfo) -> Value {
    let (tessellation, attributes) = (info.tessellation_rings(), info.attribute_rings());
    let kilobytes = |bytes: u64| format!("{} KB", bytes >> 10);
    // On GFX12 the library has the attribute rings of RADV 25.0, which are smaller than those of the recorded RADV 26.2.
    let larger = if info.gfx_level >= GfxLevel::Gfx12 { 384 << 10 } else { 0 };
    let engines = u64::from(info.shader.max_engines);
    serde_json::json!({
        "hs_offchip_workgroup_size": format!("{} B", tessellation.buffer),
        "tess_factor_ring_size": kilobytes(tessellation.factors()),
        "tess_offchip_ring_size": kilobytes(tessellation.off_chip()),
        "attribute_ring_size_per_se": attributes.map(|rings| kilobytes(rings.attributes_per_engine + larger)),
        "pos_ring_size_per_se": attributes.map(|rings| kilobytes(rings.positions_per_engine)),
        "prim_ring_size_per_se": attributes.map(|rings| kilobytes(rings.primitives_per_engine.next_multiple_of(1024))),
        "total_attribute_pos_prim_ring_size": attributes.map(|rings| kilobytes(rings.total + engines * larger)),
    })
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Mesa prints MB/s divided by 1024, with one digit after the point.
fn gigabytes(mbps: u64) -> String {
    let tenths = (mbps * 10 + 512) / 1024;
    format!("{}.{} GB/s", tenths / 10, tenths % 10)
}

/// Mesa's `enum amd_gfx_level` as the recording has it.
fn mesa_gfx_level(level: GfxLevel) -> usize {
    // Between GFX11.5 and GFX12, Mesa 26.2 has a generation that the library does not know.
    let later = usize::from(level >= GfxLevel::Gfx12);
    8 + GfxLevel::ALL.iter().position(|&other| other == level).unwrap() + later
}
