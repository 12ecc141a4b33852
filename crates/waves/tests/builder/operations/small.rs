//! 8-bit floats of GFX12 against another implementation of their formats.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Vector},
};
use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Float8E4M3FN, Float8E5M2, Single},
};

use crate::machine::run_wave;

/// Returns the 64 words that an instruction leaves for words that lanes have; `setup` comes first.
fn left(words: &[[u32; 2]; 64], setup: &str, text: impl Fn(Vector, Vector) -> String) -> Vec<u32> {
    let mut code = Builder::new(GfxLevel::Gfx12, WaveSize::Wave64, 4);
    let (buffer, at, pair) = (code.user(0, 4), code.vector(1), code.vector(2));
    let to = code.vector(2);
    code.op(format_args!("v_lshlrev_b32 {at}, 3, {}", code.thread()));
    code.buffer_load(pair, at, buffer);
    code.op(format_args!("v_mov_b32 {}, 0x55555555", to.at(0)));
    if !setup.is_empty() {
        code.op(setup);
    }
    code.op(text(to, pair));
    code.buffer_store(to, at, buffer);
    let data = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let data = run_wave(GfxLevel::Gfx12, &code.finish().unwrap(), data);
    data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// Returns the value of a byte; NaNs are one.
fn value<F: Float + FloatConvert<Single>>(byte: u32) -> u32 {
    let value: Single = F::from_bits(byte.into()).convert(&mut false).value;
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() as u32 }
}

#[test]
fn all_bytes_are_the_numbers_of_their_format() {
    for start in (0..256).step_by(64) {
        let words = std::array::from_fn(|lane| [(start + lane as u32) * 0x0101_0101, 0]);
        for select in 0..4 {
            for (name, of) in [("fp8", value::<Float8E4M3FN> as fn(u32) -> u32), ("bf8", value::<Float8E5M2>)] {
                let text = |to: Vector, from: Vector| {
                    let bits = [select >> 1, select & 1];
                    format!("v_cvt_f32_{name}_e64 {}, {} op_sel:[{},{},0,0]", to.at(0), from.at(0), bits[0], bits[1])
                };
                let found = left(&words, "", text);
                for lane in 0..64 {
                    assert_eq!(found[2 * lane], of(start + lane as u32), "{name} {:#x}", start as usize + lane);
                }
            }
        }
    }
}

#[test]
fn each_byte_of_a_word_is_chosen() {
    let words = [[0xc0b8_3038, 0]; 64];
    let value = |text: &str| {
        let found = left(&words, "", |to, from| format!("{text}_e64 {to}, {}", from.at(0)));
        [found[0], found[1]]
    };
    let both = |op_sel: u32| {
        let found =
            left(&words, "", |to, from| format!("v_cvt_pk_f32_fp8_e64 {to}, {} op_sel:[{op_sel},0]", from.at(0)));
        [found[0], found[1]].map(f32::from_bits)
    };
    assert_eq!(both(0), [1.0, 0.5]);
    assert_eq!(both(1), [-1.0, -2.0]);
    assert_eq!(value("v_cvt_pk_f32_fp8").map(f32::from_bits), [1.0, 0.5]);
    let byte = |low: u32, high: u32| {
        let text = |to: Vector, from: Vector| {
            format!("v_cvt_f32_fp8_e64 {}, {} op_sel:[{low},{high},0,0]", to.at(0), from.at(0))
        };
        f32::from_bits(left(&words, "", text)[0])
    };
    // The second bit of op_sel is the lower one of the number of the byte.
    assert_eq!([byte(0, 0), byte(0, 1), byte(1, 0), byte(1, 1)], [1.0, 0.5, -1.0, -2.0]);
}

/// Returns the bits of a rounded value; overflows saturate or not.
fn rounded<F: Float>(bits: u32, saturates: bool, largest: u32, infinity: u32) -> u32
where
    Single: FloatConvert<F>,
{
    let from = Single::from_bits(bits.into());
    let to: F = from.convert_r(Round::NearestTiesToEven, &mut false).value;
    let sign = bits >> 31 << 7;
    let magnitude = to.to_bits() as u32 & 0x7f;
    if from.is_nan() {
        0x7f
    } else if magnitude > largest {
        sign | if saturates { largest } else { infinity }
    } else {
        sign | magnitude
    }
}

#[test]
fn floats_are_rounded_to_even_and_overflows_saturate_if_mode_says_so() {
    let corners =
        [447.0_f32, 448.0, 463.9, 464.0, 465.0, 1.0e9, 57344.0, 61439.0, 61440.0, 1.0e-9, 0.001_953, f32::INFINITY];
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Exponents about those of the formats.
        let word = (state >> 32) as u32;
        word & 0x807f_ffff | (100 + word % 47) << 23
    };
    for round in 0..40 {
        let words: [[u32; 2]; 64] = std::array::from_fn(|lane| {
            if round == 0 {
                [corners[lane % 12].to_bits(), (-corners[(lane + 5) % 12]).to_bits()]
            } else {
                [random(), random()]
            }
        });
        for saturates in [false, true] {
            let setup = if saturates { "s_setreg_imm32_b32 hwreg(1, 23, 1), 1" } else { "" };
            for half in [0, 1] {
                for name in ["fp8", "bf8"] {
                    let text = |to: Vector, from: Vector| {
                        format!("v_cvt_pk_{name}_f32 {}, {}, {} op_sel:[0,0,{half}]", to.at(0), from.at(0), from.at(1))
                    };
                    let found = left(&words, setup, text);
                    for (lane, pair) in words.iter().enumerate() {
                        let [low, high] = pair.map(|bits| match name {
                            "fp8" => rounded::<Float8E4M3FN>(bits, saturates, 0x7e, 0x7f),
                            _ => rounded::<Float8E5M2>(bits, saturates, 0x7b, 0x7c),
                        });
                        let both = low | high << 8;
                        let expected = if half == 0 { 0x5555_0000 | both } else { 0x5555 | both << 16 };
                        assert_eq!(found[2 * lane], expected, "{name} {pair:x?} {saturates}");
                    }
                }
            }
        }
    }
}

#[test]
fn stochastic_rounding_goes_up_for_the_share_of_random_numbers_that_the_distance_is() {
    // 1 + 1/32 lies a quarter of the way from 1 to 1.125: up for the upper quarter of the random numbers.
    for (random, byte) in [(0, 0x38), (0xbfff_f000, 0x38), (0xc000_0000, 0x39), (0xffff_ffff, 0x39)] {
        let words = [[1.03125_f32.to_bits(), random]; 64];
        let text = |to: Vector, from: Vector| {
            format!("v_cvt_sr_fp8_f32 {}, {}, {} op_sel:[0,0,1,0]", to.at(0), from.at(0), from.at(1))
        };
        assert_eq!(left(&words, "", text)[0], 0x5555_0055 | byte << 8, "{random:#x}");
    }
}

#[test]
fn dot_products_of_bytes_are_sums_of_their_numbers() {
    // 1, 0.5, -1, -2 of FP8; 1, 2, 0.5, -1 of BF8.
    let words = [[0xc0b8_3038, 0xbc38_403c]; 64];
    let result = |name: &str, modifiers: &str| {
        let text =
            |to: Vector, from: Vector| format!("{name} {}, {}, {}, 4.0 {modifiers}", to.at(0), from.at(0), from.at(1));
        f32::from_bits(left(&words, "", text)[0])
    };
    assert_eq!(result("v_dot4_f32_fp8_bf8", ""), 1.0 + 1.0 - 0.5 + 2.0 + 4.0);
    assert_eq!(result("v_dot4_f32_fp8_bf8", "neg_lo:[0,0,1]"), 1.0 + 1.0 - 0.5 + 2.0 - 4.0);
    // As BF8 the first is 0.5, 0.125, -0.5, -2; as FP8 the second is 1.5, 2, 1, -1.5.
    assert_eq!(result("v_dot4_f32_bf8_fp8", ""), 0.75 + 0.25 - 0.5 + 3.0 + 4.0);
    assert_eq!(result("v_dot4_f32_fp8_fp8", ""), 1.5 + 1.0 - 1.0 + 3.0 + 4.0);
    assert_eq!(result("v_dot4_f32_bf8_bf8", ""), 0.5 + 0.25 - 0.25 + 2.0 + 4.0);
}
