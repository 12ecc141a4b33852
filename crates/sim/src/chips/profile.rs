//! One chip.

use std::sync::Arc;

use amdgpu_hw::{GfxLevel, Ip};
use amdgpu_uapi::{DevInfo, IdsFlags, InfoFirmware, InfoHwIp, MemoryInfo};

use super::rules;

/// The answers of a kernel about one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The chip's name in lower case, such as `navi21`.
    pub name: String,
    /// The name on the box.
    pub marketing_name: String,
    /// Generation of the graphics block.
    pub gfx_level: GfxLevel,
    /// The answer to DEV_INFO.
    pub dev_info: DevInfo,
    /// The answer to MEMORY on an idle device.
    pub memory: MemoryInfo,
    /// `true` if the usable sizes and the largest allocations in `memory` were captured, not only the totals.
    pub memory_usable_captured: bool,
    /// The graphics block; no ring on a chip without.
    pub gfx: InfoHwIp,
    /// The compute block; no ring on a chip without.
    pub compute: InfoHwIp,
    /// The copy engines as user space sees them; `None` where they were not captured, and the driver's rules say.
    pub sdma: Option<InfoHwIp>,
    /// Copy engines that the driver sets up for the chip.
    pub sdma_engines: u32,
    /// Microcode of the command processors.
    pub firmware: Firmware,
    /// The registers that READ_MMR_REG answers.
    pub registers: Vec<Register>,
}

/// Microcode of the command processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// Micro engine.
    pub me: InfoFirmware,
    /// Prefetch parser.
    pub pfp: InfoFirmware,
    /// Compute micro engine.
    pub mec: InfoFirmware,
}

/// One register of READ_MMR_REG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name; may be empty.
    pub name: String,
    /// Offset in dwords.
    pub dword_offset: u32,
    /// Shader engine in bits 7..0, array in bits 15..8; 0xff is all.
    pub instance: u32,
    /// The value that it reads.
    pub value: u32,
}

impl Register {
    /// Every engine and array.
    pub const BROADCAST: u32 = u32::MAX;
}

impl Profile {
    /// The block of an IP; `None` when the chip lacks it or it is not simulated.
    pub fn ip(&self, ip: Ip) -> Option<InfoHwIp> {
        let block = match ip {
            Ip::Gfx => self.gfx,
            Ip::Compute => self.compute,
            Ip::Sdma => self.sdma.unwrap_or_else(|| rules::sdma_block(self.gfx_level, self.sdma_engines)),
            _ => return None,
        };
        (block.available_rings != 0).then_some(block)
    }

    /// Returns the register at an offset in dwords as an instance reads it, or else all do.
    pub(crate) fn register(&self, dword_offset: u32, instance: u32) -> Option<&Register> {
        let of = |wanted| move |one: &&Register| one.dword_offset == dword_offset && one.instance == wanted;
        let exact = self.registers.iter().find(of(instance));
        exact.or_else(|| self.registers.iter().find(of(Register::BROADCAST)))
    }

    /// Returns `true` if it is an APU.
    pub fn is_apu(&self) -> bool {
        IdsFlags::from_bits_retain(self.dev_info.ids_flags).contains(IdsFlags::FUSION)
    }
}

impl From<&Profile> for Arc<Profile> {
    fn from(profile: &Profile) -> Self {
        Self::new(profile.clone())
    }
}
