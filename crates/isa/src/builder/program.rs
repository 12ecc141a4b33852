//! Finished programs, and the registers for dispatching them.

use std::fmt::Write;

use amdgpu_hw::GfxLevel;

use crate::{WaveSize, decode};

/// A finished compute program with the register values to dispatch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(super) level: GfxLevel,
    pub(super) wave: WaveSize,
    pub(super) words: Vec<u32>,
    pub(super) len: usize,
    pub(super) user: u8,
    pub(super) scalars: u32,
    pub(super) vectors: u32,
    pub(super) lds: u32,
    pub(super) scratch: u32,
}

/// RADV's default of FLOAT_MODE: f32 denormals are flushed, f16 and f64 denormals are kept.
const FLOAT_MODE: u32 = 0xc0;

impl Program {
    /// Returns the machine code, followed by padding that instruction prefetch may read.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the wave size for which the program was built.
    pub const fn wave(&self) -> WaveSize {
        self.wave
    }

    /// Returns the LDS size of a work-group in bytes.
    pub const fn lds(&self) -> u32 {
        self.lds
    }

    /// Returns the scratch size of a wave in bytes.
    pub const fn wave_scratch(&self) -> u32 {
        self.scratch * self.wave.lanes()
    }

    /// Returns the values of COMPUTE_PGM_RSRC1, 2 and 3.
    ///
    /// Source: Mesa 25.0.7's register database for the fields, and `src/amd/compiler/aco_ir.cpp`, `init_program`, for the granules.
    pub fn resources(&self) -> [u32; 3] {
        let unit = if self.wave == WaveSize::Wave32 { 8 } else { 4 };
        let vectors = self.vectors.max(1).div_ceil(unit) - 1;
        let scalars = if self.level >= GfxLevel::Gfx10 {
            0
        } else {
            // VCC, FLAT_SCRATCH and XNACK_MASK follow the registers; GFX8 and GFX9 allocate in granules of sixteen.
            let granule = if self.level >= GfxLevel::Gfx8 { 16 } else { 8 };
            (self.scalars + 6).next_multiple_of(granule) / 8 - 1
        };
        let clamps = if self.level >= GfxLevel::Gfx12 { 0 } else { 1 << 21 };
        let ordered = if self.level >= GfxLevel::Gfx10 { 1 << 30 } else { 0 };
        let lds_unit = if self.level == GfxLevel::Gfx6 { 256 } else { 512 };
        [
            vectors | scalars << 6 | FLOAT_MODE << 12 | clamps | ordered,
            u32::from(self.scratch != 0) | u32::from(self.user) << 1 | 1 << 7 | self.lds.div_ceil(lds_unit) << 15,
            0,
        ]
    }

    /// Returns the value of COMPUTE_TMPRING_SIZE for a number of concurrent waves.
    pub fn scratch_ring(&self, waves: u32) -> u32 {
        let unit = if self.level >= GfxLevel::Gfx11 { 256 } else { 1024 };
        waves & 0xfff | self.wave_scratch().div_ceil(unit) << 12
    }

    /// Returns the value of COMPUTE_DISPATCH_INITIATOR: the shader enabled, work-groups starting at 0, and the wave size.
    pub fn initiator(&self) -> u32 {
        let narrow = self.level >= GfxLevel::Gfx10 && self.wave == WaveSize::Wave32;
        1 | 1 << 2 | u32::from(narrow) << 15
    }

    /// Returns the program as assembler text, with a line for each instruction and its offset in bytes.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut at = 0;
        while let Some(rest) = self.words[..self.len].get(at..).filter(|rest| !rest.is_empty()) {
            let Ok(instruction) = decode(self.level, self.wave, rest) else { break };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{:4x}  {instruction}", at * 4);
            at += instruction.dwords().len();
        }
        text
    }
}
