//! `ginfo`: facts of a chip.

use amdgpu_surface::addr1::macro_mode_index;
use amdgpu_surface::{Chip, GfxLevel};
use serde_json::json;

use super::{Object, put};

pub(crate) fn answer(chip: &Chip) -> Object {
    let mut out = Object::new();
    let most = chip.max_alignments();
    put(&mut out, "max_align", most.base);
    put(&mut out, "max_meta_align", most.metadata);
    if chip.level() >= GfxLevel::Gfx9 && chip.level() < GfxLevel::Gfx12 {
        for bits in [8, 16, 32, 64, 128] {
            put(&mut out, &format!("display_modes_{bits}"), format!("{:#x}", chip.display_modes(bits)));
        }
    }
    let mut modes = Vec::new();
    for index in 0..32 {
        for bits in [8, 16, 32, 64, 128] {
            for samples in [1, 2, 4, 8] {
                if let Some(found) = macro_mode_index(chip, index, bits, samples) {
                    modes.push(json!([index, bits, samples, found]));
                }
            }
        }
    }
    put(&mut out, "macro_mode_index", modes);
    out
}
