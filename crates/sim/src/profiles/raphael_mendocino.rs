//! The capture of RAPHAEL_MENDOCINO (AMD Radeon Graphics).

use amdgpu_winsys::{uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo}, winsys::GfxLevel};

use super::{Firmware, Profile, Register};

/// AMD Radeon Graphics, GFX10_3.
pub(super) const PROFILE: Profile = Profile {
    name: "raphael_mendocino",
    marketing_name: "AMD Radeon Graphics",
    gfx_level: GfxLevel::Gfx10_3,
    dev_info: DevInfo {
        device_id: 0x164e,
        chip_rev: 0x1,
        external_rev: 0x2,
        pci_rev: 0xc1,
        family: 149,
        num_shader_engines: 1,
        num_shader_arrays_per_engine: 1,
        gpu_counter_freq: 100_000,
        max_engine_clock: 200_000,
        max_memory_clock: 2_400_000,
        cu_active_number: 2,
        cu_ao_mask: 0x3,
        cu_bitmap: [[0x3, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        enabled_rb_pipes_mask: 0x1,
        num_rb_pipes: 1,
        num_hw_gfx_contexts: 8,
        pcie_gen: 4,
        ids_flags: 0x1,
        virtual_address_offset: 0x20_0000,
        virtual_address_max: 0x8000_0000_0000,
        virtual_address_alignment: 4096,
        pte_fragment_size: 2_097_152,
        gart_page_size: 4096,
        ce_ram_size: 65_536,
        vram_type: 10,
        vram_bit_width: 128,
        gc_double_offchip_lds_buf: 1,
        wave_front_size: 32,
        num_shader_visible_vgprs: 1024,
        num_cu_per_sh: 2,
        num_tcc_blocks: 2,
        gs_vgt_table_depth: 32,
        gs_prim_buffer_depth: 1792,
        max_gs_waves_per_vgt: 32,
        pcie_num_lanes: 16,
        cu_ao_bitmap: [[0x3, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        high_va_offset: 0xffff_8000_0000_0000,
        high_va_max: 0xffff_ffff_ffe0_0000,
        min_engine_clock: 200_000,
        min_memory_clock: 2_400_000,
        ..DevInfo::ZEROED
    },
    memory: MemoryInfo {
        vram: HeapInfo { total_heap_size: 0x2000_0000, usable_heap_size: 0x1e85_c000, heap_usage: 0, max_allocation: 0x16e4_5000 },
        cpu_accessible_vram: HeapInfo { total_heap_size: 0x2000_0000, usable_heap_size: 0x1e85_c000, heap_usage: 0, max_allocation: 0x16e4_5000 },
        gtt: HeapInfo { total_heap_size: 0x7_be1b_a000, usable_heap_size: 0x7_bd60_a000, heap_usage: 0, max_allocation: 0x5_ce08_7800 },
    },
    memory_usable_captured: true,
    gfx: InfoHwIp { hw_ip_version_major: 10, hw_ip_version_minor: 0, capabilities_flags: 0, ib_start_alignment: 32, ib_size_alignment: 32, available_rings: 0x1, ip_discovery_version: 0xa_0306 },
    compute: InfoHwIp { hw_ip_version_major: 10, hw_ip_version_minor: 0, capabilities_flags: 0, ib_start_alignment: 32, ib_size_alignment: 32, available_rings: 0xf, ip_discovery_version: 0xa_0306 },
    sdma_engines: 1,
    firmware: Firmware {
        me: InfoFirmware { ver: 13, feature: 38 },
        pfp: InfoFirmware { ver: 13, feature: 38 },
        mec: InfoFirmware { ver: 18, feature: 38 },
    },
    registers: &[
        Register { dword_offset: 0x263e, instance: Register::BROADCAST, value: 0x42 },
    ],
};
