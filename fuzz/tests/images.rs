//! Modifiers from other processes.

use amdgpu_fuzz::reach::Reach;
use amdgpu_surface::{
    Chip, ChipRegisters, GfxLevel,
    modifier::{Modifier, max_extent, supports_image_stores},
};

static DECODED: Reach = Reach::new("images::any_modifier_is_one_number_or_refused");

/// GB_ADDR_CONFIG of real chips, so that most inputs have a layout.
const ADDR_CONFIGS: [u32; 10] = [
    0x2a11_4042,
    0x2400_1010,
    0x2401_0042,
    0x0010_0044,
    0x0000_0045,
    0x0000_0344,
    0x0000_0545,
    0x0000_0444,
    0x2641_1033,
    0x0000_0242,
];

/// Generation, family, revision, register, and properties.
type Registers = (u8, u8, u8, u32, u16);

fn chip((level, family, rev, config, properties): Registers) -> Option<Chip> {
    let level = GfxLevel::ALL[usize::from(level) % GfxLevel::ALL.len()];
    let family = [0x8d, 0x8e, 0x8f, 0x91, 0x94, 0x97, u32::from(family)][usize::from(family % 7)];
    let config =
        if config.is_multiple_of(4) { config >> 2 } else { ADDR_CONFIGS[config as usize % ADDR_CONFIGS.len()] };
    let has = |bit: u32| properties >> bit & 1 == 1;
    let mut registers = ChipRegisters::new(level, family, rev.into(), config);
    registers.render_backends = u32::from(properties >> 12) + 1;
    registers.has_graphics = has(0) || has(1);
    registers.has_image_opcodes = has(2) || has(3);
    registers.has_dedicated_vram = has(4);
    registers.has_dcc_constant_encode = has(5);
    registers.has_tc_compatible_htile = has(6);
    registers.display_dcc_unaligned = has(7);
    registers.display_dcc_retile = has(8);
    registers.gfx12_display_dcc = has(9);
    Chip::new(&registers).ok()
}

#[test]
fn any_modifier_is_one_number_or_refused() {
    bolero::check!().with_type::<(Registers, u64, u8)>().with_iterations(50_000).for_each(
        |&(registers, raw, shape)| {
            let raw = if shape.is_multiple_of(4) { raw } else { 2 << 56 | raw & 0xf_ffff_ff00 | u64::from(shape) % 7 };
            let decoded = Modifier::decode(raw);
            match decoded {
                Ok(modifier) => {
                    assert_eq!(modifier.encode(), raw, "{modifier:?}");
                    if let Some(chip) = chip(registers) {
                        let _ = (max_extent(&chip, modifier), supports_image_stores(&chip, modifier));
                    }
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
            DECODED.count(decoded.is_ok());
        },
    );
    DECODED.report();
}
