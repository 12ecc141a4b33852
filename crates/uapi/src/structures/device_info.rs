//! The answer to DEV_INFO: nearly everything the driver says about the chip.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; filled by `drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c`.

use super::macros::uapi;

uapi! {
    /// DEV_INFO. Newer kernels append fields; older ones leave the tail as it was, so it must be zeroed beforehand.
    struct DevInfo = "drm_amdgpu_info_device", 440 bytes {
        /// PCI device id.
        0 device_id: u32,
        /// Driver's revision id.
        4 chip_rev: u32,
        /// Chip number within the family.
        8 external_rev: u32,
        /// PCI revision.
        12 pci_rev: u32,
        /// `AMDGPU_FAMILY_*`.
        16 family: u32,
        /// Shader engines, fused-off ones included.
        20 num_shader_engines: u32,
        /// Shader arrays in each engine.
        24 num_shader_arrays_per_engine: u32,
        /// Frequency of the GPU clock counter, kHz.
        28 gpu_counter_freq: u32,
        /// Highest shader clock, kHz.
        32 max_engine_clock: u64,
        /// Highest memory clock, kHz.
        40 max_memory_clock: u64,
        /// Compute units in use.
        48 cu_active_number: u32,
        /// Not to be used.
        52 cu_ao_mask: u32,
        /// Compute units by `[engine % 4][array + engine / 4 * 2]`.
        56 cu_bitmap: [[u32; 4]; 4],
        /// Render backends in use, low half.
        120 enabled_rb_pipes_mask: u32,
        /// Render backends at most.
        124 num_rb_pipes: u32,
        /// Hardware register contexts.
        128 num_hw_gfx_contexts: u32,
        /// Highest common PCIe generation, 0 if unknown (minor 51).
        132 pcie_gen: u32,
        /// [`IdsFlags`].
        136 ids_flags: u64,
        /// First usable GPU address.
        144 virtual_address_offset: u64,
        /// End of the low range, exclusive.
        152 virtual_address_max: u64,
        /// Granularity of GPU addresses, bytes.
        160 virtual_address_alignment: u32,
        /// Size that the TLB likes best, bytes.
        164 pte_fragment_size: u32,
        /// Page size of GTT, bytes.
        168 gart_page_size: u32,
        /// Constant engine RAM, bytes.
        172 ce_ram_size: u32,
        /// `AMDGPU_VRAM_TYPE_*`.
        176 vram_type: u32,
        /// Width of the memory bus, bits.
        180 vram_bit_width: u32,
        /// Fused-off VCE instances.
        184 vce_harvest_config: u32,
        /// 1 if off-chip tessellation buffers are doubled.
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
        /// Lanes of a wave.
        240 wave_front_size: u32,
        /// Vector registers a shader can use (trustworthy from minor 45 on).
        244 num_shader_visible_vgprs: u32,
        /// Compute units of a shader array at most.
        248 num_cu_per_sh: u32,
        /// L2 slices at most.
        252 num_tcc_blocks: u32,
        /// Depth of the VGT table.
        256 gs_vgt_table_depth: u32,
        /// Depth of the primitive buffer.
        260 gs_prim_buffer_depth: u32,
        /// Geometry waves of one VGT.
        264 max_gs_waves_per_vgt: u32,
        /// PCIe lanes, 0 if unknown (minor 51).
        268 pcie_num_lanes: u32,
        /// Always-on compute units, as `cu_bitmap`.
        272 cu_ao_bitmap: [[u32; 4]; 4],
        /// Start of the high range, 0 when there is none.
        336 high_va_offset: u64,
        /// End of the high range, exclusive, 0 when there is none.
        344 high_va_max: u64,
        /// Raster steering of GFX10 and later.
        352 pa_sc_tile_steering_override: u32,
        /// Padding the C compiler inserts.
        356 pad: u32 as "",
        /// Fused-off L2 slices (minor 35).
        360 tcc_disabled_mask: u64,
        /// Lowest shader clock, kHz (minor 50).
        368 min_engine_clock: u64,
        /// Lowest memory clock, kHz (minor 50).
        376 min_memory_clock: u64,
        /// Vector L0/L1 cache, KiB (minor 52, GFX11 and later).
        384 tcp_cache_size: u32,
        /// Scalar caches of a work-group processor.
        388 num_sqc_per_wgp: u32,
        /// Scalar data cache, KiB.
        392 sqc_data_cache_size: u32,
        /// Instruction cache, KiB.
        396 sqc_inst_cache_size: u32,
        /// L1 of a shader array, KiB.
        400 gl1c_cache_size: u32,
        /// L2, KiB.
        404 gl2c_cache_size: u32,
        /// Infinity cache, bytes.
        408 mall_size: u64,
        /// Render backends in use, high half.
        416 enabled_rb_pipes_mask_hi: u32,
        /// CP shadow area, bytes (GFX11).
        420 shadow_size: u32,
        /// Its alignment, bytes.
        424 shadow_alignment: u32,
        /// Context save area, bytes (GFX11).
        428 csa_size: u32,
        /// Its alignment, bytes.
        432 csa_alignment: u32,
        /// Padding the C compiler inserts; kernels after 6.12 keep the user-queue mask here.
        436 tail: u32 as "",
    }
}

bitflags::bitflags! {
    /// Bits of [`DevInfo::ids_flags`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct IdsFlags: u64 {
        /// An APU.
        const FUSION = 0x1;
        /// Mid-command-buffer preemption is on.
        const PREEMPTION = 0x2;
        /// Trusted memory zone is available (minor 40).
        const TMZ = 0x4;
        /// Texture coordinates are truncated as Vulkan wants (minor 52).
        const CONFORMANT_TRUNC_COORD = 0x8;
    }
}
