//! Layouts: tiled surfaces.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    SDMA_TILED =

    0x0101 COPY_TILED "copy between a linear and a tiled surface"
    sdma [V2_0..V3_0, V4_0..V4_0, V5_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V2_0..V3_0] 11..11 {
        0: detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: pitch_in_tile[10:0], height[29:16];
        4: slice_pitch[21:0];
        5: element_size[2:0], array_mode[6:3], micro_tile_mode[10:8], tilesplit_size[13:11], bank_width[16:15],
            bank_height[19:18], num_bank[22:21], macro_tile_aspect[25:24], pipe_config[30:26];
        6: x[13:0], y[29:16];
        7: z[11:0], linear_sw[17:16], tile_sw[25:24];
        8: linear_addr_lo[31:0];
        9: linear_addr_hi[31:0];
        10: linear_pitch[18:0];
        11: count[19:0];
      }
      form [V4_0..V4_0] 12..12 {
        0: encrypt[16:16], tmz[18:18], mip_max[23:20], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: width[13:0];
        4: height[13:0], depth[26:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9], epitch[31:16];
        6: x[13:0], y[29:16];
        7: z[10:0], linear_sw[17:16], tile_sw[25:24];
        8: linear_addr_lo[31:0];
        9: linear_addr_hi[31:0];
        10: linear_pitch[18:0];
        11: linear_slice_pitch[31:0];
        12: count[19:0];
      }
      form [V5_0..V5_0] 12..12 {
        0: encrypt[16:16], tmz[18:18], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: width[13:0];
        4: height[13:0], depth[28:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9], mip_max[19:16];
        6: x[13:0], y[29:16];
        7: z[12:0], linear_sw[17:16], linear_cc[20:20], tile_sw[25:24];
        8: linear_addr_lo[31:0];
        9: linear_addr_hi[31:0];
        10: linear_pitch[18:0];
        11: linear_slice_pitch[31:0];
        12: count[21:0];
      }
      form [V5_2..V6_0] 12..12 {
        0: encrypt[16:16], tmz[18:18], cpv[19:19], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: width[13:0];
        4: height[13:0], depth[28:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9], mip_max[19:16];
        6: x[13:0], y[29:16];
        7: z[12:0], linear_sw[17:16], linear_cache_policy[20:18], tile_sw[25:24], tile_cache_policy[28:26];
        8: linear_addr_lo[31:0];
        9: linear_addr_hi[31:0];
        10: linear_pitch[18:0];
        11: linear_slice_pitch[31:0];
        12: count[29:0];
      }
      form [V7_0..V7_0] 12..12 {
        0: tmz[18:18], mip_max[24:20], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: width[15:0];
        4: height[15:0], depth[29:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9];
        6: x[15:0], y[31:16];
        7: z[13:0], linear_mall_policy[21:20], tile_mall_policy[29:28];
        8: linear_addr_lo[31:0];
        9: linear_addr_hi[31:0];
        10: linear_pitch[15:0];
        11: linear_slice_pitch[31:0];
        12: count[29:0];
      }
    }

    0x0301 COPY_STRUCT "copy between an array and a structured buffer"
    sdma [V2_0..V3_0, V4_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V2_0..V3_0] 7..7 {
        0: detile[31:31];
        1: sb_addr_lo[31:0];
        2: sb_addr_hi[31:0];
        3: start_index[31:0];
        4: count[31:0];
        5: stride[10:0], struct_sw[17:16], struct_ha[22:22], linear_sw[25:24], linear_ha[30:30];
        6: linear_addr_lo[31:0];
        7: linear_addr_hi[31:0];
      }
      form [V4_0..V5_0] 7..7 {
        0: tmz[18:18], detile[31:31];
        1: sb_addr_lo[31:0];
        2: sb_addr_hi[31:0];
        3: start_index[31:0];
        4: count[31:0];
        5: stride[10:0], linear_sw[17:16], struct_sw[25:24];
        6: linear_addr_lo[31:0];
        7: linear_addr_hi[31:0];
      }
      form [V5_2..V6_0] 7..7 {
        0: tmz[18:18], cpv[28:28], detile[31:31];
        1: sb_addr_lo[31:0];
        2: sb_addr_hi[31:0];
        3: start_index[31:0];
        4: count[31:0];
        5: stride[10:0], linear_sw[17:16], linear_cache_policy[20:18], struct_sw[25:24], struct_cache_policy[28:26];
        6: linear_addr_lo[31:0];
        7: linear_addr_hi[31:0];
      }
      form [V7_0..V7_0] 7..7 {
        0: tmz[18:18], detile[31:31];
        1: sb_addr_lo[31:0];
        2: sb_addr_hi[31:0];
        3: start_index[31:0];
        4: count[31:0];
        5: stride[10:0], linear_mall_policy[21:20], struct_mall_policy[29:28];
        6: linear_addr_lo[31:0];
        7: linear_addr_hi[31:0];
      }
    }

    0x0501 COPY_TILED_SUB_WINDOW "copy a box between a linear and a tiled surface"
    sdma [V2_0..V2_0, V2_4..V3_0, V4_0..V4_0, V5_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V2_0..V2_0] 13..13 {
        0: detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: tiled_x[13:0], tiled_y[29:16];
        4: tiled_z[11:0], pitch_in_tile[27:16];
        5: slice_pitch[21:0];
        6: element_size[2:0], array_mode[6:3], micro_tile_mode[10:8], tilesplit_size[13:11], bank_width[16:15],
            bank_height[19:18], num_bank[22:21], macro_tile_aspect[25:24], pipe_config[30:26];
        7: linear_addr_lo[31:0];
        8: linear_addr_hi[31:0];
        9: linear_x[13:0], linear_y[29:16];
        10: linear_z[11:0], linear_pitch[29:16];
        11: linear_slice_pitch[27:0];
        12: rect_x[13:0], rect_y[29:16];
        13: rect_z[11:0], linear_sw[17:16], tile_sw[25:24];
      }
      form [V2_4..V3_0] 13..13 {
        0: detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: tiled_x[13:0], tiled_y[29:16];
        4: tiled_z[10:0], pitch_in_tile[27:16];
        5: slice_pitch[21:0];
        6: element_size[2:0], array_mode[6:3], micro_tile_mode[10:8], tilesplit_size[13:11], bank_width[16:15],
            bank_height[19:18], num_bank[22:21], macro_tile_aspect[25:24], pipe_config[30:26];
        7: linear_addr_lo[31:0];
        8: linear_addr_hi[31:0];
        9: linear_x[13:0], linear_y[29:16];
        10: linear_z[10:0], linear_pitch[29:16];
        11: linear_slice_pitch[27:0];
        12: rect_x[13:0], rect_y[29:16];
        13: rect_z[10:0], linear_sw[17:16], tile_sw[25:24];
      }
      form [V4_0..V4_0] 13..13 {
        0: tmz[18:18], mip_max[23:20], mip_id[27:24], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: tiled_x[13:0], tiled_y[29:16];
        4: tiled_z[10:0], width[29:16];
        5: height[13:0], depth[26:16];
        6: element_size[2:0], swizzle_mode[7:3], dimension[10:9], epitch[31:16];
        7: linear_addr_lo[31:0];
        8: linear_addr_hi[31:0];
        9: linear_x[13:0], linear_y[29:16];
        10: linear_z[10:0], linear_pitch[29:16];
        11: linear_slice_pitch[27:0];
        12: rect_x[13:0], rect_y[29:16];
        13: rect_z[10:0], linear_sw[17:16], tile_sw[25:24];
      }
      form [V5_0..V5_0] 13..13 tail dcc * 3 + 0 {
        0: tmz[18:18], dcc[19:19], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: tiled_x[13:0], tiled_y[29:16];
        4: tiled_z[12:0], width[29:16];
        5: height[13:0], depth[28:16];
        6: element_size[2:0], swizzle_mode[7:3], dimension[10:9], mip_max[19:16], mip_id[23:20];
        7: linear_addr_lo[31:0];
        8: linear_addr_hi[31:0];
        9: linear_x[13:0], linear_y[29:16];
        10: linear_z[12:0], linear_pitch[29:16];
        11: linear_slice_pitch[27:0];
        12: rect_x[13:0], rect_y[29:16];
        13: rect_z[12:0], linear_sw[17:16], tile_sw[25:24];
        14: meta_addr_lo[31:0];
        15: meta_addr_hi[31:0];
        16: data_format[6:0], color_transform_disable[7:7], alpha_is_on_msb[8:8], number_type[11:9],
            surface_type[13:12], max_comp_block_size[25:24], max_uncomp_block_size[27:26],
            write_compress_enable[28:28], meta_tmz[29:29];
      }
      form [V5_2..V6_0] 13..13 tail dcc * 3 + 0 {
        0: tmz[18:18], dcc[19:19], cpv[28:28], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: tiled_x[13:0], tiled_y[29:16];
        4: tiled_z[12:0], width[29:16];
        5: height[13:0], depth[28:16];
        6: element_size[2:0], swizzle_mode[7:3], dimension[10:9], mip_max[19:16], mip_id[23:20];
        7: linear_addr_lo[31:0];
        8: linear_addr_hi[31:0];
        9: linear_x[13:0], linear_y[29:16];
        10: linear_z[12:0], linear_pitch[29:16];
        11: linear_slice_pitch[27:0];
        12: rect_x[13:0], rect_y[29:16];
        13: rect_z[12:0], linear_sw[17:16], linear_cache_policy[20:18], tile_sw[25:24], tile_cache_policy[28:26];
        14: meta_addr_lo[31:0];
        15: meta_addr_hi[31:0];
        16: data_format[6:0], color_transform_disable[7:7], alpha_is_on_msb[8:8], number_type[11:9],
            surface_type[13:12], meta_llc[14:14], max_comp_block_size[25:24], max_uncomp_block_size[27:26],
            write_compress_enable[28:28], meta_tmz[29:29], pipe_aligned[31:31];
      }
      form [V7_0..V7_0] 13..13 tail dcc * 1 + 0 {
        0: tmz[18:18], dcc[19:19], detile[31:31];
        1: tiled_addr_lo[31:0];
        2: tiled_addr_hi[31:0];
        3: tiled_x[15:0], tiled_y[31:16];
        4: tiled_z[13:0], width[31:16];
        5: height[15:0], depth[29:16];
        6: element_size[2:0], swizzle_mode[7:3], dimension[10:9], mip_max[20:16], mip_id[28:24];
        7: linear_addr_lo[31:0];
        8: linear_addr_hi[31:0];
        9: linear_x[15:0], linear_y[31:16];
        10: linear_z[13:0], linear_pitch[31:16];
        11: linear_slice_pitch[31:0];
        12: rect_x[15:0], rect_y[31:16];
        13: rect_z[13:0], linear_mall_policy[21:20], tile_mall_policy[29:28];
        14: data_format[5:0], number_type[11:9], read_compression_mode[17:16], write_compression_mode[19:18],
            max_comp_block_size[25:24], max_uncomp_block_size[26:26];
      }
    }

    0x0601 COPY_T2T_SUB_WINDOW "copy a box between tiled surfaces"
    sdma [V2_0..V2_0, V2_4..V3_0, V4_0..V4_0, V5_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V2_0..V2_0] 14..14 {
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[11:0], src_pitch_in_tile[27:16];
        5: src_slice_pitch[21:0];
        6: src_element_size[2:0], src_array_mode[6:3], src_mit_mode[10:8], src_tilesplit_size[13:11],
            src_bank_w[16:15], src_bank_h[19:18], src_num_bank[22:21], src_mat_aspt[25:24], src_pipe_config[30:26];
        7: dst_addr_lo[31:0];
        8: dst_addr_hi[31:0];
        9: dst_x[13:0], dst_y[29:16];
        10: dst_z[11:0], dst_pitch_in_tile[27:16];
        11: dst_slice_pitch[21:0];
        12: dst_element_size[2:0], dst_array_mode[6:3], dst_mit_mode[10:8], dst_tilesplit_size[13:11],
            dst_bank_w[16:15], dst_bank_h[19:18], dst_num_bank[22:21], dst_mat_aspt[25:24], dst_pipe_config[30:26];
        13: rect_x[13:0], rect_y[29:16];
        14: rect_z[11:0], dst_sw[17:16], src_sw[25:24];
      }
      form [V2_4..V3_0] 14..14 {
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[10:0], src_pitch_in_tile[27:16];
        5: src_slice_pitch[21:0];
        6: src_element_size[2:0], src_array_mode[6:3], src_mit_mode[10:8], src_tilesplit_size[13:11],
            src_bank_w[16:15], src_bank_h[19:18], src_num_bank[22:21], src_mat_aspt[25:24], src_pipe_config[30:26];
        7: dst_addr_lo[31:0];
        8: dst_addr_hi[31:0];
        9: dst_x[13:0], dst_y[29:16];
        10: dst_z[10:0], dst_pitch_in_tile[27:16];
        11: dst_slice_pitch[21:0];
        12: dst_array_mode[6:3], dst_mit_mode[10:8], dst_tilesplit_size[13:11], dst_bank_w[16:15], dst_bank_h[19:18],
            dst_num_bank[22:21], dst_mat_aspt[25:24], dst_pipe_config[30:26];
        13: rect_x[13:0], rect_y[29:16];
        14: rect_z[10:0], dst_sw[17:16], src_sw[25:24];
      }
      form [V4_0..V4_0] 14..14 {
        0: tmz[18:18], mip_max[23:20];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[10:0], src_width[29:16];
        5: src_height[13:0], src_depth[26:16];
        6: src_element_size[2:0], src_swizzle_mode[7:3], src_dimension[10:9], src_epitch[31:16];
        7: dst_addr_lo[31:0];
        8: dst_addr_hi[31:0];
        9: dst_x[13:0], dst_y[29:16];
        10: dst_z[10:0], dst_width[29:16];
        11: dst_height[13:0], dst_depth[26:16];
        12: dst_element_size[2:0], dst_swizzle_mode[7:3], dst_dimension[10:9], dst_epitch[31:16];
        13: rect_x[13:0], rect_y[29:16];
        14: rect_z[10:0], dst_sw[17:16], src_sw[25:24];
      }
      form [V5_0..V5_0] 14..14 tail dcc * 3 + 0 {
        0: tmz[18:18], dcc[19:19], dcc_dir[31:31];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[12:0], src_width[29:16];
        5: src_height[13:0], src_depth[28:16];
        6: src_element_size[2:0], src_swizzle_mode[7:3], src_dimension[10:9], src_mip_max[19:16], src_mip_id[23:20];
        7: dst_addr_lo[31:0];
        8: dst_addr_hi[31:0];
        9: dst_x[13:0], dst_y[29:16];
        10: dst_z[12:0], dst_width[29:16];
        11: dst_height[13:0], dst_depth[28:16];
        12: dst_element_size[2:0], dst_swizzle_mode[7:3], dst_dimension[10:9], dst_mip_max[19:16], dst_mip_id[23:20];
        13: rect_x[13:0], rect_y[29:16];
        14: rect_z[12:0], dst_sw[17:16], src_sw[25:24];
        15: meta_addr_lo[31:0];
        16: meta_addr_hi[31:0];
        17: data_format[6:0], color_transform_disable[7:7], alpha_is_on_msb[8:8], number_type[11:9],
            surface_type[13:12], max_comp_block_size[25:24], max_uncomp_block_size[27:26],
            write_compress_enable[28:28], meta_tmz[29:29];
      }
      form [V5_2..V6_0] 14..14 tail dcc * 3 + 0 {
        0: tmz[18:18], dcc[19:19], cpv[28:28], dcc_dir[31:31];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[12:0], src_width[29:16];
        5: src_height[13:0], src_depth[28:16];
        6: src_element_size[2:0], src_swizzle_mode[7:3], src_dimension[10:9], src_mip_max[19:16], src_mip_id[23:20];
        7: dst_addr_lo[31:0];
        8: dst_addr_hi[31:0];
        9: dst_x[13:0], dst_y[29:16];
        10: dst_z[12:0], dst_width[29:16];
        11: dst_height[13:0], dst_depth[28:16];
        12: dst_element_size[2:0], dst_swizzle_mode[7:3], dst_dimension[10:9], dst_mip_max[19:16], dst_mip_id[23:20];
        13: rect_x[13:0], rect_y[29:16];
        14: rect_z[12:0], dst_sw[17:16], dst_cache_policy[20:18], src_sw[25:24], src_cache_policy[28:26];
        15: meta_addr_lo[31:0];
        16: meta_addr_hi[31:0];
        17: data_format[6:0], color_transform_disable[7:7], alpha_is_on_msb[8:8], number_type[11:9],
            surface_type[13:12], meta_llc[14:14], max_comp_block_size[25:24], max_uncomp_block_size[27:26],
            write_compress_enable[28:28], meta_tmz[29:29], pipe_aligned[31:31];
      }
      form [V7_0..V7_0] 14..14 tail dcc * 1 + 0 {
        0: tmz[18:18], dcc[19:19];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[15:0], src_y[31:16];
        4: src_z[13:0], src_width[31:16];
        5: src_height[15:0], src_depth[29:16];
        6: src_element_size[2:0], src_swizzle_mode[7:3], src_dimension[10:9], src_mip_max[20:16], src_mip_id[28:24];
        7: dst_addr_lo[31:0];
        8: dst_addr_hi[31:0];
        9: dst_x[15:0], dst_y[31:16];
        10: dst_z[13:0], dst_width[31:16];
        11: dst_height[15:0], dst_depth[29:16];
        12: dst_element_size[2:0], dst_swizzle_mode[7:3], dst_dimension[10:9], dst_mip_max[20:16], dst_mip_id[28:24];
        13: rect_x[15:0], rect_y[31:16];
        14: rect_z[13:0], dst_mall_policy[21:20], src_mall_policy[29:28];
        15: data_format[5:0], number_type[11:9], read_compression_mode[17:16], write_compression_mode[19:18],
            max_comp_block_size[25:24], max_uncomp_block_size[26:26];
      }
    }

    0x0102 WRITE_TILED "store inline dwords into a tiled surface"
    sdma [V2_0..V3_0, V4_0..V4_0, V5_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V2_0..V3_0] 8..8 tail count * 1 + 0 {
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: pitch_in_tile[10:0], height[29:16];
        4: slice_pitch[21:0];
        5: element_size[2:0], array_mode[6:3], micro_tile_mode[10:8], tilesplit_size[13:11], bank_width[16:15],
            bank_height[19:18], num_bank[22:21], macro_tile_aspect[25:24], pipe_config[30:26];
        6: x[13:0], y[29:16];
        7: z[11:0], sw[25:24];
        8: count[21:0];
      }
      form [V4_0..V4_0] 8..8 tail count * 1 + 1 {
        0: encrypt[16:16], tmz[18:18], mip_max[23:20];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: width[13:0];
        4: height[13:0], depth[26:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9], epitch[31:16];
        6: x[13:0], y[29:16];
        7: z[10:0], sw[25:24];
        8: count[19:0];
      }
      form [V5_0..V5_0] 8..8 tail count * 1 + 1 {
        0: encrypt[16:16], tmz[18:18];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: width[13:0];
        4: height[13:0], depth[28:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9], mip_max[19:16];
        6: x[13:0], y[29:16];
        7: z[12:0], sw[25:24];
        8: count[19:0];
      }
      form [V5_2..V6_0] 8..8 tail count * 1 + 1 {
        0: encrypt[16:16], tmz[18:18], cpv[28:28];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: width[13:0];
        4: height[13:0], depth[28:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9], mip_max[19:16];
        6: x[13:0], y[29:16];
        7: z[12:0], sw[25:24], cache_policy[28:26];
        8: count[19:0];
      }
      form [V7_0..V7_0] 8..8 tail count * 1 + 1 {
        0: tmz[18:18], mip_max[24:20];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: width[15:0];
        4: height[15:0], depth[29:16];
        5: element_size[2:0], swizzle_mode[7:3], dimension[10:9];
        6: x[15:0], y[31:16];
        7: z[13:0], dst_mall_policy[29:28];
        8: count[19:0];
      }
    }
}
