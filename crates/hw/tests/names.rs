//! Names and texts of the common words.

use amdgpu_hw::{Chip, GpuVa, radv_name};

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
