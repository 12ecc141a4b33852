//! 16-bit floats.

use super::{
    mode::Mode,
    round::{Direction, encode},
};

/// A 16-bit float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half(pub(crate) u16);

impl Half {
    const INFINITY: u16 = 0x7c00;

    /// Returns the value, which is exact.
    pub(crate) fn value(self) -> f32 {
        let bits = u32::from(self.0);
        let (sign, exponent, fraction) = ((bits & 0x8000) << 16, bits >> 10 & 31, bits & 0x3ff);
        match exponent {
            0 => {
                let magnitude = fraction as f32 / 16_777_216.0;
                f32::from_bits(magnitude.to_bits() | sign)
            }
            31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
            _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
        }
    }

    /// Returns the value with 64 bits.
    pub(crate) fn wide(self) -> f64 {
        f64::from(self.value())
    }

    /// Returns `value`, rounded in a direction.
    pub(crate) fn rounded(value: f64, direction: Direction) -> Self {
        Self(encode(value, 10, 15, direction) as u16)
    }

    /// Returns `value`, rounded and, where the mode says so, flushed or saturated.
    pub(crate) fn new(value: f64, mode: Mode) -> Self {
        let half = Self::rounded(value, mode.round64());
        if mode.saturates16() && half.0 & 0x7fff == Self::INFINITY && value.is_finite() {
            return Self(half.0 - 1);
        }
        if mode.flushes_output64() { half.flushed() } else { half }
    }

    /// Returns zero of the same sign for a denormal.
    pub(crate) fn flushed(self) -> Self {
        if self.0 & Self::INFINITY == 0 { Self(self.0 & 0x8000) } else { self }
    }

    /// Returns `true` for a NaN.
    pub(crate) fn is_nan(self) -> bool {
        self.0 & 0x7fff > Self::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_through_64_bits() {
        for bits in 0..=u16::MAX {
            let half = Half(bits);
            for direction in [Direction::Nearest, Direction::Up, Direction::Down, Direction::Zero] {
                let again = Half::rounded(half.wide(), direction);
                assert!(again == half || half.is_nan() && again.is_nan(), "{bits:#x} {direction:?}");
            }
        }
    }

    #[test]
    fn halfway_values_round_to_even_and_large_ones_to_infinity() {
        assert_eq!(Half::rounded(1.0 + 1.0 / 2048.0, Direction::Nearest).0, 0x3c00);
        assert_eq!(Half::rounded(1.0 + 3.0 / 2048.0, Direction::Nearest).0, 0x3c02);
        assert_eq!(Half::rounded(65_519.0, Direction::Nearest).0, 0x7bff);
        assert_eq!(Half::rounded(65_520.0, Direction::Nearest).0, 0x7c00);
        assert_eq!(Half::rounded(1.0e9, Direction::Zero).0, 0x7bff);
        assert_eq!(Half::rounded(5.0e-8, Direction::Nearest).0, 1);
        assert_eq!(Half::rounded(2.9e-8, Direction::Nearest).0, 0);
        assert_eq!(Half::rounded(-1.0e-9, Direction::Down).0, 0x8001);
    }
}
