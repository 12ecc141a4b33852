//! Conversions between number formats.

use super::kernel::operations;
use crate::number::{
    half::Half,
    integer::saturate,
    mode::Mode,
    round::{Direction, to_f32},
    small::SmallFloat::{self, Bf8, Fp8},
};

/// Returns two halves as one dword.
fn pair(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// Returns a value in [-1, 1] as a signed normalised 16-bit number.
fn norm_signed(value: f64) -> u16 {
    ((value.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16) as u16
}

/// Returns a value in [0, 1] as an unsigned normalised 16-bit number.
fn norm_unsigned(value: f64) -> u16 {
    (value.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16
}

/// Returns `value` as an integer of 8 bits, rounded by the mode and saturated.
fn to_u8(value: f32, mode: Mode) -> u32 {
    let rounded = match mode.round32() {
        Direction::Nearest => value.round_ties_even(),
        Direction::Up => value.ceil(),
        Direction::Down => value.floor(),
        Direction::Zero => value.trunc(),
    };
    u32::from(rounded as u8)
}

/// Returns `old` with byte `index` replaced.
fn with_byte(old: u32, index: u32, byte: u32) -> u32 {
    let shift = 8 * (index & 3);
    old & !(0xff << shift) | byte << shift
}

/// Returns the halves of `value`, each saturated to 8 bits.
fn saturate_pair(value: u32) -> u16 {
    let byte = |half: u16| half.cast_signed().clamp(0, 255) as u16;
    byte(value as u16) | byte((value >> 16) as u16) << 8
}

/// Returns the values of two bytes, the second in the upper half.
fn small_pair(format: SmallFloat, word: u32) -> u64 {
    let value = |byte: u32| u64::from(format.value(byte as u8).to_bits());
    value(word) | value(word >> 8) << 32
}

/// Returns two values as bytes. They saturate if MODE says that 16-bit floats do.
fn small(format: SmallFloat, values: [f32; 2], mode: Mode) -> u32 {
    let [low, high] = values.map(|value| u32::from(format.rounded(f64::from(value), mode.saturates16())));
    low | high << 8
}

operations! { TABLE;
    narrow [VCvtF32I32] (a: i32; mode) -> f32 { to_f32(f64::from(a), mode.round32()) }
    narrow [VCvtF32U32] (a: u32; mode) -> f32 { to_f32(f64::from(a), mode.round32()) }
    narrow [VCvtI32F32] (a: f32) -> i32 { a as i32 }
    narrow [VCvtU32F32] (a: f32) -> u32 { a as u32 }
    narrow [VCvtRpiI32F32, VCvtNearestI32F32] (a: f32) -> i32 { (f64::from(a) + 0.5).floor() as i32 }
    narrow [VCvtFlrI32F32, VCvtFloorI32F32] (a: f32) -> i32 { a.floor() as i32 }
    narrow [VCvtF32Ubyte0] (a: u32) -> f32 { (a & 0xff) as f32 }
    narrow [VCvtF32Ubyte1] (a: u32) -> f32 { (a >> 8 & 0xff) as f32 }
    narrow [VCvtF32Ubyte2] (a: u32) -> f32 { (a >> 16 & 0xff) as f32 }
    narrow [VCvtF32Ubyte3] (a: u32) -> f32 { (a >> 24) as f32 }
    narrow [VCvtOffF32I4] (a: u32) -> f32 { ((a << 28).cast_signed() >> 28) as f32 / 16.0 }
    narrow [VCvtF16F32] (a: super::kernel::Bits32; mode) -> Half { Half::new(f64::from(f32::from_bits(a.0)), mode) }
    narrow [VCvtF32F16] (a: Half) -> f32 { a.value() }
    narrow [VCvtF16U16] (a: u16; mode) -> Half { Half::new(f64::from(a), mode) }
    narrow [VCvtF16I16] (a: i16; mode) -> Half { Half::new(f64::from(a), mode) }
    narrow [VCvtU16F16] (a: Half) -> u16 { a.value() as u16 }
    narrow [VCvtI16F16] (a: Half) -> i16 { a.value() as i16 }
    narrow [VCvtI32I16] (a: i16) -> i32 { i32::from(a) }
    narrow [VCvtU32U16] (a: u16) -> u32 { u32::from(a) }
    narrow [VCvtNormI16F16] (a: Half) -> u16 { norm_signed(a.wide()) }
    narrow [VCvtNormU16F16] (a: Half) -> u16 { norm_unsigned(a.wide()) }
    narrow [VSatPkU8I16] (a: u32) -> u16 { saturate_pair(a) }
    narrow [VCvtPkrtzF16F32, VCvtPkRtzF16F32] (a: super::kernel::Bits32, b: super::kernel::Bits32) -> u32 {
        let half = |value: super::kernel::Bits32| Half::rounded(f64::from(f32::from_bits(value.0)), Direction::Zero).0;
        pair(half(a), half(b))
    }
    narrow [VCvtPknormI16F32, VCvtPkNormI16F32] (a: f32, b: f32) -> u32 { pair(norm_signed(f64::from(a)), norm_signed(f64::from(b))) }
    narrow [VCvtPknormU16F32, VCvtPkNormU16F32] (a: f32, b: f32) -> u32 { pair(norm_unsigned(f64::from(a)), norm_unsigned(f64::from(b))) }
    narrow [VCvtPknormI16F16, VCvtPkNormI16F16] (a: Half, b: Half) -> u32 { pair(norm_signed(a.wide()), norm_signed(b.wide())) }
    narrow [VCvtPknormU16F16, VCvtPkNormU16F16] (a: Half, b: Half) -> u32 { pair(norm_unsigned(a.wide()), norm_unsigned(b.wide())) }
    narrow [VCvtPkU16U32] (a: u32, b: u32) -> u32 { saturate(i64::from(a), 0, 65535) | saturate(i64::from(b), 0, 65535) << 16 }
    narrow [VCvtPkI16I32] (a: i32, b: i32) -> u32 { saturate(i64::from(a), -32768, 32767) & 0xffff | saturate(i64::from(b), -32768, 32767) << 16 }
    narrow [VCvtPkU16F32] (a: f32, b: f32) -> u32 { pair(a as u16, b as u16) }
    narrow [VCvtPkI16F32] (a: f32, b: f32) -> u32 { pair((a as i16).cast_unsigned(), (b as i16).cast_unsigned()) }
    narrow [VCvtPkU8F32, VCvtPkaccumU8F32] (a: f32, b: u32, c: u32; mode) -> u32 { with_byte(c, b, to_u8(a, mode)) }
    wide [VCvtF32F64] (a: f64; mode) -> f32 { to_f32(a, mode.round32()) }
    wide [VCvtF64F32] (a: f32) -> f64 { f64::from(a) }
    wide [VCvtI32F64] (a: f64) -> i32 { a as i32 }
    wide [VCvtU32F64] (a: f64) -> u32 { a as u32 }
    wide [VCvtF64I32] (a: i32) -> f64 { f64::from(a) }
    wide [VCvtF64U32] (a: u32) -> f64 { f64::from(a) }
    narrow [VCvtF32Fp8] (a: u32) -> f32 { Fp8.value(a as u8) }
    narrow [VCvtF32Bf8] (a: u32) -> f32 { Bf8.value(a as u8) }
    wide [VCvtPkF32Fp8] (a: u32) -> u64 { small_pair(Fp8, a) }
    wide [VCvtPkF32Bf8] (a: u32) -> u64 { small_pair(Bf8, a) }
    narrow [VCvtPkFp8F32] (a: f32, b: f32; mode) -> u32 { small(Fp8, [a, b], mode) }
    narrow [VCvtPkBf8F32] (a: f32, b: f32; mode) -> u32 { small(Bf8, [a, b], mode) }
    narrow [VCvtSrFp8F32] (a: f32, b: u32; mode) -> u32 { u32::from(Fp8.stochastic(a, b, mode.saturates16())) }
    narrow [VCvtSrBf8F32] (a: f32, b: u32; mode) -> u32 { u32::from(Bf8.stochastic(a, b, mode.saturates16())) }
}
