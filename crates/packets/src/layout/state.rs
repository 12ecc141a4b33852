//! Layouts: registers and state.
//!
//! The indices by which SET_*_REG ask firmware for more than the write are taken on every generation that has them at all:
//! Mesa goes on writing them where the headers have dropped the number, and they change no register. The packed pairs of
//! GFX12 have two opcodes: PAL's headers say 0xbc, Mesa's still 0xbb.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h`, `nvd.h` and the
//! `*_sdma_pkt_open.h` headers; Mesa 25.0.7 `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet
//! headers.

use super::level::*;
use super::macros::layouts;

layouts! {
    STATE =

    0x11 SET_BASE "remember address for base_index (CE: partition bounds)"
    gfx [G6..G12] ce [G6..G10_3] compute [G6..G6, G12..G12] {
      form [G6..G8] 3..3 {
        1: base_index[3:0] in SET_BASE_INDEX;
        2: addr_lo[31:3];
        3: addr_hi[15:0];
      }
      form [G9..G12] 3..3 {
        1: base_index[3:0] in SET_BASE_INDEX;
        2: addr_lo[31:3];
        3: addr_hi[31:0];
      }
      form [G6..G10_3] 3..3 {
        1: base_index[3:0] in SET_BASE_INDEX;
        2: cs1_index[15:0];
        3: cs2_index[15:0];
      }
    }

    0x12 CLEAR_STATE "context registers to clear-state values; push and pop save and restore them"
    gfx [G6..G12] compute [G6..G6] {
      form [G6..G8] 1..1 {
        1: dummy[31:0];
      }
      form [G9..G11_5] 1..1 {
        1: cmd[3:0] in CLEAR_STATE_CMD;
      }
      form [G12..G12] 1..1 {
        1: cmd[3:0] in CLEAR_STATE_CMD;
      }
    }

    0x21 REG_RMW "register = (register AND and_mask) OR or_mask"
    gfx [G6..G12] {
      form [G6..G8] 3..3 {
        1: reg[13:0], or_src[30:30] in RMW_SRC, and_src[31:31] in RMW_SRC;
        2: and_mask[31:0];
        3: or_mask[31:0];
      }
      form [G9..G12] 3..3 {
        1: reg[17:0], shadow_base_sel[25:24], or_src[30:30] in RMW_SRC, and_src[31:31] in RMW_SRC;
        2: and_mask[31:0] when and_src [0], and_reg[17:0] when and_src [1];
        3: or_mask[31:0] when or_src [0], or_reg[17:0] when or_src [1];
      }
    }

    0x28 CONTEXT_CONTROL "register load/shadow enables"
    gfx [G6..G12] compute [G6..G6] ce [G9..G10_3] {
      form [G6..G12] 2..2 {
        1: load_global_config[0:0], load_context[1:1], load_uconfig[15:15] on [G7..G12], load_gfx_sh[16:16],
            load_cs_sh[24:24], load_ce_ram[28:28] on [G6..G10_3], update_load_enables[31:31];
        2: shadow_global_config[0:0], shadow_context[1:1], shadow_uconfig[15:15] on [G7..G12], shadow_gfx_sh[16:16],
            shadow_cs_sh[24:24], update_shadow_enables[31:31];
      }
    }

    0x51 CONTEXT_REG_RMW "context register = (old AND NOT mask) OR (data AND mask)"
    gfx [G6..G12] {
      form [G6..G12] 3..3 {
        1: reg_offset[15:0];
        2: mask[31:0];
        3: data[31:0];
      }
    }

    0x5e LOAD_UCONFIG_REG "registers from a memory image of the aperture"
    gfx [G7..G12] {
      form [G7..G12] 4..16383 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], wait_idle[31:31] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: reg_offset[15:0];
        4: num_dwords[13:0];
      }
    }

    0x5f LOAD_SH_REG "registers from a memory image of the aperture"
    gfx [G6..G12] {
      form [G6..G12] 4..16383 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], wait_idle[31:31] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: reg_offset[15:0];
        4: num_dwords[13:0];
      }
    }

    0x60 LOAD_CONFIG_REG "registers from a memory image of the aperture"
    gfx [G6..G12] {
      form [G6..G12] 4..16383 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], wait_idle[31:31] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: reg_offset[15:0];
        4: num_dwords[13:0];
      }
    }

    0x61 LOAD_CONTEXT_REG "registers from a memory image of the aperture"
    gfx [G6..G12] {
      form [G6..G12] 4..16383 {
        1: addr_lo[31:2];
        2: addr_hi[15:0] on [G6..G8], wait_idle[31:31] on [G6..G8], addr_hi[31:0] on [G9..G12];
        3: reg_offset[15:0];
        4: num_dwords[13:0];
      }
    }

    0x63 LOAD_SH_REG_INDEX "registers from packed memory (block or pairs)"
    gfx [G8..G12] compute [G10_3..G12] {
      form [G8..G12] 4..16383 {
        1: index[0:0] in LOAD_INDEX on [G8..G10], index[1:0] in LOAD_INDEX on [G10_3..G12], addr_lo[31:2];
        2: addr_hi[31:0] when index [0, 2], addr_offset[31:0] when index [1];
        3: reg_offset[15:0], data_format[31:31] in LOAD_FORMAT;
        4: num_dwords[13:0];
      }
    }

    0x64 LOAD_UCONFIG_REG_INDEX "registers from packed memory (block or pairs)"
    gfx [G10..G12] {
      form [G10..G12] 4..16383 {
        1: index[0:0] in LOAD_INDEX, addr_lo[31:2];
        2: addr_hi[31:0] when index [0, 2], addr_offset[31:0] when index [1];
        3: reg_offset[15:0], data_format[31:31] in LOAD_FORMAT;
        4: num_dwords[13:0];
      }
    }

    0x68 SET_CONFIG_REG "write consecutive registers"
    gfx [G6..G12] compute [G6..G6, G9..G12] {
      form [G6..G12] 2..16383 {
        1: reg_offset[15:0], vmid_shift[27:23] on [G9..G12], index[31:28] in SH_REG_INDEX on [G9..G12];
      }
    }

    0x69 SET_CONTEXT_REG "write consecutive registers"
    gfx [G6..G12] compute [G6..G6] {
      form [G6..G12] 2..16383 {
        1: reg_offset[15:0], index[31:28] in CONTEXT_REG_INDEX on [G7..G12];
      }
    }

    0x6a SET_CONTEXT_REG_INDEX "write registers with firmware side processing"
    gfx [G9..G9] {
      form [G9..G9] 2..16383 {
        1: reg_offset[15:0], index[31:28] in CONTEXT_REG_INDEX;
      }
    }

    0x76 SET_SH_REG "write consecutive registers"
    gfx [G6..G12] compute [G6..G12] {
      form [G6..G12] 2..16383 {
        1: reg_offset[15:0], vmid_shift[27:23] on [G9..G12], index[31:28] in SH_REG_INDEX on [G9..G12];
      }
    }

    0x77 SET_SH_REG_OFFSET "store an IB-relative or indirect address into two SH registers"
    gfx [G6..G12] {
      form [G6..G8] 3..3 {
        1: reg_offset[15:0], index[31:31] on [G8..G8];
        2: ib_dword_offset[21:0] on [G6..G7], data_offset[31:0] on [G8..G8];
        3: driver_data[31:16];
      }
      form [G9..G12] 3..3 {
        1: reg_offset[15:0], index[31:30] in SH_OFFSET_INDEX;
        2: ib_offset[31:0] when index [0], data_offset[31:0] when index [1, 2];
        3: driver_data[31:16];
      }
    }

    0x78 SET_QUEUE_REG "write queue descriptor registers (privileged)"
    compute [G7..G12] {
      form [G7..G12] 2..16383 {
        1: reg_offset[7:0], defer_exec[15:15], vqid[25:16];
      }
    }

    0x79 SET_UCONFIG_REG "write consecutive registers"
    gfx [G7..G12] compute [G7..G12] {
      form [G7..G12] 2..16383 {
        1: reg_offset[15:0], index[31:28] in UCONFIG_REG_INDEX on [G7..G12];
      }
    }

    0x7a SET_UCONFIG_REG_INDEX "write registers with firmware side processing"
    gfx [G9..G12] {
      form [G9..G12] 2..16383 {
        1: reg_offset[15:0], index[31:28] in UCONFIG_REG_INDEX;
      }
    }

    0x9b SET_SH_REG_INDEX "write SH registers, CU mask applied for index 3"
    gfx [G7..G12] compute [G9..G12] {
      form [G7..G12] 2..16383 {
        1: reg_offset[15:0], vmid_shift[27:23] on [G9..G12], index[31:28] in SH_REG_INDEX;
      }
    }

    0x9f LOAD_CONTEXT_REG_INDEX "registers from packed memory (block or pairs)"
    gfx [G8..G12] {
      form [G8..G12] 4..16383 {
        1: index[0:0] in LOAD_INDEX, addr_lo[31:2];
        2: addr_hi[31:0] when index [0, 2], addr_offset[31:0] when index [1];
        3: reg_offset[15:0], data_format[31:31] in LOAD_FORMAT;
        4: num_dwords[13:0];
      }
    }

    0xb8 SET_CONTEXT_REG_PAIRS "write registers by (offset, value) pairs"
    gfx [G11..G12] {
      form [G11..G12] 2..16383 {
        1: reg_offset[15:0];
        2: value[31:0];
      }
    }

    0xb9 SET_CONTEXT_REG_PAIRS_PACKED "write registers, two offsets per dword"
    gfx [G11..G11_5] {
      form [G11..G11_5] 4..16383 {
        1: reg_count[15:0];
        2: reg_offset0[15:0], reg_offset1[31:16];
        3: value0[31:0];
        4: value1[31:0];
      }
    }

    0xba SET_SH_REG_PAIRS "write registers by (offset, value) pairs"
    gfx [G11..G12] compute [G12..G12] {
      form [G11..G12] 2..16383 {
        1: reg_offset[15:0];
        2: value[31:0];
      }
    }

    0xbb SET_SH_REG_PAIRS_PACKED "write registers, two offsets per dword"
    gfx [G11..G12] compute [G12..G12] {
      form [G11..G12] 4..16383 {
        1: reg_count[15:0];
        2: reg_offset0[15:0], reg_offset1[31:16];
        3: value0[31:0];
        4: value1[31:0];
      }
    }

    0xbc SET_SH_REG_PAIRS_PACKED_GFX12 "write registers, two offsets per dword"
    gfx [G12..G12] compute [G12..G12] {
      form [G12..G12] 4..16383 {
        1: reg_count[15:0];
        2: reg_offset0[15:0], reg_offset1[31:16];
        3: value0[31:0];
        4: value1[31:0];
      }
    }

    0xbd SET_SH_REG_PAIRS_PACKED_N "write at most 14 registers, two offsets per dword"
    gfx [G11..G11_5] compute [G12..G12] {
      form [G11..G12] 4..16383 {
        1: reg_count[15:0];
        2: reg_offset0[15:0], reg_offset1[31:16];
        3: value0[31:0];
        4: value1[31:0];
      }
    }

    0xbe SET_UCONFIG_REG_PAIRS "write registers by (offset, value) pairs"
    gfx [G12..G12] compute [G12..G12] {
      form [G12..G12] 2..16383 {
        1: reg_offset[15:0];
        2: value[31:0];
      }
    }
}
