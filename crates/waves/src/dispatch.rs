//! Dispatches, described by register values.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_surface::Chip;

use crate::{number::mode::Mode, program::wave_config::WaveConfig};

/// A grid of work-groups, and the initial state of its waves.
///
/// The fields contain the values of the COMPUTE_* registers of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The generation of the chip that executes the dispatch.
    pub level: GfxLevel,
    /// The wave size: CS_W32_EN of COMPUTE_DISPATCH_INITIATOR.
    pub wave: WaveSize,
    /// The address of the program in bytes.
    pub program: u64,
    /// The values of COMPUTE_PGM_RSRC1, 2 and 3.
    pub resources: [u32; 3],
    /// The values of COMPUTE_USER_DATA.
    pub user_data: [u32; 16],
    /// The number of threads of a work-group in x, y and z.
    pub threads: [u32; 3],
    /// The number of threads of the last work-group in each axis; 0 if it is as large as the others.
    pub partial: [u32; 3],
    /// The ID of the first work-group in x, y and z.
    pub start: [u32; 3],
    /// The exclusive end of the work-group IDs in x, y and z.
    pub end: [u32; 3],
    /// The value of COMPUTE_TMPRING_SIZE.
    pub scratch_ring: u32,
    /// The address in COMPUTE_DISPATCH_SCRATCH_BASE in bytes (GFX11 and later).
    pub scratch_base: u64,
    /// The chip, whose pipes and banks determine the tiling of images. Without it images cannot be accessed.
    pub chip: Option<Chip>,
    /// The address of the table of border colours in bytes (TA_CS_BC_BASE_ADDR).
    pub border_colors: u64,
}

impl Dispatch {
    /// Returns the number of work-groups in x, y and z.
    pub(crate) fn extent(&self) -> [u64; 3] {
        [0, 1, 2].map(|axis| u64::from(self.end[axis].saturating_sub(self.start[axis])))
    }

    /// Returns the number of work-groups; 0 if work-groups have no threads.
    pub(crate) fn groups(&self) -> u64 {
        if self.threads.contains(&0) {
            return 0;
        }
        self.extent().into_iter().fold(1, u64::saturating_mul)
    }

    /// Returns the ID of a work-group in x, y and z.
    pub(crate) fn group(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.extent().map(|count| count.max(1));
        let offsets = [index % x, index / x % y, index / x / y];
        [0, 1, 2].map(|axis| self.start[axis] + offsets[axis] as u32)
    }

    /// Returns the number of threads of a work-group in x, y and z. It may be smaller at the end of an axis.
    pub(crate) fn group_threads(&self, group: [u32; 3]) -> [u32; 3] {
        [0, 1, 2].map(|axis| match self.partial[axis] {
            partial if partial > 0 && group[axis] + 1 == self.end[axis] => partial.min(self.threads[axis]),
            _ => self.threads[axis],
        })
    }

    /// Returns the number of waves of the largest work-group.
    pub(crate) fn waves_per_group(&self) -> u32 {
        threads_of(self.threads).div_ceil(self.wave.lanes().into()).min(MAX_WAVES) as u32
    }

    /// Returns the number of registers of user data that waves get, in their first scalar registers: USER_SGPR of COMPUTE_PGM_RSRC2.
    pub(crate) fn user_sgprs(&self) -> u32 {
        (self.resources[1] >> 1 & 31).min(self.user_data.len() as u32)
    }

    /// Returns the number of VGPRs that each lane has for itself.
    pub(crate) fn private_vgprs(&self) -> u32 {
        let unit = if self.wave == WaveSize::Wave32 { 8 } else { 4 };
        ((self.resources[0] & 63) + 1) * unit
    }

    /// Returns the configuration of the waves.
    pub(crate) fn wave_config(&self) -> WaveConfig {
        let shares = self.level >= GfxLevel::Gfx10 && self.wave == WaveSize::Wave64;
        let shared = if shares { (self.resources[2] & 15) * 8 } else { 0 };
        let vgprs = (self.private_vgprs() + shared).min(256);
        WaveConfig { level: self.level, wave: self.wave, vgprs, is_graphics: false }
    }

    /// Returns the LDS size of a work-group in bytes.
    pub(crate) fn lds_bytes(&self) -> usize {
        let unit = if self.level == GfxLevel::Gfx6 { 256 } else { 512 };
        (self.resources[1] >> 15 & 0x1ff) as usize * unit
    }

    /// Returns the scratch size of a wave in bytes.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        if self.level >= GfxLevel::Gfx12 {
            u64::from(self.scratch_ring >> 12 & 0x3_ffff) * 256
        } else if self.level >= GfxLevel::Gfx11 {
            u64::from(self.scratch_ring >> 12 & 0x7fff) * 256
        } else {
            u64::from(self.scratch_ring >> 12 & 0x1fff) * 1024
        }
    }

    /// Returns the number of waves for which there is scratch memory; `None` if the program uses none.
    pub(crate) fn scratch_waves(&self) -> Option<u32> {
        (self.resources[1] & 1 != 0).then_some((self.scratch_ring & 0xfff).max(1))
    }

    /// Returns the initial value of the MODE register.
    pub(crate) fn mode(&self) -> Mode {
        let first = self.resources[0];
        let bit = |from: u32, to: u32| (first >> from & 1) << to;
        let clamps = if self.level >= GfxLevel::Gfx12 { 1 << 8 } else { bit(21, 8) };
        Mode(first >> 12 & 0xff | clamps | bit(23, 9) | bit(26, 23))
    }
}

/// Returns the number of threads of a work-group of a size; that of all numbers if there are more.
pub(crate) fn threads_of(size: [u32; 3]) -> u64 {
    size.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// The maximum number of waves of a work-group: 1024 threads of wave32, and twice that for larger register values.
pub(crate) const MAX_WAVES: u64 = 64;
