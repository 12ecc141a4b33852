//! The parts of GB_ADDR_CONFIG.

use super::list::List;
use crate::winsys::{GfxLevel, GpuInfo};

/// The unit of a part whose bits Mesa prints as they are.
const RAW: u32 = 0;

/// A part of the register: its name, its lowest and highest bit, and the value that the bits shift, or [`RAW`].
type Part = (&'static str, u32, u32, u32);

/// The parts on GFX6 to GFX8. Source: Linux 6.12 `include/asm_reg/gca/gfx_6_0_sh_mask.h`.
const OLD: &[Part] = &[
    ("num_pipes", 0, 2, 1),
    ("pipe_interleave_size", 4, 6, 256),
    ("bank_interleave_size", 8, 10, 1),
    ("num_shader_engines", 12, 13, 1),
    ("shader_engine_tile_size", 16, 18, 16),
    ("num_gpus", 20, 22, RAW),
    ("multi_gpu_tile_size", 24, 25, RAW),
    ("row_size", 28, 29, 1024),
    ("num_lower_pipes", 30, 30, RAW),
];
/// The parts on GFX9. Source: Linux 6.12 `include/asm_reg/gc/gc_9_0_sh_mask.h`.
const GFX9: &[Part] = &[
    ("num_pipes", 0, 2, 1),
    ("pipe_interleave_size", 3, 5, 256),
    ("max_compressed_frags", 6, 7, 1),
    ("bank_interleave_size", 8, 10, 1),
    ("num_banks", 12, 14, 1),
    ("shader_engine_tile_size", 16, 18, 16),
    ("num_shader_engines", 19, 20, 1),
    ("num_gpus", 21, 23, RAW),
    ("multi_gpu_tile_size", 24, 25, RAW),
    ("num_rb_per_se", 26, 27, 1),
    ("row_size", 28, 29, 1024),
    ("num_lower_pipes", 30, 30, RAW),
    ("se_enable", 31, 31, RAW),
];
/// The parts from GFX10 on; GFX10.1 has no packers, and GFX12 no compressed fragments. Source: Linux 6.12
/// `include/asm_reg/gc/gc_10_3_0_sh_mask.h`.
const NEW: &[Part] = &[
    ("num_pipes", 0, 2, 1),
    ("pipe_interleave_size", 3, 5, 256),
    ("max_compressed_frags", 6, 7, 1),
    ("num_pkrs", 8, 10, 1),
];

pub(super) fn parts(info: &GpuInfo, list: &mut List<'_>) {
    let parts = match info.gfx_level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => OLD,
        GfxLevel::Gfx9 => GFX9,
        _ => NEW,
    };
    let is_lacking = |name: &str| match info.gfx_level {
        GfxLevel::Gfx10 => name == "num_pkrs",
        level => name == "max_compressed_frags" && level >= GfxLevel::Gfx12,
    };
    for &(name, lowest, highest, unit) in parts.iter().filter(|(name, ..)| !is_lacking(name)) {
        let bits = info.tiling.gb_addr_config >> lowest & ((2 << (highest - lowest)) - 1);
        if unit == RAW {
            list.add(name, format_args!("{bits} (raw)"));
        } else {
            list.add(name, unit << bits);
        }
    }
}
