//! The capture of VEGA10 (AMD Radeon RX Vega).

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo};

use super::{Firmware, Profile, Register};

/// AMD Radeon RX Vega, GFX9.
pub(super) const PROFILE: Profile = Profile {
    name: "vega10",
    marketing_name: "AMD Radeon RX Vega",
    gfx_level: GfxLevel::Gfx9,
    dev_info: DevInfo {
        device_id: 0x687f,
        chip_rev: 0x1,
        external_rev: 0x1,
        pci_rev: 0xc1,
        family: 141,
        num_shader_engines: 4,
        num_shader_arrays_per_engine: 1,
        gpu_counter_freq: 27_000,
        max_engine_clock: 1_630_000,
        max_memory_clock: 945_000,
        cu_active_number: 64,
        cu_ao_mask: 0xffff_ffff,
        cu_bitmap: [[0xffff, 0, 0, 0], [0xffff, 0, 0, 0], [0xffff, 0, 0, 0], [0xffff, 0, 0, 0]],
        enabled_rb_pipes_mask: 0xffff,
        num_rb_pipes: 16,
        num_hw_gfx_contexts: 8,
        virtual_address_offset: 0x20_0000,
        virtual_address_max: 0x8000_0000_0000,
        virtual_address_alignment: 4096,
        pte_fragment_size: 2_097_152,
        gart_page_size: 4096,
        ce_ram_size: 32_768,
        vram_type: 6,
        vram_bit_width: 2048,
        gc_double_offchip_lds_buf: 1,
        wave_front_size: 64,
        num_shader_visible_vgprs: 256,
        num_cu_per_sh: 16,
        num_tcc_blocks: 16,
        gs_vgt_table_depth: 32,
        gs_prim_buffer_depth: 1792,
        max_gs_waves_per_vgt: 32,
        cu_ao_bitmap: [[0xffff, 0, 0, 0], [0xffff, 0, 0, 0], [0xffff, 0, 0, 0], [0xffff, 0, 0, 0]],
        high_va_offset: 0xffff_8000_0000_0000,
        high_va_max: 0xffff_ffff_ffe0_0000,
        ..DevInfo::ZEROED
    },
    memory: MemoryInfo {
        vram: HeapInfo {
            total_heap_size: 0x1_ff00_0000,
            usable_heap_size: 0x1_fe01_2000,
            heap_usage: 0,
            max_allocation: 0x1_7e80_d800,
        },
        cpu_accessible_vram: HeapInfo {
            total_heap_size: 0x1000_0000,
            usable_heap_size: 0xf81_2000,
            heap_usage: 0,
            max_allocation: 0xba0_d800,
        },
        gtt: HeapInfo {
            total_heap_size: 0x1_f23e_4800,
            usable_heap_size: 0x1_f182_1800,
            heap_usage: 0,
            max_allocation: 0x1_7521_9200,
        },
    },
    memory_usable_captured: true,
    gfx: InfoHwIp {
        hw_ip_version_major: 9,
        hw_ip_version_minor: 0,
        capabilities_flags: 0,
        ib_start_alignment: 32,
        ib_size_alignment: 32,
        available_rings: 0x1,
        ip_discovery_version: 0x9_0001,
    },
    compute: InfoHwIp {
        hw_ip_version_major: 9,
        hw_ip_version_minor: 0,
        capabilities_flags: 0,
        ib_start_alignment: 32,
        ib_size_alignment: 32,
        available_rings: 0xf,
        ip_discovery_version: 0x9_0001,
    },
    sdma_engines: 2,
    firmware: Firmware {
        me: InfoFirmware { ver: 166, feature: 53 },
        pfp: InfoFirmware { ver: 194, feature: 53 },
        mec: InfoFirmware { ver: 33_236, feature: 53 },
    },
    registers: &[Register { dword_offset: 0x263e, instance: Register::BROADCAST, value: 0x2a11_4042 }],
};
