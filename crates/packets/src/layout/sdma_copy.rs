//! Layouts: linear copies.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    SDMA_COPY =

    0x0001 COPY_LINEAR "copy bytes"
    sdma [V2_0..V7_0] {
      form [V2_0..V3_0] 6..6 {
        0: broadcast[27:27] is 0;
        1: count[21:0];
        2: dst_sw[17:16], dst_ha[22:22], src_sw[25:24], src_ha[30:30];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
      }
      form [V4_0..V4_0] 6..6 {
        0: encrypt[16:16], tmz[18:18], broadcast[27:27] is 0;
        1: count[21:0];
        2: dst_sw[17:16], src_sw[25:24];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
      }
      form [V5_0..V5_0] 6..6 {
        0: encrypt[16:16], tmz[18:18], backwards[25:25], broadcast[27:27] is 0;
        1: count[21:0];
        2: dst_sw[17:16], src_sw[25:24];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
      }
      form [V5_2..V6_0] 6..6 {
        0: encrypt[16:16], tmz[18:18], cpv[19:19], backwards[25:25], broadcast[27:27] is 0;
        1: count[29:0];
        2: dst_sw[17:16], dst_cache_policy[20:18], src_sw[25:24], src_cache_policy[28:26];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
      }
      form [V7_0..V7_0] 6..7 tail dcc * 1 + 0 {
        0: tmz[18:18], dcc[19:19], backwards[25:25];
        1: count[29:0];
        2: dst_mall_policy[21:20], src_mall_policy[29:28];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
        7: data_format[5:0], number_type[11:9], read_compression_mode[17:16], write_compression_mode[19:18],
            max_comp_block_size[25:24], max_uncomp_block_size[26:26];
      }
    }

    0x0001 COPY_BROADCAST_LINEAR "copy bytes to two places"
    sdma [V2_0..V7_0] {
      form [V2_0..V3_0] 8..8 {
        0: broadcast[27:27] is 1;
        1: count[21:0];
        2: dst2_sw[9:8], dst2_ha[14:14], dst1_sw[17:16], dst1_ha[22:22], src_sw[25:24], src_ha[30:30];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst1_addr_lo[31:0];
        6: dst1_addr_hi[31:0];
        7: dst2_addr_lo[31:0];
        8: dst2_addr_hi[31:0];
      }
      form [V4_0..V5_0] 8..8 {
        0: encrypt[16:16], tmz[18:18], broadcast[27:27] is 1;
        1: count[21:0];
        2: dst2_sw[9:8], dst1_sw[17:16], src_sw[25:24];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst1_addr_lo[31:0];
        6: dst1_addr_hi[31:0];
        7: dst2_addr_lo[31:0];
        8: dst2_addr_hi[31:0];
      }
      form [V5_2..V6_0] 8..8 {
        0: encrypt[16:16], tmz[18:18], cpv[19:19], broadcast[27:27] is 1;
        1: count[29:0];
        2: dst2_sw[9:8], dst2_cache_policy[12:10], dst1_sw[17:16], dst1_cache_policy[20:18], src_sw[25:24],
            src_cache_policy[28:26];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst1_addr_lo[31:0];
        6: dst1_addr_hi[31:0];
        7: dst2_addr_lo[31:0];
        8: dst2_addr_hi[31:0];
      }
      form [V7_0..V7_0] 8..8 {
        0: tmz[18:18], broadcast[27:27] is 1;
        1: count[29:0];
        2: dst2_mall_policy[13:12], dst1_mall_policy[21:20], src_mall_policy[29:28];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst1_addr_lo[31:0];
        6: dst1_addr_hi[31:0];
        7: dst2_addr_lo[31:0];
        8: dst2_addr_hi[31:0];
      }
    }

    0x0401 COPY_LINEAR_SUB_WINDOW "copy a box between linear surfaces"
    sdma [V2_0..V7_0] {
      form [V2_0..V2_0] 12..12 {
        0: elementsize[31:29];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[11:0], src_pitch[29:16];
        5: src_slice_pitch[27:0];
        6: dst_addr_lo[31:0];
        7: dst_addr_hi[31:0];
        8: dst_x[13:0], dst_y[29:16];
        9: dst_z[11:0], dst_pitch[29:16];
        10: dst_slice_pitch[27:0];
        11: rect_x[13:0], rect_y[29:16];
        12: rect_z[11:0], dst_sw[17:16], dst_ha[22:22], src_sw[25:24], src_ha[30:30];
      }
      form [V2_4..V3_0] 12..12 {
        0: elementsize[31:29];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[10:0], src_pitch[29:16];
        5: src_slice_pitch[27:0];
        6: dst_addr_lo[31:0];
        7: dst_addr_hi[31:0];
        8: dst_x[13:0], dst_y[29:16];
        9: dst_z[10:0], dst_pitch[29:16];
        10: dst_slice_pitch[27:0];
        11: rect_x[13:0], rect_y[29:16];
        12: rect_z[10:0], dst_sw[17:16], dst_ha[22:22], src_sw[25:24], src_ha[30:30];
      }
      form [V4_0..V4_0] 12..12 {
        0: tmz[18:18], elementsize[31:29];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[10:0], src_pitch[31:13];
        5: src_slice_pitch[27:0];
        6: dst_addr_lo[31:0];
        7: dst_addr_hi[31:0];
        8: dst_x[13:0], dst_y[29:16];
        9: dst_z[10:0], dst_pitch[31:13];
        10: dst_slice_pitch[27:0];
        11: rect_x[13:0], rect_y[29:16];
        12: rect_z[10:0], dst_sw[17:16], src_sw[25:24];
      }
      form [V5_0..V5_0] 12..12 {
        0: tmz[18:18], elementsize[31:29];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[12:0], src_pitch[31:13];
        5: src_slice_pitch[27:0];
        6: dst_addr_lo[31:0];
        7: dst_addr_hi[31:0];
        8: dst_x[13:0], dst_y[29:16];
        9: dst_z[12:0], dst_pitch[31:13];
        10: dst_slice_pitch[27:0];
        11: rect_x[13:0], rect_y[29:16];
        12: rect_z[12:0], dst_sw[17:16], src_sw[25:24];
      }
      form [V5_2..V6_0] 12..12 {
        0: tmz[18:18], cpv[19:19], elementsize[31:29];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[13:0], src_y[29:16];
        4: src_z[12:0], src_pitch[31:13];
        5: src_slice_pitch[27:0];
        6: dst_addr_lo[31:0];
        7: dst_addr_hi[31:0];
        8: dst_x[13:0], dst_y[29:16];
        9: dst_z[12:0], dst_pitch[31:13];
        10: dst_slice_pitch[27:0];
        11: rect_x[13:0], rect_y[29:16];
        12: rect_z[12:0], dst_sw[17:16], dst_cache_policy[20:18], src_sw[25:24], src_cache_policy[28:26];
      }
      form [V7_0..V7_0] 12..12 {
        0: tmz[18:18], elementsize[31:29];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[15:0], src_y[31:16];
        4: src_z[13:0], src_pitch[31:16];
        5: src_slice_pitch[31:0];
        6: dst_addr_lo[31:0];
        7: dst_addr_hi[31:0];
        8: dst_x[15:0], dst_y[31:16];
        9: dst_z[13:0], dst_pitch[31:16];
        10: dst_slice_pitch[31:0];
        11: rect_x[15:0], rect_y[31:16];
        12: rect_z[13:0], dst_mall_policy[21:20], src_mall_policy[29:28];
      }
    }

    0x2401 COPY_LINEAR_SUB_WINDOW_LARGE "copy a large box between linear surfaces"
    sdma [V6_0..V7_0] {
      form [V6_0..V6_0] 19..19 {
        0: tmz[18:18], cpv[19:19];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[31:0];
        4: src_y[31:0];
        5: src_z[31:0];
        6: src_pitch[31:0];
        7: src_slice_pitch_lo[31:0];
        8: src_slice_pitch_47_32[15:0];
        9: dst_addr_lo[31:0];
        10: dst_addr_hi[31:0];
        11: dst_x[31:0];
        12: dst_y[31:0];
        13: dst_z[31:0];
        14: dst_pitch[31:0];
        15: dst_slice_pitch_lo[31:0];
        16: dst_slice_pitch_47_32[15:0], dst_sw[17:16], dst_policy[20:18], src_sw[25:24], src_policy[28:26];
        17: rect_x[31:0];
        18: rect_y[31:0];
        19: rect_z[31:0];
      }
      form [V7_0..V7_0] 19..19 {
        0: tmz[18:18];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: src_x[31:0];
        4: src_y[31:0];
        5: src_z[31:0];
        6: src_pitch[31:0];
        7: src_slice_pitch_lo[31:0];
        8: src_slice_pitch_47_32[15:0];
        9: dst_addr_lo[31:0];
        10: dst_addr_hi[31:0];
        11: dst_x[31:0];
        12: dst_y[31:0];
        13: dst_z[31:0];
        14: dst_pitch[31:0];
        15: dst_slice_pitch_lo[31:0];
        16: dst_slice_pitch_47_32[15:0], dst_mall_policy[21:20], src_mall_policy[29:28];
        17: rect_x[31:0];
        18: rect_y[31:0];
        19: rect_z[31:0];
      }
    }
}
