//! The values that selectors have, and their names; anything else is refused.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::macros::selectors;
use super::{Choice, level::*};

selectors! {
    ATOMIC_COMMAND = 0 single_pass, 1 loop_until_compare, 2 wait_for_write_confirm on [G10..G12],
        3 send_and_continue on [G10..G12];
    ATOMIC_OP = 1 fcmpswap_rtn_32, 2 fmin_rtn_32, 3 fmax_rtn_32, 7 swap_rtn_32, 8 cmpswap_rtn_32,
        9 fcmpswap_flush_denorm_rtn_32, 10 fmin_flush_denorm_rtn_32, 11 fmax_flush_denorm_rtn_32, 15 add_rtn_32,
        16 sub_rtn_32, 17 smin_rtn_32, 18 umin_rtn_32, 19 smax_rtn_32, 20 umax_rtn_32, 21 and_rtn_32, 22 or_rtn_32,
        23 xor_rtn_32, 24 inc_rtn_32, 25 dec_rtn_32, 26 clamp_sub_rtn_32, 27 cond_sub_rtn_32, 33 fcmpswap_rtn_64,
        34 fmin_rtn_64, 35 fmax_rtn_64, 39 swap_rtn_64, 40 cmpswap_rtn_64, 41 fcmpswap_flush_denorm_rtn_64,
        42 fmin_flush_denorm_rtn_64, 43 fmax_flush_denorm_rtn_64, 47 add_rtn_64, 48 sub_rtn_64, 49 smin_rtn_64,
        50 umin_rtn_64, 51 smax_rtn_64, 52 umax_rtn_64, 53 and_rtn_64, 54 or_rtn_64, 55 xor_rtn_64, 56 inc_rtn_64,
        57 dec_rtn_64, 65 fcmpswap_32, 66 fmin_32, 67 fmax_32, 71 swap_32, 72 cmpswap_32, 73 fcmpswap_flush_denorm_32,
        74 fmin_flush_denorm_32, 75 fmax_flush_denorm_32, 79 add_32, 80 sub_32, 81 smin_32, 82 umin_32, 83 smax_32,
        84 umax_32, 85 and_32, 86 or_32, 87 xor_32, 88 inc_32, 89 dec_32, 97 fcmpswap_64, 98 fmin_64, 99 fmax_64,
        103 swap_64, 104 cmpswap_64, 105 fcmpswap_flush_denorm_64, 106 fmin_flush_denorm_64, 107 fmax_flush_denorm_64,
        111 add_64, 112 sub_64, 113 smin_64, 114 umin_64, 115 smax_64, 116 umax_64, 117 and_64, 118 or_64, 119 xor_64,
        120 inc_64, 121 dec_64;
    CACHE_POLICY = 0 lru, 1 stream, 2 noa on [G10..G12], 3 bypass on [G7..G12];
    CE_COUNTER = 0 none, 1 ce, 2 cs, 3 ce_and_cs;
    CLEAR_STATE_CMD = 0 clear on [G6..G11_5], 1 push, 2 pop, 3 push_and_clear on [G6..G11_5];
    CLOCK_SEL = 0 gfx_clock, 1 soc_clock;
    COMPARE = 0 always, 1 less, 2 less_equal, 3 equal, 4 not_equal, 5 greater_equal, 6 greater;
    COND_IB_MODE = 1 if_then, 2 if_then_else;
    CONTEXT_REG_INDEX = 0 default, 1 multi_vgt_param, 2 vgt_ls_hs_config, 3 pa_sc_raster_config;
    COPY_DST = 0 register, 1 memory_grbm_sync, 2 tc_l2, 3 gds on [G6..G11_5], 4 perf_register on [G7..G12], 5 memory,
        6 register_dc on [G8..G12], 7 execute_indirect_spill on [G11..G12];
    COPY_DW_SPACE = 0 register, 1 memory;
    COPY_SRC = 0 register, 1 memory, 2 tc_l2, 3 gds on [G6..G11_5], 4 perf_register on [G7..G12], 5 immediate,
        6 atomic_return, 7 gds_atomic_return0 on [G6..G11_5], 8 gds_atomic_return1 on [G6..G11_5], 9 gpu_clock,
        10 system_clock on [G8..G12], 12 execute_indirect_arg on [G11..G12];
    COUNT_SEL = 0 dword, 1 qword;
    DMA_DST = 0 das_address, 1 gds on [G6..G11_5], 2 nowhere on [G9..G12], 3 l2_address on [G7..G12];
    DMA_ENGINE = 0 me, 1 pfp;
    DMA_SRC = 0 sas_address, 1 gds on [G6..G11_5], 2 data, 3 l2_address on [G7..G12];
    ENGINE_SEL = 0 me, 1 pfp, 2 ce on [G6..G10_3], 3 de on [G6..G6];
    ENGINE_SEL_IB = 0 me, 1 pfp;
    EOP_DATA = 0 none, 1 dword, 2 qword, 3 gpu_clock, 4 system_clock, 5 gds_block on [G6..G11_5],
        6 emulated_sclk on [G11..G11];
    EOP_DST = 0 memory, 1 tc_l2, 2 queue_wptr_register on [G9..G9, G11..G12],
        3 queue_wptr_poll_mask on [G9..G9, G11..G12];
    EOP_INT = 0 none, 1 interrupt_only, 2 interrupt_after_write, 3 data_after_confirm, 4 int_ctxid on [G9..G12],
        5 int_ctxid_if_equal32 on [G9..G12], 6 int_ctxid_if_equal64 on [G9..G12];
    EOS_CMD = 0 store_append_count, 1 store_gds, 2 store_dword;
    EVENT_INDEX = 0 other, 1 zpass_or_pixel_pipe_stat, 2 sample_pipelinestat, 3 sample_streamoutstats on [G6..G10_3],
        4 partial_flush, 5 end_of_pipe, 6 end_of_shader, 7 cache_flush on [G6..G8],
        8 sample_streamoutstats0 on [G11..G11_5], 9 sample_streamoutstats1 on [G11..G11_5],
        10 sample_streamoutstats2 on [G11..G11_5], 11 sample_streamoutstats3 on [G11..G11_5];
    EVENT_TYPE = 1 sample_streamoutstats1 on [G6..G12], 2 sample_streamoutstats2 on [G6..G12],
        3 sample_streamoutstats3 on [G6..G12], 4 cache_flush_ts on [G6..G12], 5 context_done on [G6..G12],
        6 cache_flush on [G6..G12], 7 cs_partial_flush on [G6..G12], 8 vgt_streamout_sync on [G6..G12],
        9 set_fe_id on [G10..G10_3], 10 vgt_streamout_reset on [G6..G12], 11 end_of_pipe_incr_de on [G6..G12],
        12 end_of_pipe_ib_end on [G6..G12], 13 rst_pix_cnt on [G6..G12], 14 break_batch on [G9..G12],
        15 vs_partial_flush on [G6..G12], 16 ps_partial_flush on [G6..G12], 17 flush_hs_output on [G6..G12],
        18 flush_dfsm on [G9..G12], 18 flush_ls_output on [G6..G8], 19 reset_to_lowest_vgt on [G9..G12],
        20 cache_flush_and_inv_ts_event on [G6..G12], 21 wait_sync on [G11..G12], 21 zpass_done on [G6..G10_3],
        22 cache_flush_and_inv_event on [G6..G12], 23 perfcounter_start on [G6..G12],
        24 perfcounter_stop on [G6..G12], 25 pipelinestat_start on [G6..G12], 26 pipelinestat_stop on [G6..G12],
        27 perfcounter_sample on [G6..G12], 28 flush_es_output on [G6..G8, G10..G12],
        29 bin_conf_override_check on [G10..G12], 29 flush_gs_output on [G6..G8], 30 sample_pipelinestat on [G6..G12],
        31 so_vgtstreamout_flush on [G6..G12], 32 sample_streamoutstats on [G6..G12], 33 reset_vtx_cnt on [G6..G12],
        34 block_context_done on [G6..G12], 35 cs_context_done on [G6..G12], 36 vgt_flush on [G6..G12],
        37 tgid_rollover on [G8..G12], 38 sq_non_event on [G6..G12], 39 sc_send_db_vpz on [G6..G12],
        40 bottom_of_pipe_ts on [G6..G12], 41 flush_sx_ts on [G6..G12], 42 db_cache_flush_and_inv on [G6..G12],
        43 flush_and_inv_db_data_ts on [G6..G12], 44 flush_and_inv_db_meta on [G6..G12],
        45 flush_and_inv_cb_data_ts on [G6..G12], 46 flush_and_inv_cb_meta on [G6..G12], 47 cs_done on [G6..G12],
        48 ps_done on [G6..G12], 49 flush_and_inv_cb_pixel_data on [G6..G12], 50 sx_cb_rat_ack_request on [G6..G12],
        51 thread_trace_start on [G6..G12], 52 thread_trace_stop on [G6..G12], 53 thread_trace_marker on [G6..G12],
        54 thread_trace_draw on [G10..G12], 54 thread_trace_flush on [G6..G9], 55 thread_trace_finish on [G6..G12],
        56 pixel_pipe_stat_control on [G6..G12], 57 pixel_pipe_stat_dump on [G6..G12],
        58 pixel_pipe_stat_reset on [G6..G12], 59 context_suspend on [G6..G12], 60 offchip_hs_dealloc on [G8..G12],
        61 enable_ngg_pipeline on [G9..G12], 62 enable_legacy_pipeline on [G9..G12], 63 draw_done on [G10..G12];
    EXEC_IND_OP = 0 draw, 1 draw_index, 2 dispatch, 3 dispatch_mesh, 4 dispatch_rays,
        5 dispatch_taskmesh on [G12..G12];
    FILL_SIZE = 0 byte, 2 dword;
    FRAME_CMD = 0 frame_begin, 1 frame_end;
    GCR_GL2_RANGE = 0 all, 1 vol, 2 range, 3 first_last;
    GCR_SEQ = 0 parallel, 1 forward, 2 reverse;
    INCR = 0 increment, 1 no_increment;
    INDEX_TYPE = 0 index_16, 1 index_32, 2 index_8 on [G8..G12];
    LOAD_FORMAT = 0 offset_and_size, 1 offset_and_data;
    LOAD_INDEX = 0 direct_address, 1 base_plus_offset, 2 indirect_address on [G10_3..G12];
    MEM_REG = 0 memory, 1 register;
    MES_ACTION = 0 none, 1 interrupt_and_fence, 2 interrupt_no_fence, 3 interrupt_and_address;
    PIXEL_PIPE_COUNTER = 0 occlusion_count_0, 1 occlusion_count_1, 2 occlusion_count_2, 3 occlusion_count_3,
        4 screen_min_extents_0, 5 screen_max_extents_0, 6 screen_min_extents_1, 7 screen_max_extents_1;
    PREAMBLE_CMD = 0 preamble_begin on [G6..G11_5], 1 preamble_end on [G6..G11_5], 2 clear_state_begin on [G6..G11_5],
        3 clear_state_end on [G6..G11_5], 4 user_queue_save on [G11..G12], 5 user_queue_restore on [G11..G12];
    PREDICATION_BOOL = 0 draw_if_not_visible, 1 draw_if_visible;
    PREDICATION_CONTINUE = 0 new, 1 accumulate;
    PREDICATION_HINT = 0 wait, 1 nowait_draw;
    PREDICATION_OP = 0 clear, 1 zpass, 2 primcount, 3 bool64, 4 bool32 on [G9..G12];
    PRIME_MODE = 0 no_wait, 1 wait_for_xack;
    PRIME_PERM = 0 read, 1 write, 2 execute;
    PWS_COUNTER = 0 ts, 1 ps, 2 cs;
    PWS_STAGE = 0 pre_depth, 1 pre_shader, 2 pre_color, 3 pre_pixel_shader, 4 cp_pfp, 5 cp_me;
    RMW_SRC = 0 immediate, 1 register;
    SCRATCH_SPACE = 0 register, 1 memory, 2 scratch;
    SEM_SEL = 6 signal, 7 wait;
    SET_BASE_INDEX = 0 display_list, 1 draw_index_indirect, 2 ce_dst on [G7..G10_3], 3 ce_partition on [G6..G10_3],
        4 load_reg_index on [G8..G12], 5 indirect_data on [G9..G12], 6 execute_indirect_v2 on [G10_3..G12];
    SH_OFFSET_INDEX = 0 normal, 1 data_indirect_2dw_256b, 2 data_indirect_1dw;
    SH_REG_INDEX = 0 default, 1 insert_vmid, 2 interleave_shadow on [G12..G12], 3 apply_kmd_cu_mask;
    SPACE = 0 register, 1 memory;
    STRMOUT_DATA_TYPE = 0 dwords, 1 bytes;
    STRMOUT_SOURCE = 0 packet_offset, 1 vgt_filled_size, 2 memory, 3 none;
    SWAP = 0 none, 1 swap_8in16, 2 swap_8in32, 3 swap_8in64;
    TC_OP = 1 fcmpswap_rtn_32 on [G7..G11_5], 2 fmin_rtn_32 on [G7..G11_5], 3 fmax_rtn_32 on [G7..G11_5],
        7 swap_rtn_32, 8 cmpswap_rtn_32, 9 fcmpswap_flush_denorm_rtn_32 on [G7..G11_5],
        10 fmin_flush_denorm_rtn_32 on [G7..G11_5], 11 fmax_flush_denorm_rtn_32 on [G7..G11_5], 15 add_rtn_32,
        16 sub_rtn_32, 17 smin_rtn_32, 18 umin_rtn_32, 19 smax_rtn_32, 20 umax_rtn_32, 21 and_rtn_32, 22 or_rtn_32,
        23 xor_rtn_32, 24 inc_rtn_32, 25 dec_rtn_32, 26 clamp_sub_rtn_32 on [G12..G12],
        27 cond_sub_rtn_32 on [G12..G12], 33 fcmpswap_rtn_64 on [G7..G11_5], 34 fmin_rtn_64 on [G7..G11_5],
        35 fmax_rtn_64 on [G7..G11_5], 39 swap_rtn_64, 40 cmpswap_rtn_64,
        41 fcmpswap_flush_denorm_rtn_64 on [G7..G11_5], 42 fmin_flush_denorm_rtn_64 on [G7..G11_5],
        43 fmax_flush_denorm_rtn_64 on [G7..G11_5], 47 add_rtn_64, 48 sub_rtn_64, 49 smin_rtn_64, 50 umin_rtn_64,
        51 smax_rtn_64, 52 umax_rtn_64, 53 and_rtn_64, 54 or_rtn_64, 55 xor_rtn_64, 56 inc_rtn_64, 57 dec_rtn_64,
        65 fcmpswap_32 on [G7..G11_5], 66 fmin_32 on [G7..G11_5], 67 fmax_32 on [G7..G11_5], 71 swap_32,
        72 cmpswap_32, 73 fcmpswap_flush_denorm_32 on [G7..G11_5], 74 fmin_flush_denorm_32 on [G7..G11_5],
        75 fmax_flush_denorm_32 on [G7..G11_5], 79 add_32, 80 sub_32, 81 smin_32, 82 umin_32, 83 smax_32, 84 umax_32,
        85 and_32, 86 or_32, 87 xor_32, 88 inc_32, 89 dec_32, 97 fcmpswap_64 on [G7..G11_5],
        98 fmin_64 on [G7..G11_5], 99 fmax_64 on [G7..G11_5], 103 swap_64, 104 cmpswap_64,
        105 fcmpswap_flush_denorm_64 on [G7..G11_5], 106 fmin_flush_denorm_64 on [G7..G11_5],
        107 fmax_flush_denorm_64 on [G7..G11_5], 111 add_64, 112 sub_64, 113 smin_64, 114 umin_64, 115 smax_64,
        116 umax_64, 117 and_64, 118 or_64, 119 xor_64, 120 inc_64, 121 dec_64;
    TEMPORAL = 0 rt on [G12..G12], 1 nt on [G12..G12], 2 ht on [G12..G12], 3 lu on [G12..G12];
    TLB_MMHUB = 0 none, 1 mmhub_flush_type, 2 gfx_flush_type;
    TLB_SEL = 0 invalidate, 1 use_pasid;
    UCONFIG_REG_INDEX = 0 default, 1 prim_type, 2 index_type, 3 num_instances, 4 multi_vgt_param;
    WAIT_OP = 0 wait_reg_mem, 1 write_wait_write_reg on [G7..G12], 2 wait_reg_mem_cond on [G9..G12],
        3 wait_mem_preemptable on [G9..G12];
    WAIT_SPACE = 0 register, 1 memory, 2 memory_l2 on [G7..G7];
    WINDOW_OP = 0 stop, 7 start;
    WRITE_DST = 0 register, 1 memory_grbm_sync, 2 tc_l2, 3 gds on [G6..G11_5], 5 memory,
        6 adc_persistent_state on [G9..G12], 8 preemption_meta on [G9..G10_3];
}
