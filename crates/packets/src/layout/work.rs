//! Layouts: draws and dispatches.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    WORK =

    0x13 INDEX_BUFFER_SIZE "index count bound for later indexed draws"
    gfx [G6..G12] {
      form [G6..G12] 1..1 {
        1: index_count[31:0];
      }
    }

    0x15 DISPATCH_DIRECT "start a grid of x*y*z groups from COMPUTE_* state"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G12] 4..4 {
        1: dim_x[31:0];
        2: dim_y[31:0];
        3: dim_z[31:0];
        4: dispatch_initiator[31:0];
      }
    }

    0x16 DISPATCH_INDIRECT "read x, y, z from memory and dispatch"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G12] 2..2 {
        1: data_offset[31:0];
        2: dispatch_initiator[31:0];
      }
      form [G7..G12] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[31:0];
        3: dispatch_initiator[31:0];
      }
    }

    0x24 DRAW_INDIRECT "draw with 4 dwords of arguments from memory; writes *_loc registers"
    gfx [G6..G12] {
      form [G6..G12] 4..4 {
        1: data_offset[31:0];
        2: base_vertex_loc[15:0];
        3: start_instance_loc[15:0];
        4: draw_initiator[31:0];
      }
    }

    0x25 DRAW_INDEX_INDIRECT "indexed draw with 5 dwords from memory; writes *_loc registers"
    gfx [G6..G12] {
      form [G6..G8] 4..4 {
        1: data_offset[31:0];
        2: base_vertex_loc[15:0];
        3: start_instance_loc[15:0];
        4: draw_initiator[31:0];
      }
      form [G9..G12] 4..4 {
        1: data_offset[31:0];
        2: base_vertex_loc[15:0], start_index_loc[31:16];
        3: start_instance_loc[15:0], disable_cpvgtdma_sm[26:26] on [G10..G10_3], start_index_enable[28:28];
        4: draw_initiator[31:0];
      }
    }

    0x26 INDEX_BASE "index buffer address for later draws"
    gfx [G6..G12] {
      form [G6..G8] 2..2 {
        1: addr_lo[31:1];
        2: addr_hi[15:0], base_select[31:30];
      }
      form [G9..G12] 2..2 {
        1: addr_lo[31:1];
        2: addr_hi[31:0];
      }
    }

    0x27 DRAW_INDEX_2 "indexed draw, index address in the packet"
    gfx [G6..G12] {
      form [G6..G12] 5..5 {
        1: max_size[31:0];
        2: index_base_lo[31:1];
        3: index_base_hi[31:0];
        4: index_count[31:0];
        5: draw_initiator[31:0];
      }
    }

    0x2a INDEX_TYPE "index size for later draws"
    gfx [G6..G12] {
      form [G6..G8] 1..1 {
        1: index_type[1:0] in INDEX_TYPE, swap[3:2] in SWAP;
      }
    }

    0x2c DRAW_INDIRECT_MULTI "several DRAW_INDIRECT with stride and optional count buffer"
    gfx [G6..G12] {
      form [G6..G12] 9..9 {
        1: data_offset[31:0];
        2: base_vertex_loc[15:0];
        3: start_instance_loc[15:0];
        4: draw_index_loc[15:0], bottom_of_pipe_ts[26:26] on [G12..G12], use_vgprs[27:27] on [G10..G12],
            thread_trace_marker[29:29] on [G10..G12], count_indirect_enable[30:30], draw_index_enable[31:31];
        5: count[31:0];
        6: count_addr_lo[31:2];
        7: count_addr_hi[15:0] on [G6..G8], count_addr_hi[31:0] on [G9..G12];
        8: stride[31:0];
        9: draw_initiator[31:0];
      }
    }

    0x2d DRAW_INDEX_AUTO "non-indexed draw"
    gfx [G6..G12] {
      form [G6..G12] 2..2 {
        1: vertex_count[31:0];
        2: draw_initiator[31:0];
      }
    }

    0x2e DRAW_INDEX_IMMD "indexed draw, indices in the packet"
    gfx [G6..G6] {
      form [G6..G6] 3..16383 {
        1: index_count[31:0];
        2: draw_initiator[31:0];
      }
    }

    0x2f NUM_INSTANCES "instance count for later draws"
    gfx [G6..G12] {
      form [G6..G12] 1..1 {
        1: instance_count[31:0];
      }
    }

    0x30 DRAW_INDEX_MULTI_AUTO "several auto-index draws"
    gfx [G6..G12] {
      form [G6..G11_5] 3..3 {
        1: prim_count[31:0];
        2: draw_initiator[31:0];
        3: index_offset[15:0], prim_type[20:16], index_count[31:21];
      }
      form [G12..G12] 4..4 {
        1: prim_count[31:0];
        2: draw_initiator[31:0];
        3: num_input_cp[11:6], prim_per_subgroup[20:12];
        4: index_offset[15:0], prim_type[20:16], index_count[31:21];
      }
    }

    0x35 DRAW_INDEX_OFFSET_2 "indexed draw from the INDEX_BASE buffer"
    gfx [G6..G12] {
      form [G6..G12] 4..4 {
        1: max_size[31:0];
        2: index_offset[31:0];
        3: index_count[31:0];
        4: draw_initiator[31:0];
      }
    }

    0x36 DRAW_PREAMBLE "write primitive type, IA_MULTI_VGT_PARAM, VGT_LS_HS_CONFIG"
    gfx [G7..G12] {
      form [G7..G8] 3..3 {
        1: prim_type[31:0];
        2: ia_multi_vgt_param[31:0];
        3: vgt_ls_hs_config[31:0];
      }
    }

    0x38 DRAW_INDEX_INDIRECT_MULTI "several DRAW_INDEX_INDIRECT"
    gfx [G6..G12] {
      form [G6..G12] 9..9 {
        1: data_offset[31:0];
        2: base_vertex_loc[15:0], start_index_loc[31:16] on [G9..G12];
        3: start_instance_loc[15:0];
        4: draw_index_loc[15:0], task_shader_mode[25:25] on [G11..G12], disable_cpvgtdma_sm[26:26] on [G10..G10_3],
            bottom_of_pipe_ts[26:26] on [G12..G12], use_vgprs[27:27] on [G10..G12],
            start_index_enable[28:28] on [G9..G12], thread_trace_marker[29:29] on [G10..G12],
            count_indirect_enable[30:30], draw_index_enable[31:31];
        5: count[31:0];
        6: count_addr_lo[31:2];
        7: count_addr_hi[15:0] on [G6..G8], count_addr_hi[31:0] on [G9..G12];
        8: stride[31:0];
        9: draw_initiator[31:0];
      }
    }

    0x3a DRAW_INDEX_MULTI_INST "indexed draws with an object-id list"
    gfx [G10..G10] {
      form [G10..G10] 8..8 {
        1: instance_count[31:0];
        2: obj_id_addr_lo[31:0];
        3: obj_id_addr_hi[31:0];
        4: max_size[31:0];
        5: index_base_lo[31:0];
        6: index_base_hi[31:0];
        7: index_count[31:0];
        8: draw_initiator[31:0];
      }
    }

    0x3a MPEG_INDEX "rectangle list draw"
    gfx [G6..G6] {
      form [G6..G6] 3..16383 {
        1: index_count[31:0];
        2: draw_initiator[31:0];
        3: rect_index[31:0];
      }
    }

    0x4c DISPATCH_MESH_INDIRECT_MULTI "mesh draws with arguments from memory"
    gfx [G10_3..G12] {
      form [G10_3..G12] 8..8 {
        1: data_offset[31:0];
        2: xyz_dim_loc[15:0], draw_index_loc[31:16];
        3: mode1_enable[27:27] on [G11..G12], use_vgprs[28:28] on [G10_3..G10_3], xyz_dim_enable[28:28] on [G11..G12],
            thread_trace_marker[29:29], count_indirect_enable[30:30], draw_index_enable[31:31];
        4: count[31:0];
        5: count_addr_lo[31:2];
        6: count_addr_hi[31:0];
        7: stride[31:0];
        8: draw_initiator[31:0];
      }
    }

    0x4d DISPATCH_TASKMESH_GFX "consume task ring entries as mesh draws"
    gfx [G10_3..G12] {
      form [G10_3..G12] 3..3 {
        1: xyz_dim_loc[15:0], ring_entry_loc[31:16];
        2: bottom_of_pipe_ts[27:27] on [G12..G12], linear_dispatch_enable[28:28] on [G11..G12],
            mode1_enable[29:29] on [G11..G12], xyz_dim_enable[30:30] on [G11..G12], thread_trace_marker[31:31];
        3: draw_initiator[31:0];
      }
    }

    0x4e DISPATCH_MESH_DIRECT "mesh draw with grid in the packet"
    gfx [G11..G12] {
      form [G11..G12] 4..4 {
        1: dim_x[31:0];
        2: dim_y[31:0];
        3: dim_z[31:0];
        4: draw_initiator[31:0];
      }
    }

    0x8c DISPATCH_DRAW_PREAMBLE "setup of compute-assisted draws"
    gfx [G9..G10_3] {
      form [G9..G10_3] 5..5 {
        1: krb_size[9:0], krb_free_offset[19:10], krb_offset[29:20];
        2: buf_type[5:4], not_eop[9:9], req_path[10:10] on [G9..G9];
        3: irb_addr_lo[31:0];
        4: irb_addr_hi[31:0];
        5: irb_wrap_size[31:0];
      }
    }

    0x8d DISPATCH_DRAW "compute-assisted draw"
    gfx [G9..G10_3] compute [G9..G10_3] {
      form [G9..G10_3] 5..5 {
        1: index_offset[31:0];
        2: prim_type[20:16];
        3: index_count[31:0];
        4: vrb_loc_sgpr[3:0], use_vrb[4:4], max_index_multiple_minus_1[15:5], min_poll_intervals[31:16];
        5: draw_initiator[31:0];
      }
      form [G9..G10_3] 5..5 {
        1: krb_loc_sgpr[3:0];
        2: dim_x[31:0];
        3: dim_y[31:0];
        4: dim_z[31:0];
        5: dispatch_initiator[31:0];
      }
    }

    0x91 INDEX_ATTRIBUTES_INDIRECT "index base, size and type from memory"
    gfx [G7..G12] {
      form [G7..G12] 3..3 {
        1: indirect_mode[0:0] on [G9..G12], attribute_base_lo[31:4];
        2: attribute_base_hi[31:0];
        3: attribute_index[15:0];
      }
    }

    0xa7 DISPATCH_DIRECT_INTERLEAVED "dispatch with interleaved group order"
    gfx [G12..G12] {
      form [G12..G12] 4..4 {
        1: dim_x[31:0];
        2: dim_y[31:0];
        3: dim_z[31:0];
        4: dispatch_initiator[31:0];
      }
    }

    0xa8 DISPATCH_INDIRECT_INTERLEAVED "same, counts from memory"
    gfx [G12..G12] {
      form [G12..G12] 2..2 {
        1: data_offset[31:0];
        2: dispatch_initiator[31:0];
      }
    }

    0xa9 DISPATCH_TASK_STATE_INIT "address of the task ring control buffer"
    gfx [G10_3..G12] compute [G10_3..G12] {
      form [G10_3..G12] 2..2 {
        1: control_buf_addr_lo[31:8];
        2: control_buf_addr_hi[31:0];
      }
    }

    0xaa DISPATCH_TASKMESH_DIRECT_ACE "start task shaders, grid in the packet"
    compute [G10_3..G12] {
      form [G10_3..G12] 5..5 {
        1: dim_x[31:0];
        2: dim_y[31:0];
        3: dim_z[31:0];
        4: dispatch_initiator[31:0];
        5: ring_entry_loc[15:0];
      }
    }

    0xad DISPATCH_TASKMESH_INDIRECT_MULTI_ACE "start task shaders, arguments from memory"
    compute [G10_3..G12] {
      form [G10_3..G12] 10..10 {
        1: data_addr_lo[31:2];
        2: data_addr_hi[31:0];
        3: ring_entry_loc[15:0];
        4: thread_trace_marker[0:0], count_indirect_enable[1:1], draw_index_enable[2:2], xyz_dim_enable[3:3],
            draw_index_loc[31:16];
        5: xyz_dim_loc[15:0];
        6: count[31:0];
        7: count_addr_lo[31:2];
        8: count_addr_hi[31:0];
        9: stride[31:0];
        10: dispatch_initiator[31:0];
      }
    }

    0xae EXECUTE_INDIRECT "run an IB template per record"
    gfx [G9..G12] {
      form [G9..G12] 14..14 {
        1: cmd_addr_lo[31:2];
        2: cmd_addr_hi[31:0];
        3: ib_size[19:0], chain[20:20], pre_ena[21:21], count_indirect_enable[23:23], vmid[27:24],
            cache_policy[29:28] in CACHE_POLICY on [G9..G11_5], temporal[29:28] in TEMPORAL on [G12..G12],
            pre_resume[30:30];
        4: max_count[31:0];
        5: count_addr_lo[31:2];
        6: count_addr_hi[31:0];
        7: stride[31:0];
        8: data_addr_lo[31:0];
        9: data_addr_hi[15:0], spill_table_stride[31:16];
        10: spill_table_addr_lo[31:0];
        11: spill_table_addr_hi[15:0], spill_reg_offset0[31:16];
        12: spill_reg_offset1[15:0], spill_reg_offset2[31:16];
        13: spill_reg_offset3[15:0], spill_instance_count[31:16];
        14: vb_table_reg_offset[15:0], vb_table_size[31:16];
      }
    }

    0xaf BUILD_UNTYPED_SRD "build a buffer descriptor in memory"
    gfx [G9..G12] {
      form [G9..G12] 7..7 {
        1: index[0:0], vertex_offset_mode[1:1] on [G12..G12], src_addr_lo[31:4];
        2: src_addr_hi[31:0];
        3: src_offset[31:0];
        4: dst_addr_lo[31:2];
        5: dst_addr_hi[31:0];
        6: dst_offset[31:0];
        7: srd_dword3[31:0];
      }
    }

    0xb4 EXECUTE_INDIRECT_V2 "generated draws or dispatches per record"
    gfx [G10_3..G12] compute [G12..G12] {
      form [G10_3..G12] 12..12 {
        1: count_indirect_enable[0:0], user_data_dw_count[5:1], command_index_enable[6:6],
            userdata_gfx_register_enable[7:7], num_spill_regs[9:8], init_mem_copy_count[12:10],
            build_srd_count[15:13], update_mem_copy_count[18:16], operation[21:19] in EXEC_IND_OP,
            fetch_index_attributes[22:22], userdata_scatter_mode[25:23], bottom_of_pipe_ts[26:26] on [G12..G12],
            vertex_offset_mode[29:29] on [G12..G12], vertex_bounds_check[30:30], thread_trace_enable[31:31];
        2: count_addr_lo[31:2];
        3: count_addr_hi[15:0];
        4: max_count[31:0];
        5: stride[31:0];
        6: data_addr_lo[31:2];
        7: data_addr_hi[15:0], index_attributes_offset[31:16];
        8: userdata_gfx_register[7:0], userdata_offset[31:16];
        9: spill_table_addr_lo[31:2];
        10: spill_table_addr_hi[15:0];
        11: vb_table_size[15:0], spill_table_stride[31:16];
        12: spill_reg0[7:0], spill_reg1[15:8], spill_reg2[23:16], spill_compute_reg0[15:0], spill_compute_reg1[31:16];
      }
    }
}
