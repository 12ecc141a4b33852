//! The description of a chip.

use std::sync::Arc;

use amdgpu_hw::{Chip, GfxLevel, Ip};
use amdgpu_surface::Reported;
use amdgpu_uapi::{DevInfo, IdsFlags, InfoFirmware, InfoHwIp, InfoVideoCaps, MemoryInfo};

use super::{origin::Origin, recorded_files::RecordedFiles, rules, video_block::VideoBlock, video_codecs::video_caps};

/// Register offsets in dwords.
///
/// Source: Mesa `src/amd/common/amdgfxregs.h`, GB_ADDR_CONFIG at 0x98f8, GB_TILE_MODE0 at 0x9910, GB_MACROTILE_MODE0 at 0x9990.
mod registers {
    pub(super) const GB_ADDR_CONFIG: u32 = 0x98f8 / 4;
    pub(super) const GB_TILE_MODE0: u32 = 0x9910 / 4;
    pub(super) const GB_MACROTILE_MODE0: u32 = 0x9990 / 4;
}

/// A kernel's answers about one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The chip's name in lower case, such as `navi21`.
    pub name: String,
    /// The origin of the values.
    pub origin: Origin,
    /// The marketing name.
    pub marketing_name: String,
    /// The generation of the graphics block.
    pub gfx_level: GfxLevel,
    /// The answer to DEV_INFO.
    pub dev_info: DevInfo,
    /// The answer to MEMORY on an idle device.
    pub memory: MemoryInfo,
    /// `true` if the usable sizes and the largest allocations in `memory` were captured too, not only the totals.
    pub memory_usable_captured: bool,
    /// The machine's memory in bytes, without the carve-out of an APU; `None` for twice the size of GTT.
    pub system_memory: Option<u64>,
    /// The graphics block. A chip without one has a block without rings.
    pub gfx: InfoHwIp,
    /// The compute block. A chip without one has a block without rings.
    pub compute: InfoHwIp,
    /// The copy engines as user space sees them; `None` if they were not captured. They then follow from the driver's rules.
    pub sdma: Option<InfoHwIp>,
    /// The number of copy engines that the driver sets up for the chip.
    pub sdma_engines: u32,
    /// The captured video engines. If there are none, [`SimOptions::video`](crate::SimOptions::video) adds those that the driver
    /// sets up for the chip.
    pub video: Vec<VideoBlock>,
    /// The microcode versions of the command processors.
    pub firmware: Firmware,
    /// The registers that READ_MMR_REG can read.
    pub registers: Vec<Register>,
    /// The files that a real machine's sysfs had for such a GPU.
    pub sysfs: RecordedFiles,
}

/// The microcode versions of the command processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// The microcode of the micro engine (ME).
    pub me: InfoFirmware,
    /// The microcode of the prefetch parser (PFP).
    pub pfp: InfoFirmware,
    /// The microcode of the compute micro engine (MEC).
    pub mec: InfoFirmware,
}

/// A register that READ_MMR_REG can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The register's name. It may be empty.
    pub name: String,
    /// The register's offset in dwords.
    pub dword_offset: u32,
    /// The shader engine in bits 7..0 and the shader array in bits 15..8. 0xff stands for all.
    pub instance: u32,
    /// The value that READ_MMR_REG returns.
    pub value: u32,
}

impl Register {
    /// The instance that stands for all shader engines and arrays.
    pub const BROADCAST: u32 = u32::MAX;
}

impl Profile {
    /// Returns the block of an IP; `None` if the chip lacks it or it is not simulated.
    pub fn ip(&self, ip: Ip) -> Option<InfoHwIp> {
        let block = match ip {
            Ip::Gfx => self.gfx,
            Ip::Compute => self.compute,
            Ip::Sdma => self.sdma.unwrap_or_else(|| rules::sdma_block(self.gfx_level, self.sdma_engines)),
            _ => self.video.iter().find(|known| known.ip == ip)?.block,
        };
        (block.available_rings != 0).then_some(block)
    }

    /// Returns the video engines that the driver sets up for the chip. They are used for a capture without any.
    pub(crate) fn video_by_rule(&self) -> Vec<VideoBlock> {
        rules::video(&self.dev_info, self.gfx.ip_discovery_version != 0)
    }

    /// Returns the codecs of the chip's video engines in one direction; `None` if the driver has no table for the chip.
    pub(crate) fn video_caps(&self, encodes: bool) -> Option<InfoVideoCaps> {
        video_caps(rules::chip(&self.dev_info)?, encodes)
    }

    /// Returns the register at an offset in dwords of an instance, or otherwise the one of all instances.
    pub(crate) fn register(&self, dword_offset: u32, instance: u32) -> Option<&Register> {
        let of = |wanted| move |one: &&Register| one.dword_offset == dword_offset && one.instance == wanted;
        let exact = self.registers.iter().find(of(instance));
        exact.or_else(|| self.registers.iter().find(of(Register::BROADCAST)))
    }

    /// Returns the values that image layouts depend on, as a kernel with this minor version of its interface reports them.
    pub fn reported(&self, drm_minor: u32) -> Reported {
        let info = &self.dev_info;
        let read = |offset: u32| {
            let found = self.registers.iter().find(|register| register.dword_offset == offset);
            found.map_or(0, |register| register.value)
        };
        let (tile_mode, macrotile_mode) = (registers::GB_TILE_MODE0, registers::GB_MACROTILE_MODE0);
        Reported {
            level: self.gfx_level,
            family_id: info.family,
            external_rev: info.external_rev,
            chip_rev: info.chip_rev,
            gb_addr_config: read(registers::GB_ADDR_CONFIG),
            tile_modes: std::array::from_fn(|at| read(tile_mode + at as u32)),
            macrotile_modes: std::array::from_fn(|at| read(macrotile_mode + at as u32)),
            enabled_rb_mask: u64::from(info.enabled_rb_pipes_mask) | u64::from(info.enabled_rb_pipes_mask_hi) << 32,
            render_backends: info.num_rb_pipes,
            compute_units: info.cu_active_number,
            drm_minor,
            has_graphics: self.gfx.available_rings != 0,
            is_apu: self.is_apu(),
        }
    }

    /// Returns the chip that DEV_INFO reports; `None` if it is not in the tables.
    pub(crate) fn chip(&self) -> Option<Chip> {
        rules::chip(&self.dev_info)
    }

    /// Returns `true` if the chip is an APU.
    pub fn is_apu(&self) -> bool {
        IdsFlags::from_bits_retain(self.dev_info.ids_flags).contains(IdsFlags::FUSION)
    }
}

impl From<&Profile> for Arc<Profile> {
    fn from(profile: &Profile) -> Self {
        Self::new(profile.clone())
    }
}
