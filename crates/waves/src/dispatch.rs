//! Dispatches, as registers describe them.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_surface::Chip;

use crate::{number::mode::Mode, program::shape::Shape};

/// A grid of groups and the state that its waves start with.
///
/// The fields have the contents of the COMPUTE_* registers of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The generation.
    pub level: GfxLevel,
    /// Lanes of a wave: CS_W32_EN of COMPUTE_DISPATCH_INITIATOR.
    pub wave: WaveSize,
    /// The address of the program in bytes.
    pub program: u64,
    /// COMPUTE_PGM_RSRC1, 2 and 3.
    pub resources: [u32; 3],
    /// COMPUTE_USER_DATA.
    pub user_data: [u32; 16],
    /// Threads of a group in x, y and z.
    pub threads: [u32; 3],
    /// Threads of the last group of each axis; 0 if it is as large as the others.
    pub partial: [u32; 3],
    /// The first group.
    pub start: [u32; 3],
    /// The group after the last, in each axis.
    pub end: [u32; 3],
    /// COMPUTE_TMPRING_SIZE.
    pub scratch_ring: u32,
    /// COMPUTE_DISPATCH_SCRATCH_BASE in bytes, from GFX11 on.
    pub scratch_base: u64,
    /// The chip, whose pipes and banks images are spread over; without it, no image has addresses.
    pub chip: Option<Chip>,
    /// TA_CS_BC_BASE_ADDR in bytes: the table of border colours.
    pub border_colors: u64,
}

impl Dispatch {
    /// Returns the groups in x, y and z.
    pub(crate) fn extent(&self) -> [u64; 3] {
        [0, 1, 2].map(|axis| u64::from(self.end[axis].saturating_sub(self.start[axis])))
    }

    /// Returns the number of groups; groups without threads are none.
    pub(crate) fn groups(&self) -> u64 {
        if self.threads.contains(&0) {
            return 0;
        }
        self.extent().into_iter().fold(1, u64::saturating_mul)
    }

    /// Returns the number of a group in x, y and z.
    pub(crate) fn group(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.extent().map(|count| count.max(1));
        let offsets = [index % x, index / x % y, index / x / y];
        [0, 1, 2].map(|axis| self.start[axis] + offsets[axis] as u32)
    }

    /// Returns the threads of a group in x, y and z; at the far edges it may be smaller.
    pub(crate) fn group_threads(&self, group: [u32; 3]) -> [u32; 3] {
        [0, 1, 2].map(|axis| match self.partial[axis] {
            partial if partial > 0 && group[axis] + 1 == self.end[axis] => partial.min(self.threads[axis]),
            _ => self.threads[axis],
        })
    }

    /// Returns the waves of the largest group.
    pub(crate) fn waves_per_group(&self) -> u32 {
        let threads = self.threads.iter().map(|&threads| u64::from(threads)).product::<u64>();
        threads.div_ceil(self.wave.lanes().into()).min(MAX_WAVES) as u32
    }

    /// Returns VGPRs that belong to each lane.
    pub(crate) fn private_vgprs(&self) -> u32 {
        let unit = if self.wave == WaveSize::Wave32 { 8 } else { 4 };
        ((self.resources[0] & 63) + 1) * unit
    }

    /// Returns the shape of the waves.
    pub(crate) fn shape(&self) -> Shape {
        let shares = self.level >= GfxLevel::Gfx10 && self.wave == WaveSize::Wave64;
        let shared = if shares { (self.resources[2] & 15) * 8 } else { 0 };
        Shape { level: self.level, wave: self.wave, vgprs: (self.private_vgprs() + shared).min(256) }
    }

    /// Returns the bytes of LDS of a group.
    pub(crate) fn lds_bytes(&self) -> usize {
        let unit = if self.level == GfxLevel::Gfx6 { 256 } else { 512 };
        (self.resources[1] >> 15 & 0x1ff) as usize * unit
    }

    /// Returns the bytes of scratch memory of a wave.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        if self.level >= GfxLevel::Gfx11 {
            u64::from(self.scratch_ring >> 12 & 0x7fff) * 256
        } else {
            u64::from(self.scratch_ring >> 12 & 0x1fff) * 1024
        }
    }

    /// Returns the waves that scratch memory is there for; `None` if the program uses none.
    pub(crate) fn scratch_waves(&self) -> Option<u32> {
        (self.resources[1] & 1 != 0).then_some((self.scratch_ring & 0xfff).max(1))
    }

    /// Returns the MODE register at the start.
    pub(crate) fn mode(&self) -> Mode {
        let first = self.resources[0];
        let bit = |from: u32, to: u32| (first >> from & 1) << to;
        let clamps = if self.level >= GfxLevel::Gfx12 { 1 << 8 } else { bit(21, 8) };
        Mode(first >> 12 & 0xff | clamps | bit(23, 9) | bit(26, 23))
    }
}

/// The most waves of a group: 1024 threads of wave32, and twice that for registers that ask for more.
pub(crate) const MAX_WAVES: u64 = 64;
