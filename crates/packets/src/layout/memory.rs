//! Layouts: memory, signals and waits.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    MEMORY =

    0x1b ALLOC_GDS "reserve a GDS segment; no effect in a simulator"
    gfx [G6..G6] compute [G6..G6] {
      form [G6..G6] 1..1 {
        1: segment_size[15:0];
      }
    }

    0x1c WRITE_GDS_RAM "store data dwords into GDS"
    gfx [G6..G6] compute [G6..G6] {
      form [G6..G6] 2..16383 {
        1: gds_index[31:0];
      }
    }

    0x1d ATOMIC_GDS "GDS atomic; result readable through COPY_DATA sources 7 and 8"
    gfx [G6..G11_5] compute [G6..G11_5] {
      form [G6..G11_5] 10..10 {
        1: atom_op[7:0] on [G9..G11_5], atom_op[6:0] on [G6..G8], cmp_swap_loop[16:16], complete_wait[17:17],
            read_preop[18:18], read_control[20:19], engine_sel[31:30] in ENGINE_SEL on [G9..G11_5];
        2: auto_inc_bytes[5:0], dmode[8:8];
        3: base[15:0];
        4: size[15:0];
        5: offset0[7:0], offset1[23:16];
        6: dst[31:0];
        7: src0_lo[31:0];
        8: src0_hi[31:0];
        9: src1_lo[31:0];
        10: src1_hi[31:0];
      }
    }

    0x1e ATOMIC_MEM "read-modify-write of a dword or qword in memory"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G6] 8..8 {
        1: op[6:0] in TC_OP, command[11:8] in ATOMIC_COMMAND;
        2: addr_lo[31:0];
        3: addr_hi[31:0];
        4: src_lo[31:0];
        5: src_hi[31:0];
        6: cmp_lo[31:0];
        7: cmp_hi[31:0];
        8: loop_interval[12:0];
      }
      form [G7..G12] 8..8 {
        1: op[6:0] in TC_OP, command[11:8] in ATOMIC_COMMAND, atc[24:24] on [G7..G8],
            cache_policy[26:25] in CACHE_POLICY on [G7..G11_5], temporal[26:25] in TEMPORAL on [G12..G12],
            volatile[27:27] on [G7..G7], engine_sel[31:30] in ENGINE_SEL;
        2: addr_lo[31:0];
        3: addr_hi[31:0];
        4: src_lo[31:0];
        5: src_hi[31:0];
        6: cmp_lo[31:0];
        7: cmp_hi[31:0];
        8: loop_interval[12:0];
      }
    }

    0x1f OCCLUSION_QUERY "sum Z-pass pairs, store the total"
    gfx [G6..G12] compute [G6..G6] {
      form [G6..G12] 4..4 {
        1: start_addr_lo[31:4];
        2: start_addr_hi[15:0] on [G6..G8], start_addr_hi[31:0] on [G9..G12];
        3: query_addr_lo[31:2];
        4: query_addr_hi[15:0] on [G6..G8], query_addr_hi[31:0] on [G9..G12];
      }
    }

    0x34 STRMOUT_BUFFER_UPDATE "set a stream-out offset and/or store the filled size"
    gfx [G6..G11_5] compute [G6..G6] {
      form [G6..G10_3] 5..5 {
        1: update_memory[0:0], source_select[2:1] in STRMOUT_SOURCE, data_type[7:7] in STRMOUT_DATA_TYPE,
            buffer_select[9:8];
        2: dst_addr_lo[31:2];
        3: dst_addr_hi[15:0] on [G6..G8], dst_addr_hi[31:0] on [G9..G12];
        4: offset_or_src_addr_lo[31:0];
        5: src_addr_hi[15:0] on [G6..G8], src_addr_hi[31:0] on [G9..G12];
      }
      form [G11..G11_5] 5..5 {
        1: update_memory[0:0], source_select[2:1] in STRMOUT_SOURCE, data_type[7:7] in STRMOUT_DATA_TYPE,
            buffer_select[9:8];
        2: src_addr_lo[31:2] when source_select [2], offset[31:0] when source_select [0],
            dst_addr_lo[31:2] when update_memory [1];
        3: src_addr_hi[31:0] when source_select [2], dst_addr_hi[31:0] when update_memory [1];
        4: control_addr_lo[31:2];
        5: control_addr_hi[31:0];
      }
    }

    0x37 WRITE_DATA "store inline dwords to memory, registers or GDS"
    gfx [G6..G12] compute [G6..G12] ce [G7..G10_3] {
      form [G6..G11_5] 4..16383 {
        1: dst_sel[11:8] in WRITE_DST, no_increment[16:16], resume_vf[19:19] on [G9..G10_3], wr_confirm[20:20],
            atc[24:24] on [G7..G8], cache_policy[26:25] in CACHE_POLICY on [G7..G11_5], volatile[27:27] on [G7..G7],
            engine_sel[31:30] in ENGINE_SEL;
        2: dst_addr_lo[31:2] when dst_sel [5, 2, 1], dst_reg[17:0] when dst_sel [0], dst_gds[15:0] when dst_sel [3];
        3: dst_addr_hi[31:0];
      }
      form [G12..G12] 4..16383 {
        1: dst_sel[11:8] in WRITE_DST, no_increment[16:16], wr_confirm[20:20], pf_vf_mode[21:21], aid_id[24:23],
            temporal[26:25] in TEMPORAL, engine_sel[31:30] in ENGINE_SEL;
        2: dst_addr_lo[31:2] when dst_sel [5, 2, 1], dst_reg_lo[31:0] when dst_sel [0];
        3: dst_addr_hi[31:0] when dst_sel [5, 2, 1], dst_reg_hi[5:0] when dst_sel [0];
      }
    }

    0x39 MEM_SEMAPHORE "signal or wait on a qword counter"
    gfx [G6..G10_3] compute [G6..G10_3] {
      form [G6..G8] 2..2 {
        1: addr_lo[31:3];
        2: addr_hi[7:0], wait_on_signal[12:12], use_mailbox[16:16], signal_type[20:20], client_code[25:24],
            sem_sel[31:29] in SEM_SEL;
      }
      form [G9..G10_3] 3..3 {
        1: addr_lo[31:3];
        2: addr_hi[31:0];
        3: use_mailbox[16:16], signal_type[20:20], sem_sel[31:29] in SEM_SEL;
      }
    }

    0x3b COPY_DW "copy one dword between memory and registers"
    gfx [G6..G7] compute [G6..G6] {
      form [G6..G7] 5..5 {
        1: src_space[0:0] in COPY_DW_SPACE, dst_space[1:1] in COPY_DW_SPACE;
        2: src_lo[31:0];
        3: src_hi[7:0];
        4: dst_lo[31:0];
        5: dst_hi[7:0];
      }
    }

    0x3c WAIT_REG_MEM "block until (dword AND mask) compares with reference"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G12] 6..6 {
        1: function[2:0] in COMPARE, mem_space[5:4] in WAIT_SPACE, operation[7:6] in WAIT_OP on [G7..G12],
            engine_sel[9:8] in ENGINE_SEL_IB, uncached[10:10] on [G8..G8], mes_intr_pipe[23:22] on [G10_3..G12],
            mes_action[24:24] on [G10_3..G12], atc[24:24] on [G7..G8],
            cache_policy[26:25] in CACHE_POLICY on [G7..G8, G10..G11_5], temporal[26:25] in TEMPORAL on [G12..G12],
            volatile[27:27] on [G7..G7];
        2: poll_addr_lo[31:2] when mem_space [1], poll_reg[17:0] when mem_space [0],
            write_reg[17:0] when operation [1];
        3: poll_addr_hi[31:0] when mem_space [1], wait_reg[17:0] when operation [1];
        4: reference[31:0];
        5: mask[31:0];
        6: poll_interval[15:0], optimize_ace_offload[31:31] on [G9..G12];
      }
    }

    0x3d MEM_WRITE "store a dword, qword or the clock"
    gfx [G6..G6] compute [G6..G6] {
      form [G6..G6] 4..4 {
        1: addr_lo[31:3];
        2: addr_hi[7:0], clock_count[16:16], wr_confirm[17:17], data32[18:18];
        3: data_lo[31:0];
        4: data_hi[31:0];
      }
    }

    0x40 COPY_DATA "move a dword or qword between memory, register, immediate, clock, GDS"
    gfx [G6..G12] compute [G6..G12] ce [G6..G10_3] {
      form [G6..G11_5] 5..5 {
        1: src_sel[3:0] in COPY_SRC, dst_sel[11:8] in COPY_DST, src_atc[12:12] on [G7..G8],
            src_cache_policy[14:13] in CACHE_POLICY on [G7..G11_5], src_temporal[14:13] in TEMPORAL on [G12..G12],
            src_volatile[15:15] on [G7..G7], count_sel[16:16] in COUNT_SEL, wr_confirm[20:20],
            pf_vf_mode[21:21] on [G12..G12], aid_id[24:23] on [G12..G12], dst_atc[24:24] on [G7..G8],
            dst_cache_policy[26:25] in CACHE_POLICY on [G7..G11_5], dst_temporal[26:25] in TEMPORAL on [G12..G12],
            dst_volatile[27:27] on [G7..G7], pq_exe_status[29:29] on [G9..G12], engine_sel[31:30] in ENGINE_SEL;
        2: src_addr_lo[31:2] when src_sel [1, 2], src_reg[17:0] when src_sel [0, 4], src_gds[15:0] when src_sel [3],
            imm_lo[31:0] when src_sel [5];
        3: src_addr_hi[31:0] when src_sel [1, 2], imm_hi[31:0] when src_sel [5];
        4: dst_addr_lo[31:2] when dst_sel [5, 2, 1], dst_reg[17:0] when dst_sel [0, 4],
            dst_gds[15:0] when dst_sel [3];
        5: dst_addr_hi[31:0] when dst_sel [5, 2, 1];
      }
      form [G12..G12] 5..5 {
        1: src_sel[3:0] in COPY_SRC, dst_sel[11:8] in COPY_DST, src_atc[12:12] on [G7..G8],
            src_cache_policy[14:13] in CACHE_POLICY on [G7..G11_5], src_temporal[14:13] in TEMPORAL on [G12..G12],
            src_volatile[15:15] on [G7..G7], count_sel[16:16] in COUNT_SEL, wr_confirm[20:20],
            pf_vf_mode[21:21] on [G12..G12], aid_id[24:23] on [G12..G12], dst_atc[24:24] on [G7..G8],
            dst_cache_policy[26:25] in CACHE_POLICY on [G7..G11_5], dst_temporal[26:25] in TEMPORAL on [G12..G12],
            dst_volatile[27:27] on [G7..G7], pq_exe_status[29:29] on [G9..G12], engine_sel[31:30] in ENGINE_SEL;
        2: src_addr_lo[31:2] when src_sel [1, 2], src_reg_lo[31:0] when src_sel [0, 4], imm_lo[31:0] when src_sel [5];
        3: src_addr_hi[31:0] when src_sel [1, 2], src_reg_hi[5:0] when src_sel [0, 4], imm_hi[31:0] when src_sel [5];
        4: dst_addr_lo[31:2] when dst_sel [5, 2, 1], dst_reg_lo[31:0] when dst_sel [0, 4];
        5: dst_addr_hi[31:0] when dst_sel [5, 2, 1], dst_reg_hi[5:0] when dst_sel [0, 4];
      }
    }

    0x41 CP_DMA "copy or fill memory, GFX6 form of DMA_DATA"
    gfx [G6..G6] compute [G6..G6] {
      form [G6..G6] 5..5 {
        1: src_addr_lo[31:0] when src_sel [0], data[31:0] when src_sel [2];
        2: src_addr_hi[15:0], dst_sel[21:20] in DMA_DST, m2m_opt[24:24], engine_sel[27:27] in DMA_ENGINE,
            src_sel[30:29] in DMA_SRC, cp_sync[31:31];
        3: dst_addr_lo[31:0];
        4: dst_addr_hi[15:0];
        5: byte_count[20:0], disable_wr_confirm[21:21], src_swap[23:22] in SWAP, dst_swap[25:24] in SWAP,
            sas[26:26] in MEM_REG, das[27:27] in MEM_REG, saic[28:28] in INCR, daic[29:29] in INCR, raw_wait[30:30];
      }
    }

    0x43 SURFACE_SYNC "cache actions over a range, then wait"
    gfx [G6..G8] compute [G6..G6] {
      form [G6..G8] 4..4 {
        1: coher_cntl[30:0], engine_sel[31:31];
        2: coher_size[31:0];
        3: coher_base[31:0];
        4: poll_interval[15:0];
      }
    }

    0x45 COND_WRITE "store data if a comparison holds now"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G12] 8..8 {
        1: function[2:0] in COMPARE, poll_space[4:4] in SPACE, write_space[9:8] in SCRATCH_SPACE,
            wr_confirm[20:20] on [G12..G12];
        2: poll_addr_lo[31:0] when poll_space [1], poll_reg[31:0] when poll_space [0];
        3: poll_addr_hi[31:0];
        4: reference[31:0];
        5: mask[31:0];
        6: write_addr_lo[31:0] when write_space [1], write_reg[31:0] when write_space [0];
        7: write_addr_hi[31:0];
        8: data[31:0];
      }
    }

    0x46 EVENT_WRITE "pipeline event; sample events store counters"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G12] 1..1 {
        1: event_type[5:0] in EVENT_TYPE, event_index[11:8] in EVENT_INDEX, invalidate_l2[20:20] on [G6..G6],
            atc[24:24] on [G7..G8], samp_plst_mode[30:29] on [G11..G12], offload_enable[31:31] on [G7..G12];
      }
      form [G6..G12] 3..3 {
        1: event_type[5:0] in EVENT_TYPE, event_index[11:8] in EVENT_INDEX, atc[24:24] on [G7..G8],
            samp_plst_mode[30:29] on [G11..G12], offload_enable[31:31] on [G7..G12];
        2: addr_lo[31:3];
        3: addr_hi[15:0] on [G6..G8], addr_hi[31:0] on [G9..G12];
      }
      form [G7..G12] 3..3 {
        1: event_type[5:0] in EVENT_TYPE, event_index[11:8] in EVENT_INDEX;
        2: counter_id[8:3] in PIXEL_PIPE_COUNTER, stride[10:9], instance_enable[26:11];
        3: zero[31:0];
      }
    }

    0x47 EVENT_WRITE_EOP "at end of pipe store value or clock, optional interrupt"
    gfx [G6..G8] compute [G6..G6] {
      form [G6..G8] 5..5 {
        1: event_type[5:0] in EVENT_TYPE, event_index[11:8] in EVENT_INDEX, tcl1_vol_action[12:12] on [G7..G8],
            tc_vol_action[13:13] on [G7..G8], tc_wb_action[15:15] on [G7..G8], tcl1_action[16:16] on [G7..G8],
            tc_action[17:17] on [G7..G8], invalidate_l2[20:20] on [G6..G6], atc[24:24] on [G7..G8],
            cache_policy[26:25] in CACHE_POLICY on [G7..G8], volatile[27:27] on [G7..G7];
        2: addr_lo[31:2];
        3: addr_hi[15:0], dst_sel[17:16] in EOP_DST on [G7..G8], int_sel[26:24] in EOP_INT,
            data_sel[31:29] in EOP_DATA;
        4: data_lo[31:0];
        5: data_hi[31:0];
      }
    }

    0x48 EVENT_WRITE_EOS "at end of shader store a value, append count or GDS"
    gfx [G6..G8] compute [G6..G6] {
      form [G6..G8] 4..4 {
        1: event_type[5:0] in EVENT_TYPE, event_index[11:8] in EVENT_INDEX;
        2: addr_lo[31:2];
        3: addr_hi[15:0], command[31:29] in EOS_CMD;
        4: data[31:0] when command [2], gds_index[15:0] when command [1], gds_dwords[31:16] when command [1];
      }
    }

    0x49 RELEASE_MEM "at end of pipe or shader store value or clock, optional interrupt"
    compute [G7..G12] gfx [G9..G12] {
      form [G7..G8] 6..6 {
        1: event_type[5:0] in EVENT_TYPE, event_index[11:8] in EVENT_INDEX, tcl1_vol_action[12:12],
            tc_vol_action[13:13], tc_wb_action[15:15], tcl1_action[16:16], tc_action[17:17],
            cache_policy[26:25] in CACHE_POLICY, volatile[27:27] on [G7..G7];
        2: dst_sel[17:16] in EOP_DST, int_sel[26:24] in EOP_INT, data_sel[31:29] in EOP_DATA;
        3: addr_lo[31:2];
        4: addr_hi[31:0];
        5: data_lo[31:0], gds_index[15:0] when data_sel [5], gds_dwords[31:16] when data_sel [5];
        6: data_hi[31:0];
      }
      form [G9..G9] 7..7 {
        1: event_type[5:0] in EVENT_TYPE, event_index[11:8] in EVENT_INDEX, tcl1_vol_action[12:12],
            tc_vol_action[13:13], tc_wb_action[15:15], tcl1_action[16:16], tc_action[17:17], tc_nc_action[19:19],
            tc_wc_action[20:20], tc_md_action[21:21], cache_policy[26:25] in CACHE_POLICY, execute[28:28],
            pq_exe_status[29:29];
        2: dst_sel[17:16] in EOP_DST, mes_intr_pipe[21:20] on [G10_3..G12],
            mes_action_id[23:22] in MES_ACTION on [G10_3..G12], int_sel[26:24] in EOP_INT,
            data_sel[31:29] in EOP_DATA;
        3: addr_lo[31:2];
        4: addr_hi[31:0];
        5: data_lo[31:0], gds_offset[15:0] on [G9..G11_5] when data_sel [5],
            gds_dwords[31:16] on [G9..G11_5] when data_sel [5];
        6: data_hi[31:0];
        7: int_ctxid[31:0] on [G9..G12];
      }
      form [G10..G10_3] 7..7 {
        1: event_type[5:0] in EVENT_TYPE, wait_dma[7:7], event_index[11:8] in EVENT_INDEX, glm_wb[12:12],
            glm_inv[13:13], glv_inv[14:14], gl1_inv[15:15], gl2_us[16:16], gl2_range[18:17] in GCR_GL2_RANGE,
            gl2_discard[19:19], gl2_inv[20:20], gl2_wb[21:21], seq[23:22] in GCR_SEQ,
            cache_policy[26:25] in CACHE_POLICY, execute[28:28], pq_exe_status[28:28];
        2: dst_sel[17:16] in EOP_DST, mes_intr_pipe[21:20] on [G10_3..G12],
            mes_action_id[23:22] in MES_ACTION on [G10_3..G12], int_sel[26:24] in EOP_INT,
            data_sel[31:29] in EOP_DATA;
        3: addr_lo[31:2];
        4: addr_hi[31:0];
        5: data_lo[31:0], gds_offset[15:0] on [G9..G11_5] when data_sel [5],
            gds_dwords[31:16] on [G9..G11_5] when data_sel [5];
        6: data_hi[31:0];
        7: int_ctxid[31:0] on [G9..G12];
      }
      form [G11..G12] 7..7 {
        1: event_type[5:0] in EVENT_TYPE, wait_sync[7:7], event_index[11:8] in EVENT_INDEX, glm_wb[12:12],
            glm_inv[13:13], glv_inv[14:14], gl1_inv[15:15], gl2_us[16:16], gl2_range[18:17] in GCR_GL2_RANGE,
            gl2_discard[19:19], gl2_inv[20:20], gl2_wb[21:21], seq[23:22] in GCR_SEQ, glk_wb[24:24],
            cache_policy[26:25] in CACHE_POLICY on [G11..G11_5], temporal[26:25] in TEMPORAL on [G12..G12],
            execute[29:28], pq_exe_status[28:28], glk_inv[30:30], pws_enable[31:31];
        2: dst_sel[17:16] in EOP_DST, mes_intr_pipe[21:20] on [G10_3..G12],
            mes_action_id[23:22] in MES_ACTION on [G10_3..G12], int_sel[26:24] in EOP_INT,
            data_sel[31:29] in EOP_DATA;
        3: addr_lo[31:2];
        4: addr_hi[31:0];
        5: data_lo[31:0], gds_offset[15:0] on [G9..G11_5] when data_sel [5],
            gds_dwords[31:16] on [G9..G11_5] when data_sel [5];
        6: data_hi[31:0];
        7: int_ctxid[31:0] on [G9..G12];
      }
    }

    0x50 DMA_DATA "copy or fill memory, registers, GDS"
    gfx [G7..G12] compute [G7..G12] {
      form [G7..G8] 6..6 {
        1: engine_sel[0:0] in DMA_ENGINE, src_atc[12:12] on [G7..G8],
            src_cache_policy[14:13] in CACHE_POLICY on [G7..G11_5], src_temporal[14:13] in TEMPORAL on [G12..G12],
            src_volatile[15:15] on [G7..G7], dst_sel[21:20] in DMA_DST, dst_atc[24:24] on [G7..G8],
            dst_cache_policy[26:25] in CACHE_POLICY on [G7..G11_5], dst_temporal[26:25] in TEMPORAL on [G12..G12],
            dst_volatile[27:27] on [G7..G7], src_sel[30:29] in DMA_SRC, cp_sync[31:31];
        2: src_addr_lo[31:0] when src_sel [0, 3], data[31:0] when src_sel [2];
        3: src_addr_hi[31:0];
        4: dst_addr_lo[31:0];
        5: dst_addr_hi[31:0];
        6: byte_count[20:0], disable_wr_confirm[21:21], src_swap[23:22] in SWAP, dst_swap[25:24] in SWAP,
            sas[26:26] in MEM_REG, das[27:27] in MEM_REG, saic[28:28] in INCR, daic[29:29] in INCR, raw_wait[30:30];
      }
      form [G9..G12] 6..6 {
        1: engine_sel[0:0] in DMA_ENGINE, src_indirect[1:1] on [G9..G12], dst_indirect[2:2] on [G9..G12],
            src_atc[12:12] on [G7..G8], src_cache_policy[14:13] in CACHE_POLICY on [G7..G11_5],
            src_temporal[14:13] in TEMPORAL on [G12..G12], src_volatile[15:15] on [G7..G7], dst_sel[21:20] in DMA_DST,
            dst_atc[24:24] on [G7..G8], dst_cache_policy[26:25] in CACHE_POLICY on [G7..G11_5],
            dst_temporal[26:25] in TEMPORAL on [G12..G12], dst_volatile[27:27] on [G7..G7], src_sel[30:29] in DMA_SRC,
            cp_sync[31:31];
        2: src_addr_lo[31:0] when src_sel [0, 3], data[31:0] when src_sel [2];
        3: src_addr_hi[31:0];
        4: dst_addr_lo[31:0];
        5: dst_addr_hi[31:0];
        6: byte_count[25:0], sas[26:26] in MEM_REG, das[27:27] in MEM_REG, saic[28:28] in INCR, daic[29:29] in INCR,
            raw_wait[30:30], disable_wr_confirm[31:31];
      }
    }

    0x58 ACQUIRE_MEM "cache actions over a range, then wait"
    gfx [G7..G12] compute [G7..G12] {
      form [G7..G9] 6..6 {
        1: coher_cntl[30:0], engine_sel[31:31];
        2: coher_size[31:0];
        3: coher_size_hi[7:0] on [G7..G8], coher_size_hi[23:0] on [G9..G9];
        4: coher_base_lo[31:0];
        5: coher_base_hi[23:0];
        6: poll_interval[15:0];
      }
      form [G10..G10_3] 7..7 {
        1: coher_cntl[30:0], engine_sel[31:31];
        2: gcr_size[31:0];
        3: gcr_size_hi[23:0];
        4: gcr_base_lo[31:0];
        5: gcr_base_hi[23:0];
        6: poll_interval[15:0];
        7: gcr_cntl[18:0];
      }
      form [G11..G12] 7..7 {
        1: coher_cntl[30:0], engine_sel[31:31];
        2: gcr_size[31:0];
        3: gcr_size_hi[24:0];
        4: gcr_base_lo[31:0];
        5: gcr_base_hi[24:0];
        6: poll_interval[15:0];
        7: gcr_cntl[18:0];
      }
      form [G11..G12] 7..7 {
        1: pws_stage_sel[13:11] in PWS_STAGE, pws_counter_sel[15:14] in PWS_COUNTER, pws_ena2[17:17],
            pws_count[23:18];
        2: gcr_size[31:0];
        3: gcr_size_hi[24:0];
        4: gcr_base_lo[31:0];
        5: gcr_base_hi[24:0];
        6: pws_ena[31:31];
        7: gcr_cntl[18:0];
      }
    }

    0x8e GET_LOD_STATS "store LOD statistics"
    gfx [G9..G10_3] {
      form [G9..G10_3] 4..4 {
        1: bu_size[31:0];
        2: base_lo[31:6];
        3: base_hi[31:0];
        4: interval[9:2], reset_count[17:10], reset_force[18:18], report_and_reset[19:19],
            cache_policy[29:28] in CACHE_POLICY;
      }
    }

    0x93 WAIT_REG_MEM64 "block until (qword AND mask) compares with reference"
    gfx [G9..G12] compute [G9..G12] {
      form [G9..G12] 8..8 {
        1: function[2:0] in COMPARE, mem_space[5:4] in SPACE, operation[7:6] in WAIT_OP,
            engine_sel[9:8] in ENGINE_SEL_IB, mes_intr_pipe[23:22] on [G10_3..G12], mes_action[24:24] on [G10_3..G12],
            cache_policy[26:25] in CACHE_POLICY on [G10..G11_5], temporal[26:25] in TEMPORAL on [G12..G12];
        2: poll_addr_lo[31:3] when mem_space [1], poll_reg[17:0] when mem_space [0],
            write_reg[17:0] when operation [1];
        3: poll_addr_hi[31:0] when mem_space [1], wait_reg[17:0] when operation [1];
        4: reference_lo[31:0];
        5: reference_hi[31:0];
        6: mask_lo[31:0];
        7: mask_hi[31:0];
        8: poll_interval[15:0], optimize_ace_offload[31:31];
      }
    }

    0x9a DMA_DATA_FILL_MULTI "strided fills"
    gfx [G9..G12] compute [G9..G12] {
      form [G9..G12] 6..6 {
        1: engine_sel[0:0] in DMA_ENGINE, memlog_clear[10:10], dst_sel[21:20] in DMA_DST,
            dst_cache_policy[26:25] in CACHE_POLICY on [G9..G11_5], dst_temporal[26:25] in TEMPORAL on [G12..G12],
            src_sel[30:29] in DMA_SRC, cp_sync[31:31];
        2: byte_stride[31:0];
        3: dma_count[31:0];
        4: dst_addr_lo[31:0];
        5: dst_addr_hi[31:0];
        6: byte_count[25:0];
      }
    }

    0xb1 EVENT_WRITE_ZPASS "store Z-pass counters per RB"
    gfx [G11..G12] {
      form [G11..G12] 2..2 {
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
    }

    0xb2 TIMESTAMP "store top and/or bottom of pipe clocks"
    gfx [G11..G12] compute [G11..G12] {
      form [G11..G12] 5..5 {
        1: enable_bottom[0:0], enable_top[1:1], clock_sel[2:2] in CLOCK_SEL;
        2: bottom_addr_lo[31:3];
        3: bottom_addr_hi[31:0];
        4: top_addr_lo[31:3];
        5: top_addr_hi[31:0];
      }
    }

    0xc0 LOAD_BUFFER_FILLED_SIZES "stream-out filled sizes from memory"
    gfx [G12..G12] {
      form [G12..G12] 10..10 {
        1: control_addr_lo[31:3];
        2: control_addr_hi[31:0];
        3: target0_addr_lo[31:2];
        4: target0_addr_hi[31:0];
        5: target1_addr_lo[31:2];
        6: target1_addr_hi[31:0];
        7: target2_addr_lo[31:2];
        8: target2_addr_hi[31:0];
        9: target3_addr_lo[31:2];
        10: target3_addr_hi[31:0];
      }
    }

    0xc1 SET_BUFFER_FILLED_SIZE "set one stream-out filled size"
    gfx [G12..G12] {
      form [G12..G12] 4..4 {
        1: control_addr_lo[31:3];
        2: control_addr_hi[31:0];
        3: buffer_id[1:0];
        4: buffer_offset[31:0];
      }
    }

    0xc2 SAVE_BUFFER_FILLED_SIZES "stream-out filled sizes to memory"
    gfx [G12..G12] {
      form [G12..G12] 10..10 {
        1: control_addr_lo[31:3];
        2: control_addr_hi[31:0];
        3: target0_addr_lo[31:2];
        4: target0_addr_hi[31:0];
        5: target1_addr_lo[31:2];
        6: target1_addr_hi[31:0];
        7: target2_addr_lo[31:2];
        8: target2_addr_hi[31:0];
        9: target3_addr_lo[31:2];
        10: target3_addr_hi[31:0];
      }
    }

    0xc3 STRMOUT_STATS_QUERY "store stream-out statistics"
    gfx [G12..G12] {
      form [G12..G12] 5..5 {
        1: control_addr_lo[31:3];
        2: control_addr_hi[31:0];
        3: stream_index[1:0];
        4: dst_addr_lo[31:3];
        5: dst_addr_hi[31:0];
      }
    }
}
