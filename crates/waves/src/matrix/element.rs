//! Elements of matrices: their bits as numbers, and numbers as their bits.

use crate::number::{
    half::Half,
    round::{Direction, encode, odd_sum},
    small::SmallFloat,
};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F16,
    /// The upper half of a 32-bit float.
    Brain,
    Small(SmallFloat),
    /// An integer of 4, 8 or 32 bits.
    Integer {
        bits: u32,
        signed: bool,
    },
}

impl Element {
    pub(crate) const INT32: Self = Self::Integer { bits: 32, signed: true };

    /// Returns the size in bits.
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::F32 => 32,
            Self::F16 | Self::Brain => 16,
            Self::Small(_) => 8,
            Self::Integer { bits, .. } => bits,
        }
    }

    /// Returns `true` for floats.
    pub(super) fn is_float(self) -> bool {
        !matches!(self, Self::Integer { .. })
    }

    /// Returns the value of the low bits of a word, which is exact.
    pub(super) fn value(self, word: u32) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(word)),
            Self::F16 => Half(word as u16).wide(),
            Self::Brain => f64::from(f32::from_bits(word << 16)),
            Self::Small(format) => f64::from(format.value(word as u8)),
            Self::Integer { bits, signed } => {
                let raised = word << (32 - bits);
                if signed { f64::from(raised.cast_signed() >> (32 - bits)) } else { f64::from(raised >> (32 - bits)) }
            }
        }
    }

    /// Returns the bits of `product + added`, rounded once to nearest, or saturated.
    pub(super) fn sum(self, product: f64, added: f64, saturates: bool) -> u32 {
        match self {
            Self::F16 => Half::rounded(odd_sum(product, added), Direction::Nearest).0.into(),
            Self::Brain => encode(odd_sum(product, added), 7, 127, Direction::Nearest),
            Self::Integer { .. } => {
                // Both are integers of less than 53 bits.
                let sum = (product + added) as i64;
                if saturates { sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32 } else { sum as u32 }
            }
            _ => encode(odd_sum(product, added), 23, 127, Direction::Nearest),
        }
    }
}
