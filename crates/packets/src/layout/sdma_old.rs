//! Layouts: the DMA engine of GFX6.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    SDMA_OLD =

    0x0003 COPY_LINEAR "copy bytes"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 4..4 {
        0: count[19:0], tiled[23:23] is 0, byte_mode[26:26];
        1: dst_addr_lo[31:0];
        2: src_addr_lo[31:0];
        3: dst_addr_hi[7:0];
        4: src_addr_hi[7:0];
      }
    }

    0x0005 SEMAPHORE "signal or wait on a qword counter"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 2..2 {
        0: mailbox[23:23], signal[22:22], write_one[21:21];
        1: addr_lo[31:3];
        2: addr_hi[7:0];
      }
    }

    0x0006 FENCE "store a dword after earlier work"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[7:0];
        3: data[31:0];
      }
    }

    0x0007 TRAP "interrupt"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 0..0 {
      }
    }

    0x000c COND_EXE "skip dwords unless memory compares"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 2..2 {
        0: exec_count[13:0];
        1: addr_lo[31:2];
        2: addr_hi[7:0];
      }
    }

    0x000e POLL_REG_MEM "wait until memory or a register compares"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 5..5 {
        0: mem_poll[27:27];
        1: addr_lo[31:2];
        2: addr_hi[7:0], retry_count[27:16];
        3: mask[31:0];
        4: reference[31:0];
        5: interval[15:0], function[30:28] in COMPARE;
      }
    }

    0x0002 WRITE "store inline dwords"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 2..2 tail count * 1 + 0 {
        0: count[19:0], secure[22:22], tiled[23:23];
        1: dst_addr_lo[31:2];
        2: dst_addr_hi[7:0];
      }
    }

    0x0003 COPY_LINEAR_PARTIAL "copy a box between linear surfaces"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 8..8 {
        0: idcmd[22:20] is 1;
        1: src_addr_lo[31:2];
        2: src_addr_hi[7:0], src_pitch[31:13];
        3: src_slice_pitch[31:0];
        4: dst_addr_lo[31:2];
        5: dst_addr_hi[7:0], dst_pitch[31:13];
        6: dst_slice_pitch[31:0];
        7: rect_x[13:0], rect_y[29:16];
        8: rect_z[10:0], element_size[31:29];
      }
    }

    0x0004 INDIRECT "start an IB (kernel ring)"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 2..2 {
        0: vmid[23:20];
        1: ib_addr_lo[31:5];
        2: ib_addr_hi[7:0], ib_size[31:12];
      }
    }

    0x0009 SRBM_WRITE "write a register"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 2..2 {
        1: reg[15:0], byte_enable[19:16];
        2: data[31:0];
      }
    }

    0x000d CONST_FILL "fill memory with a pattern"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 3..3 {
        0: count[19:0];
        1: dst_addr_lo[31:2];
        2: pattern[31:0];
        3: dst_addr_hi[23:16];
      }
    }

    0x000f NOP "nothing, after what came before is done"
    sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 0..0 {
      }
    }
}
