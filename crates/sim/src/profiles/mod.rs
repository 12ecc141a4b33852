//! The chips that can be simulated: captures of real ones.
//!
//! Each file holds what an amdgpu kernel said about one GPU, as Mesa's collection for its no-op shim recorded it. A test
//! compares every field with the captures in `tests/data/devices`.

mod navi10;
mod navi21;
mod navi31;
mod pitcairn;
mod polaris10;
mod polaris12;
mod raphael_mendocino;
mod raven;
mod renoir;
mod stoney;
mod vangogh;
mod vega10;

use amdgpu_hw::{GfxLevel, Ip};
use amdgpu_uapi::{DevInfo, InfoFirmware, InfoHwIp, MemoryInfo};

/// What a kernel says about one GPU.
#[derive(Debug)]
pub struct Profile {
    /// The chip's name in lower case, such as `navi21`.
    pub name: &'static str,
    /// The name on the box.
    pub marketing_name: &'static str,
    /// Generation of the graphics block.
    pub gfx_level: GfxLevel,
    /// The answer to DEV_INFO.
    pub dev_info: DevInfo,
    /// The answer to MEMORY on an idle device.
    pub memory: MemoryInfo,
    /// Whether the usable sizes and the largest allocations in `memory` were captured, not only the totals.
    pub memory_usable_captured: bool,
    /// The graphics block.
    pub gfx: InfoHwIp,
    /// The compute block.
    pub compute: InfoHwIp,
    /// Copy engines. **Not captured**: the number the driver sets up for the chip (Linux 6.12, `early_init` in
    /// `si_dma.c`, `cik_sdma.c` and `sdma_v*.c`).
    pub sdma_engines: u32,
    /// Microcode of the command processors.
    pub firmware: Firmware,
    /// The registers that READ_MMR_REG answers.
    pub registers: &'static [Register],
}

/// Microcode of the command processors.
#[derive(Debug)]
pub struct Firmware {
    /// Micro engine.
    pub me: InfoFirmware,
    /// Prefetch parser.
    pub pfp: InfoFirmware,
    /// Compute micro engine.
    pub mec: InfoFirmware,
}

/// One register of READ_MMR_REG.
#[derive(Debug)]
pub struct Register {
    /// Offset in dwords.
    pub dword_offset: u32,
    /// Shader engine in bits 7..0, array in bits 15..8; 0xff is all.
    pub instance: u32,
    /// What it reads.
    pub value: u32,
}

impl Register {
    /// Every engine and array.
    pub const BROADCAST: u32 = u32::MAX;
}

/// User space sees at most this many copy engines: the entities of a context.
const MOST_SDMA_RINGS: u32 = 2;

impl Profile {
    /// The block of an IP; `None` when the chip lacks it or nobody knows.
    pub fn ip(&self, ip: Ip) -> Option<InfoHwIp> {
        match ip {
            Ip::Gfx => Some(self.gfx),
            Ip::Compute => Some(self.compute),
            Ip::Sdma => Some(self.sdma()),
            _ => None,
        }
    }

    /// The copy engines as the driver of this generation reports them; not captured.
    fn sdma(&self) -> InfoHwIp {
        let (major, minor) = match self.gfx_level {
            GfxLevel::Gfx6 => (1, 0),
            GfxLevel::Gfx7 => (2, 0),
            GfxLevel::Gfx8 => (3, 0),
            GfxLevel::Gfx9 => (4, 0),
            GfxLevel::Gfx10 => (5, 0),
            GfxLevel::Gfx10_3 => (5, 2),
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => (6, 0),
            GfxLevel::Gfx12 => (7, 0),
        };
        InfoHwIp {
            hw_ip_version_major: major,
            hw_ip_version_minor: minor,
            ib_start_alignment: 256,
            ib_size_alignment: 4,
            available_rings: (1 << self.sdma_engines.min(MOST_SDMA_RINGS)) - 1,
            ..InfoHwIp::ZEROED
        }
    }

    /// Whether it is an APU.
    pub fn is_apu(&self) -> bool {
        self.dev_info.ids_flags & 1 != 0
    }
}

static PROFILES: [Profile; 12] = [
    navi10::PROFILE,
    navi21::PROFILE,
    navi31::PROFILE,
    pitcairn::PROFILE,
    polaris10::PROFILE,
    polaris12::PROFILE,
    raphael_mendocino::PROFILE,
    raven::PROFILE,
    renoir::PROFILE,
    stoney::PROFILE,
    vangogh::PROFILE,
    vega10::PROFILE,
];

/// Every chip, by name.
pub fn profiles() -> &'static [Profile] {
    &PROFILES
}

/// The chip of that name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}
