//! Waves of vertex and pixel shaders.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_surface::Chip;

use crate::{
    dispatch::Dispatch,
    export::{Export, Interpolant},
    group::Group,
    image::cache::Images,
    memory::{Memory, PageFault},
    outcome::Hang,
    program::{
        cache::CodeCache,
        code::Code,
        source::{EXEC, M0},
        wave_config::WaveConfig,
    },
    run::Limits,
    watch::{
        InstructionHazard,
        checker::{Checker, Notes},
        observer::{Observer, Unobserved},
    },
    wave::state::Scratch,
};

/// A program of a graphics stage, and what all of its waves start with.
#[derive(Clone, Debug)]
pub struct GraphicsStage {
    /// The generation of the chip.
    pub level: GfxLevel,
    /// The wave size.
    pub wave: WaveSize,
    /// The address of the program in bytes.
    pub program: u64,
    /// The values of the stage's RSRC1 and RSRC2 registers.
    pub resources: [u32; 2],
    /// `true` if conversions to 16 bits saturate: the field is elsewhere in each stage.
    pub saturates16: bool,
    /// The LDS size of a work-group in bytes.
    pub lds_bytes: usize,
    /// The value of SPI_TMPRING_SIZE.
    pub scratch_ring: u32,
    /// The address of scratch memory in bytes (GFX11 and later).
    pub scratch_base: u64,
    /// The chip, for the tiling of images.
    pub chip: Option<Chip>,
    /// The address of the table of border colours in bytes.
    pub border_colors: u64,
}

/// The registers of a wave that starts.
#[derive(Clone, Copy, Debug)]
pub struct GraphicsWave<'w> {
    /// The scalar registers from the first on.
    pub scalars: &'w [u32],
    /// The vector registers from the first on. Those that the program has not allocated are ignored.
    pub vectors: &'w [[u32; 64]],
    /// The lanes that are on.
    pub exec: u64,
    /// The attributes of primitives, for pixel shaders.
    pub primitives: &'w [Vec<Interpolant>],
    /// The primitive of each quad.
    pub quads: &'w [u16],
}

/// The reason why a wave did not end by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageEnd {
    /// The wave cannot continue.
    Hang(Box<Hang>),
    /// [`Memory::is_stopped`] returned `true`.
    Stopped,
}

/// Executes the waves of a stage, one after the other. Code is decoded once.
pub struct StageRunner {
    dispatch: Dispatch,
    config: WaveConfig,
    code: Code,
    images: Images,
    limits: Limits,
    /// The wave that runs, or that has ended.
    group: Group,
    used: u64,
    fault: Option<PageFault>,
    notes: Notes,
}

impl std::fmt::Debug for StageRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StageRunner").field("dispatch", &self.dispatch).finish_non_exhaustive()
    }
}

impl StageRunner {
    /// Prepares a stage.
    pub fn new(stage: &GraphicsStage, limits: Limits) -> Self {
        let first = stage.resources[0] & !(1 << 26) | u32::from(stage.saturates16) << 26;
        let shared = stage.resources[1] >> 28 & 15;
        let dispatch = Dispatch {
            level: stage.level,
            wave: stage.wave,
            program: stage.program,
            resources: [first, stage.resources[1], if stage.level >= GfxLevel::Gfx10 { shared } else { 0 }],
            user_data: [0; 16],
            threads: [1; 3],
            partial: [0; 3],
            start: [0; 3],
            end: [1; 3],
            scratch_ring: stage.scratch_ring,
            scratch_base: stage.scratch_base,
            chip: stage.chip,
            border_colors: stage.border_colors,
        };
        let config = WaveConfig { is_graphics: true, ..dispatch.wave_config() };
        let images = Images::new(stage.level, dispatch.chip.as_ref());
        let group = Group::of_stage(&dispatch, stage.lds_bytes, limits.vectors.unit());
        Self {
            config,
            code: Code::new(config),
            images,
            limits,
            group,
            used: 0,
            fault: None,
            notes: Notes::default(),
            dispatch,
        }
    }

    /// Executes a wave to its end and returns its exports, in order, which last up to the next wave.
    ///
    /// # Errors
    ///
    /// [`StageEnd`] if the wave cannot continue, if all waves together use more than [`Limits::instructions`] times
    /// [`Limits::WHOLE`] instructions or this one more than [`Limits::instructions`], or if the memory stops it.
    pub fn run(&mut self, wave: &GraphicsWave<'_>, memory: &dyn Memory) -> Result<&[Export], StageEnd> {
        self.run_observed(wave, memory, &Unobserved)?;
        Ok(self.group.exports())
    }

    /// Executes a wave as [`run`](Self::run) does. Tells the memory the unit and the reach of all accesses, and `sink` the hazards of
    /// the instructions, as [`run_checked`](crate::run_checked) does for dispatches: each of them once for all waves of the stage.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn run_checked(
        &mut self,
        wave: &GraphicsWave<'_>,
        memory: &dyn Memory,
        sink: &mut dyn FnMut(&InstructionHazard),
    ) -> Result<&[Export], StageEnd> {
        let mut notes = std::mem::take(&mut self.notes);
        let mut checker = Checker::new(self.config, (self.dispatch.program, true), memory, (sink, &mut notes));
        checker.unset = self.limits.unset.into();
        let result = self.run_observed(wave, memory, &checker);
        drop(checker);
        self.notes = notes;
        result.map(|()| self.group.exports())
    }

    fn run_observed<O: Observer>(
        &mut self,
        wave: &GraphicsWave<'_>,
        memory: &dyn Memory,
        observer: &O,
    ) -> Result<(), StageEnd> {
        self.start(wave);
        let group = &mut self.group;
        let result = loop {
            if memory.is_stopped() {
                break Err(StageEnd::Stopped);
            }
            match group.slice(&mut self.code, &mut self.images, memory, observer) {
                Ok(true) => break Ok(()),
                Ok(false) => {}
                Err(hang) => break Err(StageEnd::Hang(hang)),
            }
            let used = group.counters().instructions;
            let whole = self.limits.instructions.saturating_mul(Limits::WHOLE);
            if used > self.limits.instructions || self.used.saturating_add(used) > whole {
                break Err(StageEnd::Hang(Box::new(group.out_of_budget(self.limits.instructions, memory))));
            }
        };
        self.used = self.used.saturating_add(group.counters().instructions);
        self.fault = self.fault.or(group.fault());
        result
    }

    /// Gives the decoded code to later draws.
    pub fn keep_code(self, cache: &CodeCache) {
        self.code.keep(cache);
    }

    /// Returns the first access that faulted.
    pub const fn fault(&self) -> Option<PageFault> {
        self.fault
    }

    /// Starts the wave with these registers.
    fn start(&mut self, start: &GraphicsWave<'_>) {
        let dispatch = &self.dispatch;
        let Some(wave) = self.group.renew(dispatch) else { return };
        let registers = &mut wave.registers;
        for (to, from) in registers.scalars.iter_mut().take(usize::from(M0) - 20).zip(start.scalars) {
            *to = *from;
        }
        for (to, from) in registers.vectors.iter_mut().zip(start.vectors) {
            to.0 = *from;
        }
        registers.set_mask(EXEC, start.exec & registers.all());
        let base = if dispatch.level >= GfxLevel::Gfx11 { dispatch.scratch_base } else { 0 };
        let lanes = u64::from(dispatch.wave.lanes());
        wave.scratch = Scratch { base, lane_bytes: dispatch.scratch_bytes() / lanes };
        wave.mutation = self.limits.mutation;
        if let Some(graphics) = &mut wave.graphics {
            graphics.attribute(start.primitives, start.quads);
        }
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::assemble;

    use super::*;

    /// A program at address 256.
    struct Program(Vec<u8>);

    impl Memory for Program {
        fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
            let fault = PageFault { va, access: crate::Access::Load };
            let at = usize::try_from(va).ok().and_then(|at| at.checked_sub(256)).ok_or(fault)?;
            let found = self.0.get(at..at + out.len()).ok_or(fault)?;
            out.copy_from_slice(found);
            Ok(())
        }

        fn store(&self, va: u64, _: &[u8]) -> Result<(), PageFault> {
            Err(PageFault { va, access: crate::Access::Store })
        }

        fn atomic(&self, va: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
            Err(PageFault { va, access: crate::Access::Atomic })
        }
    }

    #[test]
    fn a_wave_finds_nothing_of_the_one_before() {
        let level = GfxLevel::Gfx10_3;
        let lines = [
            "v_mov_b32_e32 v1, s1",
            "exp mrt0 v0, v1, v2, v3 done vm",
            "v_mov_b32_e32 v3, 7",
            "s_mov_b32 s1, 9",
            "s_endpgm",
        ];
        let words = lines.map(|line| assemble(level, WaveSize::Wave64, line).unwrap().dwords().to_vec()).concat();
        let memory = Program(words.iter().flat_map(|word| word.to_le_bytes()).chain([0; 1024]).collect());
        let stage = GraphicsStage {
            level,
            wave: WaveSize::Wave64,
            program: 256,
            resources: [3, 0],
            saturates16: false,
            lds_bytes: 0,
            scratch_ring: 0,
            scratch_base: 0,
            chip: None,
            border_colors: 0,
        };
        let mut runner = StageRunner::new(&stage, Limits::default());
        for (vectors, lanes) in [(vec![[5; 64], [6; 64], [8; 64]], u64::MAX), (vec![[4; 64]], 0xf)] {
            let wave = GraphicsWave { scalars: &[], vectors: &vectors, exec: lanes, primitives: &[], quads: &[] };
            let exports = runner.run(&wave, &memory).unwrap();
            assert_eq!(exports.len(), 1);
            assert_eq!(exports[0].lanes, lanes);
            let third = vectors.get(2).map_or(0, |vector| vector[0]);
            assert_eq!(exports[0].values.map(|component| component[2]), [vectors[0][0], 0, third, 0]);
        }
    }
}
