//! Execution of shaders on the memory of their job.

use std::sync::Arc;

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{
    Target,
    pm4::Register,
    registers::{
        COMPUTE_DISPATCH_SCRATCH_BASE_HI, COMPUTE_DISPATCH_SCRATCH_BASE_LO, COMPUTE_NUM_THREAD_X, COMPUTE_PGM_RSRC1,
        COMPUTE_PGM_RSRC2, COMPUTE_PGM_RSRC3, COMPUTE_START_X, COMPUTE_TMPRING_SIZE, COMPUTE_USER_DATA_0,
        Register as NamedRegister,
    },
};
use amdgpu_surface::{Chip, ChipRegisters};
use amdgpu_waves::{CodeCache, Limits, Outcome, Reason, run, run_checked, run_on_threads, run_watched};

use crate::{
    Profile, SimOptions, Strictness,
    chips::Register as Captured,
    gpu::{Dispatch, Scene, Shaders, State, Unfinished, Work},
    kernel::sched::{
        draws::{self, Drawer},
        job_memory::{JobMemory, border_colors, report},
        shader_watch::{ShaderNews, Watching},
        skipped::Skipped,
    },
};

/// The seed of what hardware leaves open, in the modes that show it. Any number: it is the same each time, so that what depends on it can
/// be found.
const SEED: u64 = 0x5eed_0f5e_ed00;

/// The simulator's [`Shaders`]: it executes dispatches and draws.
pub(crate) struct Interpreter {
    limits: Limits,
    /// The chip, for the tiling of images; `None` if the capture lacks register values or has invalid ones.
    chip: Option<Chip>,
    /// The number of threads that execute a draw, or a dispatch that is not watched.
    threads: usize,
    watching: Option<Watching>,
    /// The draws that were not executed.
    skipped: Arc<Skipped>,
    /// The decoded code of dispatches and draws that ended.
    code: CodeCache,
}

impl Interpreter {
    /// Returns the executor of a device's shaders.
    pub(crate) fn new(
        options: &SimOptions,
        profile: &Profile,
        watching: Option<Watching>,
        skipped: &Arc<Skipped>,
    ) -> Self {
        let limits = Limits {
            instructions: options.shader_instructions,
            shader_engines: profile.dev_info.num_shader_engines,
            shuffled: (options.strictness == Strictness::Late).then_some(SEED),
            undefined: matches!(options.strictness, Strictness::Bite | Strictness::Late).then_some(SEED),
            ..Limits::default()
        };
        let (threads, skipped) = (options.shader_threads, Arc::clone(skipped));
        Self { limits, chip: tiling(profile), threads, watching, skipped, code: CodeCache::default() }
    }

    /// Executes a dispatch, and reports watched events.
    fn execute(&self, dispatch: &amdgpu_waves::Dispatch, scene: &Scene<'_>, limits: Limits) -> Outcome {
        // Checks are about what is fetched, and when.
        let code = (!scene.job.is_checked() && self.watching.is_none()).then_some(&self.code);
        let memory = JobMemory { memory: scene.memory, job: scene.job, code };
        let Some(Watching { watch, sink }) = &self.watching else {
            if scene.job.is_checked() {
                return run_checked(dispatch, &memory, limits, &mut |hazard| scene.job.hazard(hazard, scene.place));
            }
            // A deliberate mistake is the same each time only on a single thread.
            return match (scene.memory.shared(), scene.job.shared()) {
                (Some(memory), Some(job)) if self.threads > 1 && limits.mutation.is_none() => {
                    run_on_threads(dispatch, &JobMemory { memory, job, code }, limits, self.threads)
                }
                _ => run(dispatch, &memory, limits),
            };
        };
        let (program, groups, packet) = (dispatch.program, dispatch.end, scene.place.to_string());
        // Only a wave can be stopped by the result.
        let _ = sink(&ShaderNews::Start { program, groups, packet });
        let (outcome, report) =
            run_watched(dispatch, &memory, limits, watch, &mut |event| sink(&ShaderNews::Wave(event)));
        let how = match &outcome {
            Outcome::Done(_) => "done".to_owned(),
            Outcome::Fault { fault, .. } => format!("done with a fault: {fault}"),
            Outcome::Hang(hang) => hang.to_string(),
            Outcome::Stopped => "ended with its job".to_owned(),
        };
        let _ = sink(&ShaderNews::End { how, report });
        outcome
    }
}

/// Returns the properties of a chip that determine the layout of images.
///
/// Source: libdrm 2.4.124 `amdgpu_gpu_info.c`, `amdgpu_query_gpu_info_init`, for the registers.
pub(crate) fn tiling(profile: &Profile) -> Option<Chip> {
    const GB_ADDR_CONFIG: u32 = 0x263e;
    const GB_TILE_MODE0: u32 = 0x2644;
    const GB_MACROTILE_MODE0: u32 = 0x2664;
    let dev = &profile.dev_info;
    let register = |dword_offset| profile.register(dword_offset, Captured::BROADCAST).map(|register| register.value);
    let table = |first: u32| move |index: usize| register(first + u32::try_from(index).ok()?);
    let value = |found: Option<u32>| found.unwrap_or(0);
    Chip::new(&ChipRegisters {
        chip_rev: dev.chip_rev,
        tile_modes: std::array::from_fn(|index| value(table(GB_TILE_MODE0)(index))),
        macrotile_modes: std::array::from_fn(|index| value(table(GB_MACROTILE_MODE0)(index))),
        ..ChipRegisters::new(profile.gfx_level, dev.family, dev.external_rev, register(GB_ADDR_CONFIG)?)
    })
    .ok()
}

/// The bits of COMPUTE_DISPATCH_INITIATOR.
mod initiator {
    pub(super) const PARTIAL_TG_EN: u32 = 1 << 1;
    pub(super) const FORCE_START_AT_000: u32 = 1 << 2;
    pub(super) const USE_THREAD_DIMENSIONS: u32 = 1 << 5;
}

impl Shaders for Interpreter {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        let Target::Pm4(target) = scene.place.target else { return Ok(()) };
        let grid = match work {
            Work::Dispatch(grid) => grid,
            Work::Draw(draw) => {
                let limits = Limits { mutation: scene.job.wave_mutation(), ..self.limits };
                let code = (!scene.job.is_checked()).then_some(&self.code);
                let drawer = Drawer {
                    level: target.level,
                    chip: self.chip.as_ref(),
                    limits,
                    code,
                    skipped: &self.skipped,
                    threads: self.threads,
                };
                return draws::run(draw, &drawer, scene);
            }
            Work::Mesh(_) => {
                self.skipped.add("mesh shader", scene.place);
                return Ok(());
            }
        };
        // Task shaders pass payloads to mesh shaders, which are not executed.
        if scene.place.packet.starts_with("DISPATCH_TASKMESH") || grid.program == GpuVa::NULL {
            return Ok(());
        }
        let dispatch = dispatch(target.level, grid, scene.state, self.chip.as_ref(), self.limits.undefined);
        let unset = if scene.job.is_checked() { unset_arguments(target.level, scene.state) } else { 0 };
        let limits = Limits { mutation: scene.job.wave_mutation(), unset: unset.into(), ..self.limits };
        match self.execute(&dispatch, scene, limits) {
            Outcome::Done(_) => Ok(()),
            Outcome::Stopped => Err(Unfinished::Cancelled),
            Outcome::Fault { fault, .. } => {
                report(fault, scene);
                Ok(())
            }
            // The packet has already reported a program that is not mapped.
            Outcome::Hang(hang) if matches!(hang.reason, Reason::Fetch(_)) => {
                if hang.pc != grid.program.low_48_bits()
                    && let Reason::Fetch(fault) = hang.reason
                {
                    report(fault, scene);
                }
                Ok(())
            }
            Outcome::Hang(hang) => {
                scene.job.hung(&format!("{}: {hang}", scene.place));
                Err(Unfinished::Hang)
            }
        }
    }
}

/// Returns the number of threads of a whole work-group: NUM_THREAD_FULL, above which GFX12 has INTERLEAVE_BITS.
fn whole_threads(level: GfxLevel, size: u32) -> u32 {
    size & if level >= GfxLevel::Gfx12 { 0x1fff } else { 0xffff }
}

/// Returns the registers of arguments that the job has not set, by their bits.
fn unset_arguments(level: GfxLevel, state: &State) -> u16 {
    let Some(first) = COMPUTE_USER_DATA_0.offset(level).and_then(Register::at_byte) else { return 0 };
    let is_unset = |index: &u32| !state.registers().is_set(Register::new(first.index() + index));
    (0..u16::BITS).filter(is_unset).fold(0, |bits, index| bits | 1 << index)
}

/// Returns the dispatch for the values of registers. With a `seed`, those that the job has not set have values of it, as another process
/// may have left them.
fn dispatch(
    level: GfxLevel,
    grid: &Dispatch,
    state: &State,
    chip: Option<&Chip>,
    seed: Option<u64>,
) -> amdgpu_waves::Dispatch {
    let at = |register: NamedRegister, index: u32| {
        let Some(first) = register.offset(level).and_then(Register::at_byte) else { return 0 };
        let place = Register::new(first.index() + index);
        match seed.filter(|_| !state.registers().is_set(place)) {
            Some(seed) => (seed as u32).wrapping_mul(place.index()) | 1,
            None => state.register(place),
        }
    };
    let is_set = |bit: u32| grid.initiator & bit != 0;
    let sizes = [0, 1, 2].map(|axis| at(COMPUTE_NUM_THREAD_X, axis));
    let threads = sizes.map(|size| whole_threads(level, size));
    let mut partial = if is_set(initiator::PARTIAL_TG_EN) { sizes.map(|size| size >> 16) } else { [0; 3] };
    let mut end = grid.groups;
    if is_set(initiator::USE_THREAD_DIMENSIONS) {
        for axis in 0..3 {
            let whole = threads[axis].max(1);
            partial[axis] = end[axis] % whole;
            end[axis] = end[axis].div_ceil(whole);
        }
    }
    let starts_at_zero = is_set(initiator::FORCE_START_AT_000);
    let start = [0, 1, 2].map(|axis| if starts_at_zero { 0 } else { at(COMPUTE_START_X, axis) });
    let [low, high] = [COMPUTE_DISPATCH_SCRATCH_BASE_LO, COMPUTE_DISPATCH_SCRATCH_BASE_HI].map(|half| at(half, 0));
    amdgpu_waves::Dispatch {
        level,
        wave: grid.wave(level),
        program: grid.program.low_48_bits(),
        resources: [COMPUTE_PGM_RSRC1, COMPUTE_PGM_RSRC2, COMPUTE_PGM_RSRC3].map(|register| at(register, 0)),
        user_data: std::array::from_fn(|index| at(COMPUTE_USER_DATA_0, index as u32)),
        threads,
        partial,
        start,
        end,
        scratch_ring: at(COMPUTE_TMPRING_SIZE, 0),
        scratch_base: (u64::from(high & 0xff) << 32 | u64::from(low)) << 8,
        chip: chip.copied(),
        border_colors: border_colors(level, state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_seed_registers_that_the_job_has_not_set_have_no_value_of_an_earlier_job() {
        let level = GfxLevel::Gfx10;
        let grid = Dispatch { groups: [1; 3], program: GpuVa::NULL, number: 0, initiator: 1 };
        let place = |register: NamedRegister| register.offset(level).and_then(Register::at_byte).unwrap();
        let mut state = State::new();
        state.set_register(place(COMPUTE_NUM_THREAD_X), 64);
        state.begin_job();
        state.set_register(place(COMPUTE_PGM_RSRC1), 5);
        let of = |seed: Option<u64>| dispatch(level, &grid, &state, None, seed);
        assert_eq!((of(None).threads[0], of(None).resources[0], of(None).start), (64, 5, [0; 3]));
        let garbage = of(Some(SEED));
        assert_ne!(garbage.threads[0], 64);
        assert!(garbage.start.iter().all(|start| *start != 0) && garbage.user_data[3] != 0);
        assert_eq!((garbage.resources[0], garbage.user_data), (5, of(Some(SEED)).user_data));
        assert_eq!(unset_arguments(level, &state), u16::MAX);
        state.set_register(place(COMPUTE_USER_DATA_0), 5);
        assert_eq!(unset_arguments(level, &state), u16::MAX - 1);
    }

    #[test]
    fn the_interleaving_of_threads_on_gfx12_is_not_part_of_their_number() {
        assert_eq!(whole_threads(GfxLevel::Gfx12, 5 << 16 | 1 << 13 | 64), 64);
        assert_eq!(whole_threads(GfxLevel::Gfx11_5, 5 << 16 | 1 << 13 | 64), 0x2040);
    }
}
