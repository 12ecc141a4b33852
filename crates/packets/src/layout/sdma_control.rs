//! Layouts: the other packets of the copy engine.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    SDMA_CONTROL =

    0x0000 NOP "nothing, after what came before is done"
    sdma [V2_0..V3_0, V4_0..V7_0] {
      form [V2_0..V3_0] 0..0 tail count * 1 + 0 {
        0: count[29:16];
      }
      form [V4_0..V7_0] 0..0 tail count * 1 + 0 {
        0: count[29:16];
      }
    }

    0x0002 WRITE_LINEAR "store inline dwords"
    sdma [V2_0..V3_0, V4_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V2_0..V3_0] 3..3 tail count * 1 + 0 {
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: count[21:0], sw[25:24];
      }
      form [V4_0..V5_0] 3..3 tail count * 1 + 1 {
        0: encrypt[16:16], tmz[18:18];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: count[19:0], sw[25:24];
      }
      form [V5_2..V6_0] 3..3 tail count * 1 + 1 {
        0: encrypt[16:16], tmz[18:18], cpv[28:28];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: count[19:0], sw[25:24], cache_policy[28:26];
      }
      form [V7_0..V7_0] 3..3 tail count * 1 + 1 {
        0: nopte_comp[16:16], tmz[18:18];
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: count[19:0], sys[20:20], snp[22:22], gpa[23:23], dst_mall_policy[29:28];
      }
    }

    0x000b CONST_FILL "fill memory with a pattern"
    sdma [V2_0..V5_0, V5_2..V5_2, V6_0..V6_0, V7_0..V7_0] {
      form [V2_0..V5_0] 4..4 {
        0: sw[17:16], fillsize[31:30] in FILL_SIZE;
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: src_data_lo[31:0];
        4: count[21:0];
      }
      form [V5_2..V5_2] 4..4 {
        0: sw[17:16], cache_policy[26:24], cpv[28:28], fillsize[31:30] in FILL_SIZE;
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: src_data_lo[31:0];
        4: count[21:0];
      }
      form [V6_0..V6_0] 4..4 {
        0: sw[17:16], cache_policy[26:24], cpv[28:28], fillsize[31:30] in FILL_SIZE;
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: src_data_lo[31:0];
        4: count[29:0];
      }
      form [V7_0..V7_0] 4..4 {
        0: nopte_comp[16:16], sys[20:20], snp[22:22], gpa[23:23], mall_policy[27:26], fillsize[31:30] in FILL_SIZE;
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: src_data_lo[31:0];
        4: count[29:0];
      }
    }

    0x010b DATA_FILL_MULTI "strided fills"
    sdma [V4_0..V5_0, V5_2..V6_0, V7_0..V7_0] {
      form [V4_0..V5_0] 5..5 {
        0: memlog_clr[31:31];
        1: byte_stride[31:0];
        2: dma_count[31:0];
        3: dst_addr_lo[31:0];
        4: dst_addr_hi[31:0];
        5: count[25:0];
      }
      form [V5_2..V6_0] 5..5 {
        0: cache_policy[26:24], cpv[28:28], memlog_clr[31:31];
        1: byte_stride[31:0];
        2: dma_count[31:0];
        3: dst_addr_lo[31:0];
        4: dst_addr_hi[31:0];
        5: count[25:0];
      }
      form [V7_0..V7_0] 5..5 {
        0: mall_policy[25:24], memlog_clr[31:31];
        1: byte_stride[31:0];
        2: dma_count[31:0];
        3: dst_addr_lo[31:0];
        4: dst_addr_hi[31:0];
        5: count[25:0];
      }
    }

    0x0005 FENCE "store a dword after earlier work"
    sdma [V2_0..V7_0] {
      form [V2_0..V4_0] 3..3 {
        0: mtype[18:16];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: data[31:0];
      }
      form [V5_0..V5_0] 3..3 {
        0: mtype[18:16], gcc[19:19], sys[20:20], snp[22:22], gpa[23:23], l2_policy[25:24];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: data[31:0];
      }
      form [V5_2..V6_0] 3..3 {
        0: mtype[18:16], gcc[19:19], sys[20:20], snp[22:22], gpa[23:23], l2_policy[25:24], llc_policy[26:26],
            cpv[28:28];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: data[31:0];
      }
      form [V7_0..V7_0] 3..3 {
        0: mtype[18:16], sys[20:20], snp[22:22], gpa[23:23], mall_policy[27:26];
        1: addr_lo[31:2];
        2: addr_hi[31:0];
        3: data[31:0];
      }
    }

    0x0006 TRAP "interrupt"
    sdma [V2_0..V7_0] {
      form [V2_0..V2_0] 0..0 {
      }
      form [V2_4..V6_0] 1..1 {
        1: int_context[27:0];
      }
      form [V7_0..V7_0] 1..1 {
        1: int_context[31:0];
      }
    }

    0x0007 SEMAPHORE "signal or wait on a qword counter"
    sdma [V2_0..V7_0] {
      form [V2_0..V7_0] 2..2 {
        0: write_one[29:29], signal[30:30], mailbox[31:31];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
      }
    }

    0x0107 MEM_INCR "add 1 to a qword"
    sdma [V6_0..V7_0] {
      form [V6_0..V6_0] 2..2 {
        0: l2_policy[25:24], llc_policy[26:26], cpv[28:28];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
      }
      form [V7_0..V7_0] 2..2 {
        0: mall_policy[27:26];
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
    }

    0x0008 POLL_REGMEM "wait until memory or a register compares"
    sdma [V2_0..V7_0] {
      form [V2_0..V5_0] 5..5 {
        0: hdp_flush[26:26], function[30:28] in COMPARE, mem_poll[31:31];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: value[31:0];
        4: mask[31:0];
        5: interval[15:0], retry_count[27:16];
      }
      form [V5_2..V6_0] 5..5 {
        0: cache_policy[22:20], cpv[24:24], hdp_flush[26:26], function[30:28] in COMPARE, mem_poll[31:31];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: value[31:0];
        4: mask[31:0];
        5: interval[15:0], retry_count[27:16];
      }
      form [V7_0..V7_0] 5..5 {
        0: virtual_die_id[17:16], domain[18:18], bridge[19:19], mall_policy[23:22], mode[27:26],
            function[30:28] in COMPARE, mem_poll[31:31];
        1: addr_lo[31:2];
        2: addr_hi[31:0];
        3: value[31:0];
        4: mask[31:0];
        5: interval[15:0], retry_count[27:16];
      }
    }

    0x0408 VM_INVALIDATION "invalidate translations"
    sdma [V6_0..V7_0] {
      form [V6_0..V6_0] 3..3 {
        0: gfx_eng_id[20:16], mm_eng_id[28:24];
        1: invalidatereq[31:0];
        2: addressrangelo[31:0];
        3: invalidateack[15:0], addressrangehi[20:16], reserved[31:23];
      }
      form [V7_0..V7_0] 3..3 {
        0: gfx_eng_id[20:16], mm_eng_id[28:24];
        1: invalidatereq[31:0];
        2: addressrangelo[31:0];
        3: invalidateack[15:0], addressrangehi[20:16];
      }
    }

    0x0009 COND_EXE "skip dwords unless memory compares"
    sdma [V2_0..V7_0] {
      form [V2_0..V2_0] 3..3 {
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: exec_count[13:0];
      }
      form [V2_4..V5_0] 4..4 {
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: reference[31:0];
        4: exec_count[13:0];
      }
      form [V5_2..V6_0] 4..4 {
        0: cache_policy[26:24], cpv[28:28];
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: reference[31:0];
        4: exec_count[13:0];
      }
      form [V7_0..V7_0] 4..4 {
        0: mall_policy[27:26];
        1: addr_lo[31:2];
        2: addr_hi[31:0];
        3: reference[31:0];
        4: exec_count[13:0];
      }
    }

    0x000a ATOMIC "read-modify-write of a dword or qword"
    sdma [V3_0..V7_0] {
      form [V3_0..V3_0] 7..7 {
        0: loop[16:16], atomic_op[31:25] in ATOMIC_OP;
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: src_data_lo[31:0];
        4: src_data_hi[31:0];
        5: cmp_lo[31:0];
        6: cmp_hi[31:0];
        7: loop_interval[12:0];
      }
      form [V4_0..V5_0] 7..7 {
        0: loop[16:16], tmz[18:18], atomic_op[31:25] in ATOMIC_OP;
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: src_data_lo[31:0];
        4: src_data_hi[31:0];
        5: cmp_lo[31:0];
        6: cmp_hi[31:0];
        7: loop_interval[12:0];
      }
      form [V5_2..V6_0] 7..7 {
        0: loop[16:16], tmz[18:18], cache_policy[22:20], cpv[24:24], atomic_op[31:25] in ATOMIC_OP;
        1: addr_lo[31:0];
        2: addr_hi[31:0];
        3: src_data_lo[31:0];
        4: src_data_hi[31:0];
        5: cmp_lo[31:0];
        6: cmp_hi[31:0];
        7: loop_interval[12:0];
      }
      form [V7_0..V7_0] 7..7 {
        0: loop[16:16], tmz[18:18], mall_policy[23:22], atomic_op[31:25] in ATOMIC_OP;
        1: addr_lo[31:2];
        2: addr_hi[31:0];
        3: src_data_lo[31:0];
        4: src_data_hi[31:0];
        5: cmp_lo[31:0];
        6: cmp_hi[31:0];
        7: loop_interval[12:0];
      }
    }

    0x000d TIMESTAMP_SET "set the local clock"
    sdma [V2_0..V7_0] {
      form [V2_0..V7_0] 2..2 {
        1: init_lo[31:0];
        2: init_hi[31:0];
      }
    }

    0x010d TIMESTAMP_GET "store the local clock"
    sdma [V2_0..V7_0] {
      form [V2_0..V5_0] 2..2 {
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
      form [V5_2..V6_0] 2..2 {
        0: l2_policy[25:24], llc_policy[26:26], cpv[28:28];
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
      form [V7_0..V7_0] 2..2 {
        0: mall_policy[27:26];
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
    }

    0x020d TIMESTAMP_GET_GLOBAL "store the GPU clock"
    sdma [V2_0..V7_0] {
      form [V2_0..V5_0] 2..2 {
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
      form [V5_2..V6_0] 2..2 {
        0: l2_policy[25:24], llc_policy[26:26], cpv[28:28];
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
      form [V7_0..V7_0] 2..2 {
        0: mall_policy[27:26];
        1: addr_lo[31:3];
        2: addr_hi[31:0];
      }
    }

    0x000f PRE_EXE "skip dwords unless this device is selected"
    sdma [V2_4..V7_0] {
      form [V2_4..V7_0] 1..1 {
        0: dev_sel[23:16];
        1: exec_count[13:0];
      }
    }

    0x0020 DUMMY_TRAP "interrupt without effect"
    sdma [V5_0..V7_0] {
      form [V5_0..V6_0] 1..1 {
        1: int_context[27:0];
      }
      form [V7_0..V7_0] 1..1 {
        1: int_context[31:0];
      }
    }

    0x0010 GPUVM_INV "invalidate translations"
    sdma [V5_0..V7_0] {
      form [V5_0..V6_0] 3..3 {
        1: per_vmid_request[15:0], flush_type[18:16], l2_ptes[19:19], l2_pde0[20:20], l2_pde1[21:21], l2_pde2[22:22],
            l1_ptes[23:23], clr_protection_fault_status_addr[24:24], log_request[25:25], four_kilobytes[26:26];
        2: s[0:0], page_va_42_12[31:1];
        3: page_va_47_43[5:0];
      }
      form [V7_0..V7_0] 3..3 {
        1: per_vmid_request[15:0], flush_type[18:16], l2_ptes[19:19], l2_pde0[20:20], l2_pde1[21:21], l2_pde2[22:22],
            l1_ptes[23:23], clr_protection_fault_status_addr[24:24], log_request[25:25], four_kilobytes[26:26];
        2: s[0:0], page_va_42_12[31:1];
        3: page_va_47_43[4:0];
      }
    }

    0x0011 GCR_REQ "cache actions"
    sdma [V5_0..V7_0] {
      form [V5_0..V6_0] 4..4 {
        1: base_va_31_7[31:7];
        2: base_va_47_32[15:0], gcr_control_15_0[31:16];
        3: gcr_control_18_16[2:0], limit_va_31_7[31:7];
        4: limit_va_47_32[15:0], vmid[27:24];
      }
      form [V7_0..V7_0] 4..4 {
        1: broadcast[1:1], base_va_31_7[31:7];
        2: base_va_47_32[15:0], gcr_control_15_0[31:16];
        3: gcr_control_19_16[3:0], limit_va_31_7[31:7];
        4: limit_va_47_32[15:0], vmid[27:24];
      }
    }
}
