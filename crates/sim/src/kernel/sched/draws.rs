//! Execution of draws on the memory of their job: the fixed functions of `amdgpu-raster` and the waves of `amdgpu-waves`.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_packets::pm4::Register;
use amdgpu_raster::{Call, DrawState, Ended, Export, Indices, MemoryFault, PixelWave, Program, Registers, VertexWave};
use amdgpu_surface::Chip;
use amdgpu_waves::{
    Access, CodeCache, GraphicsStage, GraphicsWave, Limits, PageFault, Reach, Reason, StageEnd, StageRunner,
};

use super::{
    job_memory::{JobMemory, border_colors, report},
    skipped::Skipped,
};
use crate::gpu::{Client, Draw, Job, Memory, Scene, Statistics, Unfinished};

/// Executes a draw. A draw with features that are not simulated is counted and left out.
pub(super) fn run(
    draw: &Draw,
    level: GfxLevel,
    scene: &Scene<'_>,
    chip: Option<&Chip>,
    limits: Limits,
    code: Option<&CodeCache>,
    skipped: &Skipped,
) -> Result<(), Unfinished> {
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
    let state = DrawState { flaw: scene.job.draw_flaw(), ..DrawState::new(call, &registers) };
    let memory = JobMemory { memory: scene.memory, job: scene.job, code };
    let mut stages = Stages { state: &state, chip, scene, limits, code, vertex: None, pixel: None };
    let result = amdgpu_raster::draw(&state, chip, &memory, &mut stages);
    for fault in [&stages.vertex, &stages.pixel].into_iter().flatten().filter_map(StageRunner::fault) {
        report(fault, scene);
    }
    if let Some(cache) = code {
        [stages.vertex.take(), stages.pixel.take()].into_iter().flatten().for_each(|runner| runner.keep_code(cache));
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
            scene.state.count_statistics(&all);
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

    fn is_stopped(&self) -> bool {
        amdgpu_waves::Memory::is_stopped(self)
    }
}

/// The programs of a draw.
struct Stages<'s> {
    state: &'s DrawState,
    chip: Option<&'s Chip>,
    scene: &'s Scene<'s>,
    limits: Limits,
    code: Option<&'s CodeCache>,
    vertex: Option<StageRunner>,
    pixel: Option<StageRunner>,
}

impl Stages<'_> {
    fn runner(&self, program: &Program) -> StageRunner {
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
            border_colors: border_colors(self.state.level, self.scene.state),
        };
        StageRunner::new(&stage, self.limits)
    }

    /// Runs a wave on a runner.
    fn run(&self, runner: &mut StageRunner, program: &Program, wave: &GraphicsWave<'_>) -> Result<Vec<Export>, Ended> {
        let memory = JobMemory { memory: self.scene.memory, job: self.scene.job, code: self.code };
        let job = self.scene.job;
        let ran = if job.is_checked() {
            runner.run_checked(wave, &memory, &mut |hazard| job.hazard(hazard, self.scene.place))
        } else {
            runner.run(wave, &memory)
        };
        match ran {
            Ok(exports) => Ok(exports.iter().map(export).collect()),
            Err(StageEnd::Stopped) => Err(Ended::Stopped),
            Err(StageEnd::Hang(hang)) => match hang.reason {
                // A program that is not mapped is a page fault, as for dispatches.
                Reason::Fetch(fault) => {
                    report(fault, self.scene);
                    Err(Ended::NoProgram)
                }
                _ => Err(Ended::Hang(format!("program {:#x}: {hang}", program.address))),
            },
        }
    }
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

impl amdgpu_raster::Shaders for Stages<'_> {
    fn vertices(&mut self, program: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
        let mut runner = self.vertex.take().unwrap_or_else(|| self.runner(program));
        let start = GraphicsWave {
            scalars: &wave.scalars,
            vectors: &wave.vectors,
            exec: wave.lanes,
            primitives: &[],
            quads: &[],
        };
        let result = self.run(&mut runner, program, &start);
        self.vertex = Some(runner);
        result
    }

    fn pixels(&mut self, program: &Program, wave: &PixelWave) -> Result<Vec<Export>, Ended> {
        let mut runner = self.pixel.take().unwrap_or_else(|| self.runner(program));
        let start = GraphicsWave {
            scalars: &wave.scalars,
            vectors: &wave.vectors,
            exec: wave.lanes,
            primitives: &wave.primitives,
            quads: &wave.quads,
        };
        let result = self.run(&mut runner, program, &start);
        self.pixel = Some(runner);
        result
    }
}
