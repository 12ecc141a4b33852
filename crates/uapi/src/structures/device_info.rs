//! The answer to the DEV_INFO query, with most properties of the chip.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; filled in by `drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c`.

use super::macros::uapi;

uapi! {
    /// The answer to DEV_INFO. Newer kernels append fields. Older kernels leave the tail unchanged, so it must be zeroed
    /// beforehand.
    struct DevInfo = "drm_amdgpu_info_device", 440 bytes {
        /// PCI device ID.
        0 device_id: u32,
        /// The driver's revision ID.
        4 chip_rev: u32,
        /// Chip number within the family.
        8 external_rev: u32,
        /// PCI revision.
        12 pci_rev: u32,
        /// Family of the chip: a constant `AMDGPU_FAMILY_*`.
        16 family: u32,
        /// Number of shader engines, including fused-off ones.
        20 num_shader_engines: u32,
        /// Number of shader arrays in each engine.
        24 num_shader_arrays_per_engine: u32,
        /// Frequency of the GPU clock counter in kHz.
        28 gpu_counter_freq: u32,
        /// Maximum shader clock in kHz.
        32 max_engine_clock: u64,
        /// Maximum memory clock in kHz.
        40 max_memory_clock: u64,
        /// Number of active compute units.
        48 cu_active_number: u32,
        /// Invalid according to the kernel's header; use `cu_ao_bitmap` instead.
        52 cu_ao_mask: u32,
        /// Mask of the active compute units, indexed by `[engine % 4][array + engine / 4 * 2]`.
        56 cu_bitmap: [[u32; 4]; 4],
        /// Mask of the active render backends, low 32 bits.
        120 enabled_rb_pipes_mask: u32,
        /// Maximum number of render backends.
        124 num_rb_pipes: u32,
        /// Number of hardware register contexts.
        128 num_hw_gfx_contexts: u32,
        /// Highest PCIe generation that device and host support; 0 if unknown (minor 51).
        132 pcie_gen: u32,
        /// Properties of the device, [`IdsFlags`].
        136 ids_flags: u64,
        /// The first usable GPU address.
        144 virtual_address_offset: u64,
        /// The end of the low address range, exclusive.
        152 virtual_address_max: u64,
        /// Granularity of GPU addresses in bytes.
        160 virtual_address_alignment: u32,
        /// Optimal fragment size for the TLB in bytes.
        164 pte_fragment_size: u32,
        /// Page size of GTT in bytes.
        168 gart_page_size: u32,
        /// Size of the constant engine RAM in bytes.
        172 ce_ram_size: u32,
        /// Type of the memory chips: a constant `AMDGPU_VRAM_TYPE_*`.
        176 vram_type: u32,
        /// Width of the memory bus in bits.
        180 vram_bit_width: u32,
        /// Mask of the fused-off VCE instances.
        184 vce_harvest_config: u32,
        /// 1 if the off-chip tessellation buffers are doubled.
        188 gc_double_offchip_lds_buf: u32,
        /// Always 0.
        192 prim_buf_gpu_addr: u64,
        /// Always 0.
        200 pos_buf_gpu_addr: u64,
        /// Always 0.
        208 cntl_sb_buf_gpu_addr: u64,
        /// Always 0.
        216 param_buf_gpu_addr: u64,
        /// Always 0.
        224 prim_buf_size: u32,
        /// Always 0.
        228 pos_buf_size: u32,
        /// Always 0.
        232 cntl_sb_buf_size: u32,
        /// Always 0.
        236 param_buf_size: u32,
        /// Number of lanes in a wave.
        240 wave_front_size: u32,
        /// Number of vector registers that a shader can use (reliable since minor 45).
        244 num_shader_visible_vgprs: u32,
        /// Maximum number of compute units in a shader array.
        248 num_cu_per_sh: u32,
        /// Maximum number of L2 slices.
        252 num_tcc_blocks: u32,
        /// Depth of the VGT table.
        256 gs_vgt_table_depth: u32,
        /// Depth of the primitive buffer.
        260 gs_prim_buffer_depth: u32,
        /// Number of geometry waves of one VGT.
        264 max_gs_waves_per_vgt: u32,
        /// Number of PCIe lanes; 0 if unknown (minor 51).
        268 pcie_num_lanes: u32,
        /// Mask of the always-on compute units, indexed like `cu_bitmap`.
        272 cu_ao_bitmap: [[u32; 4]; 4],
        /// The start of the high address range; 0 if there is none.
        336 high_va_offset: u64,
        /// The end of the high address range, exclusive; 0 if there is none.
        344 high_va_max: u64,
        /// Raster steering of GFX10 and later (`pa_sc_tile_steering_override`).
        352 pa_sc_tile_steering_override: u32,
        /// Padding that the C compiler inserts.
        356 pad: u32 as "",
        /// Mask of the fused-off L2 slices (minor 35).
        360 tcc_disabled_mask: u64,
        /// Minimum shader clock in kHz (minor 50).
        368 min_engine_clock: u64,
        /// Minimum memory clock in kHz (minor 50).
        376 min_memory_clock: u64,
        /// Size of the vector L0/L1 cache in KiB (minor 52, GFX11 and later).
        384 tcp_cache_size: u32,
        /// Number of scalar caches of a work-group processor.
        388 num_sqc_per_wgp: u32,
        /// Size of the scalar data cache in KiB.
        392 sqc_data_cache_size: u32,
        /// Size of the instruction cache in KiB.
        396 sqc_inst_cache_size: u32,
        /// Size of the L1 cache of a shader array in KiB.
        400 gl1c_cache_size: u32,
        /// Size of the L2 cache in KiB.
        404 gl2c_cache_size: u32,
        /// Size of the infinity cache in bytes.
        408 mall_size: u64,
        /// Mask of the active render backends, high 32 bits.
        416 enabled_rb_pipes_mask_hi: u32,
        /// Size of the CP shadow area in bytes (GFX11).
        420 shadow_size: u32,
        /// Alignment of the CP shadow area in bytes.
        424 shadow_alignment: u32,
        /// Size of the context save area in bytes (GFX11).
        428 csa_size: u32,
        /// Alignment of the context save area in bytes.
        432 csa_alignment: u32,
        /// Padding that the C compiler inserts. Kernels after 6.12 store the mask of user queues here.
        436 tail: u32 as "",
    }
}

bitflags::bitflags! {
    /// The bits of [`DevInfo::ids_flags`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct IdsFlags: u64 {
        /// The chip is an APU.
        const FUSION = 0x1;
        /// Mid-command-buffer preemption is enabled.
        const PREEMPTION = 0x2;
        /// Trusted memory zone is available (minor 40).
        const TMZ = 0x4;
        /// Texture coordinates are truncated as Vulkan requires (minor 52).
        const CONFORMANT_TRUNC_COORD = 0x8;
        /// Submissions can have IBs for several rings (Linux 6.19).
        const GANG_SUBMIT = 0x10;
    }
}
