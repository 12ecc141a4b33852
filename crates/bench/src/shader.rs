//! The rows of `amdgpu-bench shader`: the interpreter of compute shaders against plain loops of the same work.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU32, Ordering},
    thread::available_parallelism,
};

use amdgpu_bench::measure::{compare, timed};
use amdgpu_descriptors::view::BufferView;
use amdgpu_isa::{
    WaveSize,
    builder::{BuildError, Builder, Program},
};
use amdgpu_waves::{Access, Counters, Dispatch, Limits, Memory, Outcome, PageFault, Vectors, run_on_threads};
use amdgpu_winsys::{vamgr::GpuVa, winsys::GfxLevel};

use crate::{
    child::Wanted,
    row::{Goal, Row},
};

/// The generation that is measured.
const LEVEL: GfxLevel = GfxLevel::Gfx10_3;
/// Waves of a dispatch, and rounds of the loop in each.
const GROUPS: u32 = 32;
const ROUNDS: u32 = 256;
/// Operations of a round.
const UNROLLED: u32 = 16;
const LANES: u32 = 64;
/// Times that each side is measured.
const TIMES: usize = 15;

const PROGRAM: u64 = 0x10_0000;
const DATA: u64 = 0x1000_0000;
/// Dwords of data, in pages that are looked up one by one.
const DWORDS: u32 = 1 << 20;
const PAGE_DWORDS: u32 = 1024;
/// Bits of an offset of a dword.
const MASK: u32 = (DWORDS - 1) * 4;

/// Memory behind a table of pages: a page's number leads to its place, which is another.
struct Paged {
    program: Vec<u8>,
    table: Vec<u32>,
    dwords: Vec<AtomicU32>,
}

impl Paged {
    fn new(program: &Program) -> Self {
        let pages = DWORDS / PAGE_DWORDS;
        Self {
            program: program.words().iter().flat_map(|word| word.to_le_bytes()).collect(),
            // Odd times the number, modulo a power of two, is every page once.
            table: (0..pages).map(|page| page.wrapping_mul(613) % pages).collect(),
            dwords: (0..DWORDS).map(|index| AtomicU32::new(index.wrapping_mul(0x9e37_79b1))).collect(),
        }
    }

    /// Returns the dword at an address.
    fn dword(&self, va: u64) -> Option<&AtomicU32> {
        let index = va.checked_sub(DATA)? / 4;
        let page = self.table.get(usize::try_from(index / u64::from(PAGE_DWORDS)).ok()?)?;
        let place = u64::from(page * PAGE_DWORDS) + index % u64::from(PAGE_DWORDS);
        self.dwords.get(usize::try_from(place).ok()?)
    }
}

impl Memory for Paged {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        for (at, bytes) in (va..).step_by(4).zip(out.chunks_mut(4)) {
            let dword = self.dword(at).ok_or(PageFault { va: at, access: Access::Load })?;
            bytes.copy_from_slice(&dword.load(Ordering::Relaxed).to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        for (at, bytes) in (va..).step_by(4).zip(data.as_chunks::<4>().0) {
            let dword = self.dword(at).ok_or(PageFault { va: at, access: Access::Store })?;
            dword.store(u32::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        Ok(())
    }

    fn atomic(&self, va: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        Err(PageFault { va, access: Access::Store })
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let fault = PageFault { va, access: Access::Fetch };
        let start = va.checked_sub(PROGRAM).and_then(|start| usize::try_from(start).ok()).ok_or(fault)?;
        out.copy_from_slice(self.program.get(start..start + out.len()).ok_or(fault)?);
        Ok(())
    }
}

/// The work of a round.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Integer,
    Float,
    Fused,
    Gather,
}

impl Work {
    fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Fused)
    }
}

/// Records a loop of the work, whose result is stored at the end.
fn program(work: Work) -> Result<Program, BuildError> {
    let mut code = Builder::new(LEVEL, WaveSize::Wave64, 4);
    let (buffer, at, count) = (code.user(0, 4), code.vector(1), code.scalar(1));
    let (value, other, group) = (code.vector(1), code.vector(1), code.group());
    code.op(format_args!("v_mov_b32 {at}, {group}"));
    code.op(format_args!("v_lshlrev_b32 {at}, 6, {at}"));
    code.add(at, code.thread(), at);
    code.op(format_args!("v_mov_b32 {value}, {at}"));
    code.op(format_args!("v_mov_b32 {other}, {}", if work.is_float() { "0.5" } else { "3" }));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {at}"));
    if work.is_float() {
        code.op(format_args!("v_cvt_f32_u32 {value}, {value}"));
    }
    code.op(format_args!("s_movk_i32 {count}, {ROUNDS}"));
    let start = code.label();
    code.place(start);
    for step in 0..UNROLLED {
        match (work, step % 4) {
            (Work::Integer, 0 | 2) => code.add(value, other, value),
            (Work::Integer, 1) => code.op(format_args!("v_xor_b32 {value}, {step}, {value}")),
            (Work::Integer, _) => code.op(format_args!("v_lshlrev_b32 {value}, 1, {value}")),
            (Work::Float, 0 | 2) => code.op(format_args!("v_add_f32 {value}, {other}, {value}")),
            (Work::Float, _) => code.op(format_args!("v_mul_f32 {value}, {other}, {value}")),
            (Work::Fused, _) => code.op(format_args!("v_fma_f32 {value}, {value}, {other}, {other}")),
            (Work::Gather, _) => {
                // The loaded value leads to the next address.
                code.op(format_args!("v_and_b32 {value}, {MASK:#x}, {value}"));
                code.buffer_load(value, value, buffer);
            }
        }
    }
    code.op(format_args!("s_sub_u32 {count}, {count}, 1"));
    code.op(format_args!("s_cmp_lg_u32 {count}, 0"));
    code.branch(amdgpu_isa::builder::Condition::Scc(true), start);
    code.buffer_store(value, at, buffer);
    code.finish()
}

/// The operations that a lane of the plain loop does.
fn plain(work: Work, memory: &Paged, lane: u32) -> u32 {
    let (mut value, mut real) = (lane, lane as f32);
    let (three, half) = (black_box(3_u32), black_box(0.5_f32));
    for _ in 0..ROUNDS {
        for step in 0..UNROLLED {
            match (work, step % 4) {
                (Work::Integer, 0 | 2) => value = value.wrapping_add(three),
                (Work::Integer, 1) => value ^= step,
                (Work::Integer, _) => value <<= 1,
                (Work::Float, 0 | 2) => real += half,
                (Work::Float, _) => real *= half,
                (Work::Fused, _) => real = real.mul_add(half, half),
                (Work::Gather, _) => {
                    let at = DATA + u64::from(value & MASK);
                    value = memory.dword(at).map_or(0, |dword| dword.load(Ordering::Relaxed));
                }
            }
        }
    }
    value ^ real.to_bits()
}

/// Runs a program on some threads; returns what it did.
fn execute(program: &Program, memory: &Paged, (threads, vectors): (usize, Vectors)) -> Option<Counters> {
    let mut user_data = [0; 16];
    let buffer = BufferView::raw(GpuVa::from_48_bits(DATA), DWORDS * 4).descriptor(LEVEL).ok()?;
    user_data[..4].copy_from_slice(&buffer.words());
    let dispatch = Dispatch {
        level: LEVEL,
        wave: WaveSize::Wave64,
        program: PROGRAM,
        resources: program.resources(),
        user_data,
        threads: [LANES, 1, 1],
        partial: [0; 3],
        start: [0; 3],
        end: [GROUPS, 1, 1],
        scratch_ring: 0,
        scratch_base: 0,
        chip: None,
        border_colors: 0,
    };
    match run_on_threads(&dispatch, memory, Limits { vectors, ..Limits::default() }, threads) {
        Outcome::Done(counters) => Some(counters),
        _ => None,
    }
}

/// Runs a program and forgets what it did.
fn runs(program: &Program, memory: &Paged, how: (usize, Vectors)) {
    black_box(execute(program, memory, how));
}

/// Does the work of all lanes in a plain loop.
fn plain_grid(work: Work, memory: &Paged) {
    black_box((0..GROUPS * LANES).fold(0, |sum, lane| sum ^ plain(work, memory, lane)));
}

/// Returns `true` if this processor has AVX2 and FMA.
fn has_fused_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Every row.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let detected = Goal::Above(if has_fused_vectors() { 1000.0 } else { 300.0 });
    for (name, work, vectors, goal) in [
        ("integer", Work::Integer, Vectors::Detected, detected),
        ("float", Work::Float, Vectors::Detected, detected),
        ("fused", Work::Fused, Vectors::Detected, detected),
        ("integer-baseline", Work::Integer, Vectors::Baseline, Goal::Above(300.0)),
        ("float-baseline", Work::Float, Vectors::Baseline, Goal::Above(300.0)),
        ("fused-baseline", Work::Fused, Vectors::Baseline, Goal::Above(300.0)),
        ("gather", Work::Gather, Vectors::Detected, Goal::Above(50.0)),
    ] {
        if !wanted.has(name) {
            continue;
        }
        match program(work) {
            Ok(program) => one(name, (work, vectors), &program, goal, add),
            Err(error) => add(Row::missing(name, "plain loop", error)),
        }
    }
    if wanted.has("threads") {
        match program(Work::Integer) {
            Ok(program) => threads(&program, add),
            Err(error) => add(Row::missing("threads", "one thread", error)),
        }
    }
}

/// Millions of lane-instructions a second: of gathers those alone, of other work all vector instructions.
fn one(name: &str, (work, vectors): (Work, Vectors), program: &Program, goal: Goal, add: &mut impl FnMut(Row)) {
    let memory = Paged::new(program);
    let Some(counters) = execute(program, &memory, (1, vectors)) else {
        add(Row::missing(name, "plain loop", "the dispatch did not end"));
        return;
    };
    let plain_operations = f64::from(GROUPS * LANES) * f64::from(ROUNDS * UNROLLED);
    let operations = if work == Work::Gather { plain_operations } else { counters.lanes as f64 };
    let times =
        compare(TIMES, || timed(|| runs(program, &memory, (1, vectors))), || timed(|| plain_grid(work, &memory)));
    let rate = |operations: f64, nanoseconds: f64| operations * 1e3 / nanoseconds;
    let (ours, floor) = (rate(operations, times.ours), rate(plain_operations, times.floor));
    add(Row::rates(name, GROUPS.into(), ours, "plain loop, lane by lane", floor, goal));
}

/// The time of the same grid on all processors against one thread.
fn threads(program: &Program, add: &mut impl FnMut(Row)) {
    let (memory, vectors) = (Paged::new(program), Vectors::Detected);
    let count = available_parallelism().map_or(1, usize::from);
    let times = compare(
        TIMES,
        || timed(|| runs(program, &memory, (count, vectors))),
        || timed(|| runs(program, &memory, (1, vectors))),
    );
    let goal = Goal::RatioAtMost(if count > 1 { 1.3 / count as f64 } else { 1.1 });
    add(Row::times("threads", count as u64, times.ours, "one thread", times.floor, goal));
}
