//! The rows of `amdgpu-bench shader`: the interpreter of compute shaders against plain loops of the same work.

use std::{hint::black_box, sync::atomic::Ordering, thread::available_parallelism};

use amdgpu_bench::{
    measure::{compare, timed},
    shaders::{
        DATA, DWORDS, GROUPS, JobMemory, LANES, MASK, Paged, ROUNDS, SHORT_GROUPS, SHORT_WAVES, SPREAD, Simulated,
        UNROLLED, Work, dispatch, program, short, short_dispatch, straight,
    },
};
use amdgpu_isa::builder::Program;
use amdgpu_waves::{
    CodeCache, Counters, Dispatch, InstructionHazard, Limits, Memory, Outcome, Vectors, run_checked, run_on_threads,
};

use crate::{
    child::Wanted,
    row::{Goal, Row, Unit},
};

/// Times that each side is measured.
const TIMES: usize = 15;

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
    if wanted.has("short-waves") {
        match short() {
            Ok(program) => short_waves(&program, add),
            Err(error) => add(Row::missing("short-waves", "plain loop", error)),
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

/// The time of a wave of some twenty instructions, of which most is its start: beside a plain loop, and on a simulated chip beside the
/// memory of the bench.
fn short_waves(program: &Program, add: &mut impl FnMut(Row)) {
    let Some(dispatch) = short_dispatch(program) else { return };
    let waves = SHORT_GROUPS * SHORT_WAVES;
    let memory = Paged::new(program);
    let mut run = || {
        timed(|| {
            black_box(run_on_threads(&dispatch, &memory, Limits::default(), 1));
        })
    };
    let plain = || timed(|| plain_short(&memory, waves * LANES));
    let times = compare(TIMES, &mut run, plain).each(waves);
    let rate = |nanoseconds: f64| format!("{:.2} M waves/s", 1e3 / nanoseconds);
    let row = Row::times("short-waves", waves.into(), times.ours, "plain loop", times.floor, Goal::None);
    add(row.noting(rate(times.ours)));
    match Simulated::new(program, &dispatch) {
        Ok(simulated) => {
            let mut result = Ok(());
            let mut on_chip = || timed(|| result = simulated.run());
            let times = compare(TIMES, &mut on_chip, run).each(waves);
            let peer = "memory of the bench";
            let row = Row::times("short-waves-sim", waves.into(), times.ours, peer, times.floor, Goal::None);
            match result {
                Ok(()) => add(row.noting(rate(times.ours))),
                Err(error) => add(Row::missing("short-waves-sim", peer, error)),
            }
        }
        Err(error) => add(Row::missing("short-waves-sim", "memory of the bench", error)),
    }
}

/// Does the work of all lanes of short waves in a plain loop.
fn plain_short(memory: &Paged, lanes: u32) {
    for lane in 0..lanes {
        let at = DATA + 4 * u64::from(lane);
        let Some(dword) = memory.dword(at) else { return };
        let mut bits = 4 * lane;
        for step in [0, 4, 8] {
            bits = (((bits.wrapping_add(3)) ^ (step + 1)) & MASK) >> 1;
        }
        dword.store(dword.load(Ordering::Relaxed).wrapping_add(bits), Ordering::Relaxed);
    }
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
