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
    /// On GFX8 the program is always given 96 scalar registers, the most that the builder uses with VCC and the others behind them:
    /// on Tonga and Iceland waves must allocate exactly that number (the SGPR initialization bug), it is a multiple of the granule
    /// of all others, and the program does not know its chip.
    ///
    /// Source: Mesa 25.0.7's register database for the fields, and `src/amd/compiler/aco_ir.cpp`, `init_program`, for the granules;
    /// `src/amd/common/ac_gpu_info.c`, `min_sgpr_alloc` and `sgpr_alloc_granularity`, for Tonga and Iceland.
    pub fn resources(&self) -> [u32; 3] {
        let unit = if self.wave == WaveSize::Wave32 { 8 } else { 4 };
        let vectors = self.vectors.max(1).div_ceil(unit) - 1;
        let scalars = match self.level {
            GfxLevel::Gfx8 => 96 / 8 - 1,
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx9 => {
                // VCC, FLAT_SCRATCH and XNACK_MASK follow the registers; GFX9 allocates in granules of sixteen.
                let granule = if self.level == GfxLevel::Gfx9 { 16 } else { 8 };
                (self.scalars + 6).next_multiple_of(granule) / 8 - 1
            }
            _ => 0,
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

    /// Returns the value of COMPUTE_TMPRING_SIZE for a number of concurrent waves: of the whole device up to GFX10.3, and of each
    /// shader engine from GFX11 on. There the scratch memory must be large enough for this number on every engine.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_shader_util.c`, `ac_get_scratch_tmpring_size`.
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
