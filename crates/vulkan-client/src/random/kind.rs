//! Kinds of value that a shader computes with.

/// A scalar type of SPIR-V. Integers have no sign of their own: instructions give them one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar {
    Bool,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Scalar {
    /// Returns `true` for the floating-point kinds.
    pub(super) const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Returns its width in bits; that of a boolean is 1.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::U16 | Self::F16 => 16,
            Self::U32 | Self::F32 => 32,
            Self::U64 | Self::F64 => 64,
        }
    }

    /// Returns the bits of a power of two of a floating-point kind.
    pub(super) const fn power(self, exponent: i64) -> u64 {
        let (bias, mantissa) = match self {
            Self::F16 => (15, 10),
            Self::F64 => (1023, 52),
            _ => (127, 23),
        };
        (exponent + bias).cast_unsigned() << mantissa
    }
}

#[cfg(test)]
mod tests {
    use super::Scalar;

    #[test]
    fn powers_of_two_have_the_bits_of_ieee() {
        assert_eq!(Scalar::F32.power(3), u64::from(8.0_f32.to_bits()));
        assert_eq!(Scalar::F64.power(-7), 2.0_f64.powi(-7).to_bits());
        assert_eq!(Scalar::F16.power(0), 0x3c00);
    }
}
