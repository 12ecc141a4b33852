//! Waves of vertex and pixel shaders.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_surface::Chip;

use crate::{
    buffer::described::{Described, Key},
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
    wave::{
        file::Pool,
        registers::Registers,
        state::{Graphics, Indexing, Pad, Scratch, Status, Wave},
    },
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
    lds_bytes: usize,
    code: Code,
    images: Images,
    limits: Limits,
    pool: Pool,
    /// The space of the last wave, for the next.
    pad: Option<Box<Pad>>,
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
        let lds_bytes = stage.lds_bytes;
        Self {
            config,
            lds_bytes,
            code: Code::new(config),
            images,
            limits,
            pool: Pool::default(),
            pad: None,
            used: 0,
            fault: None,
            notes: Notes::default(),
            dispatch,
        }
    }

    /// Executes a wave to its end and returns its exports, in order.
    ///
    /// # Errors
    ///
    /// [`StageEnd`] if the wave cannot continue, if all waves together use more than [`Limits::instructions`] times
    /// [`Limits::WHOLE`] instructions or this one more than [`Limits::instructions`], or if the memory stops it.
    pub fn run(&mut self, wave: &GraphicsWave<'_>, memory: &dyn Memory) -> Result<Vec<Export>, StageEnd> {
        self.run_observed(wave, memory, &Unobserved)
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
    ) -> Result<Vec<Export>, StageEnd> {
        let mut notes = std::mem::take(&mut self.notes);
        let mut checker = Checker::new(self.config, (self.dispatch.program, true), memory, (sink, &mut notes));
        checker.unset = self.limits.unset.into();
        let result = self.run_observed(wave, memory, &checker);
        drop(checker);
        self.notes = notes;
        result
    }

    fn run_observed<O: Observer>(
        &mut self,
        wave: &GraphicsWave<'_>,
        memory: &dyn Memory,
        observer: &O,
    ) -> Result<Vec<Export>, StageEnd> {
        let wave = self.wave(wave);
        let mut group = Group::of_wave(wave, self.dispatch.level, self.lds_bytes, self.dispatch.border_colors);
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
        let (exports, pad) = group.into_exports(&mut self.pool);
        self.pad = pad;
        result.map(|()| exports)
    }

    /// Gives the decoded code to later draws.
    pub fn keep_code(self, cache: &CodeCache) {
        self.code.keep(cache);
    }

    /// Returns the first access that faulted.
    pub const fn fault(&self) -> Option<PageFault> {
        self.fault
    }

    /// Returns a wave with these registers.
    fn wave(&mut self, start: &GraphicsWave<'_>) -> Wave {
        let dispatch = &self.dispatch;
        let lanes = dispatch.wave.lanes();
        let (vectors, unit) = (self.pool.take(self.config.vgprs as usize), self.limits.vectors.unit());
        let vectors = (vectors, dispatch.private_vgprs());
        let mut registers = Registers::new(dispatch.level, lanes, vectors, dispatch.mode(), unit);
        for (to, from) in registers.scalars.iter_mut().take(usize::from(M0) - 20).zip(start.scalars) {
            *to = *from;
        }
        for (to, from) in registers.vectors.iter_mut().zip(start.vectors) {
            to.0 = *from;
        }
        registers.set_mask(EXEC, start.exec & registers.all());
        registers.scalars[usize::from(M0)] = crate::group::UNDEFINED;
        let base = if dispatch.level >= GfxLevel::Gfx11 { dispatch.scratch_base } else { 0 };
        Wave {
            registers,
            pc: dispatch.program & ((1 << 48) - 4),
            status: Status::Running,
            scratch: Scratch { base, lane_bytes: dispatch.scratch_bytes() / u64::from(lanes) },
            indexing: Indexing::default(),
            number: 0,
            counters: crate::outcome::Counters::default(),
            fault: None,
            mutation: self.limits.mutation,
            pad: self.pad.take().unwrap_or_default(),
            unit,
            takes_shortcuts: unit.takes_shortcuts(),
            described: Described::new(dispatch.level, Key::default()),
            graphics: Some(Box::new(Graphics {
                // Most programs export once or twice.
                exports: Vec::with_capacity(2),
                primitives: start.primitives.to_vec(),
                quads: start.quads.to_vec(),
            })),
        }
    }
}
