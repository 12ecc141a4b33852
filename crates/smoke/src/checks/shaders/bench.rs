//! The workbench of a shader check: memory, descriptors, the dispatch, and the comparison.

use amdgpu_descriptors::{DescriptorError, view::BufferView};
use amdgpu_isa::{
    WaveSize,
    builder::{BuildError, Builder, Program, Vector},
};
use amdgpu_winsys::{vamgr::GpuVa, winsys::GfxLevel};

use super::picture::{Picture, Tiled, UNTOUCHED};
use crate::{
    gpu::{
        recorder::Grid,
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    result::outcome::{ErrorContext, Outcome, Stop, fail},
};

/// Offsets in the memory of a check, in bytes: the program, the input, the scratch memory, and the output last.
const INPUT: u64 = 16 << 10;
const SCRATCH: u64 = 48 << 10;
const OUTPUT: u64 = 112 << 10;
const SIZE: u64 = 144 << 10;

/// Bytes of input and of output.
pub(crate) const DATA: u64 = SCRATCH - INPUT;

/// Waves that scratch memory is there for, on all shader engines together.
const SCRATCH_WAVES: u32 = 32;

/// Returns the number of waves to declare in COMPUTE_TMPRING_SIZE. From GFX11 on it counts the waves of one shader engine.
fn declared_waves(level: GfxLevel, engines: u32) -> u32 {
    if level >= GfxLevel::Gfx11 { (SCRATCH_WAVES / engines.max(1)).max(1) } else { SCRATCH_WAVES }
}

/// User registers: descriptors of the output, the input and the scratch memory.
const USER: u8 = 12;
/// User registers of a kernel with an image: descriptors of the output, the image and a sampler.
const USER_WITH_IMAGE: u8 = 16;

/// A shader check: its grid, its program and the output it should have.
pub(crate) struct Kernel<'k> {
    pub(crate) groups: u32,
    pub(crate) threads: u32,
    pub(crate) input: &'k [u32],
    /// Records the program.
    pub(crate) record: &'k dyn Fn(&mut Builder),
    /// Expected output: dwords, and how many of them each lane stores.
    pub(crate) expected: &'k [u32],
    pub(crate) dwords_per_lane: u32,
    /// `true` if output may be in any order.
    pub(crate) in_any_order: bool,
    /// The image, whose user registers follow those of the output.
    pub(crate) image: Option<Picture<'k>>,
}

/// Wave sizes of a generation.
fn sizes(level: GfxLevel) -> &'static [WaveSize] {
    if level >= GfxLevel::Gfx10 { &[WaveSize::Wave32, WaveSize::Wave64] } else { &[WaveSize::Wave64] }
}

/// Returns the descriptor of a buffer without a format: a byte range.
fn raw_buffer(level: GfxLevel, va: GpuVa, bytes: u64) -> Result<[u32; 4], DescriptorError> {
    BufferView::raw(va, u32::try_from(bytes).unwrap_or(u32::MAX))
        .descriptor(level)
        .map(amdgpu_descriptors::Descriptor::words)
}

/// Returns the descriptor of scratch memory up to GFX10.3: dwords interleaved by lane.
///
/// Source: Mesa 25.0.7 `src/amd/compiler/aco_instruction_selection.cpp`, `get_scratch_resource`.
fn scratch_buffer(level: GfxLevel, wave: WaveSize, va: GpuVa) -> Result<[u32; 4], DescriptorError> {
    let view = BufferView {
        swizzle_enable: 1,
        index_stride: if wave == WaveSize::Wave64 { 3 } else { 2 },
        element_size: 1,
        add_tid: true,
        ..BufferView::raw(va, u32::MAX)
    };
    view.descriptor(level).map(amdgpu_descriptors::Descriptor::words)
}

/// Records the number of the thread in the whole grid times `bytes`, a power of two.
pub(crate) fn thread_offset(code: &mut Builder, threads: u32, bytes: u32) -> (Vector, Vector) {
    let (id, at, group) = (code.vector(1), code.vector(1), code.group());
    if code.level() >= GfxLevel::Gfx12 {
        // TTMP registers are read by scalar operations.
        let copy = code.scalar(1);
        code.op(format_args!("s_mov_b32 {copy}, {group}"));
        code.op(format_args!("v_mov_b32 {id}, {copy}"));
    } else {
        code.op(format_args!("v_mov_b32 {id}, {group}"));
    }
    code.op(format_args!("v_lshlrev_b32 {id}, {}, {id}", threads.trailing_zeros()));
    code.add(id, code.thread(), id);
    code.op(format_args!("v_lshlrev_b32 {at}, {}, {id}", bytes.trailing_zeros()));
    (id, at)
}

impl Kernel<'_> {
    /// Runs the kernel in each wave size of the generation, and compares.
    pub(crate) fn run(&self, test: &TestContext<'_>, ring: Ring) -> Outcome {
        let level = test.device.info().gfx_level;
        let mut lanes = Vec::new();
        for &wave in sizes(level) {
            self.run_in(test, ring, level, wave)?;
            lanes.push(wave.lanes().to_string());
        }
        Ok(format!("{} groups of {} threads in waves of {}", self.groups, self.threads, lanes.join(" and ")))
    }

    fn run_in(&self, test: &TestContext<'_>, ring: Ring, level: GfxLevel, wave: WaveSize) -> Result<(), Stop> {
        let program = self.program(level, wave).context("making the program")?;
        let memory = test.host_memory(SIZE)?;
        let blank: Vec<u8> = std::iter::repeat_n(UNTOUCHED.to_le_bytes(), self.expected.len() + 64).flatten().collect();
        let bytes = |dwords: &[u32]| dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect::<Vec<_>>();
        memory.write(0, &bytes(program.words()))?;
        memory.write(INPUT, &bytes(self.input))?;
        memory.write(OUTPUT, &blank)?;
        let mut user = Vec::new();
        user.extend(raw_buffer(level, memory.at(OUTPUT)?, DATA).context("making a descriptor")?);
        let image = self.image.as_ref().map(|picture| Tiled::new(test, picture)).transpose()?;
        if let Some(image) = &image {
            user.extend(image.user);
        } else {
            user.extend(raw_buffer(level, memory.at(INPUT)?, DATA).context("making a descriptor")?);
            user.extend(scratch_buffer(level, wave, memory.at(SCRATCH)?).context("making a descriptor")?);
        }
        let engines = test.device.info().shader.max_engines;
        let grid = Grid {
            code: memory.at(0)?,
            program: &program,
            groups: self.groups,
            threads: self.threads,
            user: &user,
            scratch: memory.at(SCRATCH)?,
            scratch_waves: declared_waves(level, engines),
            engines,
        };
        let touched = || {
            let stored = memory.read(OUTPUT, blank.len()).is_ok_and(|now| now != blank);
            stored || image.as_ref().is_some_and(Tiled::is_touched)
        };
        let memories = [Some(&memory), image.as_ref().map(Tiled::memory)];
        let memories: Vec<_> = memories.into_iter().flatten().map(HostMemory::memory).collect();
        test.run(ring, &memories, touched, |recorder| recorder.dispatch(&grid))?;
        self.compare(&memory, image.as_ref(), &program)
    }

    fn program(&self, level: GfxLevel, wave: WaveSize) -> Result<Program, BuildError> {
        let user = if self.image.is_some() { USER_WITH_IMAGE } else { USER };
        let mut code = Builder::new(level, wave, user);
        (self.record)(&mut code);
        code.finish()
    }

    /// Fails with the first lane whose output is wrong, the instruction that stored it and the one before.
    fn compare(&self, memory: &HostMemory, image: Option<&Tiled>, program: &Program) -> Result<(), Stop> {
        let stored_to = image.filter(|_| self.image.is_some_and(|picture| picture.is_output));
        let mut found = match stored_to {
            Some(image) => image.read()?,
            None => memory.dwords(OUTPUT, self.expected.len() + 64)?,
        };
        let beyond = found.split_off(self.expected.len());
        if self.in_any_order {
            found.sort_unstable();
        }
        let lanes = program.wave().lanes();
        if let Some(at) = found.iter().zip(self.expected).position(|(found, expected)| found != expected) {
            let thread = u32::try_from(at).unwrap_or(0) / self.dwords_per_lane;
            let (group, thread) = (thread / self.threads, thread % self.threads);
            let wrong = found.iter().zip(self.expected).filter(|(found, expected)| found != expected).count();
            return fail(format!(
                "lane {} of wave {} of group {group} (wave{lanes}): dword {at} is {:#x}, expected {:#x}, {wrong} of {} are \
                 wrong; {}",
                thread % lanes,
                thread / lanes,
                found[at],
                self.expected[at],
                self.expected.len(),
                last_store(program),
            ));
        }
        match beyond.iter().position(|dword| *dword != UNTOUCHED) {
            Some(at) => fail(format!("dword {at} behind the output is {:#x} (wave{lanes})", beyond[at])),
            None => Ok(()),
        }
    }
}

/// Returns the last store of a program and the instruction before it that is no wait, as text.
fn last_store(program: &Program) -> String {
    let text = program.text();
    let plain: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.contains("  s_")).collect();
    match plain.iter().rposition(|line| line.contains("_store")) {
        Some(at) if at > 0 => format!("stored by `{}`, after `{}`", plain[at], plain[at - 1]),
        _ => "no instruction stores".to_owned(),
    }
}
