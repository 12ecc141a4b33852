//! Layouts: the way through the stream, the constant engine, and what belongs to the kernel.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    CONTROL =

    0x10 NOP "nothing"
    gfx [G6..G12] compute [G6..G12] ce [G6..G10_3] {
      form [G6..G12] 1..16383 {
      }
    }

    0x42 PFP_SYNC_ME "PFP waits for ME"
    gfx [G6..G12] compute [G6..G6] {
      form [G6..G12] 1..1 {
        1: dummy[31:0];
      }
    }

    0x20 SET_PREDICATION "set or clear the predicate that header bit 0 obeys"
    gfx [G6..G12] compute [G6..G6] {
      form [G6..G8] 2..2 {
        1: addr_lo[31:0];
        2: addr_hi[7:0], bool[8:8] in PREDICATION_BOOL, hint[12:12] in PREDICATION_HINT, op[18:16] in PREDICATION_OP,
            continue[31:31] in PREDICATION_CONTINUE;
      }
      form [G9..G12] 3..3 {
        1: bool[8:8] in PREDICATION_BOOL, hint[12:12] in PREDICATION_HINT, op[18:16] in PREDICATION_OP,
            continue[31:31] in PREDICATION_CONTINUE;
        2: addr_lo[31:0];
        3: addr_hi[31:0];
      }
    }

    0x22 COND_EXEC "skip exec_count dwords when the dword at addr is 0"
    gfx [G6..G12] compute [G6..G12] ce [G7..G10_3] {
      form [G6..G6] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[15:0], command[31:28];
        3: exec_count[13:0];
      }
      form [G7..G12] 4..4 {
        1: addr_lo[31:2];
        2: addr_hi[31:0];
        3: control[31:28] on [G7..G8], cache_policy[26:25] in CACHE_POLICY on [G9..G11_5],
            temporal[26:25] in TEMPORAL on [G12..G12];
        4: exec_count[13:0];
      }
    }

    0x23 PRED_EXEC "skip exec_count dwords unless this device is selected"
    gfx [G6..G12] compute [G6..G6] {
      form [G6..G12] 1..1 {
        1: exec_count[13:0], device_select[31:24];
      }
    }

    0x32 INDIRECT_BUFFER_PRIV "privileged IB start"
    gfx [G6..G6, G9..G12] {
      form [G6..G6, G9..G12] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: ib_size[19:0], vmid[31:24] on [G6..G6], vmid[27:24] on [G9..G12];
      }
    }

    0x33 INDIRECT_BUFFER_CONST "start or chain a CE IB"
    gfx [G6..G10_3] ce [G6..G10_3] {
      form [G6..G6] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: ib_size[19:0], chain[20:20], vmid[31:24];
      }
      form [G7..G10_3] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: ib_size[19:0], chain[20:20], pre_ena[21:21] on [G8..G10_3], volatile[22:22] on [G7..G7], vmid[27:24],
            cache_policy[29:28] in CACHE_POLICY, pre_resume[30:30] on [G9..G10_3];
      }
    }

    0x3d PERF_COUNTER_WINDOW "start or stop performance counter window"
    gfx [G12..G12] compute [G12..G12] {
      form [G12..G12] 1..1 {
        1: op[2:0] in WINDOW_OP;
      }
    }

    0x3f COND_INDIRECT_BUFFER "compare a qword and run one of two IBs"
    gfx [G7..G12] compute [G7..G12] ce [G9..G10_3] {
      form [G7..G12] 13..13 {
        1: mode[1:0] in COND_IB_MODE, function[10:8] in COMPARE;
        2: compare_addr_lo[31:3];
        3: compare_addr_hi[31:0];
        4: mask_lo[31:0];
        5: mask_hi[31:0];
        6: reference_lo[31:0];
        7: reference_hi[31:0];
        8: ib1_addr_lo[31:2];
        9: ib1_addr_hi[31:0];
        10: ib1_size[19:0], ib1_cache_policy[29:28] in CACHE_POLICY;
        11: ib2_addr_lo[31:2];
        12: ib2_addr_hi[31:0];
        13: ib2_size[19:0], ib2_cache_policy[29:28] in CACHE_POLICY;
      }
    }

    0x3f INDIRECT_BUFFER "call (chain=0, gfx level 1 only) or jump (chain=1) to another IB"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G6] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: ib_size[19:0], chain[20:20], vmid[31:24];
      }
      form [G7..G12] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: ib_size[19:0], chain[20:20], pre_ena[21:21] on [G8..G12], volatile[22:22] on [G7..G7],
            inherit_vmid_gfx[22:22] on [G11..G12], valid[23:23] on [G7..G12], vmid[27:24],
            cache_policy[29:28] in CACHE_POLICY on [G7..G11_5], temporal[29:28] in TEMPORAL on [G12..G12],
            pre_resume[30:30] on [G8..G12];
      }
      form [G7..G12] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: ib_size[19:0], chain[20:20], offload_polling[21:21], volatile[22:22] on [G7..G7], valid[23:23],
            vmid[27:24], cache_policy[29:28] in CACHE_POLICY on [G7..G11_5],
            temporal[29:28] in TEMPORAL on [G12..G12], inherit_vmid_compute[30:30] on [G11..G12];
      }
    }

    0x44 ME_INITIALIZE "ring start"
    gfx [G6..G6] {
      form [G6..G6] 6..6 {
        1: mode[31:0];
        2: zero[31:0];
        3: max_context[31:0];
        4: device_id[31:0];
        5: reserved0[31:0];
        6: reserved1[31:0];
      }
    }

    0x4a PREAMBLE_CNTL "bracket of state preambles"
    gfx [G6..G12] {
      form [G6..G8] 1..1 {
        1: ib_offset[19:0], command[31:28] in PREAMBLE_CMD;
      }
      form [G9..G12] 1..1 {
        1: command[31:28] in PREAMBLE_CMD;
      }
    }

    0x54 PERFMON_CONTROL "firmware performance monitor"
    gfx [G10_3..G12] compute [G10_3..G12] {
      form [G10_3..G12] 2..2 {
        1: pmc_id[2:0], pmc_enable[15:15], pmc_unit_mask[23:16];
        2: pmc_event[13:0];
      }
    }

    0x59 REWIND "stop fetching while valid is 0"
    gfx [G8..G12] compute [G7..G12] {
      form [G7..G12] 1..1 {
        1: offload_enable[24:24], valid[31:31];
      }
    }

    0x5b GEN_PDEPTE "generate page-table entries"
    gfx [G9..G10_3] {
      form [G9..G10_3] 9..9 {
        1: dst_addr_lo[31:0];
        2: dst_addr_hi[31:0];
        3: mask_lo[31:0];
        4: mask_hi[31:0];
        5: init_lo[31:0];
        6: init_hi[31:0];
        7: incr_lo[31:0];
        8: incr_hi[31:0];
        9: loop_count[31:0];
      }
    }

    0x5c INDIRECT_BUFFER_PASID "privileged IB start in another address space"
    compute [G9..G12] {
      form [G9..G12] 4..4 {
        1: addr_lo[31:2];
        2: addr_hi[31:0];
        3: ib_size[19:0], chain[20:20], offload_polling[21:21], valid[23:23],
            cache_policy[29:28] in CACHE_POLICY on [G9..G11_5], temporal[29:28] in TEMPORAL on [G12..G12];
        4: pasid[15:0];
      }
    }

    0x5d PRIME_UTCL2 "translation prefetch"
    gfx [G9..G12] compute [G9..G12] ce [G9..G10_3] {
      form [G9..G12] 4..4 {
        1: cache_perm[2:0] in PRIME_PERM, prime_mode[3:3] in PRIME_MODE, engine_sel[31:30] in ENGINE_SEL;
        2: addr_lo[31:0];
        3: addr_hi[31:0];
        4: requested_pages[13:0];
      }
    }

    0x75 GFX_PIPE_LOCK "synchronise pipes"
    gfx [G10_3..G11_5] {
      form [G10_3..G11_5] 1..1 {
        1: sync_ssu_context_manager[0:0], sync_dma[1:1];
      }
    }

    0x7d SCRATCH_RAM_WRITE "write firmware scratch RAM"
    gfx [G6..G12] {
      form [G6..G8] 2..2 {
        1: scratch_addr[7:0], engine_sel[31:30] in ENGINE_SEL;
        2: data[31:0];
      }
    }

    0x80 LOAD_CONST_RAM "memory to CE RAM"
    ce [G6..G10_3] {
      form [G6..G10_3] 4..4 {
        1: addr_lo[31:5];
        2: addr_hi[31:0];
        3: num_dwords[14:0];
        4: ram_offset[15:0], cache_policy[26:25] in CACHE_POLICY on [G9..G10_3];
      }
    }

    0x81 WRITE_CONST_RAM "inline data to CE RAM"
    ce [G6..G10_3] {
      form [G6..G10_3] 2..16383 {
        1: ram_offset[15:0];
      }
    }

    0x83 DUMP_CONST_RAM "CE RAM to memory"
    ce [G6..G10_3] {
      form [G6..G10_3] 4..4 {
        1: ram_offset[15:0], cache_policy[26:25] in CACHE_POLICY on [G7..G10_3], increment_ce[30:30] on [G8..G10_3],
            increment_cs[31:31] on [G8..G10_3];
        2: num_dwords[14:0];
        3: addr_lo[31:2];
        4: addr_hi[31:0];
      }
    }

    0x84 INCREMENT_CE_COUNTER "CE counter + 1"
    ce [G6..G10_3] {
      form [G6..G10_3] 1..1 {
        1: counter_sel[1:0] in CE_COUNTER;
      }
    }

    0x85 INCREMENT_DE_COUNTER "DE counter + 1"
    gfx [G6..G11_5] compute [G6..G6] {
      form [G6..G11_5] 1..1 {
        1: dummy[31:0];
      }
    }

    0x86 WAIT_ON_CE_COUNTER "ME waits until CE is ahead of DE"
    gfx [G6..G11_5] compute [G6..G11_5] {
      form [G6..G11_5] 1..1 {
        1: cond_surface_sync[0:0], force_sync[1:1], volatile[27:27] on [G7..G7];
      }
    }

    0x87 WAIT_ON_DE_COUNTER "CE waits for DE"
    ce [G6..G6] {
      form [G6..G6] 1..1 {
        1: dummy[31:0];
      }
    }

    0x88 WAIT_ON_DE_COUNTER_DIFF "CE waits until CE - DE < diff"
    ce [G6..G10_3] {
      form [G6..G10_3] 1..1 {
        1: diff[31:0];
      }
    }

    0x89 SET_CE_DE_COUNTERS "set both counters"
    ce [G6..G6] {
      form [G6..G6] 2..2 {
        1: counter_lo[31:0];
        2: counter_hi[31:0];
      }
    }

    0x8a WAIT_ON_AVAIL_BUFFER "wait for a free context buffer"
    gfx [G6..G6] compute [G6..G6] {
      form [G6..G6] 1..1 {
        1: dummy[31:0];
      }
    }

    0x8b SWITCH_BUFFER "CE frame boundary"
    gfx [G6..G10_3] ce [G6..G10_3] {
      form [G6..G10_3] 1..1 {
        1: dummy[31:0], tmz[0:0] on [G9..G9];
      }
    }

    0x90 FRAME_CONTROL "kernel frame bracket"
    gfx [G8..G11_5] ce [G9..G10_3] {
      form [G8..G11_5] 1..1 {
        1: tmz[0:0], command[31:28] in FRAME_CMD;
      }
    }

    0x95 HDP_FLUSH "no effect on memory"
    compute [G9..G12] {
      form [G9..G12] 1..1 {
        1: dummy[31:0];
      }
    }

    0x98 INVALIDATE_TLBS "TLB invalidation"
    compute [G9..G12] gfx [G12..G12] {
      form [G9..G12] 1..1 {
        1: invalidate_sel[2:0] in TLB_SEL, mmhub_sel[4:3] in TLB_MMHUB, pasid[20:5], mmhub_flush_type[27:25],
            flush_type[31:29];
      }
    }

    0x9e DUMP_CONST_RAM_OFFSET "CE RAM to SET_BASE(2) + offset"
    ce [G8..G10_3] {
      form [G8..G10_3] 3..3 {
        1: ram_offset[15:0], cache_policy[26:25] in CACHE_POLICY, increment_ce[30:30], increment_cs[31:31];
        2: num_dwords[14:0];
        3: addr_offset[31:0];
      }
    }

    0xa0 SET_RESOURCES "interface queue: resource masks"
    kiq [G7..G12] {
      form [G7..G12] 7..7 {
        1: vmid_mask[15:0], unmap_latency[23:16], queue_type[31:29];
        2: queue_mask_lo[31:0];
        3: queue_mask_hi[31:0];
        4: gws_mask_lo[31:0];
        5: gws_mask_hi[31:0];
        6: oac_mask[15:0];
        7: gds_heap_base[5:0] on [G7..G11_5], gds_heap_size[16:11] on [G7..G11_5];
      }
    }

    0xa2 MAP_QUEUES "interface queue: map a queue"
    kiq [G7..G12] {
      form [G9..G12] 6..6 {
        1: queue_sel[5:4], vmid[11:8], queue[15:13], pipe[17:16], me[18:18], queue_type[23:21], alloc_format[25:24],
            engine_sel[28:26], num_queues[31:29];
        2: check_disable[1:1], doorbell_offset[27:2];
        3: mqd_addr_lo[31:0];
        4: mqd_addr_hi[31:0];
        5: wptr_addr_lo[31:0];
        6: wptr_addr_hi[31:0];
      }
    }

    0xa3 UNMAP_QUEUES "interface queue: unmap or preempt"
    kiq [G7..G12] {
      form [G9..G12] 5..5 {
        1: action[1:0], queue_sel[5:4], engine_sel[28:26], num_queues[31:29];
        2: doorbell_offset0[27:2];
        3: doorbell_offset1[27:2];
        4: doorbell_offset2[27:2];
        5: doorbell_offset3[27:2];
      }
    }

    0xa4 QUERY_STATUS "interface queue: store a fence when done"
    kiq [G7..G12] {
      form [G9..G12] 6..6 {
        1: context_id[27:0], interrupt_sel[29:28], command[31:30];
        2: doorbell_offset[27:2], engine_sel[27:25];
        3: addr_lo[31:0];
        4: addr_hi[31:0];
        5: data_lo[31:0];
        6: data_hi[31:0];
      }
    }

    0xd0 PROTECTED_FENCE_SIGNAL "signal the user-queue fence"
    gfx [G11..G12] compute [G11..G12] {
      form [G11..G12] 1..1 {
        1: dummy[31:0];
      }
    }

    0xd1 FENCE_WAIT_MULTI "wait for several user-queue fences"
    gfx [G11..G12] compute [G11..G12] {
      form [G11..G12] 5..16383 {
        1: engine_sel[0:0], preemptable[1:1], cache_policy[3:2] in CACHE_POLICY, poll_interval[31:16];
        2: fence0_addr_lo[31:0];
        3: fence0_addr_hi[31:0];
        4: fence0_value_lo[31:0];
        5: fence0_value_hi[31:0];
      }
    }

    0xd2 RUN_CLEANER_SHADER "kernel cleaner shader"
    gfx [G9..G12] compute [G9..G12] {
      form [G9..G12] 1..1 {
        1: dummy[31:0];
      }
    }

    0xef UPDATE_DB_SUMMARIZER_TIMEOUTS "hardware tuning"
    gfx [G12..G12] {
      form [G12..G12] 1..1 {
        1: value[31:0];
      }
    }

    0xf0 SET_Q_PREEMPTION_MODE "register shadowing set-up by the kernel"
    gfx [G11..G12] {
      form [G11..G12] 8..8 {
        1: shadow_addr_lo[31:0];
        2: shadow_addr_hi[31:0];
        3: gds_addr_lo[31:0];
        4: gds_addr_hi[31:0];
        5: csa_addr_lo[31:0];
        6: csa_addr_hi[31:0];
        7: vmid[3:0];
        8: init_shadow_mem[0:0];
      }
    }
}
