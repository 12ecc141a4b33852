//! Registers: what a draw reads.
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`; Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg/gc/` and `sid.h`, `cikd.h`.

use super::level::*;
use super::registers;

registers! {
    DRAW =

    VGT_EVENT_INITIATOR {
        at 0x28a90 [G6..G12];
        event_type[5:0];
        address_hi[26:10] on [G9..G12];
        address_hi[26:18] on [G6..G8];
        extended_event[27:27];
    }

    VGT_DRAW_INITIATOR {
        at 0x287f0 [G6..G12];
        source_select[1:0] (0 di_src_sel_dma, 1 di_src_sel_immediate, 2 di_src_sel_auto_index, 3 di_src_sel_reserved);
        major_mode[3:2] (0 di_major_mode_0, 1 di_major_mode_1) on [G6..G11_5];
        sprite_en_r6xx[4:4] on [G6..G11_5];
        not_eop[5:5];
        use_opaque[6:6];
        unrolled_inst[7:7] on [G9..G10];
        grbm_skew_no_dec[8:8] on [G9..G10];
        reg_rt_index[31:29] on [G9..G12];
    }

    VGT_INDEX_TYPE {
        at 0x0895c [G6..G6], 0x3090c [G7..G12];
        index_type[1:0] (0 vgt_index_16, 1 vgt_index_32, 2 vgt_index_8) on [G8..G12];
        index_type[1:0] (0 vgt_index_16, 1 vgt_index_32) on [G6..G7];
        primgen_en[8:8] on [G9..G9];
        disable_instance_packing[14:14] on [G10_3..G12];
    }

    VGT_DMA_INDEX_TYPE {
        at 0x28a7c [G6..G12];
        index_type[1:0] (0 vgt_index_16, 1 vgt_index_32, 2 vgt_index_8) on [G8..G12];
        index_type[1:0] (0 vgt_index_16, 1 vgt_index_32) on [G6..G7];
        swap_mode[3:2] (0 vgt_dma_swap_none, 1 vgt_dma_swap_16_bit, 2 vgt_dma_swap_32_bit, 3 vgt_dma_swap_word) on
            [G6..G11_5];
        buf_type[5:4] (0 vgt_dma_buf_mem, 1 vgt_dma_buf_ring, 2 vgt_dma_buf_setup, 3 vgt_dma_ptr_update) on
            [G8..G11_5];
        buf_type[5:4] (0 vgt_dma_buf_mem, 1 vgt_dma_buf_ring, 2 vgt_dma_buf_setup) on [G6..G7];
        rdreq_policy[6:6] (0 vgt_policy_lru, 1 vgt_policy_stream) on [G8..G9];
        rdreq_policy[7:6] (0 vgt_policy_lru, 1 vgt_policy_stream, 2 vgt_policy_bypass, 3 vgt_policy_reserved) on
            [G6..G7];
        rdreq_policy[7:6] (0 vgt_policy_lru, 1 vgt_policy_stream, 2 vgt_policy_bypass) on [G10..G12];
        atc[8:8] on [G6..G7, G10..G11_5];
        primgen_en[8:8] on [G9..G9];
        not_eop[9:9];
        req_path[10:10] on [G6..G11_5];
        mtype[12:11] on [G8..G8];
        mtype[13:11] on [G10..G12];
        disable_instance_packing[14:14] on [G10_3..G12];
        temporal[16:15] on [G12..G12];
        spec_data_read[18:17] on [G12..G12];
    }

    VGT_NUM_INSTANCES {
        at 0x08974 [G6..G6], 0x30934 [G7..G12];
    }

    VGT_DMA_NUM_INSTANCES {
        at 0x28a88 [G6..G12];
    }

    VGT_NUM_INDICES {
        at 0x08970 [G6..G6], 0x30930 [G7..G12];
    }

    VGT_PRIMITIVE_TYPE {
        at 0x08958 [G6..G6], 0x30908 [G7..G12];
        prim_type[5:0];
        num_input_cp[11:6] on [G12..G12];
        prims_per_subgroup[20:12] on [G12..G12];
    }

    VGT_DMA_BASE {
        at 0x287e8 [G6..G12];
    }

    VGT_DMA_BASE_HI {
        at 0x287e4 [G6..G12];
        base_addr[7:0] on [G6..G8];
        base_addr[15:0] on [G9..G12];
    }

    VGT_DMA_SIZE {
        at 0x28a74 [G6..G12];
    }

    VGT_DMA_MAX_SIZE {
        at 0x28a78 [G6..G12];
    }

    IA_MULTI_VGT_PARAM {
        at 0x28aa8 [G6..G8, G10..G10_3], 0x30960 [G9..G9];
        primgroup_size[15:0];
        partial_vs_wave_on[16:16];
        switch_on_eop[17:17];
        partial_es_wave_on[18:18];
        switch_on_eoi[19:19];
        wd_switch_on_eop[20:20];
        en_inst_opt_basic[21:21] on [G9..G9];
        en_inst_opt_adv[22:22] on [G9..G9];
        hw_use_only[23:23] on [G9..G9];
        max_primgrp_in_wave[31:28] on [G8..G8];
    }

    VGT_LS_HS_CONFIG {
        at 0x28b58 [G6..G12];
        num_patches[7:0];
        hs_num_input_cp[13:8] on [G6..G11_5];
        hs_num_output_cp[19:14];
    }

    GE_CNTL {
        at 0x3096c [G10..G12];
        prim_grp_size[8:0] on [G10..G10_3];
        prims_per_subgrp[8:0] on [G11..G12];
        vert_grp_size[17:9] on [G10..G10_3];
        verts_per_subgrp[17:9] on [G11..G12];
        break_subgrp_at_eoi[18:18] on [G11..G12];
        break_wave_at_eoi[18:18] on [G10..G10_3];
        packet_to_one_pa[19:19];
        break_primgrp_at_eoi[20:20] on [G11..G12];
        prim_grp_size[29:21] on [G11..G12];
        gcr_disable[30:30] on [G11..G12];
        dis_pg_size_adjust_for_strip[31:31] on [G11..G12];
    }

    DB_COUNT_CONTROL {
        at 0x28004 [G6..G11_5], 0x28060 [G12..G12];
        zpass_increment_disable[0:0] on [G6..G10_3];
        perfect_zpass_counts[1:1];
        disable_conservative_zpass_counts[2:2] on [G10..G12];
        enhanced_conservative_zpass_counts[3:3] on [G10..G12];
        sample_rate[6:4] on [G6..G11_5];
        zpass_enable[11:8];
        zfail_enable[15:12];
        sfail_enable[19:16];
        dbfail_enable[23:20];
        slice_even_enable[27:24];
        slice_odd_enable[31:28];
    }

    DB_RENDER_CONTROL {
        at 0x28000 [G6..G12];
        depth_clear_enable[0:0] on [G6..G11_5];
        stencil_clear_enable[1:1];
        depth_copy[2:2] on [G6..G11_5];
        reserved_field_1[2:2] on [G12..G12];
        reserved_field_2[3:3] on [G12..G12];
        stencil_copy[3:3] on [G6..G11_5];
        reserved_field_4[4:4] on [G12..G12];
        resummarize_enable[4:4] on [G6..G11_5];
        stencil_compress_disable[5:5];
        depth_compress_disable[6:6];
        copy_centroid[7:7];
        copy_sample[11:8];
        decompress_enable[12:12] on [G8..G12];
        ps_invoke_disable[13:13] on [G10_3..G10_3];
        ps_invoke_disable[14:14] on [G11..G12];
        oreo_mode[17:16] (0 omode_blend, 1 omode_o_then_b, 2 omode_p_then_o_then_b, 3 omode_reserved_3) on [G11..G12];
        force_oreo_mode[18:18] on [G11..G12];
        force_export_order[19:19] on [G11..G12];
        max_allowed_stiles_in_wave[23:20] on [G12..G12];
        max_allowed_tiles_in_wave[23:20] on [G11..G11_5];
    }

    PA_SC_WINDOW_SCISSOR_TL {
        at 0x28204 [G6..G12];
        tl_x[14:0] on [G6..G11_5];
        tl_x[15:0] on [G12..G12];
        tl_y[30:16] on [G6..G11_5];
        tl_y[31:16] on [G12..G12];
        window_offset_disable[31:31] on [G6..G11_5];
    }

    CB_TARGET_MASK {
        at 0x28238 [G6..G11_5], 0x28850 [G12..G12];
        target0_enable[3:0];
        target1_enable[7:4];
        target2_enable[11:8];
        target3_enable[15:12];
        target4_enable[19:16];
        target5_enable[23:20];
        target6_enable[27:24];
        target7_enable[31:28];
    }
}
