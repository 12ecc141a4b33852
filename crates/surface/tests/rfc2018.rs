//! The encoding of 2018: the proposal's examples, and that it says nothing twice.

use amdgpu_surface::modifier::rfc2018::{Banks, ChipGeneration, MicroTile, Rfc2018, Rfc2018Error, Tiling};
use proptest::prelude::*;

fn legacy(chip: ChipGeneration, array_mode: u8, pipe_config: u8, micro: MicroTile, bank: [u8; 4]) -> Rfc2018 {
    let [width, height, aspect, count] = bank;
    let banks = [Banks { width, height, aspect, count }, Banks::default(), Banks::default()];
    Rfc2018 { chip, dcc: false, tiling: Tiling::Legacy { array_mode, pipe_config, tile_split: 0, micro, banks } }
}

#[test]
fn the_worked_examples_decode_to_what_they_are_said_to_be() {
    let thin = Rfc2018::decode(0x74_20c4).unwrap();
    assert_eq!(thin, legacy(ChipGeneration::Tahiti, 4, 12, MicroTile::Thin, [0, 2, 2, 3]));
    let displayable = Rfc2018::decode(0x60_10a4).unwrap();
    assert_eq!(displayable, legacy(ChipGeneration::Tahiti, 4, 10, MicroTile::Displayable, [0, 0, 0, 3]));
    let micro = Rfc2018::decode(0x10c2).unwrap();
    assert_eq!(micro, legacy(ChipGeneration::Tahiti, 2, 12, MicroTile::Displayable, [0; 4]));
    let Tiling::Legacy { banks, .. } = Rfc2018::decode(0x5254_1004).unwrap().tiling else {
        panic!("not of GFX6 to GFX8")
    };
    assert_ne!(banks[1], Banks::default(), "two planes");
    let Tiling::Legacy { tile_split, .. } = Rfc2018::decode(0x60_2914).unwrap().tiling else {
        panic!("not of GFX6 to GFX8")
    };
    assert_eq!(64 << tile_split, 1024);
    let fiji = Rfc2018::decode(0xc80_004c_2114).unwrap();
    assert_eq!((fiji.chip, fiji.dcc, fiji.planes()), (ChipGeneration::Fiji, true, 3));
    let vega = Rfc2018 { chip: ChipGeneration::Vega10, dcc: false, tiling: Tiling::Gfx9 { mode: 10 } };
    assert_eq!(Rfc2018::decode(0x1300_0000_000a), Ok(vega));
    let raven = Rfc2018 { chip: ChipGeneration::Raven, dcc: true, tiling: Tiling::Gfx9 { mode: 25 } };
    assert_eq!(Rfc2018::decode(0x1680_0000_0019), Ok(raven));
}

#[test]
fn the_worked_examples_encode_to_themselves() {
    for value in
        [0x74_20c4, 0x60_10a4, 0x5254_1004, 0x10c2, 0x60_2914, 0xc80_004c_2114, 0x1300_0000_000a, 0x1680_0000_0019]
    {
        assert_eq!(Rfc2018::decode(value).unwrap().encode(), Ok(value), "{value:#x}");
    }
}

#[test]
fn what_has_no_meaning_is_refused_by_name() {
    assert_eq!(Rfc2018::decode(1 << 48), Err(Rfc2018Error::HighBits(1 << 48)));
    assert_eq!(Rfc2018::decode(23 << 40 | 4), Err(Rfc2018Error::Chip(23)));
    assert_eq!(Rfc2018::decode(1), Err(Rfc2018Error::Linear(1)));
    assert_eq!(Rfc2018::decode(0x1300_0000_0000), Err(Rfc2018Error::Linear(0)));
    assert_eq!(Rfc2018::decode(5 << 12 | 4), Err(Rfc2018Error::MicroTile(5)));
    assert!(Rfc2018::decode(2 | 1 << 15).is_err(), "micro tiles alone have no banks");
    let wide = legacy(ChipGeneration::Fiji, 4, 32, MicroTile::Thin, [0; 4]);
    assert_eq!(wide.encode(), Err(Rfc2018Error::Field { field: "PIPE_CONFIG", value: 32, most: 31 }));
}

proptest! {
    #[test]
    fn any_value_is_refused_or_encodes_to_itself(low in any::<u64>(), chip in 0_u64..30, keep in 0_u32..64) {
        for value in [low, low & 0xff_ffff_ffff | chip << 40, low & 0x7f_ffff | chip << 40, 1 << keep | chip << 40] {
            if let Ok(layout) = Rfc2018::decode(value) {
                prop_assert_eq!(layout.encode(), Ok(value));
            }
        }
    }
}
