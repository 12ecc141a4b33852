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
    narrow ["v_cvt_f32_i32"] (a: i32; mode) -> f32 { to_f32(f64::from(a), mode.round32()) }
    narrow ["v_cvt_f32_u32"] (a: u32; mode) -> f32 { to_f32(f64::from(a), mode.round32()) }
    narrow ["v_cvt_i32_f32"] (a: f32) -> i32 { a as i32 }
    narrow ["v_cvt_u32_f32"] (a: f32) -> u32 { a as u32 }
    narrow ["v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32"] (a: f32) -> i32 { (f64::from(a) + 0.5).floor() as i32 }
    narrow ["v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32"] (a: f32) -> i32 { a.floor() as i32 }
    narrow ["v_cvt_f32_ubyte0"] (a: u32) -> f32 { (a & 0xff) as f32 }
    narrow ["v_cvt_f32_ubyte1"] (a: u32) -> f32 { (a >> 8 & 0xff) as f32 }
    narrow ["v_cvt_f32_ubyte2"] (a: u32) -> f32 { (a >> 16 & 0xff) as f32 }
    narrow ["v_cvt_f32_ubyte3"] (a: u32) -> f32 { (a >> 24) as f32 }
    narrow ["v_cvt_off_f32_i4"] (a: u32) -> f32 { ((a << 28).cast_signed() >> 28) as f32 / 16.0 }
    narrow ["v_cvt_f16_f32"] (a: super::kernel::Bits32; mode) -> Half { Half::new(f64::from(f32::from_bits(a.0)), mode) }
    narrow ["v_cvt_f32_f16"] (a: Half) -> f32 { a.value() }
    narrow ["v_cvt_f16_u16"] (a: u16; mode) -> Half { Half::new(f64::from(a), mode) }
    narrow ["v_cvt_f16_i16"] (a: i16; mode) -> Half { Half::new(f64::from(a), mode) }
    narrow ["v_cvt_u16_f16"] (a: Half) -> u16 { a.value() as u16 }
    narrow ["v_cvt_i16_f16"] (a: Half) -> i16 { a.value() as i16 }
    narrow ["v_cvt_i32_i16"] (a: i16) -> i32 { i32::from(a) }
    narrow ["v_cvt_u32_u16"] (a: u16) -> u32 { u32::from(a) }
    narrow ["v_cvt_norm_i16_f16"] (a: Half) -> u16 { norm_signed(a.wide()) }
    narrow ["v_cvt_norm_u16_f16"] (a: Half) -> u16 { norm_unsigned(a.wide()) }
    narrow ["v_sat_pk_u8_i16"] (a: u32) -> u16 { saturate_pair(a) }
    narrow ["v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"] (a: super::kernel::Bits32, b: super::kernel::Bits32) -> u32 {
        let half = |value: super::kernel::Bits32| Half::rounded(f64::from(f32::from_bits(value.0)), Direction::Zero).0;
        pair(half(a), half(b))
    }
    narrow ["v_cvt_pknorm_i16_f32", "v_cvt_pk_norm_i16_f32"] (a: f32, b: f32) -> u32 { pair(norm_signed(f64::from(a)), norm_signed(f64::from(b))) }
    narrow ["v_cvt_pknorm_u16_f32", "v_cvt_pk_norm_u16_f32"] (a: f32, b: f32) -> u32 { pair(norm_unsigned(f64::from(a)), norm_unsigned(f64::from(b))) }
    narrow ["v_cvt_pknorm_i16_f16", "v_cvt_pk_norm_i16_f16"] (a: Half, b: Half) -> u32 { pair(norm_signed(a.wide()), norm_signed(b.wide())) }
    narrow ["v_cvt_pknorm_u16_f16", "v_cvt_pk_norm_u16_f16"] (a: Half, b: Half) -> u32 { pair(norm_unsigned(a.wide()), norm_unsigned(b.wide())) }
    narrow ["v_cvt_pk_u16_u32"] (a: u32, b: u32) -> u32 { saturate(i64::from(a), 0, 65535) | saturate(i64::from(b), 0, 65535) << 16 }
    narrow ["v_cvt_pk_i16_i32"] (a: i32, b: i32) -> u32 { saturate(i64::from(a), -32768, 32767) & 0xffff | saturate(i64::from(b), -32768, 32767) << 16 }
    narrow ["v_cvt_pk_u16_f32"] (a: f32, b: f32) -> u32 { pair(a as u16, b as u16) }
    narrow ["v_cvt_pk_i16_f32"] (a: f32, b: f32) -> u32 { pair((a as i16).cast_unsigned(), (b as i16).cast_unsigned()) }
    narrow ["v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32"] (a: f32, b: u32, c: u32; mode) -> u32 { with_byte(c, b, to_u8(a, mode)) }
    wide ["v_cvt_f32_f64"] (a: f64; mode) -> f32 { to_f32(a, mode.round32()) }
    wide ["v_cvt_f64_f32"] (a: f32) -> f64 { f64::from(a) }
    wide ["v_cvt_i32_f64"] (a: f64) -> i32 { a as i32 }
    wide ["v_cvt_u32_f64"] (a: f64) -> u32 { a as u32 }
    wide ["v_cvt_f64_i32"] (a: i32) -> f64 { f64::from(a) }
    wide ["v_cvt_f64_u32"] (a: u32) -> f64 { f64::from(a) }
    narrow ["v_cvt_f32_fp8"] (a: u32) -> f32 { Fp8.value(a as u8) }
    narrow ["v_cvt_f32_bf8"] (a: u32) -> f32 { Bf8.value(a as u8) }
    wide ["v_cvt_pk_f32_fp8"] (a: u32) -> u64 { small_pair(Fp8, a) }
    wide ["v_cvt_pk_f32_bf8"] (a: u32) -> u64 { small_pair(Bf8, a) }
    narrow ["v_cvt_pk_fp8_f32"] (a: f32, b: f32; mode) -> u32 { small(Fp8, [a, b], mode) }
    narrow ["v_cvt_pk_bf8_f32"] (a: f32, b: f32; mode) -> u32 { small(Bf8, [a, b], mode) }
    narrow ["v_cvt_sr_fp8_f32"] (a: f32, b: u32; mode) -> u32 { u32::from(Fp8.stochastic(a, b, mode.saturates16())) }
    narrow ["v_cvt_sr_bf8_f32"] (a: f32, b: u32; mode) -> u32 { u32::from(Bf8.stochastic(a, b, mode.saturates16())) }
}
