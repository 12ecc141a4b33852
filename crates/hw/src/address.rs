//! GPU virtual addresses in canonical form.

use std::fmt;

/// A GPU virtual address in canonical form: bits 63..=48 equal bit 47.
///
/// The low half is `[0, 2^47)`, the high half `[0xffff_8000_0000_0000, 2^64)`. The type deliberately has no `Add`: every sum is
/// checked, and must be in the same half.
///
/// Source: `AMDGPU_GMC_HOLE_START` and `AMDGPU_GMC_HOLE_END` in Linux 6.12, `amdgpu_gmc.h`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct GpuVa(u64);

/// The error of an address between the low and the high half, for which `AMDGPU_GEM_VA` returns EINVAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("GPU address {0:#x} is in the hole between the low and the high half")]
pub struct InTheHole(pub u64);

impl GpuVa {
    /// Address zero. No VA window contains it, because the lowest 64 KiB are reserved.
    pub const NULL: Self = Self(0);

    /// Creates an address from a number in canonical form.
    ///
    /// # Errors
    ///
    /// [`InTheHole`] if bits 63..=48 do not equal bit 47.
    #[inline]
    pub const fn new(raw: u64) -> Result<Self, InTheHole> {
        match raw >> 47 {
            0 | 0x1_ffff => Ok(Self(raw)),
            _ => Err(InTheHole(raw)),
        }
    }

    /// Creates an address from its low 48 bits by sign extension. The GPU uses 48 bits in fault reports and page tables.
    #[inline]
    pub const fn from_48_bits(raw: u64) -> Self {
        Self(((raw << 16).cast_signed() >> 16).cast_unsigned())
    }

    /// Creates an address from the two dwords of a packet.
    ///
    /// # Errors
    ///
    /// [`InTheHole`] if bits 63..=48 do not equal bit 47.
    #[inline]
    pub const fn from_halves(low: u32, high: u32) -> Result<Self, InTheHole> {
        Self::new((high as u64) << 32 | low as u64)
    }

    /// Returns the 64-bit canonical address, as the kernel and packets use it.
    #[inline]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Returns the low dword of the address, bits 31..=0.
    #[inline]
    pub const fn low(self) -> u32 {
        self.0 as u32
    }

    /// Returns the high dword of the address, bits 63..=32.
    #[inline]
    pub const fn high(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns bits 47..=0, which GEM_VA uses internally and which index the page tables.
    #[inline]
    pub const fn low_48_bits(self) -> u64 {
        self.0 & 0xffff_ffff_ffff
    }

    /// Returns `self + bytes`; `None` if the sum is outside the half of `self`.
    #[must_use]
    #[inline]
    pub const fn checked_add(self, bytes: u64) -> Option<Self> {
        match self.0.checked_add(bytes) {
            Some(sum) if sum >> 47 == self.0 >> 47 => Some(Self(sum)),
            _ => None,
        }
    }

    /// Returns `true` if the address is a multiple of `alignment`, which need not be a power of two. Returns `false` if `alignment`
    /// is zero.
    #[inline]
    pub const fn is_aligned(self, alignment: u64) -> bool {
        alignment != 0 && self.0.is_multiple_of(alignment)
    }
}

impl fmt::Debug for GpuVa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for GpuVa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::LowerHex for GpuVa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

impl TryFrom<u64> for GpuVa {
    type Error = InTheHole;

    #[inline]
    fn try_from(raw: u64) -> Result<Self, InTheHole> {
        Self::new(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hole_is_refused_and_both_halves_are_taken() {
        for good in [0, 0x7fff_ffff_ffff, 0xffff_8000_0000_0000, u64::MAX] {
            assert_eq!(GpuVa::new(good).map(GpuVa::as_u64), Ok(good));
        }
        for bad in [0x8000_0000_0000, 0xffff_7fff_ffff_ffff, 1 << 63] {
            assert_eq!(GpuVa::new(bad), Err(InTheHole(bad)));
        }
    }

    #[test]
    fn a_sum_never_leaves_its_half() {
        let top = GpuVa::new(0x7fff_ffff_f000).unwrap();
        assert_eq!(top.checked_add(0xfff).map(GpuVa::as_u64), Some(0x7fff_ffff_ffff));
        assert_eq!(top.checked_add(0x1000), None);
        assert_eq!(GpuVa::new(u64::MAX).unwrap().checked_add(1), None);
    }

    #[test]
    fn forty_eight_bits_are_sign_extended() {
        assert_eq!(GpuVa::from_48_bits(0x8000_4083_e000).as_u64(), 0xffff_8000_4083_e000);
        assert_eq!(GpuVa::from_48_bits(0x1234).as_u64(), 0x1234);
    }

    #[test]
    fn two_dwords_are_joined_and_taken_apart() {
        for (low, high) in [(0xffff_fff0, 0x7fff), (0x8000_0001, 0xffff_8000), (5, 0)] {
            let joined = GpuVa::from_halves(low, high).unwrap();
            assert_eq!(joined.as_u64(), u64::from(high) * (1 << 32) + u64::from(low));
            assert_eq!((joined.low(), joined.high()), (low, high));
        }
        assert_eq!(GpuVa::from_halves(7, 0x8000), Err(InTheHole(0x8000_0000_0007)));
    }
}
