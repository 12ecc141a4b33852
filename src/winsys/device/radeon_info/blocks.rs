//! The graphics block: what it and its firmware can do, and its render backends.

use super::list::List;
use crate::winsys::{Capabilities, Chip, Firmware, GfxLevel, GpuInfo, Ip};

pub(super) fn flags(info: &GpuInfo, list: &mut List<'_>) {
    let (level, engines) = (info.gfx_level, info.shader.max_engines);
    let is_gfx12 = level >= GfxLevel::Gfx12;
    list.flag("has_graphics", info.ring_count(Ip::Gfx) > 0);
    list.flag("has_clear_state", (GfxLevel::Gfx7..GfxLevel::Gfx11).contains(&level));
    list.flag("has_distributed_tess", level >= GfxLevel::Gfx10 || (level >= GfxLevel::Gfx8 && engines >= 2));
    let encodes = matches!(info.chip, Chip::CHIP_RAVEN2 | Chip::CHIP_RENOIR);
    list.flag("has_dcc_constant_encode", encodes || level >= GfxLevel::Gfx10);
    list.flag("has_rbplus", info.chip == Chip::CHIP_STONEY || level >= GfxLevel::Gfx9);
    list.flag("rbplus_allowed", info.peaks().rbplus);
    let loads = level >= GfxLevel::Gfx9 || (level == GfxLevel::Gfx8 && info.me_firmware.feature >= 41);
    list.flag("has_load_ctx_reg_pkt", loads);
    list.flag("has_out_of_order_rast", matches!(level, GfxLevel::Gfx8 | GfxLevel::Gfx9) && engines >= 2);
    list.flag("cpdma_prefetch_writes_memory", level <= GfxLevel::Gfx8);
    let predicates = match level {
        GfxLevel::Gfx9 => info.me_firmware.feature >= 52,
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => info.me_firmware.feature >= 32,
        _ => level >= GfxLevel::Gfx11,
    };
    list.flag("has_32bit_predication", predicates);
    list.flag("has_image_opcodes", info.chip != Chip::CHIP_GFX940);
    list.flag("never_stop_sq_perf_counters", matches!(level, GfxLevel::Gfx10 | GfxLevel::Gfx10_3));
    list.flag("never_send_perfcounter_stop", level == GfxLevel::Gfx11);
    let is_discardable = (GfxLevel::Gfx10_3..GfxLevel::Gfx12).contains(&level) && info.has_dedicated_vram;
    list.flag("discardable_allows_big_page", is_discardable);
    list.flag("has_set_context_pairs", is_gfx12);
    list.flag("has_set_sh_pairs", is_gfx12);
    list.flag("has_set_uconfig_pairs", is_gfx12);
    list.flag("has_out_of_order_uncached_l2", is_gfx12);
}

pub(super) fn command_processor(info: &GpuInfo, list: &mut List<'_>) {
    list.flag("gfx_ib_pad_with_type2", info.gfx_level == GfxLevel::Gfx6);
    list.flag("can_chain_ib2", info.gfx_level >= GfxLevel::Gfx7);
    list.flag("has_cp_dma", info.capabilities.contains(Capabilities::CP_DMA));
    for (name, Firmware { version, feature }) in
        [("me", info.me_firmware), ("mec", info.mec_firmware), ("pfp", info.pfp_firmware)]
    {
        list.add(format!("{name}_fw_version"), version);
        list.add(format!("{name}_fw_feature"), feature);
    }
}

pub(super) fn kernel(info: &GpuInfo, list: &mut List<'_>) {
    let driver = info.driver;
    list.add("drm", format_args!("{}.{}.{}", driver.major, driver.minor, driver.patch));
    for (name, capability) in [
        ("has_userptr", Capabilities::USERPTR),
        ("has_timeline_syncobj", Capabilities::TIMELINE_SYNCOBJ),
        ("has_vm_always_valid", Capabilities::ALWAYS_VALID),
        ("has_eqaa_surface_allocator", Capabilities::EQAA),
        ("has_sparse", Capabilities::SPARSE),
        ("has_gpuvm_fault_query", Capabilities::GPUVM_FAULT_QUERY),
        ("has_kernelq_reg_shadowing", Capabilities::REGISTER_SHADOWING),
        ("has_default_zerovram_support", Capabilities::ZEROED_VRAM),
        ("has_tmz_support", Capabilities::TMZ),
        ("has_trap_handler_support", Capabilities::TRAP_HANDLER),
    ] {
        list.flag(name, info.capabilities.contains(capability));
    }
    // Those of the older video blocks depend on the driver: RADV submits one at a time.
    for (ip, name) in
        [(Ip::Gfx, "GFX"), (Ip::Compute, "COMPUTE"), (Ip::Sdma, "SDMA"), (Ip::VcnJpeg, "VCN_JPEG"), (Ip::Vpe, "VPE")]
    {
        if let Some(&limit) = info.max_ibs.get(ip.index()).filter(|limit| **limit != 0) {
            list.add(format!("IP {name:<7} max_submitted_ibs"), limit);
        }
    }
    list.flag("kernel_has_modifiers", info.capabilities.contains(Capabilities::MODIFIERS));
}

pub(super) fn render_backends(info: &GpuInfo, list: &mut List<'_>) {
    let shader = &info.shader;
    list.add("pa_sc_tile_steering_override", format_args!("{:#x}", info.tile_steering_override));
    list.add("max_render_backends", shader.max_render_backends);
    if let Some(pipes) = info.tiling.pipes(info.gfx_level) {
        list.add("num_tile_pipes", pipes);
    }
    list.add("enabled_rb_mask", format_args!("{:#x}", shader.render_backend_mask));
    list.add("pbb_max_alloc_count", info.parameter_cache().map_or(0, |cache| cache.batch_allocations));
    list.add("GB_ADDR_CONFIG", format_args!("{:#010x}", info.tiling.gb_addr_config));
}
