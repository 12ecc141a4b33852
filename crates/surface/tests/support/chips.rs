//! `chips.json`: the chips the goldens were asked of.

use std::fs;
use std::path::Path;

use amdgpu_surface::{Chip, ChipRegisters, GfxLevel};
use serde_json::Value;

use super::{Object, number};

fn array<const N: usize>(chip: &Object, key: &str) -> [u32; N] {
    let mut values = [0; N];
    for (slot, value) in values.iter_mut().zip(chip.get(key).and_then(Value::as_array).into_iter().flatten()) {
        *slot = number(value) as u32;
    }
    values
}

pub(crate) fn read(folder: &Path) -> Vec<(String, Chip)> {
    let text = fs::read_to_string(folder.join("chips.json")).unwrap();
    let chips: Object = serde_json::from_str(&text).unwrap();
    chips.iter().map(|(name, chip)| (name.clone(), decode(chip.as_object().unwrap()))).collect()
}

fn decode(chip: &Object) -> Chip {
    let int = |key: &str| chip.get(key).map_or(0, number) as u32;
    let yes = |key: &str| chip.get(key).is_some_and(|value| value.as_bool().unwrap());
    let name = chip["gfx_level"].as_str().unwrap();
    let level = GfxLevel::ALL.into_iter().find(|level| level.name() == name).unwrap();
    Chip::new(&ChipRegisters {
        level,
        family_id: int("family_id"),
        external_rev: int("chip_external_rev"),
        chip_rev: int("chip_rev"),
        gb_addr_config: int("gb_addr_config"),
        tile_modes: array(chip, "tile_modes"),
        macrotile_modes: array(chip, "macrotile_modes"),
        render_backends: int("max_render_backends"),
        enabled_rb_mask: chip.get("enabled_rb_mask").map_or(0, number),
        compute_units: int("num_cu"),
        drm_minor: int("drm_minor"),
        has_graphics: yes("has_graphics"),
        has_image_opcodes: yes("has_image_opcodes"),
        has_dedicated_vram: yes("has_dedicated_vram"),
        has_dcc_constant_encode: yes("has_dcc_constant_encode"),
        has_tc_compatible_htile: yes("has_tc_compatible_htile"),
        display_dcc_unaligned: yes("use_display_dcc_unaligned"),
        display_dcc_retile: yes("use_display_dcc_with_retile_blit"),
        gfx12_display_dcc: yes("gfx12_supports_display_dcc"),
    })
    .unwrap()
}
