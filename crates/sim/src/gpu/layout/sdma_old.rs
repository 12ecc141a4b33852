//! Copy-engine layouts: the packets of the DMA engine of GFX6.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h` and the `*_sdma_pkt_open.h` headers; AMD PAL's packet
//! headers.

use super::choices::*;
use super::{Layout, layouts, version::*};

layouts! {
    /// The packets of the DMA engine of GFX6.
    pub(super) const SDMA_OLD =

    0x0003 COPY_LINEAR sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 4..4 {
        0: count[19:0], tiled[23:23] is 0, byte_mode[26:26];
        1: dst_addr_lo[31:0];
        2: src_addr_lo[31:0];
        3: dst_addr_hi[7:0];
        4: src_addr_hi[7:0];
      }
    }
    0x0005 SEMAPHORE sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 2..2 {
        0: mailbox[23:23], signal[22:22], write_one[21:21];
        1: addr_lo[31:3];
        2: addr_hi[7:0];
      }
    }
    0x0006 FENCE sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 3..3 {
        1: addr_lo[31:2];
        2: addr_hi[7:0];
        3: data[31:0];
      }
    }
    0x0007 TRAP sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 0..0 {
      }
    }
    0x000c COND_EXE sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 2..2 {
        0: exec_count[13:0];
        1: addr_lo[31:2];
        2: addr_hi[7:0];
      }
    }
    0x000e POLL_REG_MEM sdma [V1_0..V1_0] {
      form [V1_0..V1_0] 5..5 {
        0: mem_poll[27:27];
        1: addr_lo[31:2];
        2: addr_hi[7:0], retry_count[27:16];
        3: mask[31:0];
        4: reference[31:0];
        5: interval[15:0], function[30:28] in COMPARE;
      }
    }
}
