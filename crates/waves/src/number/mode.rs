//! The MODE register.

use super::round::Direction;

/// The MODE register of a wave: rounding in bits 3:0, denormals in 7:4, DX10_CLAMP in 8, IEEE in 9, FP16_OVFL in 23.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mode(pub(crate) u32);

impl Mode {
    /// Returns the rounding of 32-bit floats.
    pub(crate) fn round32(self) -> Direction {
        Direction::from_bits(self.0)
    }

    /// Returns the rounding of 16-bit and 64-bit floats.
    pub(crate) fn round64(self) -> Direction {
        Direction::from_bits(self.0 >> 2)
    }

    /// Returns `true` if 32-bit denormals are read as zero.
    pub(crate) fn flushes_input32(self) -> bool {
        self.0 & 1 << 4 == 0
    }

    /// Returns `true` if 32-bit denormals are written as zero.
    pub(crate) fn flushes_output32(self) -> bool {
        self.0 & 1 << 5 == 0
    }

    /// Returns `true` if 16-bit and 64-bit denormals are read as zero.
    pub(crate) fn flushes_input64(self) -> bool {
        self.0 & 1 << 6 == 0
    }

    /// Returns `true` if 16-bit and 64-bit denormals are written as zero.
    pub(crate) fn flushes_output64(self) -> bool {
        self.0 & 1 << 7 == 0
    }

    /// Returns `true` if clamping turns a NaN into zero.
    pub(crate) fn clamps_nan(self) -> bool {
        self.0 & 1 << 8 != 0
    }

    /// Returns `true` if conversion to 16 bits saturates instead of giving infinity.
    pub(crate) fn saturates16(self) -> bool {
        self.0 & 1 << 23 != 0
    }
}
