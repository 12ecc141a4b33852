//! The short form of the packed multiplication and addition.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, builder::Builder};

use crate::machine::run_wave;

/// The halves 3 and 5 in one word, and 0.5 and -2.
const THREE_AND_FIVE: u32 = 0x4500_4200;
const HALF_AND_MINUS_TWO: u32 = 0xc000_3800;

/// Returns the halves, low first, that `v_pk_fmac_f16` adds to 0.5 and -2 for a first factor and 3 and 5.
fn sums(level: GfxLevel, factor: &str) -> [u16; 2] {
    let mut code = Builder::new(level, WaveSize::Wave64, 4);
    let (buffer, at, x, sum) = (code.user(0, 4), code.vector(1), code.vector(1), code.vector(1));
    code.op(format_args!("v_mov_b32 {x}, {THREE_AND_FIVE:#x}"));
    code.op(format_args!("v_mov_b32 {sum}, {HALF_AND_MINUS_TWO:#x}"));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.op(format_args!("v_pk_fmac_f16 {sum}, {}, {x}", factor.replace('x', &x.to_string())));
    code.buffer_store(sum, at, buffer);
    let memory = run_wave(level, &code.finish().unwrap(), vec![0; 256]);
    [0, 2].map(|place| u16::from_le_bytes([memory[place], memory[place + 1]]))
}

/// The generations that have the instruction.
const LEVELS: [GfxLevel; 4] = [GfxLevel::Gfx10, GfxLevel::Gfx10_3, GfxLevel::Gfx11, GfxLevel::Gfx12];

#[test]
fn the_short_packed_sum_adds_the_products_of_both_halves_to_its_destination() {
    for level in LEVELS {
        // 3 * 3 + 0.5 and 5 * 5 - 2.
        assert_eq!(sums(level, "x"), [0x48c0, 0x4dc0], "{level}");
    }
}

#[test]
fn a_float_constant_of_the_short_packed_sum_is_the_low_half_alone_before_gfx11() {
    for level in LEVELS {
        // 2 * 3 + 0.5, and 0 * 5 - 2 or 2 * 5 - 2.
        let high = if level < GfxLevel::Gfx11 { 0xc000 } else { 0x4800 };
        assert_eq!(sums(level, "2.0"), [0x4680, high], "{level}");
    }
}
