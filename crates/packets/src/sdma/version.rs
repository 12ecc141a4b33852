//! The versions of the copy engine, and the size limits of their packets.

use std::fmt;

use amdgpu_hw::GfxLevel;

/// A version of the copy engine's packets, ordered from old to new.
///
/// Versions with the same packets share a value: 3.0 represents 3.x, 4.0 represents 4.x, 6.0 represents 6.x, 5.0 the GFX10.1 chips,
/// and 5.2 the GFX10.3 chips. 1.0 is the DMA engine of GFX6, whose packets differ from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Version {
    V1_0,
    V2_0,
    V2_4,
    V3_0,
    V4_0,
    V5_0,
    V5_2,
    V6_0,
    V7_0,
}

impl Version {
    /// All versions, the oldest first.
    pub const ALL: [Self; 9] =
        [Self::V1_0, Self::V2_0, Self::V2_4, Self::V3_0, Self::V4_0, Self::V5_0, Self::V5_2, Self::V6_0, Self::V7_0];

    /// Returns the version on chips of a generation.
    ///
    /// For GFX8 this is 3.0, which all its chips have except Topaz (Iceland); a driver for Topaz uses [`Version::V2_4`].
    ///
    /// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/vi.c`, `vi_set_ip_blocks`, and `amdgpu_discovery.c`,
    /// `amdgpu_discovery_set_sdma_ip_blocks`.
    #[inline]
    pub const fn of(level: GfxLevel) -> Self {
        match level {
            GfxLevel::Gfx6 => Self::V1_0,
            GfxLevel::Gfx7 => Self::V2_0,
            GfxLevel::Gfx8 => Self::V3_0,
            GfxLevel::Gfx9 => Self::V4_0,
            GfxLevel::Gfx10 => Self::V5_0,
            GfxLevel::Gfx10_3 => Self::V5_2,
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => Self::V6_0,
            GfxLevel::Gfx12 => Self::V7_0,
        }
    }

    /// Returns the maximum number of bytes that a recorder should copy with one [`CopyLinear`](super::CopyLinear): a multiple of 32
    /// that is valid for every alignment.
    ///
    /// The maximum of the count field is slightly larger. Up to 3.0 the engine rounds the start down to 32 bytes and counts from
    /// there, so the maximum depends on the address. For 4.0 and later the limits are RADV's.
    ///
    /// Source: Linux 6.12 `si_dma.c`, `cik_sdma.c`, `sdma_v3_0.c`, `copy_max_bytes` in the buffer functions; Mesa
    /// 25.0.7 `src/amd/common/sid.h`, `CIK_SDMA_COPY_MAX_SIZE` and `SDMA_V5_2_COPY_MAX_SIZE`.
    #[inline]
    pub const fn max_copy_bytes(self) -> u32 {
        match self {
            Self::V1_0 => 0xf_ffe0,
            Self::V2_0 | Self::V2_4 => 0x1f_ffe0,
            Self::V3_0 => 0x3f_ffe0,
            Self::V4_0 | Self::V5_0 => 0x3f_ff00,
            Self::V5_2 | Self::V6_0 | Self::V7_0 => 0x3fff_ff00,
        }
    }

    /// Returns the maximum number of bytes that a recorder should fill with one [`ConstFill`](super::ConstFill): a multiple of 32.
    ///
    /// On 5.2 this is the limit of RADV and PAL, though the packet has room for more.
    ///
    /// Source: see [`Version::max_copy_bytes`]; `SDMA_FILL` limits in Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`,
    /// `radv_sdma_fill_buffer`.
    #[inline]
    pub const fn max_fill_bytes(self) -> u32 {
        match self {
            Self::V1_0 => 0xf_ffe0,
            Self::V2_0 | Self::V2_4 => 0x1f_ffe0,
            Self::V3_0 | Self::V4_0 | Self::V5_0 | Self::V5_2 => 0x3f_ffe0,
            Self::V6_0 | Self::V7_0 => 0x3fff_ffe0,
        }
    }

    /// Returns the maximum number of dwords of a [`WriteLinear`](super::WriteLinear), which is also the maximum length of an IB.
    #[inline]
    pub const fn max_write_dwords(self) -> usize {
        match self {
            Self::V1_0 => 0xf_ffff,
            Self::V2_0 | Self::V2_4 | Self::V3_0 => 0x3f_ffff,
            _ => 0x10_0000,
        }
    }

    /// Returns the number that is subtracted from a count before it is written: one for 4.0 and later, otherwise zero.
    #[inline]
    pub(super) const fn count_bias(self) -> u32 {
        match self {
            Self::V1_0 | Self::V2_0 | Self::V2_4 | Self::V3_0 => 0,
            _ => 1,
        }
    }

    /// Returns the version number, such as `5.2`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V2_0 => "2.0",
            Self::V2_4 => "2.4",
            Self::V3_0 => "3.0",
            Self::V4_0 => "4.0",
            Self::V5_0 => "5.0",
            Self::V5_2 => "5.2",
            Self::V6_0 => "6.0",
            Self::V7_0 => "7.0",
        }
    }

    /// Returns the one-dword NOP.
    #[inline]
    pub(super) const fn nop(self) -> u32 {
        match self {
            Self::V1_0 => 0xf000_0000,
            _ => 0,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SDMA {}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_has_a_version_and_later_ones_no_older() {
        let versions = GfxLevel::ALL.map(Version::of);
        assert!(versions.is_sorted());
        assert_eq!((versions[0], versions[8]), (Version::V1_0, Version::V7_0));
    }
}
