//! Shortcuts and vector instructions of the host do not affect what programs compute.
//!
//! Programs of random instructions, in which every operation that the interpreter executes occurs, start with random registers, EXEC,
//! modes and memory. `Vectors::Plain`, which executes each instruction by its general rule and each access lane by lane, has to leave
//! the same memory, registers, counts, faults and hangs as the other choices.
//!
//! `EXACT_PROGRAMS` is the number of programs (600 without it), `EXACT_SEED` the seed of the first.

mod bank;
mod draw;
mod frame;

use std::{collections::BTreeSet, env, time::Instant};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_waves::Vectors;

use bank::Bank;
use draw::Draw;
use frame::Frame;

/// The number of random instructions of a program; half of the programs have twice as many, mostly vector operations, which are
/// executed block by block.
const LENGTH: usize = 12;

/// The number of waves that execute a program with blocks: more than come to an instruction before its block is made.
const WAVES: u32 = 10;

/// Returns every generation with its wave sizes.
fn kinds() -> Vec<(GfxLevel, WaveSize)> {
    let mut all = Vec::new();
    for level in GfxLevel::ALL {
        if level >= GfxLevel::Gfx10 {
            all.push((level, WaveSize::Wave32));
        }
        all.push((level, WaveSize::Wave64));
    }
    all
}

/// Returns the choices that are compared with `Vectors::Plain`: one that is the same as another on this processor is left out.
fn choices() -> Vec<Vectors> {
    #[cfg(target_arch = "x86_64")]
    let (has_avx2, has_avx512) =
        (std::arch::is_x86_feature_detected!("avx2"), std::arch::is_x86_feature_detected!("avx512f"));
    #[cfg(not(target_arch = "x86_64"))]
    let (has_avx2, has_avx512) = (false, false);
    let all = [(Vectors::Detected, true), (Vectors::Avx2, has_avx512), (Vectors::Baseline, has_avx2)];
    all.into_iter().filter_map(|(choice, differs)| differs.then_some(choice)).collect()
}

/// Returns a number of the environment.
fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|error| panic!("{name} is {text:?}: {error}")))
}

#[test]
fn random_programs_leave_the_same_with_and_without_shortcuts() {
    let (programs, seed) = (number("EXACT_PROGRAMS", 600), number("EXACT_SEED", 1));
    let (kinds, choices, begun) = (kinds(), choices(), Instant::now());
    let each = programs.div_ceil(kinds.len() as u64);
    // What an instruction does with operands of every kind is drawn more often in long runs.
    let variants = if programs > 100_000 { 12 } else { 2 };
    let (mut done, mut executed) = (0, 0);
    for (index, (level, wave)) in (1..).zip(kinds) {
        let mut draw = Draw::new(seed ^ index << 32);
        let frame = Frame::new(level, wave);
        let bank = Bank::new(&frame, &mut draw, variants);
        let mut met = BTreeSet::new();
        for round in 0..each {
            let mut start = frame.start(&mut draw);
            let has_blocks = draw.below(2) == 0;
            if has_blocks {
                start.waves = WAVES;
            }
            for place in 0..if has_blocks { 2 * LENGTH } else { LENGTH } {
                // Each operation in turn, so that all are met, then any.
                let is_vector = has_blocks && draw.below(8) != 0;
                let at = if place == 0 { round as usize } else { bank.place(is_vector, &mut draw) };
                let (name, words) = bank.draw(at, &mut draw);
                met.insert(name);
                start.add(words);
            }
            let expected = frame.run(&start, Vectors::Plain);
            for &vectors in &choices {
                let found = frame.run(&start, vectors);
                assert!(found == expected, "{}", frame.difference(&start, vectors, (&expected, &found)));
            }
            executed += expected.instructions();
        }
        done += each;
        println!("{level}, {} lanes: {each} programs of {} operations, {} met", wave.lanes(), bank.len(), met.len());
        if each >= bank.len() as u64 {
            assert_eq!(met.len(), bank.len(), "{level}: every operation is met");
        }
    }
    let rate = u128::from(done) * 1000 / begun.elapsed().as_millis().max(1);
    println!("{done} programs, {executed} instructions, with {choices:?}: {rate} programs/s");
    assert!(done >= programs && executed > 20 * done);
}
