//! Memory, addresses, and the rings that shaders write between stages.

use super::list::List;
use crate::winsys::{Capabilities, GfxLevel, GpuInfo};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

pub(super) fn memory(info: &GpuInfo, list: &mut List<'_>) {
    let (memory, shader) = (&info.memory, &info.shader);
    let megabytes = |bytes: u64| format!("{} MB", bytes.div_ceil(MIB));
    list.add("pte_fragment_size", memory.pte_fragment);
    list.add("gart_page_size", memory.gart_page);
    list.add("gart_size", megabytes(memory.gtt));
    list.add("vram_size", megabytes(memory.vram));
    list.add("vram_vis_size", megabytes(memory.visible_vram));
    list.add("vram_type", info.vram_type as u32);
    let largest = if info.has_dedicated_vram { memory.vram } else { memory.vram.max(memory.gtt) };
    list.add("max_heap_size_kb", megabytes(largest));
    list.add("address32_hi", format_args!("{:#x}", info.high_va_offset >> 32));
    list.flag("has_dedicated_vram", info.has_dedicated_vram);
    list.flag("all_vram_visible", memory.all_vram_visible());
    list.add("high_va_offset", format_args!("{:x}", info.high_va_offset));
    list.add("high_va_max", format_args!("{:x}", info.high_va_max));
    list.add("virtual_address_max", format_args!("{:x}", info.va_max));
    list.add("virtual_address_alignment", format_args!("{:x}", info.va_alignment));
    list.add("max_tcc_blocks", shader.max_l2_slices);
    list.add("tcc_cache_line_size", shader.l2_line);
    list.flag("tcc_rb_non_coherent", shader.l2_incoherent_with_render_backends);
    list.flag("cp_sdma_ge_use_system_memory_scope", info.capabilities.contains(Capabilities::ENGINES_PASS_L2));
    list.add("pc_lines", info.parameter_cache().map_or(0, |cache| cache.lines));
    list.add("lds_alloc_granularity", info.lds().alloc_granularity);
    list.add("max_memory_clock", format_args!("{} MHz", info.max_memory_clock_mhz));
}

pub(super) fn rings(info: &GpuInfo, list: &mut List<'_>) {
    let kilobytes = |bytes: u64| format!("{} KB", bytes.div_ceil(KIB));
    // On GFX12, Mesa 26.2 has larger rings than 25.0, whose sizes `AttributeRings` has.
    let larger = if info.gfx_level >= GfxLevel::Gfx12 { 384 * KIB } else { 0 };
    if let Some(rings) = info.attribute_rings() {
        list.add("attribute_ring_size_per_se", kilobytes(rings.attributes_per_engine + larger));
        if rings.positions_per_engine != 0 {
            list.add("pos_ring_size_per_se", kilobytes(rings.positions_per_engine));
            list.add("prim_ring_size_per_se", kilobytes(rings.primitives_per_engine));
        }
        list.add(
            "total_attribute_pos_prim_ring_size",
            kilobytes(rings.total + larger * u64::from(info.shader.max_engines)),
        );
    }
    let rings = info.tessellation_rings();
    list.add("hs_offchip_workgroup_size", format_args!("{} B", rings.buffer));
    list.add("tess_factor_ring_size", kilobytes(rings.factors()));
    list.add("tess_offchip_ring_size", kilobytes(rings.off_chip()));
}
