//! The capture of NAVI21 (AMD Radeon RX 6800).

use amdgpu_winsys::{uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo}, winsys::GfxLevel};

use super::{Firmware, Profile, Register};

/// AMD Radeon RX 6800, GFX10_3.
pub(super) const PROFILE: Profile = Profile {
    name: "navi21",
    marketing_name: "AMD Radeon RX 6800",
    gfx_level: GfxLevel::Gfx10_3,
    dev_info: DevInfo {
        device_id: 0x73bf,
        chip_rev: 0x1,
        external_rev: 0x29,
        pci_rev: 0xc3,
        family: 143,
        num_shader_engines: 4,
        num_shader_arrays_per_engine: 2,
        gpu_counter_freq: 100_000,
        max_engine_clock: 2_475_000,
        max_memory_clock: 1_000_000,
        cu_active_number: 60,
        cu_ao_mask: 0x3_ffff,
        cu_bitmap: [[0x3ff, 0x3ff, 0, 0], [0, 0, 0, 0], [0x3ff, 0x3ff, 0, 0], [0x3ff, 0x3ff, 0, 0]],
        enabled_rb_pipes_mask: 0xff0f,
        num_rb_pipes: 16,
        num_hw_gfx_contexts: 8,
        pcie_gen: 3,
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
        pcie_num_lanes: 16,
        cu_ao_bitmap: [[0x3ff, 0x3ff, 0, 0], [0, 0, 0, 0], [0x3ff, 0x3ff, 0, 0], [0x3ff, 0x3ff, 0, 0]],
        high_va_offset: 0xffff_8000_0000_0000,
        high_va_max: 0xffff_ffff_ffe0_0000,
        min_engine_clock: 500_000,
        min_memory_clock: 96_000,
        mall_size: 0x800_0000,
        ..DevInfo::ZEROED
    },
    memory: MemoryInfo {
        vram: HeapInfo { total_heap_size: 0x3_ff00_0000, usable_heap_size: 0x3_fcef_6000, heap_usage: 0, max_allocation: 0x2_fdb3_8800 },
        cpu_accessible_vram: HeapInfo { total_heap_size: 0x1000_0000, usable_heap_size: 0x1046_8000, heap_usage: 0, max_allocation: 0xc34_e000 },
        gtt: HeapInfo { total_heap_size: 0x3_e62f_a800, usable_heap_size: 0x3_e566_d800, heap_usage: 0, max_allocation: 0x2_ec0d_2200 },
    },
    memory_usable_captured: true,
    gfx: InfoHwIp { hw_ip_version_major: 10, hw_ip_version_minor: 0, capabilities_flags: 0, ib_start_alignment: 32, ib_size_alignment: 32, available_rings: 0x1, ip_discovery_version: 0xa_0300 },
    compute: InfoHwIp { hw_ip_version_major: 10, hw_ip_version_minor: 0, capabilities_flags: 0, ib_start_alignment: 32, ib_size_alignment: 32, available_rings: 0xf, ip_discovery_version: 0xa_0300 },
    sdma_engines: 2,
    firmware: Firmware {
        me: InfoFirmware { ver: 64, feature: 42 },
        pfp: InfoFirmware { ver: 95, feature: 42 },
        mec: InfoFirmware { ver: 104, feature: 42 },
    },
    registers: &[
        Register { dword_offset: 0x263e, instance: Register::BROADCAST, value: 0x444 },
    ],
};
