//! What kind of chip it is: graphics generation and hardware IP blocks.

use std::fmt;

pub use libdrm_amdgpu_sys::AMDGPU::{ASIC_NAME as Chip, FAMILY_NAME as Family, VRAM_TYPE as VramType};

/// The graphics IP generation, ordered: a later generation compares greater.
///
/// It is decided by the version of the GFX (or, on chips without graphics, COMPUTE) IP block, never by the family.
/// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GfxLevel {
    /// GCN 1 (Southern Islands).
    Gfx6,
    /// GCN 2 (Sea Islands).
    Gfx7,
    /// GCN 3 and 4 (Volcanic Islands, Polaris).
    Gfx8,
    /// GCN 5 (Vega) and CDNA.
    Gfx9,
    /// RDNA 1.
    Gfx10,
    /// RDNA 2.
    Gfx10_3,
    /// RDNA 3.
    Gfx11,
    /// RDNA 3.5.
    Gfx11_5,
    /// RDNA 4.
    Gfx12,
}

impl GfxLevel {
    /// Every generation, oldest first.
    pub const ALL: [Self; 9] = [
        Self::Gfx6,
        Self::Gfx7,
        Self::Gfx8,
        Self::Gfx9,
        Self::Gfx10,
        Self::Gfx10_3,
        Self::Gfx11,
        Self::Gfx11_5,
        Self::Gfx12,
    ];

    /// The name Mesa gives the generation, such as `GFX10_3`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx6 => "GFX6",
            Self::Gfx7 => "GFX7",
            Self::Gfx8 => "GFX8",
            Self::Gfx9 => "GFX9",
            Self::Gfx10 => "GFX10",
            Self::Gfx10_3 => "GFX10_3",
            Self::Gfx11 => "GFX11",
            Self::Gfx11_5 => "GFX11_5",
            Self::Gfx12 => "GFX12",
        }
    }
}

impl fmt::Display for GfxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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

    /// The kernel's number for the block, 0..=9.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The block with the kernel's number `raw`; `None` from 10 on.
    pub fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.get(raw as usize).copied()
    }

    /// The name Mesa prints, such as `GFX`.
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

/// The chip with a family number and an external revision; `None` when no table knows it.
///
/// Source: Mesa `src/amd/addrlib/src/amdgpu_asic_addr.h`, as the crate `libdrm_amdgpu_sys` carries it, and its family CZ,
/// which that crate leaves out.
pub(super) fn identify(family: Family, external_rev: u32) -> Option<Chip> {
    let chip = match (family, external_rev) {
        (Family::CZ, 0x01..0x21) => Chip::CHIP_CARRIZO,
        (Family::CZ, 0x61..0xff) => Chip::CHIP_STONEY,
        _ => Chip::get(family, external_rev),
    };
    (chip != Chip::CHIP_UNKNOWN).then_some(chip)
}

/// The name RADV prints for a chip.
///
/// Source: Mesa `src/amd/common/amd_family.c`, `ac_get_family_name`. The crate that holds the table of chips names the
/// newer ones by their graphics target.
pub(super) fn radv_name(chip: Chip) -> &'static str {
    match chip {
        Chip::CHIP_TAHITI => "TAHITI",
        Chip::CHIP_PITCAIRN => "PITCAIRN",
        Chip::CHIP_VERDE => "VERDE",
        Chip::CHIP_OLAND => "OLAND",
        Chip::CHIP_HAINAN => "HAINAN",
        Chip::CHIP_BONAIRE => "BONAIRE",
        Chip::CHIP_KABINI => "KABINI",
        Chip::CHIP_KAVERI => "KAVERI",
        Chip::CHIP_HAWAII => "HAWAII",
        Chip::CHIP_TONGA => "TONGA",
        Chip::CHIP_ICELAND => "ICELAND",
        Chip::CHIP_CARRIZO => "CARRIZO",
        Chip::CHIP_FIJI => "FIJI",
        Chip::CHIP_STONEY => "STONEY",
        Chip::CHIP_POLARIS10 => "POLARIS10",
        Chip::CHIP_POLARIS11 => "POLARIS11",
        Chip::CHIP_POLARIS12 => "POLARIS12",
        Chip::CHIP_VEGAM => "VEGAM",
        Chip::CHIP_VEGA10 => "VEGA10",
        Chip::CHIP_VEGA12 => "VEGA12",
        Chip::CHIP_VEGA20 => "VEGA20",
        Chip::CHIP_RAVEN => "RAVEN",
        Chip::CHIP_RAVEN2 => "RAVEN2",
        Chip::CHIP_RENOIR => "RENOIR",
        Chip::CHIP_ARCTURUS => "MI100",
        Chip::CHIP_ALDEBARAN => "MI200",
        Chip::CHIP_GFX940 => "GFX940",
        Chip::CHIP_NAVI10 => "NAVI10",
        Chip::CHIP_NAVI12 => "NAVI12",
        Chip::CHIP_NAVI14 => "NAVI14",
        Chip::CHIP_NAVI21 => "NAVI21",
        Chip::CHIP_NAVI22 => "NAVI22",
        Chip::CHIP_NAVI23 => "NAVI23",
        Chip::CHIP_NAVI24 => "NAVI24",
        Chip::CHIP_VANGOGH => "VANGOGH",
        Chip::CHIP_REMBRANDT => "REMBRANDT",
        Chip::CHIP_GFX1036 => "RAPHAEL_MENDOCINO",
        Chip::CHIP_GFX1100 => "NAVI31",
        Chip::CHIP_GFX1101 => "NAVI32",
        Chip::CHIP_GFX1102 => "NAVI33",
        Chip::CHIP_GFX1103_R1 | Chip::CHIP_GFX1103_R1X => "PHOENIX",
        Chip::CHIP_GFX1103_R2 | Chip::CHIP_GFX1103_R2X => "PHOENIX2",
        Chip::CHIP_GFX1150 => "GFX1150",
        Chip::CHIP_GFX1151 => "GFX1151",
        Chip::CHIP_GFX1152 => "GFX1152",
        Chip::CHIP_GFX1153 => "GFX1153",
        Chip::CHIP_GFX1200 => "GFX1200",
        Chip::CHIP_GFX1201 => "GFX1201",
        _ => "UNKNOWN",
    }
}
