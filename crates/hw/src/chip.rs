//! Chips and families, identified by the kernel's numbers.

pub use libdrm_amdgpu_sys::AMDGPU::{ASIC_NAME as Chip, FAMILY_NAME as Family, VRAM_TYPE as VramType};

/// Returns the chip with a family number and an external revision; `None` if RADV 25.0.7 does not know it.
///
/// Such a chip is not treated as the rest of its generation. GFX1013 (BC-250, PCI ID 1002:13fe) executes GFX10's packets, but its
/// compute rings do not work and it has instructions for ray tracing.
///
/// Source: Mesa `src/amd/addrlib/src/amdgpu_asic_addr.h`, from the crate `libdrm_amdgpu_sys`, with its family CZ added, which that
/// crate lacks.
pub fn identify(family: Family, external_rev: u32) -> Option<Chip> {
    let chip = match (family, external_rev) {
        (Family::CZ, 0x01..0x21) => Chip::CHIP_CARRIZO,
        (Family::CZ, 0x61..0xff) => Chip::CHIP_STONEY,
        _ => Chip::get(family, external_rev),
    };
    (radv_name(chip) != UNKNOWN).then_some(chip)
}

/// The name of chips that RADV does not know.
const UNKNOWN: &str = "UNKNOWN";

/// Returns the minor version of the graphics block of a GFX10 chip; `None` for chips of other generations.
///
/// A kernel driver without IP discovery reports version 10.0 for all GFX10 chips. Source: Mesa `src/amd/common/ac_gpu_info.c`,
/// `ac_query_gpu_info`.
pub fn gfx10_minor(family: Family, chip: Chip) -> Option<u32> {
    match family {
        Family::NV if matches!(chip, Chip::CHIP_NAVI10 | Chip::CHIP_NAVI12 | Chip::CHIP_NAVI14) => Some(1),
        Family::NV | Family::VGH | Family::YC | Family::GC_10_3_6 | Family::GC_10_3_7 => Some(3),
        _ => None,
    }
}

/// Returns the name of a chip in RADV's output; `UNKNOWN` for chips that RADV does not know.
///
/// Source: Mesa `src/amd/common/amd_family.c`, `ac_get_family_name`. `libdrm_amdgpu_sys`, which has the table of chips, names newer
/// chips by their graphics target instead.
pub fn radv_name(chip: Chip) -> &'static str {
    match chip {
        Chip::CHIP_TAHITI => "TAHITI",
        Chip::CHIP_PITCAIRN => "PITCAIRN",
        Chip::CHIP_VERDE => "VERDE",
        Chip::CHIP_OLAND => "OLAND",
        Chip::CHIP_HAINAN => "HAINAN",
        Chip::CHIP_BONAIRE => "BONAIRE",
        Chip::CHIP_KABINI => "KABINI",
        Chip::CHIP_KAVERI => "KAVERI",
        Chip::CHIP_HAWAII => "HAWAII",
        Chip::CHIP_TONGA => "TONGA",
        Chip::CHIP_ICELAND => "ICELAND",
        Chip::CHIP_CARRIZO => "CARRIZO",
        Chip::CHIP_FIJI => "FIJI",
        Chip::CHIP_STONEY => "STONEY",
        Chip::CHIP_POLARIS10 => "POLARIS10",
        Chip::CHIP_POLARIS11 => "POLARIS11",
        Chip::CHIP_POLARIS12 => "POLARIS12",
        Chip::CHIP_VEGAM => "VEGAM",
        Chip::CHIP_VEGA10 => "VEGA10",
        Chip::CHIP_VEGA12 => "VEGA12",
        Chip::CHIP_VEGA20 => "VEGA20",
        Chip::CHIP_RAVEN => "RAVEN",
        Chip::CHIP_RAVEN2 => "RAVEN2",
        Chip::CHIP_RENOIR => "RENOIR",
        Chip::CHIP_ARCTURUS => "MI100",
        Chip::CHIP_ALDEBARAN => "MI200",
        Chip::CHIP_GFX940 => "GFX940",
        Chip::CHIP_NAVI10 => "NAVI10",
        Chip::CHIP_NAVI12 => "NAVI12",
        Chip::CHIP_NAVI14 => "NAVI14",
        Chip::CHIP_NAVI21 => "NAVI21",
        Chip::CHIP_NAVI22 => "NAVI22",
        Chip::CHIP_NAVI23 => "NAVI23",
        Chip::CHIP_NAVI24 => "NAVI24",
        Chip::CHIP_VANGOGH => "VANGOGH",
        Chip::CHIP_REMBRANDT => "REMBRANDT",
        Chip::CHIP_GFX1036 => "RAPHAEL_MENDOCINO",
        Chip::CHIP_GFX1100 => "NAVI31",
        Chip::CHIP_GFX1101 => "NAVI32",
        Chip::CHIP_GFX1102 => "NAVI33",
        Chip::CHIP_GFX1103_R1 | Chip::CHIP_GFX1103_R1X => "PHOENIX",
        Chip::CHIP_GFX1103_R2 | Chip::CHIP_GFX1103_R2X => "PHOENIX2",
        Chip::CHIP_GFX1150 => "GFX1150",
        Chip::CHIP_GFX1151 => "GFX1151",
        Chip::CHIP_GFX1152 => "GFX1152",
        Chip::CHIP_GFX1153 => "GFX1153",
        Chip::CHIP_GFX1200 => "GFX1200",
        Chip::CHIP_GFX1201 => "GFX1201",
        _ => UNKNOWN,
    }
}

/// Returns the name of a chip in the output of RADV 25.1 and later, where it differs from [`radv_name`].
///
/// Source: Mesa 26.2.6 `src/amd/common/amd_family.c`, `ac_get_family_name`.
pub fn newer_radv_name(chip: Chip) -> Option<&'static str> {
    match chip {
        Chip::CHIP_GFX1150 => Some("STRIX1"),
        Chip::CHIP_GFX1151 => Some("STRIX_HALO"),
        Chip::CHIP_GFX1152 => Some("KRACKAN1"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Linux 6.12 `nv.c`, `nv_common_early_init`: the external revision is the revision plus 0x82.
    #[test]
    fn a_chip_that_radv_does_not_know_is_unknown_and_not_another_one() {
        for revision in 0x50..=0xff {
            assert_eq!(identify(Family::NV, revision), None, "{revision:#x}");
        }
        assert_eq!(identify(Family::NV, 0x4f), Some(Chip::CHIP_NAVI24));
    }

    #[test]
    fn every_chip_that_is_known_has_a_name() {
        for family in (0..=0xff).map(Family::from) {
            for chip in (0..=0xff).filter_map(|revision| identify(family, revision)) {
                assert_ne!(radv_name(chip), UNKNOWN, "{family:?}");
            }
        }
    }
}
