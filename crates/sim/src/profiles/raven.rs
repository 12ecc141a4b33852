//! The capture of RAVEN (AMD Radeon Vega 10 Graphics).

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo};

use super::{Firmware, Profile, Register};

/// AMD Radeon Vega 10 Graphics, GFX9.
pub(super) const PROFILE: Profile = Profile {
    name: "raven",
    marketing_name: "AMD Radeon Vega 10 Graphics",
    gfx_level: GfxLevel::Gfx9,
    dev_info: DevInfo {
        device_id: 0x15d8,
        chip_rev: 0x1,
        external_rev: 0x42,
        pci_rev: 0xc1,
        family: 142,
        num_shader_engines: 1,
        num_shader_arrays_per_engine: 1,
        gpu_counter_freq: 25_000,
        max_engine_clock: 1_400_000,
        max_memory_clock: 1_200_000,
        cu_active_number: 10,
        cu_ao_mask: 0x3ff,
        cu_bitmap: [[0x3ff, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        enabled_rb_pipes_mask: 0x3,
        num_rb_pipes: 2,
        num_hw_gfx_contexts: 8,
        ids_flags: 0x1,
        virtual_address_offset: 0x20_0000,
        virtual_address_max: 0x8000_0000_0000,
        virtual_address_alignment: 4096,
        pte_fragment_size: 2_097_152,
        gart_page_size: 4096,
        ce_ram_size: 32_768,
        vram_type: 8,
        vram_bit_width: 128,
        gc_double_offchip_lds_buf: 1,
        wave_front_size: 64,
        num_shader_visible_vgprs: 256,
        num_cu_per_sh: 11,
        num_tcc_blocks: 4,
        gs_vgt_table_depth: 32,
        gs_prim_buffer_depth: 1792,
        max_gs_waves_per_vgt: 32,
        cu_ao_bitmap: [[0x3ff, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        high_va_offset: 0xffff_8000_0000_0000,
        high_va_max: 0xffff_ffff_ffe0_0000,
        ..DevInfo::ZEROED
    },
    memory: MemoryInfo {
        vram: HeapInfo {
            total_heap_size: 0x400_0000,
            usable_heap_size: 0x400_0000,
            heap_usage: 0,
            max_allocation: 0x300_0000,
        },
        cpu_accessible_vram: HeapInfo {
            total_heap_size: 0x400_0000,
            usable_heap_size: 0x400_0000,
            heap_usage: 0,
            max_allocation: 0x300_0000,
        },
        gtt: HeapInfo {
            total_heap_size: 0xc000_0000,
            usable_heap_size: 0xc000_0000,
            heap_usage: 0,
            max_allocation: 0x9000_0000,
        },
    },
    memory_usable_captured: false,
    gfx: InfoHwIp {
        hw_ip_version_major: 9,
        hw_ip_version_minor: 0,
        capabilities_flags: 0,
        ib_start_alignment: 32,
        ib_size_alignment: 32,
        available_rings: 0x1,
        ip_discovery_version: 0,
    },
    compute: InfoHwIp {
        hw_ip_version_major: 9,
        hw_ip_version_minor: 0,
        capabilities_flags: 0,
        ib_start_alignment: 32,
        ib_size_alignment: 32,
        available_rings: 0xf,
        ip_discovery_version: 0,
    },
    sdma_engines: 1,
    firmware: Firmware {
        me: InfoFirmware { ver: 162, feature: 47 },
        pfp: InfoFirmware { ver: 185, feature: 47 },
        mec: InfoFirmware { ver: 427, feature: 47 },
    },
    registers: &[Register { dword_offset: 0x263e, instance: Register::BROADCAST, value: 0x2400_0042 }],
};
