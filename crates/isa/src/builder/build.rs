//! The builder: register allocation and recording of instructions.

use std::fmt::Display;

use amdgpu_hw::GfxLevel;

use super::{
    BuildError, Label, Program, Scalar, Vector,
    hazard::{Hazards, refusal},
    names::translated,
    pending::Pending,
    register::{Pool, TTMP},
};
use crate::{WaveSize, assemble};

/// A builder of a compute program.
#[derive(Debug)]
pub struct Builder {
    pub(super) level: GfxLevel,
    pub(super) wave: WaveSize,
    pub(super) words: Vec<u32>,
    pub(super) labels: Vec<Option<usize>>,
    pub(super) branches: Vec<(usize, Label)>,
    pub(super) pending: Pending,
    hazards: Hazards,
    scalars: Pool,
    vectors: Pool,
    user: u8,
    pub(super) lds: u32,
    pub(super) scratch: u32,
    error: Option<BuildError>,
}

/// The number of padding dwords after a program, which instruction prefetch may read: three lines of 64 bytes, rounded up to 128
/// on GFX11 and later, from any address on. A fetch beyond the end of a BO may be a page fault.
///
/// Source: Mesa 25.0.7 `src/amd/compiler/aco_assembler.cpp`, `emit_program`. Its rounding leaves at most 79 dwords.
const PADDING: usize = 96;

/// Returns the number of scalar registers that the builder uses: available on all generations. On GFX8 they and the six registers
/// behind them, such as VCC, have to fit into 96, see [`Program::resources`].
const fn scalars(level: GfxLevel) -> usize {
    match level {
        GfxLevel::Gfx8 => 90,
        _ => 96,
    }
}

/// Returns the number of user registers to declare. Waves of 32 lanes on navi31 and navi33 need 16 registers of user data and
/// work-group ID, or the hardware does not initialize them all. LLVM declares them (`FeatureUserSGPRInit16Bug`), Mesa does not; the
/// builder does, for all chips of the generation.
fn declared(level: GfxLevel, wave: WaveSize, user: u8) -> u8 {
    if level == GfxLevel::Gfx11 && wave == WaveSize::Wave32 { user.max(15) } else { user }
}

impl Builder {
    /// Creates a builder for a program with user registers `s0` to `s(user - 1)`. They are followed by the work-group ID in x; on
    /// GFX11 in waves of 32 lanes there are at least 15 user registers, of which the dispatch need not set the last ones. The thread
    /// ID is in `v0`, for work-groups with one axis.
    pub fn new(level: GfxLevel, wave: WaveSize, user: u8) -> Self {
        let user = declared(level, wave, user);
        let mut builder = Self {
            level,
            wave,
            words: Vec::new(),
            labels: Vec::new(),
            branches: Vec::new(),
            pending: Pending::default(),
            hazards: Hazards::default(),
            scalars: Pool::new(scalars(level)),
            vectors: Pool::new(128),
            user,
            lds: 0,
            scratch: 0,
            error: (user > 16).then_some(BuildError::User(user)),
        };
        // The user registers, the work-group ID, and the scratch offset.
        let _ = builder.scalars.take(user.min(16) + 2, 1);
        let _ = builder.vectors.take(1, 1);
        if level <= GfxLevel::Gfx8 {
            // LDS accesses are clamped to M0.
            builder.op("s_mov_b32 m0, -1");
        }
        builder
    }

    /// Returns the generation for which code is built.
    pub const fn level(&self) -> GfxLevel {
        self.level
    }

    /// Returns `count` user registers, starting at `index`.
    pub const fn user(&self, index: u8, count: u8) -> Scalar {
        Scalar { first: index, count }
    }

    /// Returns the register with the work-group ID in x.
    pub const fn group(&self) -> Scalar {
        match self.level {
            GfxLevel::Gfx12 => Scalar { first: TTMP + 9, count: 1 },
            _ => Scalar { first: self.user, count: 1 },
        }
    }

    /// Returns the register with the offset of the wave's scratch memory (up to GFX10.3).
    pub const fn scratch_offset(&self) -> Scalar {
        Scalar { first: self.user + 1, count: 1 }
    }

    /// Returns the register with the thread ID in x, for work-groups with one axis.
    pub const fn thread(&self) -> Vector {
        Vector { first: 0, count: 1 }
    }

    /// Allocates scalar registers. Four or more are aligned to four, two to two.
    pub fn scalar(&mut self, count: u8) -> Scalar {
        let align = if count >= 4 { 4 } else { count.max(1).into() };
        let first = self.scalars.take(count, align);
        self.note(first.is_none().then_some(BuildError::Scalars(count)));
        Scalar { first: first.unwrap_or(0), count }
    }

    /// Allocates scalar registers for a lane mask.
    pub fn mask(&mut self) -> Scalar {
        self.scalar(self.wave.mask_dwords())
    }

    /// Allocates vector registers.
    pub fn vector(&mut self, count: u8) -> Vector {
        let first = self.vectors.take(count, 1);
        self.note(first.is_none().then_some(BuildError::Vectors(count)));
        Vector { first: first.unwrap_or(0), count }
    }

    /// Frees scalar registers.
    pub fn free_scalar(&mut self, register: Scalar) {
        self.scalars.free(register.first, register.count);
    }

    /// Frees vector registers.
    pub fn free_vector(&mut self, register: Vector) {
        self.vectors.free(register.first, register.count);
    }

    /// Reserves `bytes` bytes of LDS for the work-group.
    pub fn reserve_lds(&mut self, bytes: u32) {
        self.lds = self.lds.max(bytes);
        self.note((bytes > 32 << 10).then_some(BuildError::Memory(bytes, "LDS")));
    }

    /// Reserves `bytes` bytes of scratch memory for each lane.
    pub fn reserve_scratch(&mut self, bytes: u32) {
        self.scratch = self.scratch.max(bytes.next_multiple_of(16));
        self.note((bytes > 4096).then_some(BuildError::Memory(bytes, "scratch")));
    }

    /// Records an instruction with the waits that it needs. The operation is given by its name on GFX10 and earlier.
    pub fn op(&mut self, text: impl Display) {
        let text = text.to_string();
        let (name, operands) = text.split_once(' ').unwrap_or((&text, ""));
        let name = translated(self.level, name);
        let line = format!("{name} {operands}");
        match assemble(self.level, self.wave, &line) {
            Ok(instruction) => {
                self.note(refusal(&instruction).map(BuildError::Hazard));
                self.wait_before(&instruction);
                let hazards = self.hazards.around(&instruction);
                hazards.before.iter().for_each(|mitigation| self.raw(mitigation));
                self.words.extend_from_slice(instruction.dwords());
                hazards.after.iter().for_each(|mitigation| self.raw(mitigation));
            }
            Err(error) => self.note(Some(error.into())),
        }
    }

    /// Records an instruction that accesses no registers.
    pub(super) fn raw(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match assemble(self.level, self.wave, text) {
            Ok(instruction) => self.words.extend_from_slice(instruction.dwords()),
            Err(error) => self.note(Some(error.into())),
        }
    }

    /// Stores the first error.
    pub(super) fn note(&mut self, error: Option<BuildError>) {
        if self.error.is_none() {
            self.error = error;
        }
    }

    /// Records a barrier: waits until all waves of the work-group have reached it.
    pub fn barrier(&mut self) {
        self.wait_for_all();
        if self.level >= GfxLevel::Gfx12 {
            self.op("s_barrier_signal -1");
            self.op("s_barrier_wait 0xffff");
        } else {
            self.op("s_barrier");
        }
    }

    /// Records an addition without carry-out. `a` and `b` are operands as text; `b` must be a vector register.
    pub fn add(&mut self, to: Vector, a: impl Display, b: impl Display) {
        if self.level >= GfxLevel::Gfx10 {
            self.op(format_args!("v_add_nc_u32 {to}, {a}, {b}"));
        } else if self.level == GfxLevel::Gfx9 {
            self.op(format_args!("v_add_u32 {to}, {a}, {b}"));
        } else {
            let name = if self.level == GfxLevel::Gfx8 { "v_add_u32_e32" } else { "v_add_i32_e32" };
            self.op(format_args!("{name} {to}, vcc, {a}, {b}"));
        }
    }

    /// Ends the program and resolves branches.
    ///
    /// # Errors
    ///
    /// The first [`BuildError`] of any call.
    pub fn finish(mut self) -> Result<Program, BuildError> {
        self.wait_for_all();
        self.op("s_endpgm");
        self.link()?;
        if let Some(error) = self.error {
            return Err(error);
        }
        let len = self.words.len();
        let filler = if self.level >= GfxLevel::Gfx10 { "s_code_end" } else { "s_nop 0" };
        let filler = assemble(self.level, self.wave, filler)?;
        self.words.extend(std::iter::repeat_n(filler.dwords()[0], PADDING));
        Ok(Program {
            level: self.level,
            wave: self.wave,
            words: self.words,
            len,
            user: self.user,
            scalars: u32::try_from(self.scalars.most).unwrap_or(u32::MAX),
            vectors: u32::try_from(self.vectors.most).unwrap_or(u32::MAX),
            lds: self.lds,
            scratch: self.scratch,
        })
    }
}
