//! Registers: performance counters.
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`; Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg/gc/` and `sid.h`, `cikd.h`.

use super::level::*;
use super::registers;

registers! {
    COUNTERS =

    GE_GS_ORDERED_ID_BASE {
        at 0x309b0 [G12..G12];
        base[11:0];
    }

    VGT_STRMOUT_BUFFER_FILLED_SIZE_0 {
        at 0x08960 [G6..G6], 0x30910 [G7..G10_3];
    }

    VGT_STRMOUT_BUFFER_FILLED_SIZE_1 {
        at 0x08964 [G6..G6], 0x30914 [G7..G10_3];
    }

    VGT_STRMOUT_BUFFER_FILLED_SIZE_2 {
        at 0x08968 [G6..G6], 0x30918 [G7..G10_3];
    }

    VGT_STRMOUT_BUFFER_FILLED_SIZE_3 {
        at 0x0896c [G6..G6], 0x3091c [G7..G10_3];
    }

    VGT_STRMOUT_BUFFER_OFFSET_0 {
        at 0x28adc [G6..G10_3];
    }

    VGT_STRMOUT_BUFFER_OFFSET_1 {
        at 0x28aec [G6..G10_3];
    }

    VGT_STRMOUT_BUFFER_OFFSET_2 {
        at 0x28afc [G6..G10_3];
    }

    VGT_STRMOUT_BUFFER_OFFSET_3 {
        at 0x28b0c [G6..G10_3];
    }

    VGT_STRMOUT_BUFFER_SIZE_0 {
        at 0x28ad0 [G6..G10_3];
    }

    VGT_STRMOUT_BUFFER_SIZE_1 {
        at 0x28ae0 [G6..G10_3];
    }

    VGT_STRMOUT_BUFFER_SIZE_2 {
        at 0x28af0 [G6..G10_3];
    }

    VGT_STRMOUT_BUFFER_SIZE_3 {
        at 0x28b00 [G6..G10_3];
    }

    GDS_STRMOUT_DWORDS_WRITTEN_0 {
        at 0x31088 [G11..G11_5];
    }

    GDS_STRMOUT_DWORDS_WRITTEN_1 {
        at 0x3108c [G11..G11_5];
    }

    GDS_STRMOUT_DWORDS_WRITTEN_2 {
        at 0x31090 [G11..G11_5];
    }

    GDS_STRMOUT_DWORDS_WRITTEN_3 {
        at 0x31094 [G11..G11_5];
    }

    VGT_GS_OUT_PRIM_TYPE {
        at 0x28a6c [G6..G10_3], 0x30998 [G11..G12];
        outprim_type[5:0] (0 pointlist, 1 linestrip, 2 tristrip, 3 rect_2d, 4 rectlist) on [G11..G12];
        outprim_type[5:0] (0 pointlist, 1 linestrip, 2 tristrip, 3 rectlist) on [G9..G10_3];
        outprim_type[5:0] (0 pointlist, 1 linestrip, 2 tristrip) on [G6..G8];
        outprim_type_1[13:8] (0 pointlist, 1 linestrip, 2 tristrip, 3 rectlist) on [G9..G10_3];
        outprim_type_1[13:8] (0 pointlist, 1 linestrip, 2 tristrip) on [G6..G8];
        outprim_type_2[21:16] (0 pointlist, 1 linestrip, 2 tristrip, 3 rectlist) on [G9..G10_3];
        outprim_type_2[21:16] (0 pointlist, 1 linestrip, 2 tristrip) on [G6..G8];
        outprim_type_3[27:22] (0 pointlist, 1 linestrip, 2 tristrip, 3 rectlist) on [G9..G10_3];
        outprim_type_3[27:22] (0 pointlist, 1 linestrip, 2 tristrip) on [G6..G8];
        unique_type_per_stream[31:31] on [G6..G10_3];
    }

    VGT_PRIMITIVEID_RESET {
        at 0x28a8c [G6..G11_5], 0x309b4 [G12..G12];
    }
}
