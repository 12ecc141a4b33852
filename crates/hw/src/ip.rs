//! Hardware IP blocks.

use std::fmt;

/// A hardware IP block that accepts submissions. The discriminant is the kernel's `AMDGPU_HW_IP_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Ip {
    /// The graphics command processor: PFP and ME. One ring.
    Gfx = 0,
    /// The compute command processor, MEC. Up to four rings for user space.
    Compute = 1,
    /// The copy engines. Up to two rings for user space.
    Sdma = 2,
    /// The UVD video decoder, before VCN.
    Uvd = 3,
    /// The VCE video encoder, before VCN.
    Vce = 4,
    /// The HEVC encoder of the last UVD generations.
    UvdEnc = 5,
    /// The VCN video decoder, since Raven.
    VcnDec = 6,
    /// The VCN video encoder, since Raven. On VCN 4 and later its ring also decodes.
    VcnEnc = 7,
    /// The JPEG decoder of VCN.
    VcnJpeg = 8,
    /// The video processing engine (VPE).
    Vpe = 9,
}

impl Ip {
    /// All IP blocks, in the order of the kernel's numbers.
    pub const ALL: [Self; 10] = [
        Self::Gfx,
        Self::Compute,
        Self::Sdma,
        Self::Uvd,
        Self::Vce,
        Self::UvdEnc,
        Self::VcnDec,
        Self::VcnEnc,
        Self::VcnJpeg,
        Self::Vpe,
    ];

    /// Returns the kernel's number of the block as an index, from 0 to 9.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the kernel's number of the block, as in the fields of its structures.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// Returns the block with a kernel number; `None` for 10 and above.
    pub fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.get(crate::num::index(raw)).copied()
    }

    /// Returns Mesa's name of the block, such as `GFX`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx => "GFX",
            Self::Compute => "COMPUTE",
            Self::Sdma => "SDMA",
            Self::Uvd => "UVD",
            Self::Vce => "VCE",
            Self::UvdEnc => "UVD_ENC",
            Self::VcnDec => "VCN_DEC",
            Self::VcnEnc => "VCN_ENC",
            Self::VcnJpeg => "VCN_JPG",
            Self::Vpe => "VPE",
        }
    }
}

impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
