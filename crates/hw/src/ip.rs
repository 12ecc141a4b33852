//! Hardware IP blocks.

use std::fmt;

/// A hardware IP block that takes submissions; the discriminant is the kernel's `AMDGPU_HW_IP_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Ip {
    /// The graphics command processor: PFP and ME. One ring.
    Gfx = 0,
    /// The compute command processor, MEC. Up to four rings for user space.
    Compute = 1,
    /// The copy engines. Up to two rings for user space.
    Sdma = 2,
    /// The old video decoder.
    Uvd = 3,
    /// The old video encoder.
    Vce = 4,
    /// The encoder half of the last UVD generation.
    UvdEnc = 5,
    /// The video decoder since Raven.
    VcnDec = 6,
    /// The video encoder since Raven; decodes too from VCN 4 on.
    VcnEnc = 7,
    /// The JPEG decoder.
    VcnJpeg = 8,
    /// The video processing engine.
    Vpe = 9,
}

impl Ip {
    /// Every IP block the kernel numbers, in its order.
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

    /// Returns the kernel's number for the block, 0..=9.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the same number as the kernel's structures hold it.
    pub const fn raw(self) -> u32 {
        self as u32
    }

    /// Returns the block with the kernel's number `raw`; `None` from 10 on.
    pub fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.get(crate::num::index(raw)).copied()
    }

    /// Returns the name Mesa prints, such as `GFX`.
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
