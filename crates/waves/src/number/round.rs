//! Rounding in any direction, from exact or odd-rounded 64-bit values.

/// A rounding direction, as the MODE register numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Direction {
    /// Returns the direction of the two low bits.
    pub(crate) fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Nearest,
            1 => Self::Up,
            2 => Self::Down,
            _ => Self::Zero,
        }
    }

    /// Returns `true` if a result whose magnitude is too large becomes infinity rather than the largest number.
    fn overflows(self, negative: bool) -> bool {
        match self {
            Self::Nearest => true,
            Self::Up => !negative,
            Self::Down => negative,
            Self::Zero => false,
        }
    }
}

/// Returns `a + b` rounded to odd: the last bit is set if the sum is not exact. Rounding that again to half the bits gives the
/// same as rounding the exact sum once.
pub(crate) fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    let bits = sum.to_bits();
    let away = (error > 0.0) == (sum > 0.0);
    let adjusted = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    // A NaN error belongs to an infinite or undefined sum, which stays.
    if error.abs() > 0.0 && bits & 1 == 0 { f64::from_bits(adjusted) } else { sum }
}

/// Returns `a + b` rounded to odd, from which rounding in a direction gives the correctly rounded sum: a sum that is exactly zero
/// is -0 if results are rounded down, unless both operands are +0.
pub(crate) fn directed_sum(a: f64, b: f64, direction: Direction) -> f64 {
    let sum = odd_sum(a, b);
    let has_negative = a.is_sign_negative() || b.is_sign_negative();
    if sum == 0.0 && has_negative && direction == Direction::Down { -0.0 } else { sum }
}

/// Returns `a * b + c`, rounded once to nearest. `FUSES` is `true` if there is an instruction for it: otherwise Rust would call a
/// function, which is slower than two 64-bit operations.
#[inline(always)]
pub(crate) fn fma32<const FUSES: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSES { a.mul_add(b, c) } else { odd_sum(f64::from(a) * f64::from(b), f64::from(c)) as f32 }
}

/// Returns the encoding of `value` with `mantissa` bits and the exponent bias `bias`, rounded in a direction; NaN becomes the quiet one.
pub(crate) fn encode(value: f64, mantissa: u32, bias: i32, direction: Direction) -> u32 {
    let bits = value.to_bits();
    let negative = bits >> 63 != 0;
    let exponent_bits = 2 * bias as u32 + 1;
    let sign = u32::from(negative) << (mantissa + exponent_bits.count_ones());
    let infinity = exponent_bits << mantissa;
    if value.is_nan() {
        return infinity | 1 << (mantissa - 1);
    }
    if value.is_infinite() {
        return sign | infinity;
    }
    if value == 0.0 {
        return sign;
    }
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let smallest = 1 - bias;
    let below = (smallest - exponent).max(0) as u32;
    let shift = (52 - mantissa + below).min(62);
    let (quotient, rest) = (significand >> shift, significand & ((1 << shift) - 1));
    let middle = 1_u64 << (shift - 1);
    let up = match direction {
        Direction::Nearest => rest > middle || rest == middle && quotient & 1 == 1,
        Direction::Up => !negative && rest != 0,
        Direction::Down => negative && rest != 0,
        Direction::Zero => false,
    };
    let quotient = quotient as u32 + u32::from(up);
    let encoded = if below > 0 {
        quotient
    } else if exponent > bias {
        infinity
    } else {
        (((exponent + bias - 1) as u32) << mantissa) + quotient
    };
    if encoded >= infinity {
        return sign | if direction.overflows(negative) { infinity } else { infinity - 1 };
    }
    sign | encoded
}

/// Returns `value` as a 32-bit float, rounded in a direction.
pub(crate) fn to_f32(value: f64, direction: Direction) -> f32 {
    match direction {
        Direction::Nearest => value as f32,
        _ => f32::from_bits(encode(value, 23, 127, direction)),
    }
}

/// Returns the neighbour of a result rounded to nearest that the direction requires, by the sign of the rounding error.
pub(crate) fn direct(nearest: f64, error: f64, direction: Direction) -> f64 {
    if error == 0.0 || error.is_nan() || nearest.is_nan() {
        return nearest;
    }
    if nearest.is_infinite() {
        // An overflow: infinity itself has no error.
        return if direction.overflows(nearest < 0.0) { nearest } else { f64::MAX.copysign(nearest) };
    }
    match direction {
        Direction::Up if error > 0.0 => nearest.next_up(),
        Direction::Down if error < 0.0 => nearest.next_down(),
        Direction::Zero if nearest > 0.0 && error < 0.0 => nearest.next_down(),
        Direction::Zero if nearest < 0.0 && error > 0.0 => nearest.next_up(),
        _ => nearest,
    }
}

/// Returns the rounding error of `a + b` to nearest.
pub(crate) fn sum_error(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_infinite() {
        // Of an overflow the error has the other sign.
        return if a.is_finite() && b.is_finite() { -sum } else { 0.0 };
    }
    let part = sum - a;
    (a - (sum - part)) + (b - part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn encoding_to_nearest_is_the_conversion_of_the_language(bits in any::<u64>(), narrow in any::<u32>()) {
            for value in [f64::from_bits(bits), f64::from(f32::from_bits(narrow)) * 1.000_000_05, f64::from(f32::from_bits(narrow))] {
                let converted = value as f32;
                if !converted.is_nan() {
                    prop_assert_eq!(encode(value, 23, 127, Direction::Nearest), converted.to_bits());
                }
            }
        }

        #[test]
        fn directed_roundings_enclose_the_value(bits in any::<u32>(), scale in 0.5_f64..2.0) {
            let value = f64::from(f32::from_bits(bits)) * scale;
            if value.is_finite() {
                let rounded = |direction| f64::from(to_f32(value, direction));
                prop_assert!(rounded(Direction::Down) <= value && value <= rounded(Direction::Up));
                prop_assert!(rounded(Direction::Zero).abs() <= value.abs());
            }
        }

        #[test]
        fn the_fused_product_is_rounded_once(a in any::<f32>(), b in any::<f32>(), c in any::<f32>()) {
            let expected = a.mul_add(b, c);
            let result = fma32::<false>(a, b, c);
            prop_assert!(result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan());
        }
    }
}
