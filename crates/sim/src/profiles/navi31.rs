//! The capture of NAVI31 (AMD Radeon RX 7900 XTX).

use amdgpu_winsys::{uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo}, winsys::GfxLevel};

use super::{Firmware, Profile, Register};

/// AMD Radeon RX 7900 XTX, GFX11.
pub(super) const PROFILE: Profile = Profile {
    name: "navi31",
    marketing_name: "AMD Radeon RX 7900 XTX",
    gfx_level: GfxLevel::Gfx11,
    dev_info: DevInfo {
        device_id: 0x744c,
        external_rev: 0x1,
        pci_rev: 0xc8,
        family: 145,
        num_shader_engines: 6,
        num_shader_arrays_per_engine: 2,
        gpu_counter_freq: 100_000,
        max_engine_clock: 2_371_000,
        max_memory_clock: 1_249_000,
        cu_active_number: 96,
        cu_bitmap: [[0xff, 0xff, 0xff, 0xff], [0xff, 0xff, 0xff, 0xff], [0xff, 0xff, 0, 0], [0xff, 0xff, 0, 0]],
        enabled_rb_pipes_mask: 0xff_ffff,
        num_rb_pipes: 24,
        num_hw_gfx_contexts: 8,
        pcie_gen: 4,
        ids_flags: 0x8,
        virtual_address_offset: 0x20_0000,
        virtual_address_max: 0x8000_0000_0000,
        virtual_address_alignment: 4096,
        pte_fragment_size: 2_097_152,
        gart_page_size: 4096,
        vram_type: 9,
        vram_bit_width: 384,
        wave_front_size: 32,
        num_shader_visible_vgprs: 1536,
        num_cu_per_sh: 8,
        num_tcc_blocks: 24,
        gs_vgt_table_depth: 32,
        gs_prim_buffer_depth: 1792,
        max_gs_waves_per_vgt: 32,
        pcie_num_lanes: 16,
        high_va_offset: 0xffff_8000_0000_0000,
        high_va_max: 0xffff_ffff_ffe0_0000,
        min_engine_clock: 500_000,
        min_memory_clock: 96_000,
        tcp_cache_size: 32,
        num_sqc_per_wgp: 1,
        sqc_data_cache_size: 16,
        sqc_inst_cache_size: 32,
        gl1c_cache_size: 256,
        gl2c_cache_size: 6144,
        mall_size: 0x600_0000,
        ..DevInfo::ZEROED
    },
    memory: MemoryInfo {
        vram: HeapInfo { total_heap_size: 0x5_ff00_0000, usable_heap_size: 0x5_fab6_7000, heap_usage: 0, max_allocation: 0x4_7c08_d400 },
        cpu_accessible_vram: HeapInfo { total_heap_size: 0x5_ff00_0000, usable_heap_size: 0x5_fab6_7000, heap_usage: 0, max_allocation: 0x4_7c08_d400 },
        gtt: HeapInfo { total_heap_size: 0x7_be1b_a000, usable_heap_size: 0x7_bd4f_d000, heap_usage: 0, max_allocation: 0x5_cdfb_dc00 },
    },
    memory_usable_captured: true,
    gfx: InfoHwIp { hw_ip_version_major: 11, hw_ip_version_minor: 0, capabilities_flags: 0, ib_start_alignment: 32, ib_size_alignment: 32, available_rings: 0x1, ip_discovery_version: 0xb_0000 },
    compute: InfoHwIp { hw_ip_version_major: 11, hw_ip_version_minor: 0, capabilities_flags: 0, ib_start_alignment: 32, ib_size_alignment: 32, available_rings: 0xf, ip_discovery_version: 0xb_0000 },
    sdma_engines: 2,
    firmware: Firmware {
        me: InfoFirmware { ver: 1486, feature: 29 },
        pfp: InfoFirmware { ver: 1525, feature: 29 },
        mec: InfoFirmware { ver: 494, feature: 29 },
    },
    registers: &[
        Register { dword_offset: 0x263e, instance: Register::BROADCAST, value: 0x545 },
    ],
};
