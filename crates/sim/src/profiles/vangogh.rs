//! The capture of VANGOGH (AMD Custom GPU 0405).

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo};

use super::{Firmware, Profile, Register};

/// AMD Custom GPU 0405, GFX10_3.
pub(super) const PROFILE: Profile = Profile {
    name: "vangogh",
    marketing_name: "AMD Custom GPU 0405",
    gfx_level: GfxLevel::Gfx10_3,
    dev_info: DevInfo {
        device_id: 0x163f,
        external_rev: 0x1,
        pci_rev: 0xae,
        family: 144,
        num_shader_engines: 1,
        num_shader_arrays_per_engine: 1,
        gpu_counter_freq: 100_000,
        cu_active_number: 8,
        cu_ao_mask: 0xff,
        cu_bitmap: [[0xff, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        enabled_rb_pipes_mask: 0x3,
        num_rb_pipes: 2,
        num_hw_gfx_contexts: 8,
        ids_flags: 0x1,
        virtual_address_offset: 0x20_0000,
        virtual_address_max: 0x8000_0000_0000,
        virtual_address_alignment: 4096,
        pte_fragment_size: 2_097_152,
        gart_page_size: 4096,
        ce_ram_size: 65_536,
        vram_type: 10,
        vram_bit_width: 256,
        gc_double_offchip_lds_buf: 1,
        wave_front_size: 32,
        num_shader_visible_vgprs: 1024,
        num_cu_per_sh: 8,
        num_tcc_blocks: 4,
        gs_vgt_table_depth: 32,
        gs_prim_buffer_depth: 1792,
        max_gs_waves_per_vgt: 32,
        cu_ao_bitmap: [[0xff, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        high_va_offset: 0xffff_8000_0000_0000,
        high_va_max: 0xffff_ffff_ffe0_0000,
        ..DevInfo::ZEROED
    },
    memory: MemoryInfo {
        vram: HeapInfo {
            total_heap_size: 0x4000_0000,
            usable_heap_size: 0x3e06_1000,
            heap_usage: 0,
            max_allocation: 0x2e84_8c00,
        },
        cpu_accessible_vram: HeapInfo {
            total_heap_size: 0x4000_0000,
            usable_heap_size: 0x3e06_1000,
            heap_usage: 0,
            max_allocation: 0x2e84_8c00,
        },
        gtt: HeapInfo {
            total_heap_size: 0x1_fc00_0000,
            usable_heap_size: 0x1_fb4b_a000,
            heap_usage: 0,
            max_allocation: 0x1_7c78_b800,
        },
    },
    memory_usable_captured: true,
    gfx: InfoHwIp {
        hw_ip_version_major: 10,
        hw_ip_version_minor: 0,
        capabilities_flags: 0,
        ib_start_alignment: 32,
        ib_size_alignment: 32,
        available_rings: 0x1,
        ip_discovery_version: 0,
    },
    compute: InfoHwIp {
        hw_ip_version_major: 10,
        hw_ip_version_minor: 0,
        capabilities_flags: 0,
        ib_start_alignment: 32,
        ib_size_alignment: 32,
        available_rings: 0xf,
        ip_discovery_version: 0,
    },
    sdma_engines: 1,
    firmware: Firmware {
        me: InfoFirmware { ver: 64, feature: 41 },
        pfp: InfoFirmware { ver: 95, feature: 41 },
        mec: InfoFirmware { ver: 98, feature: 41 },
    },
    registers: &[Register { dword_offset: 0x263e, instance: Register::BROADCAST, value: 0x142 }],
};
