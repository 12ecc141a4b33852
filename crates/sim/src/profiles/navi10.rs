//! The capture of NAVI10 (AMD Radeon RX 5700 XT).

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo};

use super::{Firmware, Profile, Register};

/// AMD Radeon RX 5700 XT, GFX10.
pub(super) const PROFILE: Profile = Profile {
    name: "navi10",
    marketing_name: "AMD Radeon RX 5700 XT",
    gfx_level: GfxLevel::Gfx10,
    dev_info: DevInfo {
        device_id: 0x731f,
        chip_rev: 0x2,
        external_rev: 0x3,
        pci_rev: 0xc1,
        family: 143,
        num_shader_engines: 2,
        num_shader_arrays_per_engine: 2,
        gpu_counter_freq: 100_000,
        max_engine_clock: 2_100_000,
        max_memory_clock: 875_000,
        cu_active_number: 40,
        cu_ao_mask: 0xffff_ffff,
        cu_bitmap: [[0x3ff, 0x3ff, 0, 0], [0x3ff, 0x3ff, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        enabled_rb_pipes_mask: 0xffff,
        num_rb_pipes: 16,
        num_hw_gfx_contexts: 8,
        virtual_address_offset: 0x20_0000,
        virtual_address_max: 0x8000_0000_0000,
        virtual_address_alignment: 4096,
        pte_fragment_size: 2_097_152,
        gart_page_size: 4096,
        ce_ram_size: 65_536,
        vram_type: 9,
        vram_bit_width: 256,
        gc_double_offchip_lds_buf: 1,
        wave_front_size: 32,
        num_shader_visible_vgprs: 1024,
        num_cu_per_sh: 10,
        num_tcc_blocks: 16,
        gs_vgt_table_depth: 32,
        gs_prim_buffer_depth: 1792,
        max_gs_waves_per_vgt: 32,
        cu_ao_bitmap: [[0x3ff, 0x3ff, 0, 0], [0x3ff, 0x3ff, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        high_va_offset: 0xffff_8000_0000_0000,
        high_va_max: 0xffff_ffff_ffe0_0000,
        pa_sc_tile_steering_override: 0x12_2000,
        ..DevInfo::ZEROED
    },
    memory: MemoryInfo {
        vram: HeapInfo {
            total_heap_size: 0x1_ff00_0000,
            usable_heap_size: 0x1_fdce_6000,
            heap_usage: 0,
            max_allocation: 0x1_7e5a_c800,
        },
        cpu_accessible_vram: HeapInfo {
            total_heap_size: 0x1000_0000,
            usable_heap_size: 0xf4f_6000,
            heap_usage: 0,
            max_allocation: 0xb7b_8800,
        },
        gtt: HeapInfo {
            total_heap_size: 0x1_f23e_4800,
            usable_heap_size: 0x1_f189_f800,
            heap_usage: 0,
            max_allocation: 0x1_7527_7a00,
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
        ip_discovery_version: 0xa_010a,
    },
    compute: InfoHwIp {
        hw_ip_version_major: 10,
        hw_ip_version_minor: 0,
        capabilities_flags: 0,
        ib_start_alignment: 32,
        ib_size_alignment: 32,
        available_rings: 0xf,
        ip_discovery_version: 0xa_010a,
    },
    sdma_engines: 2,
    firmware: Firmware {
        me: InfoFirmware { ver: 100, feature: 34 },
        pfp: InfoFirmware { ver: 155, feature: 34 },
        mec: InfoFirmware { ver: 146, feature: 34 },
    },
    registers: &[Register { dword_offset: 0x263e, instance: Register::BROADCAST, value: 0x10_0044 }],
};
