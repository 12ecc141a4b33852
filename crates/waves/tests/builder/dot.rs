//! Dot products take the halves of their first two sources that op_sel and op_sel_hi choose.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, builder::Builder};

use crate::machine::run_wave;

/// Returns the result of lane 0 for a dot product of two words, added to a third.
fn result(level: GfxLevel, operation: &str, words: [u32; 3], modifiers: &str) -> u32 {
    let mut code = Builder::new(level, WaveSize::Wave64, 4);
    let (buffer, at) = (code.user(0, 4), code.vector(1));
    let [x, y, sum] = words.map(|value| {
        let register = code.vector(1);
        code.op(format_args!("v_mov_b32 {register}, {value:#x}"));
        register
    });
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.op(format_args!("{operation} {x}, {x}, {y}, {sum} {modifiers}"));
    code.buffer_store(x, at, buffer);
    let memory = run_wave(level, &code.finish().unwrap(), vec![0; 256]);
    u32::from_le_bytes(*memory.first_chunk().unwrap())
}

#[test]
fn op_sel_chooses_the_halves_of_both_factors_and_not_of_the_sum() {
    let words = [0x0403_0201, 0x0807_0605, 0x0001_0000];
    for (level, operation) in
        [(GfxLevel::Gfx10_3, "v_dot4_u32_u8"), (GfxLevel::Gfx11, "v_dot4_u32_u8"), (GfxLevel::Gfx11, "v_dot4_i32_iu8")]
    {
        let with = |modifiers| result(level, operation, words, modifiers) - 0x1_0000;
        assert_eq!(with(""), 5 + 2 * 6 + 3 * 7 + 4 * 8, "{level} {operation}");
        assert_eq!(with("op_sel:[0,1,0] op_sel_hi:[1,0,1]"), 7 + 2 * 8 + 3 * 5 + 4 * 6, "{level} {operation}");
        assert_eq!(with("op_sel:[1,0,1] op_sel_hi:[1,1,0]"), 3 * 5 + 4 * 6 + 3 * 7 + 4 * 8, "{level} {operation}");
    }
}

#[test]
fn op_sel_moves_an_inline_integer_to_the_upper_half() {
    let mut code = Builder::new(GfxLevel::Gfx10_3, WaveSize::Wave64, 4);
    let (buffer, at, x) = (code.user(0, 4), code.vector(1), code.vector(1));
    code.op(format_args!("v_mov_b32 {x}, 0x04030201"));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.op(format_args!("v_dot4_u32_u8 {x}, {x}, 1, 0 op_sel:[0,1,0] op_sel_hi:[1,0,1] clamp"));
    code.buffer_store(x, at, buffer);
    let memory = run_wave(GfxLevel::Gfx10_3, &code.finish().unwrap(), vec![0; 256]);
    assert_eq!(memory.first(), Some(&3), "the third byte, times one");
}
