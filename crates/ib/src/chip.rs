//! Chips by name.

use amdgpu_winsys::cs::registers::RegisterSet;
use amdgpu_winsys::winsys::GfxLevel;

/// The error of a name that is neither a chip nor a generation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no chip or generation is called {0}; there are navi21, vega10, gfx10_3 and so on")]
pub struct UnknownChip(pub String);

/// The code names of chips in lower case.
///
/// Source: Mesa 25.0.7 `src/amd/common/amd_family.c`, `ac_get_family_name`, and `ac_gpu_info.c`, which assigns families to
/// generations.
const CHIPS: &[(GfxLevel, &[&str])] = &[
    (GfxLevel::Gfx6, &["tahiti", "pitcairn", "verde", "oland", "hainan"]),
    (GfxLevel::Gfx7, &["bonaire", "kaveri", "kabini", "mullins", "hawaii"]),
    (
        GfxLevel::Gfx8,
        &["tonga", "topaz", "iceland", "carrizo", "fiji", "stoney", "polaris10", "polaris11", "polaris12", "vegam"],
    ),
    (GfxLevel::Gfx9, &["vega10", "vega12", "vega20", "raven", "raven2", "renoir", "mi100", "mi200"]),
    (GfxLevel::Gfx10, &["navi10", "navi12", "navi14"]),
    (GfxLevel::Gfx10_3, &["navi21", "navi22", "navi23", "navi24", "vangogh", "rembrandt", "raphael_mendocino"]),
    (GfxLevel::Gfx11, &["navi31", "navi32", "navi33", "phoenix", "phoenix2"]),
    (GfxLevel::Gfx11_5, &["strix1", "strix_halo", "krackan1", "gfx1150", "gfx1151", "gfx1152", "gfx1153"]),
    (GfxLevel::Gfx12, &["navi44", "navi48", "gfx1200", "gfx1201"]),
];

/// Returns the generation for the code name of a chip or the name of a generation.
///
/// # Errors
///
/// [`UnknownChip`] if the name is neither.
pub fn level_of(name: &str) -> Result<GfxLevel, UnknownChip> {
    let wanted = name.to_lowercase();
    let is_level = |level: &GfxLevel| level.to_string().to_lowercase() == wanted;
    let chip = CHIPS.iter().find(|row| row.1.contains(&wanted.as_str())).map(|row| row.0);
    chip.or_else(|| GfxLevel::ALL.into_iter().find(is_level)).ok_or_else(|| UnknownChip(name.to_owned()))
}

/// Returns the register set for the code name of a chip, if it differs from its generation's.
pub fn registers_of(name: &str) -> Option<RegisterSet> {
    name.eq_ignore_ascii_case("stoney").then_some(RegisterSet::Gfx8_1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stoney_alone_has_registers_that_its_generation_has_not() {
        let own = CHIPS.iter().flat_map(|row| row.1).filter(|name| registers_of(name).is_some());
        assert_eq!(own.collect::<Vec<_>>(), [&"stoney"]);
        assert_eq!(registers_of("Stoney").map(RegisterSet::level), level_of("stoney").ok());
    }

    #[test]
    fn a_chip_and_its_generation_are_the_same() {
        assert_eq!(level_of("Navi21"), Ok(GfxLevel::Gfx10_3));
        assert_eq!(level_of("gfx10_3"), Ok(GfxLevel::Gfx10_3));
        assert_eq!(level_of("voodoo"), Err(UnknownChip("voodoo".into())));
    }
}
