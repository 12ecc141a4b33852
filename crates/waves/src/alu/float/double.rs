//! Operations on 64-bit floats.

use crate::alu::kernel::{Bits64, operations};
use crate::number::{
    mode::Mode,
    round::{Direction, direct, directed_sum, sum_error},
};

fn minimum(a: f64, b: f64) -> f64 {
    let first = a < b || b.is_nan() || a == b && a.is_sign_negative();
    if first { a } else { b }
}

fn maximum(a: f64, b: f64) -> f64 {
    let first = a > b || b.is_nan() || a == b && a.is_sign_positive();
    if first { a } else { b }
}

fn minimum_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { minimum(a, b) }
}

fn maximum_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { maximum(a, b) }
}

/// Returns the sum, rounded as the mode says.
fn sum(a: f64, b: f64, mode: Mode) -> f64 {
    let direction = mode.round64();
    let sum = a + b;
    if sum == 0.0 { directed_sum(a, b, direction) } else { direct(sum, sum_error(a, b), direction) }
}

/// Returns the product, rounded as the mode says.
fn product(a: f64, b: f64, mode: Mode) -> f64 {
    let nearest = a * b;
    if mode.round64() == Direction::Nearest {
        nearest
    } else {
        direct(nearest, fma_error(a, b, 0.0, nearest), mode.round64())
    }
}

/// Returns a number with the sign of the rounding error of `a * b + c`, of which `nearest` is the result rounded to nearest.
fn fma_error(a: f64, b: f64, c: f64, nearest: f64) -> f64 {
    let is_finite = a.is_finite() && b.is_finite() && c.is_finite();
    if !is_finite || nearest.is_infinite() {
        return if is_finite { -nearest } else { 0.0 };
    }
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let (exponent_of_product, sign) = (exponent(a) + exponent(b), a.signum() * b.signum());
    let apart = if c == 0.0 { 4000 } else { exponent_of_product - exponent(c) };
    if apart < -200 {
        return sign;
    }
    // Scaled by a power of two, the product is near 1, and nothing underflows.
    let (a, b) = (mantissa(a), mantissa(b));
    let [addend, nearest] = [c, nearest].map(|value| scaled(value, -exponent_of_product));
    let product = a * b;
    let rest = a.mul_add(b, -product);
    if apart > 200 {
        let error = (product - nearest) + rest;
        return if error == 0.0 { c } else { error };
    }
    let (sum, of_sum) = (product + addend, sum_error(product, addend));
    let (small, of_small) = (of_sum + rest, sum_error(of_sum, rest));
    ((sum - nearest) + small) + of_small
}

/// Returns the fused sum of a product and `c`, rounded as the mode says.
fn fma(a: f64, b: f64, c: f64, mode: Mode) -> f64 {
    let nearest = a.mul_add(b, c);
    let direction = mode.round64();
    if direction == Direction::Nearest {
        return nearest;
    }
    let error = fma_error(a, b, c, nearest);
    // A sum that is exactly zero has the sign that the direction gives it.
    if nearest == 0.0 && error == 0.0 { directed_sum(a * b, c, direction) } else { direct(nearest, error, direction) }
}

fn exponent(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let field = |value: f64| (value.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    if value.is_normal() { field(value) } else { field(value * 2.0_f64.powi(64)) - 64 }
}

/// Returns `value * 2^exponent`. Denormal results are reached in one step, so that they are rounded once.
pub(crate) fn scaled(value: f64, exponent: i32) -> f64 {
    let mut exponent = exponent.clamp(-2200, 2200);
    let mut value = value;
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    while exponent > 1000 {
        value *= 2.0_f64.powi(1000);
        exponent -= 1000;
    }
    if exponent >= -1000 {
        return value * 2.0_f64.powi(exponent);
    }
    // Normal numbers stay exact on the way down to about 1; the last step alone may round.
    let size = self::exponent(value).max(0);
    let mut rest = size.min(-exponent - 1);
    exponent += rest;
    // 2^-1024 and less are not normal numbers.
    while rest > 0 {
        let step = rest.min(1000);
        value *= 2.0_f64.powi(-step);
        rest -= step;
    }
    if exponent < -1022 {
        let second = -1022 - exponent;
        return value * 2.0_f64.powi(-second) * 2.0_f64.powi(-1022);
    }
    value * 2.0_f64.powi(exponent)
}

fn mantissa(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() { value } else { scaled(value, -exponent(value)) }
}

/// Returns the fractional part, below 1; a NaN stays.
fn fraction(value: f64) -> f64 {
    const LARGEST: f64 = f64::from_bits(0x3fef_ffff_ffff_ffff);
    let fraction = value - value.floor();
    if fraction > LARGEST { LARGEST } else { fraction }
}

/// Returns `value * 2^exponent`, rounded as the mode says.
fn ldexp(value: f64, exponent: i32, mode: Mode) -> f64 {
    let nearest = scaled(value, exponent);
    if mode.round64() == Direction::Nearest || value == 0.0 || !value.is_finite() {
        return nearest;
    }
    // Scaled back, the result is exact again.
    let error = if nearest.is_infinite() { -nearest } else { value - scaled(nearest, exponent.saturating_neg()) };
    direct(nearest, error, mode.round64())
}

fn division_fixup(quotient: f64, denominator: f64, numerator: f64) -> f64 {
    let negative = denominator.is_sign_negative() != numerator.is_sign_negative();
    let signed = |value: f64| if negative { -value } else { value };
    if numerator.is_nan() || denominator.is_nan() {
        return f64::NAN;
    }
    match (denominator == 0.0, numerator == 0.0, denominator.is_infinite(), numerator.is_infinite()) {
        (true, true, ..) | (_, _, true, true) => f64::NAN,
        (true, ..) | (.., true) => signed(f64::INFINITY),
        (_, true, ..) | (_, _, true, _) => signed(0.0),
        _ => signed(quotient.abs()),
    }
}

fn class(bits: u64, mask: u32) -> bool {
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    super::class::has(bits >> 63 != 0, exponent == 0x7ff, exponent == 0, fraction, 1 << 51, mask)
}

/// The first bits of 2/pi after the point, from which range reduction takes its pieces.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// Returns the piece of 2/pi that range reduction multiplies `value` with; `segment` counts 53-bit pieces.
fn trig_preop(value: f64, segment: u32) -> f64 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32;
    let mut shift = (segment & 31) * 53;
    if exponent > 1077 {
        shift += (exponent - 1077) as u32;
    }
    let bit = |index: u32| TWO_OVER_PI.get(index as usize / 64).map_or(0, |word| word >> (63 - index % 64) & 1);
    let piece = (shift..shift + 53).fold(0_u64, |piece, index| piece << 1 | bit(index));
    let scale = if exponent >= 1968 { 128 } else { 0 } - 53 - shift as i32;
    scaled(piece as f64, scale)
}

operations! { TABLE;
    wide [VAddF64] (a: f64, b: f64; mode) -> f64 { sum(a, b, mode) }
    wide [VMulF64] (a: f64, b: f64; mode) -> f64 { product(a, b, mode) }
    wide [VFmaF64, VDivFmasF64] (a: f64, b: f64, c: f64; mode) -> f64 { fma(a, b, c, mode) }
    wide [VMinF64, VMinNumF64] (a: f64, b: f64) -> f64 { minimum(a, b) }
    wide [VMaxF64, VMaxNumF64] (a: f64, b: f64) -> f64 { maximum(a, b) }
    wide [VMinimumF64] (a: f64, b: f64) -> f64 { minimum_nan(a, b) }
    wide [VMaximumF64] (a: f64, b: f64) -> f64 { maximum_nan(a, b) }
    wide [VFloorF64] (a: f64) -> f64 { a.floor() }
    wide [VCeilF64] (a: f64) -> f64 { a.ceil() }
    wide [VTruncF64] (a: f64) -> f64 { a.trunc() }
    wide [VRndneF64] (a: f64) -> f64 { a.round_ties_even() }
    wide [VFractF64] (a: f64) -> f64 { fraction(a) }
    wide [VRcpF64] (a: f64) -> f64 { 1.0 / a }
    wide [VRcpClampF64] (a: f64) -> f64 { (1.0 / a).clamp(-f64::MAX, f64::MAX) }
    wide [VRsqF64] (a: f64) -> f64 { if a == 0.0 { 1.0 / a } else { 1.0 / a.sqrt() } }
    wide [VRsqClampF64] (a: f64) -> f64 { (1.0 / a.sqrt()).clamp(-f64::MAX, f64::MAX) }
    wide [VSqrtF64] (a: f64) -> f64 { a.sqrt() }
    wide [VFrexpMantF64] (a: f64) -> f64 { mantissa(a) }
    wide [VFrexpExpI32F64] (a: f64) -> i32 { exponent(a) }
    wide [VLdexpF64] (a: f64, b: i32; mode) -> f64 { ldexp(a, b, mode) }
    wide [VDivFixupF64] (a: f64, b: f64, c: f64) -> f64 { division_fixup(a, b, c) }
    wide [VTrigPreopF64] (a: f64, b: u32) -> f64 { trig_preop(a, b) }
    wide [VCmpClassF64, VCmpxClassF64] (a: Bits64, b: u32) -> bool { class(a.0, b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn mantissa_and_exponent_make_the_value(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value != 0.0 && value.is_finite());
            prop_assert!((0.5..1.0).contains(&mantissa(value).abs()));
            prop_assert_eq!(scaled(mantissa(value), exponent(value)), value);
        }
    }

    #[test]
    fn scaling_rounds_denormals_once() {
        let value = f64::from_bits(0x3ff8_0000_0000_0001);
        assert_eq!(scaled(value, -1074), f64::from_bits(2));
        assert_eq!(scaled(f64::MAX, -2098), f64::from_bits(1));
        assert_eq!(scaled(f64::from_bits(1), 1074), 1.0);
    }
}
