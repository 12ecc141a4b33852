//! Layouts: packets of the copy engine that only the kernel has use for.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    SDMA_KERNEL =

    0x0801 COPY_LINEAR_PHYSICAL "copy bytes between physical addresses"
    sdma [V4_0..V4_0, V5_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V4_0..V4_0] 6..6 {
        0: tmz[18:18];
        1: count[21:0];
        2: dst_sw[17:16], dst_gcc[19:19], dst_sys[20:20], dst_log[21:21], dst_snoop[22:22], dst_gpa[23:23],
            src_sw[25:24], src_gcc[27:27], src_sys[28:28], src_snoop[30:30], src_gpa[31:31];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
      }
      form [V5_0..V5_0] 6..6 {
        0: tmz[18:18];
        1: count[21:0];
        2: dst_mtype[5:3], dst_l2_policy[7:6], src_mtype[13:11], src_l2_policy[15:14], dst_sw[17:16], dst_gcc[19:19],
            dst_sys[20:20], dst_log[21:21], dst_snoop[22:22], dst_gpa[23:23], src_sw[25:24], src_gcc[27:27],
            src_sys[28:28], src_snoop[30:30], src_gpa[31:31];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
      }
      form [V5_2..V6_0] 6..6 {
        0: tmz[18:18], cpv[19:19];
        1: count[21:0], addr_pair_num[31:24];
        2: dst_mtype[5:3], dst_l2_policy[7:6], dst_llc[8:8], src_mtype[13:11], src_l2_policy[15:14], src_llc[16:16],
            dst_sw[18:17], dst_gcc[19:19], dst_sys[20:20], dst_log[21:21], dst_snoop[22:22], dst_gpa[23:23],
            src_sw[25:24], src_gcc[27:27], src_sys[28:28], src_snoop[30:30], src_gpa[31:31];
        3: src_addr_lo[31:0];
        4: src_addr_hi[31:0];
        5: dst_addr_lo[31:0];
        6: dst_addr_hi[31:0];
      }
      form [V7_0..V7_0] 7..7 {
        0: tmz[18:18], nsd[28:28];
        1: count[21:0], addr_pair_num[31:24];
        2: dst_mall_policy[9:8], src_mall_policy[17:16], dst_gcc[19:19], dst_sys[20:20], dst_log[21:21],
            dst_snoop[22:22], dst_gpa[23:23], src_gcc[27:27], src_sys[28:28], src_snoop[30:30], src_gpa[31:31];
        3: data_format[5:0], number_type[11:9], read_compression_mode[17:16], write_compression_mode[19:18],
            max_comp_block_size[25:24], max_uncomp_block_size[26:26], dcc[31:31];
        4: src_addr_lo[31:0];
        5: src_addr_hi[31:0];
        6: dst_addr_lo[31:0];
        7: dst_addr_hi[31:0];
      }
    }

    0x0004 INDIRECT "start an IB (kernel ring)"
    sdma [V2_0..V2_0, V2_4..V4_0, V5_0..V7_0] {
      form [V2_0..V2_0] 3..3 {
        0: vmid[19:16];
        1: ib_addr_lo[31:0];
        2: ib_addr_hi[31:0];
        3: ib_size[19:0];
      }
      form [V2_4..V4_0] 5..5 {
        0: vmid[19:16];
        1: ib_addr_lo[31:0];
        2: ib_addr_hi[31:0];
        3: ib_size[19:0];
        4: csa_addr_lo[31:0];
        5: csa_addr_hi[31:0];
      }
      form [V5_0..V7_0] 5..5 {
        0: vmid[19:16], priv[31:31];
        1: ib_addr_lo[31:0];
        2: ib_addr_hi[31:0];
        3: ib_size[19:0];
        4: csa_addr_lo[31:0];
        5: csa_addr_hi[31:0];
      }
    }

    0x0105 FENCE_CONDITIONAL_INTERRUPT "store a value and interrupt when it compares"
    sdma [V7_0..V7_0] {
      form [V7_0..V7_0] 7..7 {
        0: sys[20:20], snp[22:22], gpa[23:23], mall_policy[27:26], ddw[31:31];
        1: fence_addr_lo[31:0];
        2: fence_addr_hi[31:0];
        3: fence_data_lo[31:0];
        4: fence_data_hi[31:0];
        5: fence_ref_addr_lo[31:0];
        6: fence_ref_addr_hi[31:0];
        7: int_context_data[31:0];
      }
    }

    0x0108 POLL_REG_WRITE_MEM "store a register"
    sdma [V4_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V4_0..V5_0] 3..3 {
        1: addr_lo[31:2];
        2: addr_lo[31:0];
        3: addr_hi[31:0];
      }
      form [V5_2..V6_0] 3..3 {
        0: cache_policy[26:24], cpv[28:28];
        1: addr_lo[31:2];
        2: addr_lo[31:0];
        3: addr_hi[31:0];
      }
      form [V7_0..V7_0] 4..4 {
        0: virtual_die_id[17:16], domain[18:18], bridge[19:19], mall_policy[23:22];
        1: addr_lo[31:2];
        2: addr_lo[31:2];
        3: addr_hi[31:0];
        4: data[31:0];
      }
    }

    0x0208 POLL_DBIT_WRITE_MEM "store dirty bits"
    sdma [V4_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V4_0..V5_0] 4..4 {
        0: ea[17:16];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: addr_31_4[31:4];
        4: page_num_lo[31:0];
      }
      form [V5_2..V6_0] 4..4 {
        0: ea[17:16], cache_policy[26:24], cpv[28:28];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: addr_31_4[31:4];
        4: page_num_lo[31:0];
      }
      form [V7_0..V7_0] 4..4 {
        0: mall_policy[17:16], dp[23:23], vfid[28:24];
        1: addr_31_5[31:5];
        2: addr_hi[31:0];
        3: addr_22_0[22:0];
        4: page_num_lo[31:0];
      }
    }

    0x0308 POLL_MEM_VERIFY "compare ranges of memory"
    sdma [V4_0..V5_0, V5_2..V5_2, V6_0..V6_0, V7_0..V7_0] {
      form [V4_0..V5_0] 12..12 {
        0: mode[31:31];
        1: pattern[31:0];
        2: cmp0_start_lo[31:0];
        3: cmp0_start_hi[31:0];
        4: cmp1_end_lo[31:0];
        5: cmp1_end_hi[31:0];
        6: cmp1_start_lo[31:0];
        7: cmp1_start_hi[31:0];
        8: cmp1_end_lo[31:0];
        9: cmp1_end_hi[31:0];
        10: rec_lo[31:0];
        11: rec_hi[31:0];
      }
      form [V5_2..V5_2] 12..12 {
        0: cache_policy[26:24], cpv[28:28], mode[31:31];
        1: pattern[31:0];
        2: cmp0_start_lo[31:0];
        3: cmp0_start_hi[31:0];
        4: cmp0_end_lo[31:0];
        5: cmp0_end_hi[31:0];
        6: cmp1_start_lo[31:0];
        7: cmp1_start_hi[31:0];
        8: cmp1_end_lo[31:0];
        9: cmp1_end_hi[31:0];
        10: rec_lo[31:0];
        11: rec_hi[31:0];
      }
      form [V6_0..V6_0] 12..12 {
        0: cache_policy[26:24], cpv[28:28], mode[31:31];
        1: pattern[31:0];
        2: cmp0_start_lo[31:0];
        3: cmp0_start_hi[31:0];
        4: cmp0_end_lo[31:0];
        5: cmp0_end_hi[31:0];
        6: cmp1_start_lo[31:0];
        7: cmp1_start_hi[31:0];
        8: cmp1_end_lo[31:0];
        9: cmp1_end_hi[31:0];
        10: rec_lo[31:0];
        11: rec_hi[31:0];
      }
      form [V7_0..V7_0] 12..12 {
        0: cache_policy[26:24], cpv[28:28], mode[31:31];
        1: pattern[31:0];
        2: cmp0_start_lo[31:0];
        3: cmp0_start_hi[31:0];
        4: cmp0_end_lo[31:0];
        5: cmp0_end_hi[31:0];
        6: cmp1_start_lo[31:0];
        7: cmp1_start_hi[31:0];
        8: cmp1_end_lo[31:0];
        9: cmp1_end_hi[31:0];
        10: rec_lo[31:0];
        11: rec_hi[31:0];
      }
    }

    0x000c GENERATE_PTE "write page-table entries"
    sdma [V2_0..V5_0, V5_2..V6_0] {
      form [V2_0..V5_0] 9..9 {
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: mask_dw0[31:0];
        4: mask_dw1[31:0];
        5: init_dw0[31:0];
        6: init_dw1[31:0];
        7: incr_dw0[31:0];
        8: incr_dw1[31:0];
        9: count[18:0];
      }
      form [V5_2..V6_0] 9..9 {
        0: cache_policy[26:24], cpv[28:28];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: mask_dw0[31:0];
        4: mask_dw1[31:0];
        5: init_dw0[31:0];
        6: init_dw1[31:0];
        7: incr_dw0[31:0];
        8: incr_dw1[31:0];
        9: count[18:0];
      }
    }

    0x010c PTEPDE_COPY "copy page-table entries"
    sdma [V4_0..V4_0, V5_0..V5_0, V6_0..V6_0] {
      form [V4_0..V4_0] 7..7 {
        0: ptepde_op[31:31];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: dst_addr_lo[31:0];
        4: dst_addr_hi[31:0];
        5: mask_dw0[31:0];
        6: mask_dw1[31:0];
        7: count[18:0];
      }
      form [V5_0..V5_0] 7..7 {
        0: tmz[18:18], ptepde_op[31:31];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: dst_addr_lo[31:0];
        4: dst_addr_hi[31:0];
        5: mask_dw0[31:0];
        6: mask_dw1[31:0];
        7: count[18:0];
      }
      form [V6_0..V6_0] 7..7 {
        0: tmz[18:18], cpv[28:28], ptepde_op[31:31];
        1: src_addr_lo[31:0];
        2: src_addr_hi[31:0];
        3: dst_addr_lo[31:0];
        4: dst_addr_hi[31:0];
        5: mask_dw0[31:0];
        6: mask_dw1[31:0];
        7: count[18:0], dst_cache_policy[24:22], src_cache_policy[31:29];
      }
    }

    0x020c PTEPDE_RMW "change page-table entries"
    sdma [V4_0..V4_0, V5_0..V5_0, V6_0..V6_0] {
      form [V4_0..V4_0] 6..6 {
        0: gcc[19:19], sys[20:20], snp[22:22], gpa[23:23];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: mask_lo[31:0];
        4: mask_hi[31:0];
        5: value_lo[31:0];
        6: value_hi[31:0];
      }
      form [V5_0..V5_0] 6..6 {
        0: mtype[18:16], gcc[19:19], sys[20:20], snp[22:22], gpa[23:23], l2_policy[25:24];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: mask_lo[31:0];
        4: mask_hi[31:0];
        5: value_lo[31:0];
        6: value_hi[31:0];
      }
      form [V6_0..V6_0] 7..7 {
        0: mtype[18:16], gcc[19:19], sys[20:20], snp[22:22], gpa[23:23], l2_policy[25:24], llc_policy[26:26],
            cpv[28:28];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: mask_lo[31:0];
        4: mask_hi[31:0];
        5: value_lo[31:0];
        6: value_hi[31:0];
        7: num_of_pte[31:0];
      }
    }

    0x000e SRBM_WRITE "write a register"
    sdma [V2_0..V3_0, V4_0..V4_0, V5_0..V6_0] {
      form [V2_0..V3_0] 2..2 {
        0: byte_enable[31:28];
        1: addr[15:0];
        2: data[31:0];
      }
      form [V4_0..V4_0] 2..2 {
        0: byte_enable[31:28];
        1: addr[17:0];
        2: data[31:0];
      }
      form [V5_0..V6_0] 2..2 {
        0: byte_enable[31:28];
        1: addr[17:0], apertureid[31:20];
        2: data[31:0];
      }
    }

    0x000e REGISTER_WRITE "write a register"
    sdma [V7_0..V7_0] {
      form [V7_0..V7_0] 2..2 {
        0: virtual_die_id[17:16], domain[18:18], bridge[19:19];
        1: addr[31:2];
        2: data[31:0];
      }
    }

    0x010e REGISTER_RMW "change bits of a register"
    sdma [V6_0..V6_0, V7_0..V7_0] {
      form [V6_0..V6_0] 4..4 {
        1: addr[19:0], aperture_id[31:20];
        2: mask[31:0];
        3: value[31:0];
        4: stride[19:0], num_of_reg[31:20];
      }
      form [V7_0..V7_0] 4..4 {
        0: virtual_die_id[17:16], domain[18:18], bridge[19:19];
        1: addr[31:2];
        2: mask[31:0];
        3: value[31:0];
        4: data[31:0];
      }
    }
}
