//! Execution of draws on the memory of their job: the fixed functions of `amdgpu-raster` and the waves of `amdgpu-waves`.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_packets::pm4::Register;
use amdgpu_raster::{
    Call, DrawState, Ended, Export, Indices, MemoryFault, PixelWave, Program, Registers, Surface, VertexWave,
};
use amdgpu_surface::Chip;
use amdgpu_waves::{
    Access, CodeCache, GraphicsStage, GraphicsWave, Limits, PageFault, Reach, Reason, StageEnd, StageRunner,
};
use parking_lot::Mutex;

use super::{
    job_memory::{JobMemory, border_colors, report},
    skipped::Skipped,
};
use crate::gpu::{Client, Draw, Job, Memory, Place, Scene, State, Statistics, TargetCaches, Unfinished};

/// The executor of draws.
pub(super) struct Drawer<'d> {
    pub(super) level: GfxLevel,
    pub(super) chip: Option<&'d Chip>,
    pub(super) limits: Limits,
    /// The decoded code of earlier draws; `None` if the draw decodes its own.
    pub(super) code: Option<&'d CodeCache>,
    pub(super) skipped: &'d Skipped,
    /// The number of threads that draw pixels.
    pub(super) threads: usize,
}

/// Executes a draw. A draw with features that are not simulated is counted and left out.
pub(super) fn run(draw: &Draw, drawer: &Drawer<'_>, scene: &Scene<'_>) -> Result<(), Unfinished> {
    let Drawer { level, chip, limits, code, skipped, threads } = *drawer;
    let indices = draw.indices.map(|indices| Indices {
        va: indices.va.low_48_bits(),
        count: indices.count,
        bytes: indices.bytes,
    });
    // The vertex offset and the first instance are in user data, where the program adds them.
    let call = Call {
        count: Some(draw.count),
        instances: Some(draw.instances),
        first: if draw.indices.is_some() { draw.first } else { 0 },
        indices,
        initiator: draw.initiator,
    };
    let read = |offset: u32| scene.state.registers().written(Register::at_byte(offset)?);
    let registers = Registers::new(level, &read);
    let state = DrawState { mutation: scene.job.draw_mutation(), ..DrawState::new(call, &registers) };
    let borders = border_colors(level, scene.state);
    let at = (scene.state, scene.place);
    let mut parts = Parts::default();
    let result = match (scene.memory.shared(), scene.job.shared()) {
        // A deliberate mistake is the same each time only on a single thread.
        (Some(memory), Some(job))
            if threads > 1 && limits.mutation.is_none() && state.mutation.is_none() && !job.is_checked() =>
        {
            let memory = JobMemory { memory, job, code };
            let ended = Mutex::new(Vec::new());
            let stages = |ended| Stages::new(&state, (chip, borders), memory, limits, at, ended);
            let mut own = stages(&ended);
            let mut others: Vec<_> = (1..threads).map(|_| Box::new(stages(&ended)) as _).collect();
            let result = amdgpu_raster::draw_on_threads(&state, chip, &memory, &mut own, &mut others);
            drop(others);
            drop(own);
            parts.extend(ended.into_inner());
            result
        }
        _ => {
            let memory = JobMemory { memory: scene.memory, job: scene.job, code };
            let ended = Mutex::new(Vec::new());
            let mut stages = Stages::new(&state, (chip, borders), memory, limits, at, &ended);
            let result = amdgpu_raster::draw(&state, chip, &memory, &mut stages);
            drop(stages);
            parts.extend(ended.into_inner());
            result
        }
    };
    for part in parts {
        part.faults().for_each(|fault| report(fault, scene));
        if let Some(cache) = code {
            part.keep_code(cache);
        }
    }
    match result {
        Ok(drawn) => {
            let statistics = [
                drawn.pixel_invocations,
                drawn.primitives,
                drawn.clipped,
                drawn.vertex_invocations,
                0,
                0,
                drawn.assembled,
                drawn.vertices,
            ];
            let mut all = Statistics::default();
            all[..statistics.len()].copy_from_slice(&statistics);
            if scene.state.counts_statistics() {
                scene.state.count_statistics(&all);
            }
            if state.counts_samples {
                scene.state.count_samples(drawn.passed);
            }
            if let Some(fault) = drawn.fault {
                let access = if fault.is_write { Access::Store } else { Access::Load };
                report(PageFault { va: fault.va, access }, scene);
            }
            tracing::trace!(?drawn, "a draw");
            Ok(())
        }
        Err(Ended::NotExecuted(features)) => {
            let names: Vec<_> = features.iter().map(ToString::to_string).collect();
            skipped.add(&names.join(", "), scene.place);
            Ok(())
        }
        Err(Ended::Stopped) => Err(Unfinished::Cancelled),
        Err(Ended::NoProgram) => Ok(()),
        Err(ended) => {
            scene.job.hung(&format!("{}: {ended}", scene.place));
            Err(Unfinished::Hang)
        }
    }
}

impl<M: Memory + ?Sized, J: Job + ?Sized> JobMemory<'_, M, J> {
    /// Reads bytes as a fixed function does.
    fn load_by(&self, client: Client, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        self.memory.route(client, Reach::Device);
        let loaded = amdgpu_waves::Memory::load(self, va, out);
        self.memory.route(Client::Vector, Reach::Unit);
        loaded.map_err(|fault| MemoryFault { va: fault.va, is_write: false })
    }
}

impl<M: Memory + ?Sized, J: Job + ?Sized> amdgpu_raster::Memory for JobMemory<'_, M, J> {
    fn enter(&self, surface: Surface) {
        self.memory.enter(match surface {
            Surface::Color => TargetCaches::COLOR,
            Surface::ColorMetadata => TargetCaches::COLOR_METADATA,
            Surface::Depth => TargetCaches::DEPTH,
            Surface::DepthMetadata => TargetCaches::DEPTH_METADATA,
        });
    }

    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        self.load_by(Client::Targets, va, out)
    }

    fn load_indices(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        self.load_by(Client::Indices, va, out)
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), MemoryFault> {
        self.memory.route(Client::Targets, Reach::Device);
        let stored = amdgpu_waves::Memory::store(self, va, data);
        self.memory.route(Client::Vector, Reach::Unit);
        stored.map_err(|fault| MemoryFault { va: fault.va, is_write: true })
    }

    fn load_elements(&self, addresses: &[u64], bytes: usize, out: &mut [u8]) -> Result<(), MemoryFault> {
        self.memory.route(Client::Targets, Reach::Device);
        let loaded = self.memory.read_elements(addresses, bytes, out);
        self.memory.route(Client::Vector, Reach::Unit);
        loaded.map_err(|fault| MemoryFault { va: fault.va.low_48_bits(), is_write: false })
    }

    fn store_elements(&self, addresses: &[u64], bytes: usize, data: &[u8]) -> Result<(), MemoryFault> {
        self.memory.route(Client::Targets, Reach::Device);
        let stored = self.memory.write_elements(addresses, bytes, data);
        self.memory.route(Client::Vector, Reach::Unit);
        stored.map_err(|fault| MemoryFault { va: fault.va.low_48_bits(), is_write: true })
    }

    fn is_stopped(&self) -> bool {
        amdgpu_waves::Memory::is_stopped(self)
    }
}

/// The programs of a draw on one thread, which leave what they have when they end.
struct Stages<'s, M: Memory + ?Sized, J: Job + ?Sized> {
    state: &'s DrawState,
    chip: Option<&'s Chip>,
    border_colors: u64,
    memory: JobMemory<'s, M, J>,
    limits: Limits,
    /// The registers of the job.
    registers: &'s State,
    place: Place,
    part: Part,
    ended: &'s Mutex<Vec<Part>>,
}

/// The programs of a draw on one thread, after they have run.
#[derive(Default)]
struct Part {
    vertex: Option<Box<StageRunner>>,
    pixel: Option<Box<StageRunner>>,
    /// The fault of a program that is not mapped.
    missing: Option<PageFault>,
}

type Parts = Vec<Part>;

impl Part {
    fn faults(&self) -> impl Iterator<Item = PageFault> {
        let runners = [&self.vertex, &self.pixel].into_iter().flatten();
        self.missing.into_iter().chain(runners.filter_map(|runner| runner.fault()))
    }

    fn keep_code(self, cache: &CodeCache) {
        [self.vertex, self.pixel].into_iter().flatten().for_each(|runner| runner.keep_code(cache));
    }
}

impl<M: Memory + ?Sized, J: Job + ?Sized> Drop for Stages<'_, M, J> {
    fn drop(&mut self) {
        self.ended.lock().push(std::mem::take(&mut self.part));
    }
}

impl<'s, M: Memory + ?Sized, J: Job + ?Sized> Stages<'s, M, J> {
    fn new(
        state: &'s DrawState,
        (chip, border_colors): (Option<&'s Chip>, u64),
        memory: JobMemory<'s, M, J>,
        limits: Limits,
        (registers, place): (&'s State, Place),
        ended: &'s Mutex<Vec<Part>>,
    ) -> Self {
        Self { state, chip, border_colors, memory, limits, registers, place, part: Part::default(), ended }
    }

    fn runner(&self, program: &Program) -> Box<StageRunner> {
        let stage = GraphicsStage {
            level: self.state.level,
            wave: if program.lanes == 32 { WaveSize::Wave32 } else { WaveSize::Wave64 },
            program: program.address,
            resources: program.resources,
            saturates16: program.saturates16,
            lds_bytes: program.lds_bytes as usize,
            scratch_ring: self.state.scratch_ring,
            scratch_base: self.state.scratch_base,
            chip: self.chip.copied(),
            border_colors: self.border_colors,
        };
        let unset = if self.memory.job.is_checked() { unset_arguments(program, self.registers) } else { 0 };
        Box::new(StageRunner::new(&stage, Limits { unset, ..self.limits }))
    }

    /// Runs a wave on a runner, and leaves its exports.
    fn run(
        &mut self,
        runner: &mut StageRunner,
        program: &Program,
        wave: &GraphicsWave<'_>,
        exports: &mut Vec<Export>,
    ) -> Result<(), Ended> {
        let (memory, place) = (&self.memory, self.place);
        let ran = if memory.job.is_checked() {
            runner.run_checked(wave, memory, &mut |hazard| memory.job.hazard(hazard, place))
        } else {
            runner.run(wave, memory)
        };
        match ran {
            Ok(found) => {
                exports.clear();
                exports.extend(found.iter().map(export));
                Ok(())
            }
            Err(StageEnd::Stopped) => Err(Ended::Stopped),
            Err(StageEnd::Hang(hang)) => match hang.reason {
                // A program that is not mapped is a page fault, as for dispatches.
                Reason::Fetch(fault) => {
                    self.part.missing = self.part.missing.or(Some(fault));
                    Err(Ended::NoProgram)
                }
                _ => Err(Ended::Hang(format!("program {:#x}: {hang}", program.address))),
            },
        }
    }
}

/// Returns the scalar registers of a program's waves whose values are arguments that the job has not set, by their bits.
fn unset_arguments(program: &Program, state: &State) -> u64 {
    let first = Register::at_byte(program.user_data_offset);
    let is_unset =
        |index: &u32| first.is_some_and(|first| !state.registers().is_set(Register::new(first.index() + index)));
    let arguments = 0..program.user_data.len() as u32;
    arguments.filter(is_unset).fold(0, |bits, index| bits | 1 << (program.first_user_data + index))
}

fn export(export: &amdgpu_waves::Export) -> Export {
    Export {
        target: export.target,
        enabled: export.enabled,
        is_last: export.is_last,
        lanes: export.lanes,
        values: export.values,
        is_compressed: export.is_compressed,
    }
}

impl<M: Memory + ?Sized, J: Job + ?Sized> amdgpu_raster::Shaders for Stages<'_, M, J> {
    fn vertices(&mut self, program: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
        let mut runner = self.part.vertex.take().unwrap_or_else(|| self.runner(program));
        let start = GraphicsWave {
            scalars: &wave.scalars,
            vectors: &wave.vectors,
            exec: wave.lanes,
            primitives: &[],
            quads: &[],
        };
        let mut exports = Vec::new();
        let result = self.run(&mut runner, program, &start, &mut exports);
        self.part.vertex = Some(runner);
        result.map(|()| exports)
    }

    fn pixels(&mut self, program: &Program, wave: &PixelWave, exports: &mut Vec<Export>) -> Result<(), Ended> {
        let mut runner = self.part.pixel.take().unwrap_or_else(|| self.runner(program));
        let start = GraphicsWave {
            scalars: &wave.scalars,
            vectors: &wave.vectors,
            exec: wave.lanes,
            primitives: &wave.primitives,
            quads: &wave.quads,
        };
        let result = self.run(&mut runner, program, &start, exports);
        self.part.pixel = Some(runner);
        result
    }
}
