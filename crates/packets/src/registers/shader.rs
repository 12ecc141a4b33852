//! Registers: shader programs.
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`; Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg/gc/` and `sid.h`, `cikd.h`.

use super::level::*;
use super::registers;

registers! {
    SHADER =

    SPI_SHADER_PGM_LO_PS {
        at 0x0b020 [G6..G12];
    }

    SPI_SHADER_PGM_HI_PS {
        at 0x0b024 [G6..G12];
        mem_base[7:0];
    }

    SPI_SHADER_PGM_RSRC1_PS {
        at 0x0b028 [G6..G12];
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
        cu_group_disable[24:24];
        mem_ordered[25:25] on [G10..G11_5];
        cache_ctl[27:25] on [G6..G8];
        fwd_progress[26:26] on [G10..G12];
        load_provoking_vtx[27:27] on [G10_3..G12];
        cdbg_user[28:28] on [G6..G9, G12..G12];
        fp16_ovfl[29:29] on [G9..G12];
    }

    SPI_SHADER_PGM_RSRC2_PS {
        at 0x0b02c [G6..G12];
        scratch_en[0:0];
        user_sgpr[5:1];
        trap_present[6:6];
        wave_cnt_en[7:7];
        extra_lds_size[15:8];
        excp_en[22:16] (1 invalid, 2 input_denormal, 4 divide_by_zero, 8 overflow, 16 underflow, 32 inexact, 64
            int_divide_by_zero, 128 address_watch, 256 memory_violation) on [G6..G6];
        excp_en[24:16] (1 invalid, 2 input_denormal, 4 divide_by_zero, 8 overflow, 16 underflow, 32 inexact, 64
            int_divide_by_zero, 128 address_watch, 256 memory_violation) on [G7..G12];
        load_collision_waveid[25:25] on [G9..G12];
        load_intrawave_collision[26:26] on [G9..G12];
        skip_usgpr0[27:27] on [G9..G9];
        user_sgpr_msb[27:27] on [G10..G12];
        user_sgpr_msb[28:28] on [G9..G9];
        shared_vgpr_cnt[31:28] on [G10..G12];
    }

    SPI_SHADER_PGM_RSRC3_PS {
        at 0x0b01c [G7..G11_5], 0x0b018 [G12..G12];
        cu_en[15:0];
        wave_limit[21:16] on [G7..G11_5];
        lds_group_size[23:22] on [G11..G11_5];
        lock_low_threshold[25:22] on [G7..G10_3];
        simd_disable[29:26] on [G9..G9];
    }

    SPI_SHADER_USER_DATA_PS_0 {
        at 0x0b030 [G6..G12];
    }

    SPI_SHADER_USER_DATA_VS_0 {
        at 0x0b130 [G6..G10_3];
    }

    SPI_SHADER_USER_DATA_GS_0 {
        at 0x0b230 [G6..G8, G10..G12];
    }

    SPI_SHADER_USER_DATA_HS_0 {
        at 0x0b430 [G6..G8, G10..G12];
    }

    SPI_CONFIG_CNTL {
        at 0x09100 [G6..G8, G10..G10], 0x31100 [G9..G9, G11..G12], 0x09130 [G10_3..G10_3];
        gpr_write_priority[20:0];
        exp_priority_order[23:21];
        enable_sqg_top_events[24:24];
        enable_sqg_bop_events[25:25];
        force_half_rate_pc_exp[26:26] on [G10_3..G10_3];
        rsrc_mgmt_reset[26:26] on [G6..G10];
        ttrace_stall_all[27:27] on [G6..G10_3];
        alloc_arb_lru_ena[28:28] on [G9..G12];
        exp_arb_lru_ena[29:29] on [G9..G12];
        ps_pkr_priority_cntl[31:30] on [G9..G12];
    }

    SQ_THREAD_TRACE_USERDATA_2 {
        at 0x08e28 [G6..G6], 0x30d08 [G7..G12];
    }

    SQ_THREAD_TRACE_USERDATA_3 {
        at 0x08e2c [G6..G6], 0x30d0c [G7..G12];
    }

    SQ_THREAD_TRACE_STATUS {
        at 0x08e34 [G6..G7], 0x30ce8 [G8..G9], 0x08d20 [G10..G10_3], 0x367d0 [G11..G12];
        finish_pending[2:0] on [G6..G6];
        finish_pending[9:0] on [G7..G9];
        finish_pending[11:0] on [G10..G12];
        finish_done[23:12] on [G10..G12];
        finish_done[18:16] on [G6..G6];
        finish_done[25:16] on [G7..G9];
        utc_err[24:24] on [G10..G10_3];
        write_error[24:24] on [G11..G12];
        busy[25:25] on [G10..G12];
        event_cntr_overflow[26:26] on [G10..G10_3];
        event_cntr_stall[27:27] on [G10..G10_3];
        utc_error[28:28] on [G9..G9];
        owner_vmid[31:28] on [G10_3..G12];
        new_buf[29:29] on [G6..G9];
        busy[30:30] on [G6..G9];
        full[31:31] on [G6..G9];
    }

    SQ_THREAD_TRACE_CTRL {
        at 0x08e3c [G6..G7], 0x30cd4 [G8..G9], 0x08d1c [G10..G10_3], 0x367b0 [G11..G12];
        mode[1:0] on [G10..G12];
        all_vmid[2:2] on [G10..G11_5];
        ch_perf_en[3:3] on [G10..G10_3];
        gl1_perf_en[3:3] on [G11..G12];
        interrupt_en[4:4] on [G10..G12];
        double_buffer[5:5] on [G10..G12];
        hiwater[8:6] on [G10..G12];
        reg_stall_en[9:9] on [G10..G10_3];
        reg_at_hwm[10:9] on [G11..G12];
        spi_stall_en[10:10] on [G10..G10_3];
        spi_stall_en[11:11] on [G11..G12];
        sq_stall_en[11:11] on [G10..G10_3];
        reg_drop_on_stall[12:12] on [G10..G10_3];
        sq_stall_en[12:12] on [G11..G12];
        stall_all_simds[13:13] on [G12..G12];
        util_timer[13:13] on [G10..G11_5];
        util_timer[14:14] on [G12..G12];
        wavestart_mode[15:14] on [G10..G11_5];
        wavestart_mode[16:15] on [G12..G12];
        rt_freq[17:16] on [G10..G11_5];
        sync_count_markers[18:18] on [G10..G12];
        sync_count_draws[19:19] on [G10..G12];
        lowater_offset[22:20] on [G10_3..G12];
        gl1x_prefetch_page[26:23] on [G12..G12];
        auto_flush_padding_dis[28:28] on [G10_3..G12];
        auto_flush_mode[29:29] on [G10_3..G12];
        capture_all[30:30] on [G10..G10_3];
        ncp_reg_token_en[30:30] on [G12..G12];
        draw_event_en[31:31] on [G10..G12];
        reset_buffer[31:31] on [G6..G9];
    }

    SQ_THREAD_TRACE_WPTR {
        at 0x08e30 [G6..G7], 0x30ce4 [G8..G9], 0x08d10 [G10..G10_3], 0x367bc [G11..G12];
        offset[28:0] on [G10..G12];
        wptr[29:0] on [G6..G9];
        read_offset[31:30] on [G6..G9];
        buffer_id[31:31] on [G10..G12];
    }
}
