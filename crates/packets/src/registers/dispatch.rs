//! Registers: what a dispatch reads.
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`; Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg/gc/` and `sid.h`, `cikd.h`.

use super::level::*;
use super::registers;

registers! {
    DISPATCH =

    COMPUTE_DISPATCH_INITIATOR {
        at 0x0b800 [G6..G12];
        compute_shader_en[0:0];
        partial_tg_en[1:1];
        force_start_at_000[2:2];
        ordered_append_enbl[3:3];
        ordered_append_mode[4:4];
        use_thread_dimensions[5:5];
        order_mode[6:6];
        dispatch_cache_cntl[9:7] on [G6..G8];
        scalar_l1_inv_vol[10:10];
        vector_l1_inv_vol[11:11];
        data_atc[12:12] on [G6..G8];
        ping_pong_en[12:12] on [G12..G12];
        reserved[12:12] on [G9..G11_5];
        tunnel_enable[13:13] on [G10..G12];
        restore[14:14];
        cs_w32_en[15:15] on [G10..G12];
        amp_shader_en[16:16] on [G11..G12];
        disable_disp_prempt_en[17:17] on [G11..G12];
        interleave_2d_en[18:18] on [G12..G12];
        ttrace_queue_id[31:29] on [G12..G12];
    }

    COMPUTE_DIM_X {
        at 0x0b804 [G6..G12];
    }

    COMPUTE_DIM_Y {
        at 0x0b808 [G6..G12];
    }

    COMPUTE_DIM_Z {
        at 0x0b80c [G6..G12];
    }

    COMPUTE_START_X {
        at 0x0b810 [G6..G12];
    }

    COMPUTE_START_Y {
        at 0x0b814 [G6..G12];
    }

    COMPUTE_START_Z {
        at 0x0b818 [G6..G12];
    }

    COMPUTE_NUM_THREAD_X {
        at 0x0b81c [G6..G12];
        num_thread_full[12:0] on [G12..G12];
        num_thread_full[15:0] on [G6..G11_5];
        interleave_bits_x[15:13] on [G12..G12];
        num_thread_partial[31:16];
    }

    COMPUTE_NUM_THREAD_Y {
        at 0x0b820 [G6..G12];
        num_thread_full[12:0] on [G12..G12];
        num_thread_full[15:0] on [G6..G11_5];
        interleave_bits_y[15:13] on [G12..G12];
        num_thread_partial[31:16];
    }

    COMPUTE_NUM_THREAD_Z {
        at 0x0b824 [G6..G12];
        num_thread_full[15:0];
        num_thread_partial[31:16];
    }

    COMPUTE_PIPELINESTAT_ENABLE {
        at 0x0b828 [G7..G12];
        pipelinestat_enable[0:0];
    }

    COMPUTE_PERFCOUNT_ENABLE {
        at 0x0b82c [G7..G12];
        perfcount_enable[0:0];
    }

    COMPUTE_PGM_LO {
        at 0x0b830 [G6..G12];
    }

    COMPUTE_PGM_HI {
        at 0x0b834 [G6..G12];
        data[7:0];
        inst_atc[8:8] on [G6..G8];
    }

    COMPUTE_TBA_LO {
        at 0x0b838 [G6..G8];
    }

    COMPUTE_TBA_HI {
        at 0x0b83c [G6..G8];
        data[7:0];
    }

    COMPUTE_TMA_LO {
        at 0x0b840 [G6..G8];
    }

    COMPUTE_TMA_HI {
        at 0x0b844 [G6..G8];
        data[7:0];
    }

    COMPUTE_DISPATCH_PKT_ADDR_LO {
        at 0x0b838 [G9..G12];
    }

    COMPUTE_DISPATCH_PKT_ADDR_HI {
        at 0x0b83c [G9..G12];
        data[7:0];
    }

    COMPUTE_DISPATCH_SCRATCH_BASE_LO {
        at 0x0b840 [G9..G12];
    }

    COMPUTE_DISPATCH_SCRATCH_BASE_HI {
        at 0x0b844 [G9..G12];
        data[7:0];
    }

    COMPUTE_PGM_RSRC1 {
        at 0x0b848 [G6..G12];
        vgprs[5:0];
        sgprs[9:6];
        priority[11:10];
        float_mode[19:12] (3 fp_32_round_towards_zero, 12 fp_16_64_round_towards_zero, 48 fp_32_denorms, 192
            fp_16_64_denorms);
        priv[20:20];
        dx10_clamp[21:21] on [G6..G11_5];
        wg_rr_en[21:21] on [G12..G12];
        debug_mode[22:22] on [G6..G9, G12..G12];
        disable_perf[23:23] on [G12..G12];
        ieee_mode[23:23] on [G6..G11_5];
        bulky[24:24];
        cdbg_user[25:25] on [G6..G9, G12..G12];
        fp16_ovfl[26:26] on [G9..G12];
        wgp_mode[29:29] on [G10..G12];
        mem_ordered[30:30] on [G10..G12];
        fwd_progress[31:31] on [G10..G12];
    }

    COMPUTE_PGM_RSRC2 {
        at 0x0b84c [G6..G12];
        scratch_en[0:0];
        user_sgpr[5:1];
        dynamic_vgpr[6:6] on [G12..G12];
        trap_present[6:6] on [G6..G11_5];
        tgid_x_en[7:7];
        tgid_y_en[8:8];
        tgid_z_en[9:9];
        tg_size_en[10:10];
        tidig_comp_cnt[12:11];
        excp_en_msb[14:13];
        lds_size[23:15];
        excp_en[30:24] (1 invalid, 2 input_denormal, 4 divide_by_zero, 8 overflow, 16 underflow, 32 inexact, 64
            int_divide_by_zero, 128 address_watch, 256 memory_violation);
        skip_usgpr0[31:31] on [G9..G9];
        wgp_takeover[31:31] on [G12..G12];
    }

    COMPUTE_VMID {
        at 0x0b850 [G6..G12];
        data[3:0];
    }

    COMPUTE_RESOURCE_LIMITS {
        at 0x0b854 [G6..G12];
        waves_per_sh[5:0] on [G6..G6];
        waves_per_sh_gfx6[5:0] on [G6..G6];
        waves_per_sh[9:0] on [G7..G12];
        tg_per_cu[15:12];
        lock_threshold[21:16];
        simd_dest_cntl[22:22];
        force_simd_dist[23:23];
        cu_group_count[26:24];
        simd_disable[30:27] on [G9..G9];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE0 {
        at 0x0b858 [G6..G9];
        sh0_cu_en[15:0];
        sh1_cu_en[31:16];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE1 {
        at 0x0b85c [G6..G9];
        sh0_cu_en[15:0];
        sh1_cu_en[31:16];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE2 {
        at 0x0b864 [G7..G9];
        sh0_cu_en[15:0];
        sh1_cu_en[31:16];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE3 {
        at 0x0b868 [G7..G9];
        sh0_cu_en[15:0];
        sh1_cu_en[31:16];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE4 {
        at 0x0b894 [G9..G9], 0x0b8ac [G11..G12];
        sa0_cu_en[15:0] on [G11..G12];
        sa1_cu_en[31:16] on [G11..G12];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE5 {
        at 0x0b898 [G9..G9], 0x0b8b0 [G11..G12];
        sa0_cu_en[15:0] on [G11..G12];
        sa1_cu_en[31:16] on [G11..G12];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE6 {
        at 0x0b89c [G9..G9], 0x0b8b4 [G11..G12];
        sa0_cu_en[15:0] on [G11..G12];
        sa1_cu_en[31:16] on [G11..G12];
    }

    COMPUTE_STATIC_THREAD_MGMT_SE7 {
        at 0x0b8a0 [G9..G9], 0x0b8b8 [G11..G12];
        sa0_cu_en[15:0] on [G11..G12];
        sa1_cu_en[31:16] on [G11..G12];
    }

    COMPUTE_TMPRING_SIZE {
        at 0x0b860 [G6..G12];
        waves[11:0];
        wavesize[24:12] on [G6..G10_3];
        wavesize[26:12] on [G11..G11_5];
        wavesize[29:12] on [G12..G12];
    }

    COMPUTE_RESTART_X {
        at 0x0b86c [G7..G12];
    }

    COMPUTE_RESTART_Y {
        at 0x0b870 [G7..G12];
    }

    COMPUTE_RESTART_Z {
        at 0x0b874 [G7..G12];
    }

    COMPUTE_THREAD_TRACE_ENABLE {
        at 0x0b878 [G7..G12];
        thread_trace_enable[0:0];
    }

    COMPUTE_MISC_RESERVED {
        at 0x0b87c [G7..G12];
        send_seid[1:0] on [G7..G10_3];
        send_seid[2:0] on [G11..G11_5];
        send_seid[3:0] on [G12..G12];
        reserved2[2:2] on [G7..G10_3];
        reserved3[3:3] on [G7..G11_5];
        reserved4[4:4];
        wave_id_base[16:5] on [G8..G12];
    }

    COMPUTE_DISPATCH_ID {
        at 0x0b880 [G8..G12];
    }

    COMPUTE_REQ_CTRL {
        at 0x0b888 [G10..G12];
        soft_grouping_en[0:0];
        number_of_requests_per_cu[4:1];
        soft_grouping_allocation_timeout[8:5];
        hard_lock_hysteresis[9:9];
        hard_lock_low_threshold[14:10];
        producer_request_lockout[15:15];
        global_scanning_en[16:16];
        allocation_rate_throttling_threshold[19:17];
        dedicated_preallocation_buffer_limit[26:20];
    }

    COMPUTE_USER_ACCUM_0 {
        at 0x0b890 [G10..G12];
        contribution[6:0];
    }

    COMPUTE_PGM_RSRC3 {
        at 0x0b8a0 [G10..G12];
        shared_vgpr_cnt[3:0];
        inst_pref_size[9:4] on [G11..G11_5];
        inst_pref_size[11:4] on [G12..G12];
        trap_on_start[10:10] on [G11..G11_5];
        trap_on_end[11:11] on [G11..G11_5];
        glg_en[13:13] on [G12..G12];
        image_op[31:31] on [G11..G12];
    }

    COMPUTE_DISPATCH_INTERLEAVE {
        at 0x0b8bc [G11..G12];
        interleave[9:0] on [G11..G11_5];
        interleave_1d[9:0] on [G12..G12];
        interleave_2d_x_size[19:16] on [G12..G12];
        interleave_2d_y_size[27:24] on [G12..G12];
    }

    COMPUTE_DISPATCH_TUNNEL {
        at 0x0b9f4 [G10..G12];
        off_delay[9:0] on [G10..G11_5];
        off_delay[12:0] on [G12..G12];
        immediate[10:10] on [G10..G11_5];
    }

    COMPUTE_USER_DATA_0 {
        at 0x0b900 [G6..G12];
    }

    COMPUTE_USER_DATA_1 {
        at 0x0b904 [G6..G12];
    }

    COMPUTE_USER_DATA_2 {
        at 0x0b908 [G6..G12];
    }

    COMPUTE_USER_DATA_3 {
        at 0x0b90c [G6..G12];
    }

    COMPUTE_USER_DATA_4 {
        at 0x0b910 [G6..G12];
    }

    COMPUTE_USER_DATA_5 {
        at 0x0b914 [G6..G12];
    }

    COMPUTE_USER_DATA_6 {
        at 0x0b918 [G6..G12];
    }

    COMPUTE_USER_DATA_7 {
        at 0x0b91c [G6..G12];
    }

    COMPUTE_USER_DATA_8 {
        at 0x0b920 [G6..G12];
    }

    COMPUTE_USER_DATA_9 {
        at 0x0b924 [G6..G12];
    }

    COMPUTE_USER_DATA_10 {
        at 0x0b928 [G6..G12];
    }

    COMPUTE_USER_DATA_11 {
        at 0x0b92c [G6..G12];
    }

    COMPUTE_USER_DATA_12 {
        at 0x0b930 [G6..G12];
    }

    COMPUTE_USER_DATA_13 {
        at 0x0b934 [G6..G12];
    }

    COMPUTE_USER_DATA_14 {
        at 0x0b938 [G6..G12];
    }

    COMPUTE_USER_DATA_15 {
        at 0x0b93c [G6..G12];
    }
}
