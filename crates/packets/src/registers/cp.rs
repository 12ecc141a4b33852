//! Registers: the command processor.
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`; Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg/gc/` and `sid.h`, `cikd.h`.

use super::level::*;
use super::registers;

registers! {
    CP =

    CP_COHER_CNTL {
        at 0x085f0 [G6..G6], 0x301f0 [G7..G10_3];
        dest_base_0_ena[0:0] on [G6..G8];
        dest_base_1_ena[1:1] on [G6..G8];
        tc_sd_action_ena[2:2] on [G8..G8];
        tc_nc_action_ena[3:3] on [G8..G10_3];
        tc_wc_action_ena[4:4] on [G9..G10_3];
        tc_inv_metadata_action_ena[5:5] on [G9..G10_3];
        cb0_dest_base_ena[6:6] on [G6..G8];
        cb1_dest_base_ena[7:7] on [G6..G8];
        cb2_dest_base_ena[8:8] on [G6..G8];
        cb3_dest_base_ena[9:9] on [G6..G8];
        cb4_dest_base_ena[10:10] on [G6..G8];
        cb5_dest_base_ena[11:11] on [G6..G8];
        cb6_dest_base_ena[12:12] on [G6..G8];
        cb7_dest_base_ena[13:13] on [G6..G8];
        db_dest_base_ena[14:14] on [G6..G8];
        tcl1_vol_action_ena[15:15];
        tc_vol_action_ena[16:16] on [G6..G7];
        tc_wb_action_ena[18:18];
        dest_base_2_ena[19:19] on [G6..G8];
        dest_base_3_ena[21:21] on [G6..G8];
        tcl1_action_ena[22:22];
        tc_action_ena[23:23];
        cb_action_ena[25:25];
        db_action_ena[26:26];
        sh_kcache_action_ena[27:27];
        sh_kcache_vol_action_ena[28:28];
        sh_icache_action_ena[29:29];
        sh_kcache_wb_action_ena[30:30] on [G8..G10_3];
        sh_sd_action_ena[31:31] on [G8..G8];
    }

    CP_COHER_SIZE {
        at 0x085f4 [G6..G6], 0x301f4 [G7..G10_3];
    }

    CP_COHER_SIZE_HI {
        at 0x30230 [G7..G10_3];
        coher_size_hi_256b[7:0];
    }

    CP_COHER_BASE {
        at 0x085f8 [G6..G6], 0x301f8 [G7..G10_3];
    }

    CP_COHER_BASE_HI {
        at 0x301e4 [G7..G10_3];
        coher_base_hi_256b[7:0];
    }

    CP_COHER_STATUS {
        at 0x085fc [G6..G6], 0x301fc [G7..G10_3];
        matching_gfx_cntx[7:0] on [G6..G8];
        meid[25:24];
        phase1_status[30:30] on [G6..G8];
        status[31:31];
    }

    CP_STRMOUT_CNTL {
        at 0x084fc [G6..G6], 0x300fc [G7..G10_3];
        offset_update_done[0:0];
    }

    CP_PERFMON_CNTL {
        at 0x087fc [G6..G6], 0x36020 [G7..G11_5];
        perfmon_state[3:0] (0 cp_perfmon_state_disable_and_reset, 1 cp_perfmon_state_start_counting, 2
            cp_perfmon_state_stop_counting, 3 cp_perfmon_state_reserved_3, 4
            cp_perfmon_state_disable_and_reset_phantom, 5 cp_perfmon_state_count_and_dump_phantom);
        spm_perfmon_state[7:4] (0 strm_perfmon_state_disable_and_reset, 1 strm_perfmon_state_start_counting, 2
            strm_perfmon_state_stop_counting, 3 strm_perfmon_state_reserved_3, 4
            strm_perfmon_state_disable_and_reset_phantom, 5 strm_perfmon_state_count_and_dump_phantom);
        perfmon_enable_mode[9:8] (0 cp_perfmon_enable_mode_always_count, 1 cp_perfmon_enable_mode_reserved_1, 2
            cp_perfmon_enable_mode_count_context_true, 3 cp_perfmon_enable_mode_count_context_false);
        perfmon_sample_enable[10:10];
    }

    CP_PERFMON_CNTX_CNTL {
        at 0x28360 [G6..G12];
        perfmon_enable[31:31];
    }

    CP_DMA_CNTL {
        at 0x08628 [G6..G6], 0x30228 [G7..G12];
        utcl1_fault_control[0:0] on [G9..G12];
        watch_control[1:1] on [G10..G12];
        min_availsz[5:4];
        speculative_data_read[7:6] on [G12..G12];
        buffer_depth[19:16] on [G6..G9];
        buffer_depth[24:16] on [G10..G12];
        pio_fifo_empty[28:28];
        pio_fifo_full[29:29];
        pio_count[31:30];
    }

    GRBM_GFX_INDEX {
        at 0x0802c [G6..G6], 0x30800 [G7..G12];
        instance_index[6:0] on [G11_5..G12];
        instance_index[7:0] on [G6..G11];
        sa_index[9:8] on [G12..G12];
        sa_index[15:8] on [G10..G11_5];
        sh_index[15:8] on [G6..G9];
        se_index[19:16] on [G12..G12];
        se_index[23:16] on [G6..G11_5];
        sa_broadcast_writes[29:29] on [G10..G12];
        sh_broadcast_writes[29:29] on [G6..G9];
        instance_broadcast_writes[30:30];
        se_broadcast_writes[31:31];
    }

    GRBM_STATUS {
        at 0x08010 [G6..G12];
        me0pipe0_cmdfifo_avail[3:0];
        rsmu_rq_pending[5:5] on [G9..G10];
        srbm_rq_pending[5:5] on [G6..G8];
        sdma_rq_pending[6:6] on [G11..G12];
        me0pipe0_cf_rq_pending[7:7];
        me0pipe0_pf_rq_pending[8:8];
        gds_dma_rq_pending[9:9] on [G6..G11_5];
        sc_clean[11:11] on [G12..G12];
        db_clean[12:12];
        cb_clean[13:13];
        ta_busy[14:14];
        gds_busy[15:15] on [G6..G11_5];
        ge_busy_no_dma[16:16] on [G10..G12];
        wd_busy_no_dma[16:16] on [G6..G9];
        vgt_busy[17:17] on [G6..G9];
        ia_busy_no_dma[18:18] on [G6..G9];
        ia_busy[19:19] on [G6..G9];
        sx_busy[20:20];
        ge_busy[21:21] on [G10..G12];
        wd_busy[21:21] on [G6..G9];
        spi_busy[22:22];
        bci_busy[23:23];
        sc_busy[24:24];
        pa_busy[25:25];
        db_busy[26:26];
        any_active[27:27] on [G11..G12];
        cp_coherency_busy[28:28];
        cp_busy[29:29];
        cb_busy[30:30];
        gui_active[31:31];
    }

    SCRATCH_REG0 {
        at 0x08500 [G6..G6], 0x30100 [G7..G12];
    }

    SCRATCH_REG1 {
        at 0x08504 [G6..G6], 0x30104 [G7..G12];
    }

    SCRATCH_REG2 {
        at 0x08508 [G6..G6], 0x30108 [G7..G12];
    }

    SCRATCH_REG3 {
        at 0x0850c [G6..G6], 0x3010c [G7..G12];
    }

    SCRATCH_REG4 {
        at 0x08510 [G6..G6], 0x30110 [G7..G12];
    }

    SCRATCH_REG5 {
        at 0x08514 [G6..G6], 0x30114 [G7..G12];
    }

    SCRATCH_REG6 {
        at 0x08518 [G6..G6], 0x30118 [G7..G12];
    }

    SCRATCH_REG7 {
        at 0x0851c [G6..G6], 0x3011c [G7..G12];
    }
}
