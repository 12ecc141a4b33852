//! The values that selectors have, generation by generation; anything else is refused.
//!
//! Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/` `sid.h`, `cikd.h`, `vid.h`, `soc15d.h` and `nvd.h`; Mesa 25.0.7
//! `src/amd/common/sid.h` and `src/amd/registers/pkt3.json`; AMD PAL's packet headers.

use super::{Choice, generation::*, selectors};

selectors! {
    ATOMIC_COMMAND = 0..=1, 2..=3 on [G10..G12];
    CACHE_POLICY = 0..=1, 2..=2 on [G10..G12], 3..=3 on [G7..G12];
    CE_COUNTER = 0..=3;
    CLEAR_STATE_CMD = 0..=0 on [G6..G11_5], 1..=2, 3..=3 on [G6..G11_5];
    CLOCK_SEL = 0..=1;
    COMPARE = 0..=6;
    COND_IB_MODE = 1..=2;
    CONTEXT_REG_INDEX = 0..=3;
    COPY_DST = 0..=2, 3..=3 on [G6..G11_5], 4..=4 on [G7..G12], 5..=5, 6..=6 on [G8..G12], 7..=7 on [G11..G12];
    COPY_DW_SPACE = 0..=1;
    COPY_SRC = 0..=2, 3..=3 on [G6..G11_5], 4..=4 on [G7..G12], 5..=6, 7..=8 on [G6..G11_5], 9..=9,
        10..=10 on [G8..G12], 12..=12 on [G11..G12];
    COUNT_SEL = 0..=1;
    DMA_DST = 0..=0, 1..=1 on [G6..G11_5], 2..=2 on [G9..G12], 3..=3 on [G7..G12];
    DMA_ENGINE = 0..=1;
    DMA_SRC = 0..=0, 1..=1 on [G6..G11_5], 2..=2, 3..=3 on [G7..G12];
    ENGINE_SEL = 0..=1, 2..=2 on [G6..G10_3], 3..=3 on [G6..G6];
    ENGINE_SEL_IB = 0..=1;
    EOP_DATA = 0..=4, 5..=5 on [G6..G11_5], 6..=6 on [G11..G11];
    EOP_DST = 0..=1, 2..=3 on [G9..G9, G11..G12];
    EOP_INT = 0..=3, 4..=6 on [G9..G12];
    EOS_CMD = 0..=2;
    EVENT_INDEX = 0..=2, 3..=3 on [G6..G10_3], 4..=6, 7..=7 on [G6..G8], 8..=11 on [G11..G11_5];
    EVENT_TYPE = 1..=8 on [G6..G12], 9..=9 on [G10..G10_3], 10..=13 on [G6..G12], 14..=14 on [G9..G12],
        15..=17 on [G6..G12], 18..=18 on [G6..G8], 18..=19 on [G9..G12], 20..=20 on [G6..G12],
        21..=21 on [G11..G12], 21..=21 on [G6..G10_3], 22..=27 on [G6..G12], 28..=28 on [G6..G8, G10..G12],
        29..=29 on [G10..G12], 29..=29 on [G6..G8], 30..=36 on [G6..G12], 37..=37 on [G8..G12],
        38..=53 on [G6..G12], 54..=54 on [G10..G12], 54..=54 on [G6..G9], 55..=59 on [G6..G12],
        60..=60 on [G8..G12], 61..=62 on [G9..G12], 63..=63 on [G10..G12];
    EXEC_IND_OP = 0..=4, 5..=5 on [G12..G12];
    FRAME_CMD = 0..=1;
    GCR_GL2_RANGE = 0..=3;
    GCR_SEQ = 0..=2;
    INCR = 0..=1;
    INDEX_TYPE = 0..=1, 2..=2 on [G8..G12];
    LOAD_FORMAT = 0..=1;
    LOAD_INDEX = 0..=1, 2..=2 on [G10_3..G12];
    MEM_REG = 0..=1;
    MES_ACTION = 0..=3;
    PIXEL_PIPE_COUNTER = 0..=7;
    PREAMBLE_CMD = 0..=3 on [G6..G11_5], 4..=5 on [G11..G12];
    PREDICATION_BOOL = 0..=1;
    PREDICATION_CONTINUE = 0..=1;
    PREDICATION_HINT = 0..=1;
    PREDICATION_OP = 0..=3, 4..=4 on [G9..G12];
    PRIME_MODE = 0..=1;
    PRIME_PERM = 0..=2;
    PWS_COUNTER = 0..=2;
    PWS_STAGE = 0..=5;
    RMW_SRC = 0..=1;
    SCRATCH_SPACE = 0..=2;
    SEM_SEL = 6..=7;
    SET_BASE_INDEX = 0..=1, 2..=2 on [G7..G10_3], 3..=3 on [G6..G10_3], 4..=4 on [G8..G12], 5..=5 on [G9..G12],
        6..=6 on [G10_3..G12];
    SH_OFFSET_INDEX = 0..=2;
    SH_REG_INDEX = 0..=1, 2..=2 on [G12..G12], 3..=3;
    SPACE = 0..=1;
    STRMOUT_DATA_TYPE = 0..=1;
    STRMOUT_SOURCE = 0..=3;
    SWAP = 0..=3;
    TC_OP = 1..=3 on [G7..G11_5], 7..=8, 9..=11 on [G7..G11_5], 15..=25, 26..=27 on [G12..G12],
        33..=35 on [G7..G11_5], 39..=40, 41..=43 on [G7..G11_5], 47..=57, 65..=67 on [G7..G11_5], 71..=72,
        73..=75 on [G7..G11_5], 79..=89, 97..=99 on [G7..G11_5], 103..=104, 105..=107 on [G7..G11_5], 111..=121;
    TEMPORAL = 0..=3 on [G12..G12];
    TLB_MMHUB = 0..=2;
    TLB_SEL = 0..=1;
    UCONFIG_REG_INDEX = 0..=4;
    WAIT_OP = 0..=0, 1..=1 on [G7..G12], 2..=3 on [G9..G12];
    WAIT_SPACE = 0..=1, 2..=2 on [G7..G7];
    WINDOW_OP = 0..=0, 7..=7;
    WRITE_DST = 0..=2, 3..=3 on [G6..G11_5], 5..=5, 6..=6 on [G9..G12], 8..=8 on [G9..G10_3];
    ATOMIC_OP = 1..=121;
}
