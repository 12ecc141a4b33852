//! Sets of registers: generations, and two chips that differ from theirs.

use amdgpu_hw::{Chip, GfxLevel};

/// A set of registers. Each generation has a set. Stoney and MI300 have their own sets, because their registers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterSet {
    /// The registers of GFX6.
    Gfx6,
    /// The registers of GFX7.
    Gfx7,
    /// The registers of GFX8, except Stoney.
    Gfx8,
    /// The registers of Stoney, a chip of [`GfxLevel::Gfx8`].
    Gfx8_1,
    /// The registers of GFX9, except MI300.
    Gfx9,
    /// The registers of GFX10.
    Gfx10,
    /// The registers of GFX10.3.
    Gfx10_3,
    /// The registers of GFX11.
    Gfx11,
    /// The registers of GFX11.5.
    Gfx11_5,
    /// The registers of GFX12.
    Gfx12,
    /// The registers of MI300, a chip of [`GfxLevel::Gfx9`].
    Gfx9_4,
}

impl RegisterSet {
    /// All register sets.
    pub const ALL: [Self; 11] = [
        Self::Gfx6,
        Self::Gfx7,
        Self::Gfx8,
        Self::Gfx8_1,
        Self::Gfx9,
        Self::Gfx10,
        Self::Gfx10_3,
        Self::Gfx11,
        Self::Gfx11_5,
        Self::Gfx12,
        Self::Gfx9_4,
    ];

    /// Returns the register set of a generation.
    #[inline]
    pub const fn new(level: GfxLevel) -> Self {
        match level {
            GfxLevel::Gfx6 => Self::Gfx6,
            GfxLevel::Gfx7 => Self::Gfx7,
            GfxLevel::Gfx8 => Self::Gfx8,
            GfxLevel::Gfx9 => Self::Gfx9,
            GfxLevel::Gfx10 => Self::Gfx10,
            GfxLevel::Gfx10_3 => Self::Gfx10_3,
            GfxLevel::Gfx11 => Self::Gfx11,
            GfxLevel::Gfx11_5 => Self::Gfx11_5,
            GfxLevel::Gfx12 => Self::Gfx12,
        }
    }

    /// Returns the register set of a chip of generation `level`.
    pub const fn of(level: GfxLevel, chip: Chip) -> Self {
        match chip {
            Chip::CHIP_STONEY => Self::Gfx8_1,
            Chip::CHIP_GFX940 => Self::Gfx9_4,
            _ => Self::new(level),
        }
    }

    /// Returns the generation of the chips that have these registers.
    #[inline]
    pub const fn level(self) -> GfxLevel {
        match self {
            Self::Gfx6 => GfxLevel::Gfx6,
            Self::Gfx7 => GfxLevel::Gfx7,
            Self::Gfx8 | Self::Gfx8_1 => GfxLevel::Gfx8,
            Self::Gfx9 | Self::Gfx9_4 => GfxLevel::Gfx9,
            Self::Gfx10 => GfxLevel::Gfx10,
            Self::Gfx10_3 => GfxLevel::Gfx10_3,
            Self::Gfx11 => GfxLevel::Gfx11,
            Self::Gfx11_5 => GfxLevel::Gfx11_5,
            Self::Gfx12 => GfxLevel::Gfx12,
        }
    }

    /// Returns `true` if the bit of this set is among `bits`.
    #[inline]
    pub(crate) const fn is_in(self, bits: u16) -> bool {
        bits >> (self as u16) & 1 != 0
    }
}

impl From<GfxLevel> for RegisterSet {
    #[inline]
    fn from(level: GfxLevel) -> Self {
        Self::new(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_has_its_own_set() {
        for level in GfxLevel::ALL {
            assert_eq!(RegisterSet::new(level).level(), level);
        }
    }

    #[test]
    fn stoney_and_mi300_have_their_own_sets() {
        assert_eq!(RegisterSet::of(GfxLevel::Gfx8, Chip::CHIP_STONEY), RegisterSet::Gfx8_1);
        assert_eq!(RegisterSet::of(GfxLevel::Gfx9, Chip::CHIP_GFX940), RegisterSet::Gfx9_4);
        assert_eq!(RegisterSet::of(GfxLevel::Gfx8, Chip::CHIP_POLARIS10), RegisterSet::Gfx8);
    }
}
