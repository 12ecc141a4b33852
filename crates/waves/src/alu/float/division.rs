//! The operations that scale operands of a division and its result.

use crate::alu::kernel::operations;

const TWO64: f32 = 18_446_744_073_709_551_616.0;
const TWO128: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

fn exponent32(value: f32) -> i32 {
    (value.to_bits() >> 23 & 0xff) as i32
}

fn exponent64(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32
}

/// Returns the scaled operand and whether the result is to be scaled back; `a` is `denominator` or `numerator`.
fn scale32(a: f32, denominator: f32, numerator: f32) -> (f32, bool) {
    let is_denominator = a.to_bits() == denominator.to_bits();
    let (n, d) = (exponent32(numerator), exponent32(denominator));
    let subnormal = |value: f32| value != 0.0 && value.abs() < f32::MIN_POSITIVE;
    let quotient_is_small = f64::from(numerator).abs() / f64::from(denominator).abs() < f64::from(f32::MIN_POSITIVE);
    let reciprocal_is_small = 1.0 / f64::from(denominator).abs() < f64::from(f32::MIN_POSITIVE);
    if denominator == 0.0 || numerator == 0.0 {
        (f32::NAN, false)
    } else if n - d >= 96 {
        (if is_denominator { a * TWO64 } else { a }, true)
    } else if subnormal(denominator) {
        (a * TWO64, false)
    } else if reciprocal_is_small && quotient_is_small {
        (if is_denominator { a * TWO64 } else { a }, true)
    } else if reciprocal_is_small {
        (a / TWO64, false)
    } else if quotient_is_small {
        (if is_denominator { a } else { a * TWO64 }, true)
    } else if n <= 23 {
        (a * TWO64, false)
    } else {
        (a, false)
    }
}

/// Returns the scaled operand and whether the result is to be scaled back; `a` is `denominator` or `numerator`.
fn scale64(a: f64, denominator: f64, numerator: f64) -> (f64, bool) {
    let is_denominator = a.to_bits() == denominator.to_bits();
    let (n, d) = (exponent64(numerator), exponent64(denominator));
    let subnormal = |value: f64| value != 0.0 && !value.is_normal() && value.is_finite();
    // Below the normal range by exponents: a quotient just at the limit needs no scaling for its result to be right.
    let quotient_is_small = n - d < -1022
        || n - d == -1022 && {
            let fraction = |value: f64| value.to_bits() & ((1 << 52) - 1);
            fraction(numerator) < fraction(denominator)
        };
    let reciprocal_is_small = (1.0 / denominator).abs() < f64::MIN_POSITIVE;
    if denominator == 0.0 || numerator == 0.0 {
        (f64::NAN, false)
    } else if n - d >= 768 {
        (if is_denominator { a * TWO128 } else { a }, true)
    } else if subnormal(denominator) {
        (a * TWO128, false)
    } else if reciprocal_is_small && quotient_is_small {
        (if is_denominator { a * TWO128 } else { a }, true)
    } else if reciprocal_is_small {
        (a / TWO128, false)
    } else if quotient_is_small {
        (if is_denominator { a } else { a * TWO128 }, true)
    } else if n <= 53 {
        (a * TWO128, false)
    } else {
        (a, false)
    }
}

operations! { TABLE;
    narrow_carry [VDivScaleF32] (a: f32, b: f32, c: f32) -> f32 { scale32(a, b, c) }
    wide_carry [VDivScaleF64] (a: f64, b: f64, c: f64) -> f64 { scale64(a, b, c) }
}
