//! The rows of `amdgpu-bench shader`: the interpreter of compute shaders against plain loops of the same work.

use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread::available_parallelism,
};

use amdgpu_bench::measure::{compare, timed};
use amdgpu_descriptors::view::BufferView;
use amdgpu_isa::{
    WaveSize,
    builder::{BuildError, Builder, Program, Scalar, Vector},
};
use amdgpu_waves::{
    Access, CodeCache, Counters, Dispatch, InstructionHazard, Limits, Memory, Outcome, PageFault, Vectors, run_checked,
    run_on_threads,
};
use amdgpu_winsys::{vamgr::GpuVa, winsys::GfxLevel};

use crate::{
    child::Wanted,
    row::{Goal, Row, Unit},
};

/// The generation that is measured.
const LEVEL: GfxLevel = GfxLevel::Gfx10_3;
/// Waves of a dispatch, and rounds of the loop in each.
const GROUPS: u32 = 32;
const ROUNDS: u32 = 256;
/// Operations of a round.
const UNROLLED: u32 = 16;
const LANES: u32 = 64;
/// Operations of the code whose decoding is measured.
const STRAIGHT: u32 = 8192;
/// Times that each side is measured.
const TIMES: usize = 15;

const PROGRAM: u64 = 0x10_0000;
const DATA: u64 = 0x1000_0000;
/// Dwords of data, in pages that are looked up one by one.
const DWORDS: u32 = 1 << 20;
const PAGE_DWORDS: u32 = 1024;
/// Bits of an offset of a dword.
const MASK: u32 = (DWORDS - 1) * 4;
/// An odd number whose multiples are spread over all 32 bits.
const SPREAD: u32 = 0x9e37_79b1;

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
            dwords: (0..DWORDS).map(|index| AtomicU32::new(index.wrapping_mul(SPREAD))).collect(),
        }
    }

    /// Returns the dword at an address.
    fn dword(&self, va: u64) -> Option<&AtomicU32> {
        let index = va.checked_sub(DATA)? / 4;
        let page = self.table.get(usize::try_from(index / u64::from(PAGE_DWORDS)).ok()?)?;
        let place = u64::from(page * PAGE_DWORDS) + index % u64::from(PAGE_DWORDS);
        self.dwords.get(usize::try_from(place).ok()?)
    }

    /// Returns the dwords from an address to the end of its page.
    fn rest_of_page(&self, va: u64) -> Option<&[AtomicU32]> {
        let index = va.checked_sub(DATA)? / 4;
        let page = self.table.get(usize::try_from(index / u64::from(PAGE_DWORDS)).ok()?)?;
        let start = (page * PAGE_DWORDS) as usize;
        let within = (index % u64::from(PAGE_DWORDS)) as usize;
        self.dwords.get(start + within..start + PAGE_DWORDS as usize)
    }

    /// Visits the dwords of the lanes in a mask. Returns the fault of the lowest lane that has none.
    fn each(
        &self,
        addresses: &[u64; 64],
        lanes: u64,
        access: Access,
        mut visit: impl FnMut(usize, Option<&AtomicU32>),
    ) -> Result<(), PageFault> {
        let mut result = Ok(());
        let mut one = |lane: usize| {
            let found = self.dword(addresses[lane]);
            visit(lane, found);
            if found.is_none() {
                result = result.and(Err(PageFault { va: addresses[lane], access }));
            }
        };
        if lanes == u64::MAX {
            // Without a search for the next lane, as the simulator's memory does.
            (0..64).for_each(one);
            return result;
        }
        let mut rest = lanes;
        while rest != 0 {
            one(rest.trailing_zeros() as usize % 64);
            rest &= rest - 1;
        }
        result
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

    fn load_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        self.each(addresses, lanes, Access::Load, |lane, found| {
            out[lane] = found.map_or(0, |dword| dword.load(Ordering::Relaxed));
        })
    }

    fn store_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        self.each(addresses, lanes, Access::Store, |lane, found| {
            if let Some(dword) = found {
                dword.store(data[lane], Ordering::Relaxed);
            }
        })
    }

    fn load_row(&self, va: u64, out: &mut [u32]) -> Result<(), PageFault> {
        let mut at = va;
        let mut rest = out;
        while !rest.is_empty() {
            let page = self.rest_of_page(at).ok_or(PageFault { va: at, access: Access::Load })?;
            let (now, later) = rest.split_at_mut(page.len().min(rest.len()));
            for (to, dword) in now.iter_mut().zip(page) {
                *to = dword.load(Ordering::Relaxed);
            }
            at += 4 * now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    fn store_row(&self, va: u64, data: &[u32]) -> Result<(), PageFault> {
        let mut at = va;
        let mut rest = data;
        while !rest.is_empty() {
            let page = self.rest_of_page(at).ok_or(PageFault { va: at, access: Access::Store })?;
            let (now, later) = rest.split_at(page.len().min(rest.len()));
            for (value, dword) in now.iter().zip(page) {
                dword.store(*value, Ordering::Relaxed);
            }
            at += 4 * now.len() as u64;
            rest = later;
        }
        Ok(())
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
    /// Floats, integers, comparisons and selections by them, scalars, and a load of neighbours in each eight.
    Mix,
    Gather,
    Scatter,
}

impl Work {
    fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Fused | Self::Mix)
    }

    /// Returns `true` if the accesses alone are counted.
    fn counts_accesses(self) -> bool {
        matches!(self, Self::Gather | Self::Scatter)
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
    let (bits, loaded) = (code.vector(1), code.vector(1));
    code.op(format_args!("v_mov_b32 {bits}, {at}"));
    code.op(format_args!("v_mov_b32 {loaded}, {other}"));
    if work == Work::Scatter {
        code.op(format_args!("v_mul_lo_u32 {value}, {value}, {SPREAD:#x}"));
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
            (Work::Mix, _) => mixed(&mut code, step, [at, value, other, bits, loaded], buffer),
            (Work::Scatter, _) => {
                code.op(format_args!("v_and_b32 {bits}, {MASK:#x}, {value}"));
                code.buffer_store(value, bits, buffer);
                code.op(format_args!("v_add_nc_u32 {value}, {SPREAD:#x}, {value}"));
            }
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

/// Records an operation of [`Work::Mix`], on registers for an address, two values, bits and what is loaded.
fn mixed(code: &mut Builder, step: u32, [at, value, other, bits, loaded]: [Vector; 5], buffer: Scalar) {
    match step % 8 {
        0 => code.op(format_args!("v_fma_f32 {value}, {value}, {other}, {loaded}")),
        1 => code.add(bits, other, bits),
        2 => code.op(format_args!("v_cmp_lt_f32_e32 vcc, {other}, {value}")),
        3 => code.op(format_args!("v_cndmask_b32_e32 {value}, {value}, {other}, vcc")),
        4 => code.op(format_args!("v_and_b32 {bits}, {MASK:#x}, {bits}")),
        5 => code.op(format_args!("v_max_f32 {value}, {other}, {value}")),
        6 => code.op(format_args!("v_lshrrev_b32 {bits}, 1, {bits}")),
        _ => code.buffer_load(loaded, at, buffer),
    }
}

/// Records code without a jump: the operations of [`Work::Mix`], of which each is executed once.
fn straight() -> Result<Program, BuildError> {
    let mut code = Builder::new(LEVEL, WaveSize::Wave64, 4);
    let (buffer, at, value, other) = (code.user(0, 4), code.vector(1), code.vector(1), code.vector(1));
    let (bits, loaded) = (code.vector(1), code.vector(1));
    code.op(format_args!("v_mov_b32 {at}, 0"));
    for step in 0..STRAIGHT {
        mixed(&mut code, step, [at, value, other, bits, loaded], buffer);
    }
    code.finish()
}

/// The operations that a lane of the plain loop does.
fn plain(work: Work, memory: &Paged, lane: u32) -> u32 {
    let (mut value, mut real) = (if work == Work::Scatter { lane.wrapping_mul(SPREAD) } else { lane }, lane as f32);
    let own = DATA + u64::from(lane % DWORDS) * 4;
    let mut loaded = 0.5;
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
                (Work::Mix, _) => match step % 8 {
                    0 => real = real.mul_add(half, loaded),
                    1 => value = value.wrapping_add(three),
                    2 => {}
                    3 => real = if half < real { half } else { real },
                    4 => value &= MASK,
                    5 => real = real.max(half),
                    6 => value >>= 1,
                    _ => loaded = memory.dword(own).map_or(0.0, |dword| f32::from_bits(dword.load(Ordering::Relaxed))),
                },
                (Work::Scatter, _) => {
                    if let Some(dword) = memory.dword(DATA + u64::from(value & MASK)) {
                        dword.store(value, Ordering::Relaxed);
                    }
                    value = value.wrapping_add(SPREAD);
                }
                (Work::Gather, _) => {
                    let at = DATA + u64::from(value & MASK);
                    value = memory.dword(at).map_or(0, |dword| dword.load(Ordering::Relaxed));
                }
            }
        }
    }
    value ^ real.to_bits()
}

/// Returns the dispatch of a program.
fn dispatch(program: &Program) -> Option<Dispatch> {
    let mut user_data = [0; 16];
    let buffer = BufferView::raw(GpuVa::from_48_bits(DATA), DWORDS * 4).descriptor(LEVEL).ok()?;
    user_data[..4].copy_from_slice(&buffer.words());
    Some(Dispatch {
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
    })
}

/// Runs a program on some threads; returns what it did.
fn execute(program: &Program, memory: &(dyn Memory + Sync), (threads, vectors): (usize, Vectors)) -> Option<Counters> {
    match run_on_threads(&dispatch(program)?, memory, Limits { vectors, ..Limits::default() }, threads) {
        Outcome::Done(counters) => Some(counters),
        _ => None,
    }
}

/// Runs a program and forgets what it did.
fn runs(program: &Program, memory: &(dyn Memory + Sync), how: (usize, Vectors)) {
    black_box(execute(program, memory, how));
}

/// Memory of a job that may be cancelled, and whose dispatches may share decoded code.
struct JobMemory {
    memory: Paged,
    is_cancelled: AtomicBool,
    code: Option<CodeCache>,
}

impl JobMemory {
    fn new(program: &Program, code: Option<CodeCache>) -> Self {
        Self { memory: Paged::new(program), is_cancelled: AtomicBool::new(false), code }
    }
}

impl Memory for JobMemory {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.load(va, out)
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        self.memory.store(va, data)
    }

    fn atomic(&self, va: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        self.memory.atomic(va, bytes, change)
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.fetch(va, out)
    }

    fn load_row(&self, va: u64, out: &mut [u32]) -> Result<(), PageFault> {
        self.memory.load_row(va, out)
    }

    fn is_stopped(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    fn code_cache(&self) -> Option<&CodeCache> {
        self.code.as_ref()
    }
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
    let goal = |with_vectors| Goal::Above(if has_fused_vectors() { with_vectors } else { 300.0 });
    for (name, work, vectors, goal) in [
        ("integer", Work::Integer, Vectors::Detected, goal(4000.0)),
        ("float", Work::Float, Vectors::Detected, goal(4000.0)),
        ("fused", Work::Fused, Vectors::Detected, goal(4000.0)),
        ("mix", Work::Mix, Vectors::Detected, goal(3000.0)),
        ("integer-avx2", Work::Integer, Vectors::Avx2, goal(4000.0)),
        ("float-avx2", Work::Float, Vectors::Avx2, goal(4000.0)),
        ("fused-avx2", Work::Fused, Vectors::Avx2, goal(4000.0)),
        ("mix-avx2", Work::Mix, Vectors::Avx2, goal(3000.0)),
        ("integer-baseline", Work::Integer, Vectors::Baseline, Goal::Above(300.0)),
        ("float-baseline", Work::Float, Vectors::Baseline, Goal::Above(300.0)),
        ("fused-baseline", Work::Fused, Vectors::Baseline, Goal::Above(300.0)),
        ("gather", Work::Gather, Vectors::Detected, goal(500.0)),
        ("scatter", Work::Scatter, Vectors::Detected, goal(500.0)),
    ] {
        if !wanted.has(name) {
            continue;
        }
        match program(work) {
            Ok(program) => one(name, (work, vectors), &program, goal, add),
            Err(error) => add(Row::missing(name, "plain loop", error)),
        }
    }
    for (name, measure) in [("cancellable", cancellable as Measure), ("checked", checked)] {
        if wanted.has(name) {
            match program(Work::Mix) {
                Ok(program) => measure(name, &program, add),
                Err(error) => add(Row::missing(name, "no hook", error)),
            }
        }
    }
    if wanted.has("decode") {
        match straight() {
            Ok(program) => decoded(&program, add),
            Err(error) => add(Row::missing("decode", "-", error)),
        }
    }
    if wanted.has("decode-kept") {
        match straight() {
            Ok(program) => kept(&program, add),
            Err(error) => add(Row::missing("decode-kept", "decoded each time", error)),
        }
    }
    if wanted.has("threads") {
        match program(Work::Integer) {
            Ok(program) => threads(&program, add),
            Err(error) => add(Row::missing("threads", "one thread", error)),
        }
    }
}

/// Millions of lane-instructions a second: of gathers and scatters those alone, of other work all vector instructions.
fn one(name: &str, (work, vectors): (Work, Vectors), program: &Program, goal: Goal, add: &mut impl FnMut(Row)) {
    let memory = Paged::new(program);
    let Some(counters) = execute(program, &memory, (1, vectors)) else {
        add(Row::missing(name, "plain loop", "the dispatch did not end"));
        return;
    };
    let plain_operations = f64::from(GROUPS * LANES) * f64::from(ROUNDS * UNROLLED);
    let operations = if work.counts_accesses() { plain_operations } else { counters.lanes as f64 };
    let times =
        compare(TIMES, || timed(|| runs(program, &memory, (1, vectors))), || timed(|| plain_grid(work, &memory)));
    let rate = |operations: f64, nanoseconds: f64| operations * 1e3 / nanoseconds;
    let (ours, floor) = (rate(operations, times.ours), rate(plain_operations, times.floor));
    add(Row::rates(name, GROUPS.into(), ours, "plain loop, lane by lane", floor, goal));
}

/// Measures what a hook of the interpreter costs.
type Measure = fn(&str, &Program, &mut dyn FnMut(Row));

/// The time of a dispatch whose job may be cancelled against one that may not. Traces, races, waits and checks cost nothing where they
/// are off: that code is compiled without them.
fn cancellable(name: &str, program: &Program, add: &mut dyn FnMut(Row)) {
    let plain = Paged::new(program);
    let stopped = JobMemory::new(program, None);
    let how = (1, Vectors::Detected);
    let times = compare(TIMES, || timed(|| runs(program, &stopped, how)), || timed(|| runs(program, &plain, how)));
    add(Row::times(name, GROUPS.into(), times.ours, "cannot be cancelled", times.floor, Goal::RatioAtMost(1.01)));
}

/// The time of a dispatch whose instructions are checked for hazards, as the strict mode does, against one that is not.
fn checked(name: &str, program: &Program, add: &mut dyn FnMut(Row)) {
    let Some(dispatch) = dispatch(program) else { return };
    let memory = Paged::new(program);
    let run = || {
        black_box(run_checked(&dispatch, &memory, Limits::default(), &mut |_: &InstructionHazard| ()));
    };
    let times = compare(TIMES, || timed(run), || timed(|| runs(program, &memory, (1, Vectors::Detected))));
    add(Row::times(name, GROUPS.into(), times.ours, "unchecked", times.floor, Goal::None));
}

/// Millions of bytes of code that are decoded in a second: the first of two waves decodes what both execute.
fn decoded(program: &Program, add: &mut impl FnMut(Row)) {
    let Some(dispatch) = dispatch(program) else { return };
    let memory = Paged::new(program);
    let waves = |count| {
        let dispatch = Dispatch { end: [count, 1, 1], ..dispatch.clone() };
        timed(|| {
            black_box(run_on_threads(&dispatch, &memory, Limits::default(), 1));
        })
    };
    let times = compare(TIMES, || waves(1), || waves(2));
    let bytes = 4 * program.words().len() as u64;
    let rate = bytes as f64 * 1e3 / (2.0 * times.ours - times.floor);
    add(Row::figure("decode", bytes, rate, Unit::Mbps, Goal::Above(50.0)));
}

/// The time of a dispatch of one wave whose code an earlier one has decoded, against one that decodes it.
fn kept(program: &Program, add: &mut impl FnMut(Row)) {
    let Some(dispatch) = dispatch(program) else { return };
    let dispatch = Dispatch { end: [1; 3], ..dispatch };
    let (alone, shared) = (JobMemory::new(program, None), JobMemory::new(program, Some(CodeCache::default())));
    let run = |memory: &(dyn Memory + Sync)| {
        timed(|| {
            black_box(run_on_threads(&dispatch, memory, Limits::default(), 1));
        })
    };
    let times = compare(TIMES, || run(&shared), || run(&alone));
    let bytes = 4 * program.words().len() as u64;
    add(Row::times("decode-kept", bytes, times.ours, "decoded each time", times.floor, Goal::RatioAtMost(0.24)));
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
    let goal = Goal::RatioAtMost(if count > 1 { 1.1 / count as f64 } else { 1.1 });
    add(Row::times("threads", count as u64, times.ours, "one thread", times.floor, goal));
}
