//! Names and texts of the common words.

use amdgpu_hw::{Chip, Family, GfxLevel, GpuVa, gfx10_minor, identify, radv_name};

/// Chips whose name in RADV is that of their constant.
const PLAIN: [Chip; 41] = [
    Chip::CHIP_TAHITI,
    Chip::CHIP_PITCAIRN,
    Chip::CHIP_VERDE,
    Chip::CHIP_OLAND,
    Chip::CHIP_HAINAN,
    Chip::CHIP_BONAIRE,
    Chip::CHIP_KABINI,
    Chip::CHIP_KAVERI,
    Chip::CHIP_HAWAII,
    Chip::CHIP_TONGA,
    Chip::CHIP_ICELAND,
    Chip::CHIP_CARRIZO,
    Chip::CHIP_FIJI,
    Chip::CHIP_STONEY,
    Chip::CHIP_POLARIS10,
    Chip::CHIP_POLARIS11,
    Chip::CHIP_POLARIS12,
    Chip::CHIP_VEGAM,
    Chip::CHIP_VEGA10,
    Chip::CHIP_VEGA12,
    Chip::CHIP_VEGA20,
    Chip::CHIP_RAVEN,
    Chip::CHIP_RAVEN2,
    Chip::CHIP_RENOIR,
    Chip::CHIP_GFX940,
    Chip::CHIP_NAVI10,
    Chip::CHIP_NAVI12,
    Chip::CHIP_NAVI14,
    Chip::CHIP_NAVI21,
    Chip::CHIP_NAVI22,
    Chip::CHIP_NAVI23,
    Chip::CHIP_NAVI24,
    Chip::CHIP_VANGOGH,
    Chip::CHIP_REMBRANDT,
    Chip::CHIP_GFX1150,
    Chip::CHIP_GFX1151,
    Chip::CHIP_GFX1152,
    Chip::CHIP_GFX1153,
    Chip::CHIP_GFX1200,
    Chip::CHIP_GFX1201,
    Chip::CHIP_UNKNOWN,
];

#[test]
fn a_chip_is_named_as_radv_names_it() {
    for chip in PLAIN {
        assert_eq!(format!("CHIP_{}", radv_name(chip)), format!("{chip:?}"));
    }
    for (chip, name) in [
        (Chip::CHIP_ARCTURUS, "MI100"),
        (Chip::CHIP_ALDEBARAN, "MI200"),
        (Chip::CHIP_GFX1036, "RAPHAEL_MENDOCINO"),
        (Chip::CHIP_GFX1100, "NAVI31"),
        (Chip::CHIP_GFX1101, "NAVI32"),
        (Chip::CHIP_GFX1102, "NAVI33"),
        (Chip::CHIP_GFX1103_R1, "PHOENIX"),
        (Chip::CHIP_GFX1103_R1X, "PHOENIX"),
        (Chip::CHIP_GFX1103_R2, "PHOENIX2"),
        (Chip::CHIP_GFX1103_R2X, "PHOENIX2"),
    ] {
        assert_eq!(radv_name(chip), name);
    }
}

#[test]
fn an_address_is_written_in_hexadecimal_and_made_of_what_is_no_hole() {
    let va = GpuVa::try_from(0x12_3000).unwrap();
    assert_eq!(va.as_u64(), 0x12_3000);
    assert_eq!(
        (format!("{va:?}"), format!("{va}"), format!("{va:x}")),
        ("0x123000".into(), "0x123000".into(), "123000".into())
    );
    assert!(GpuVa::try_from(1 << 47).is_err());
}

/// Source: Mesa 25.0.7 `src/amd/addrlib/src/amdgpu_asic_addr.h`.
#[test]
fn a_chip_is_known_by_its_family_and_revision() {
    for (family, revision, chip) in [
        (Family::CZ, 0x00, None),
        (Family::CZ, 0x01, Some(Chip::CHIP_CARRIZO)),
        (Family::CZ, 0x20, Some(Chip::CHIP_CARRIZO)),
        (Family::CZ, 0x21, None),
        (Family::CZ, 0x60, None),
        (Family::CZ, 0x61, Some(Chip::CHIP_STONEY)),
        (Family::NV, 0x01, Some(Chip::CHIP_NAVI10)),
        (Family::NV, 0x29, Some(Chip::CHIP_NAVI21)),
        (Family::AI, 0x01, Some(Chip::CHIP_VEGA10)),
    ] {
        assert_eq!(identify(family, revision), chip, "{family:?} {revision:#x}");
    }
}

#[test]
fn the_minor_version_of_gfx10_is_that_of_the_chip() {
    let minor = |chip| gfx10_minor(Family::NV, chip);
    assert_eq!([Chip::CHIP_NAVI10, Chip::CHIP_NAVI12, Chip::CHIP_NAVI14].map(minor), [Some(1); 3]);
    assert_eq!([Chip::CHIP_NAVI21, Chip::CHIP_NAVI24].map(minor), [Some(3); 2]);
    assert_eq!(gfx10_minor(Family::VGH, Chip::CHIP_VANGOGH), Some(3));
    assert_eq!(gfx10_minor(Family::AI, Chip::CHIP_VEGA10), None);
}

#[test]
fn a_generation_is_known_by_its_version_and_an_unknown_one_is_not_guessed() {
    let versions = [(6, 0), (7, 2), (8, 1), (9, 4), (10, 1), (10, 3), (11, 0), (11, 5), (12, 0)];
    assert_eq!(versions.map(|(major, minor)| GfxLevel::of_version(major, minor)), GfxLevel::ALL.map(Some));
    for (major, minor) in [(5, 0), (10, 0), (10, 2), (11, 1), (12, 1), (13, 0)] {
        assert_eq!(GfxLevel::of_version(major, minor), None, "{major}.{minor}");
    }
}
