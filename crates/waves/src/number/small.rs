//! 8-bit floats of GFX12: FP8 (four bits of exponent, no infinity) and BF8 (five bits of exponent).

use super::round::{Direction, encode};

/// A format of eight bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmallFloat {
    /// E4M3: all ones are a NaN, 448 is the largest number.
    Fp8,
    /// E5M2, with infinity; 57344 is the largest number.
    Bf8,
}

impl SmallFloat {
    /// Returns the number of bits of the mantissa, and the exponent bias.
    fn layout(self) -> (u32, i32) {
        match self {
            Self::Fp8 => (3, 7),
            Self::Bf8 => (2, 15),
        }
    }

    /// Returns the bits of the positive value that overflows give: NaN, which FP8 has instead of infinity, or infinity.
    fn overflow(self) -> u8 {
        match self {
            Self::Fp8 => 0x7f,
            Self::Bf8 => 0x7c,
        }
    }

    /// Returns the value, which is exact.
    pub(crate) fn value(self, bits: u8) -> f32 {
        let (mantissa, bias) = self.layout();
        let magnitude = u32::from(bits & 0x7f);
        let (exponent, fraction) = (magnitude >> mantissa, magnitude & ((1 << mantissa) - 1));
        let steps = fraction as f32 / (1 << mantissa) as f32;
        let value = match (self, exponent) {
            (Self::Fp8, _) if magnitude == 0x7f => f32::NAN,
            (Self::Bf8, 31) if fraction != 0 => f32::NAN,
            (Self::Bf8, 31) => f32::INFINITY,
            (_, 0) => steps * 2.0_f32.powi(1 - bias),
            _ => (1.0 + steps) * 2.0_f32.powi(exponent as i32 - bias),
        };
        if bits & 0x80 != 0 { -value } else { value }
    }

    /// Returns `value` rounded to nearest even; what is too large becomes the largest number if `saturates`, and infinity or NaN
    /// otherwise.
    pub(crate) fn rounded(self, value: f64, saturates: bool) -> u8 {
        let (mantissa, bias) = self.layout();
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if value.is_nan() {
            return 0x7f;
        }
        let most = self.overflow() - 1;
        // One more binade than an IEEE format of the same layout has: its numbers are encoded with a larger exponent.
        let magnitude = value.abs();
        let encoded = if magnitude >= 2.0_f64.powi(bias + 1) {
            let scaled = encode(magnitude / 2.0, mantissa, bias, Direction::Nearest);
            scaled + (1 << mantissa)
        } else {
            encode(magnitude, mantissa, bias, Direction::Nearest)
        };
        let bits = match u8::try_from(encoded) {
            Ok(bits) if bits <= most => bits,
            _ if saturates => most,
            _ => self.overflow(),
        };
        sign | bits
    }

    /// Returns `value` rounded up in magnitude with the probability that 20 random bits, the high ones of a word, decide.
    pub(crate) fn stochastic(self, value: f32, random: u32, saturates: bool) -> u8 {
        let (mantissa, bias) = self.layout();
        let value = f64::from(value);
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if !value.is_finite() {
            return self.rounded(value, saturates);
        }
        let magnitude = value.abs();
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
        // The distance of neighbours, of which a share of the random bits is added before cutting.
        let step = 2.0_f64.powi(exponent - mantissa as i32);
        let raised = magnitude + step * f64::from(random >> 12) / f64::from(1 << 20);
        let cut = (raised / step).floor() * step;
        self.rounded(cut, saturates) | sign
    }
}
