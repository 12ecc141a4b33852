//! DPP of mixed multiplications and of dot products of floats, and the operations that have none.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Vector},
};
use amdgpu_waves::Reason;

use crate::machine::{places, refusal, run_wave};

/// Returns what an instruction, without its destination, leaves in every lane for words that differ by lane.
fn left((level, wave): (GfxLevel, WaveSize), text: impl Fn(Vector, Vector, Vector) -> String) -> Vec<u32> {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at) = (code.user(0, 4), code.vector(1));
    let [x, y, sum] = std::array::from_fn(|_| code.vector(1));
    // Halves of 1 to 2 and bytes of about 1 in the first source, which also is a number of its own in every lane.
    code.op(format_args!("v_mul_u32_u24 {x}, 0x10001, {}", code.thread()));
    code.op(format_args!("v_add_nc_u32 {x}, 0x3c383c38, {x}"));
    code.op(format_args!("v_mov_b32 {y}, 0x38003801"));
    code.op(format_args!("v_mov_b32 {sum}, 0x40a00000"));
    code.op(text(x, y, sum));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    code.buffer_store(sum, at, buffer);
    let data = run_wave(level, &code.finish().unwrap(), vec![0; 4 * wave.lanes() as usize]);
    data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// Compares an operation with DPP with the same operation on a register that a move with the same DPP filled.
fn compare(place: (GfxLevel, WaveSize), operation: &str, modifiers: &str, dpp: &str) {
    let direct = left(place, |x, y, sum| format!("{operation}_e64_dpp {sum}, {x}, {y}, {sum} {modifiers} {dpp}"));
    // Lanes that are off for the move have no result of the operation either: they keep the sum.
    let moved = left(place, |x, y, sum| format!("{operation} {sum}, {x}, {y}, {sum} {modifiers}"));
    let source = |lane: usize| match dpp.split([':', ' ']).next() {
        Some("row_shr") => (lane % 16 >= 3).then(|| lane - 3),
        Some("quad_perm") => Some(lane / 4 * 4 + 3 - lane % 4),
        _ => Some(lane / 8 * 8 + 7 - lane % 8),
    };
    for (lane, found) in direct.iter().enumerate() {
        let expected = source(lane).map_or(0x40a0_0000, |from| moved[from]);
        assert_eq!(*found, expected, "{place:?} {operation} {modifiers} {dpp}: lane {lane}");
    }
}

#[test]
fn mixed_multiplications_and_dot_products_of_floats_select_the_lane_of_their_first_source() {
    for place in places().into_iter().filter(|(level, _)| *level >= GfxLevel::Gfx11) {
        let small: &[_] = if place.0 >= GfxLevel::Gfx12 { &["v_dot4_f32_fp8_bf8"] } else { &[] };
        let dots =
            small.iter().chain(&["v_dot2_f32_f16"]).map(|name| (*name, ["", "op_sel:[1,0,0]", "neg_lo:[1,0,0]"]));
        let mixes = [("v_fma_mix_f32", ["", "op_sel_hi:[1,0,0]", "op_sel:[1,0,0] op_sel_hi:[1,1,0]"])];
        for (operation, variants) in dots.chain(mixes) {
            for modifiers in variants {
                for dpp in [
                    "row_shr:3 row_mask:0xf bank_mask:0xf",
                    "quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
                    "dpp8:[7,6,5,4,3,2,1,0]",
                ] {
                    compare(place, operation, modifiers, dpp);
                }
            }
        }
    }
}

#[test]
fn dpp_of_operations_that_have_none_is_an_illegal_instruction() {
    let is_illegal = |place, words: &[u32]| matches!(refusal(place, words), Some(Reason::IllegalForm { .. }));
    let wave = WaveSize::Wave64;
    // v_pk_add_f16, v_dot4_u32_u8, v_wmma_f32_16x16x16_f16 with DPP16 of v1: quad_perm:[3,2,1,0].
    for number in [0xf, 0x17, 0x40] {
        let words = [0xcc00_0000 | number << 16, 0x1c0a_04fa, 0xff00_1b01];
        assert!(is_illegal((GfxLevel::Gfx11, wave), &words), "{number:#x}");
    }
    // v_cvt_f64_i32, which writes 64 bits, and v_readfirstlane_b32.
    assert!(is_illegal((GfxLevel::Gfx11, wave), &[0x7e00_08fa, 0xff00_1b01]));
    assert!(is_illegal((GfxLevel::Gfx11, wave), &[0x7e00_04fa, 0xff00_1b01]));
    // v_mov_b32 has DPP.
    assert_eq!(refusal((GfxLevel::Gfx11, wave), &[0x7e00_02fa, 0xff00_1b01]), None);
}
