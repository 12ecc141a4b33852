//! The chips whose answers were recorded, from `crates/surface/tests/goldens/chips.json`.

use std::{collections::BTreeMap, fs, path::Path};

use amdgpu_surface::{Chip, ChipRegisters, GfxLevel};
use serde_json::{Map, Value};

/// Returns a number that is written as such, as hexadecimal text, or as a truth value.
///
/// # Panics
///
/// If the value is none of these.
#[must_use]
pub fn number(value: &Value) -> u64 {
    let of_text = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let number = match value {
        Value::Bool(truth) => Some(u64::from(*truth)),
        Value::Number(number) => number.as_u64().or_else(|| number.as_i64().map(i64::cast_unsigned)),
        Value::String(text) => of_text(text),
        _ => None,
    };
    number.unwrap_or_else(|| panic!("{value} is no number"))
}

/// Returns the chips of `chips.json` in a folder, by name and in the order of their names.
///
/// # Panics
///
/// With the reason if it cannot be read: a test cannot go on.
#[must_use]
pub fn read(folder: &Path) -> Vec<(String, Chip)> {
    let path = folder.join("chips.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let chips: BTreeMap<String, Map<String, Value>> =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    chips.into_iter().map(|(name, facts)| (name.clone(), chip(&name, &facts))).collect()
}

/// Returns the recorded chips, by name and in the order of their names.
#[must_use]
pub fn recorded() -> Vec<(String, Chip)> {
    read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../surface/tests/goldens")))
}

/// Returns a recorded chip.
///
/// # Panics
///
/// If there is none of this name.
#[must_use]
pub fn recorded_chip(name: &str) -> Chip {
    let found = recorded().into_iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no answers were recorded for a chip {name}")).1
}

/// Returns the values of registers with numbers from 0; those that are not listed are 0.
fn registers<const N: usize>(facts: &Map<String, Value>, key: &str) -> [u32; N] {
    let mut registers = [0; N];
    for (register, value) in registers.iter_mut().zip(facts.get(key).and_then(Value::as_array).into_iter().flatten()) {
        *register = number(value) as u32;
    }
    registers
}

fn chip(name: &str, facts: &Map<String, Value>) -> Chip {
    let int = |key: &str| facts.get(key).map_or(0, number) as u32;
    let is = |key: &str| facts.get(key).is_some_and(|value| value == true);
    let level = GfxLevel::ALL.into_iter().find(|level| facts.get("gfx_level").is_some_and(|name| name == level.name()));
    let registers = ChipRegisters {
        level: level.unwrap_or_else(|| panic!("{name} is of no known generation")),
        family_id: int("family_id"),
        external_rev: int("chip_external_rev"),
        chip_rev: int("chip_rev"),
        gb_addr_config: int("gb_addr_config"),
        tile_modes: registers(facts, "tile_modes"),
        macrotile_modes: registers(facts, "macrotile_modes"),
        render_backends: int("max_render_backends"),
        enabled_rb_mask: facts.get("enabled_rb_mask").map_or(0, number),
        compute_units: int("num_cu"),
        drm_minor: int("drm_minor"),
        has_graphics: is("has_graphics"),
        has_image_opcodes: is("has_image_opcodes"),
        has_dedicated_vram: is("has_dedicated_vram"),
        has_dcc_constant_encode: is("has_dcc_constant_encode"),
        has_tc_compatible_htile: is("has_tc_compatible_htile"),
        display_dcc_unaligned: is("use_display_dcc_unaligned"),
        display_dcc_retile: is("use_display_dcc_with_retile_blit"),
        gfx12_display_dcc: is("gfx12_supports_display_dcc"),
    };
    Chip::new(&registers).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_chips_are_of_every_generation() {
        let chips = recorded();
        for level in GfxLevel::ALL {
            assert!(chips.iter().any(|(_, chip)| chip.level() == level), "{level:?}");
        }
    }

    #[test]
    fn numbers_are_read_in_each_form() {
        assert_eq!(recorded_chip("navi21").level(), GfxLevel::Gfx10_3);
        let numbers = ["7", "\"0x1f\"", "true", "-1"].map(|text| number(&serde_json::from_str(text).unwrap()));
        assert_eq!(numbers, [7, 0x1f, 1, u64::MAX]);
    }
}
