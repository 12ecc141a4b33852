//! Traces, stores to an address, counts and races of watched dispatches.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Program},
};
use amdgpu_waves::{Change, Event, InstructionClass, MemoryKind, Outcome, Reason, TracedWaves, Watch};

use crate::machine::{DATA, places, run_groups, watch_groups};

/// Records the number of the thread in the whole grid; groups have a power of two of lanes.
fn id(code: &mut Builder, lanes: u32) -> amdgpu_isa::builder::Vector {
    let (id, group) = (code.vector(1), code.scalar(1));
    code.op(format_args!("s_mov_b32 {group}, {}", code.group()));
    code.op(format_args!("v_mov_b32 {id}, {group}"));
    code.op(format_args!("v_lshlrev_b32 {id}, {}, {id}", lanes.trailing_zeros()));
    code.add(id, code.thread(), id);
    id
}

/// A program that stores three times the thread's number, in the lower half of each wave.
fn stores(level: GfxLevel, wave: WaveSize) -> Program {
    let mut code = Builder::new(level, wave, 4);
    let lanes = wave.lanes();
    let id = id(&mut code, lanes);
    let (at, value, mask) = (code.vector(1), code.vector(1), code.mask());
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {id}"));
    code.op(format_args!("v_mul_u32_u24 {value}, 3, {id}"));
    code.op(format_args!("v_cmp_gt_u32 {mask}, {}, {}", lanes / 2, code.thread()));
    code.masked(mask, |code| code.buffer_store(value, at, code.user(0, 4)));
    code.finish().unwrap()
}

#[test]
fn a_trace_has_every_instruction_of_its_wave_and_what_it_changed() {
    for (level, wave) in places() {
        let program = stores(level, wave);
        let one = Watch { trace: Some(TracedWaves::One { group: [2, 0, 0], wave: 0 }), ..Watch::default() };
        let run = watch_groups(level, &program, (3, wave.lanes()), &one, |_| false);
        let Outcome::Done(counters) = run.outcome else { panic!("{level}: {:?}", run.outcome) };
        let instructions: Vec<_> = run
            .events
            .iter()
            .map(|event| match event {
                Event::Instruction(instruction) => instruction,
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(instructions.len() as u64 * 3, counters.instructions, "{level}");
        assert!(instructions.iter().all(|instruction| (instruction.group, instruction.wave) == ([2, 0, 0], 0)));
        // The text is the program's, line by line, for it has no loops.
        let text = program.text();
        for (instruction, line) in instructions.iter().zip(text.lines()) {
            assert!(line.ends_with(&instruction.text), "{level}: {line} is not {}", instruction.text);
        }
        let product = instructions.iter().find(|instruction| instruction.text.starts_with("v_mul_u32_u24")).unwrap();
        let [Change::Vector { lanes, values, .. }] = &product.changes[..] else { panic!("{product}") };
        assert_eq!(lanes.count_ones(), wave.lanes());
        assert!((0..wave.lanes()).all(|lane| values[lane as usize] == 3 * (2 * wave.lanes() + lane)));
        let store = instructions.iter().find(|instruction| instruction.text.starts_with("buffer_store")).unwrap();
        assert_eq!((store.exec.count_ones(), store.changes.len()), (wave.lanes() / 2, 0), "{level}: {store}");
        let all = Watch { trace: Some(TracedWaves::All), ..Watch::default() };
        let run = watch_groups(level, &program, (3, wave.lanes()), &all, |_| false);
        assert_eq!(run.events.len() as u64, counters.instructions);
    }
}

#[test]
fn a_line_of_a_trace_shows_the_instruction_and_runs_of_lanes() {
    let (level, wave) = (GfxLevel::Gfx10_3, WaveSize::Wave32);
    let watch = Watch { trace: Some(TracedWaves::All), ..Watch::default() };
    let run = watch_groups(level, &stores(level, wave), (1, 32), &watch, |_| false);
    let lines: Vec<_> = run.events.iter().map(ToString::to_string).collect();
    let found = |part: &str| lines.iter().any(|line| line.contains(part));
    assert!(found("group 0,0,0 wave 0 0x100000 exec ffffffff: s_mov_b32"), "{lines:#?}");
    assert!(found("= 1:0x3 2:0x6 3:0x9 4:0xc 5:0xf 6:0x12 7:0x15 8:0x18 and 23 lanes more"), "{lines:#?}");
}

#[test]
fn a_store_to_a_watched_address_names_its_lane_and_can_end_the_dispatch() {
    for (level, wave) in places() {
        let program = stores(level, wave);
        let thread = wave.lanes() + 5;
        let address = DATA + 4 * u64::from(thread);
        // The last byte of the dword alone.
        let watch = Watch { stores: Some(address + 3..address + 4), ..Watch::default() };
        let run = watch_groups(level, &program, (3, wave.lanes()), &watch, |_| false);
        assert!(matches!(run.outcome, Outcome::Done(_)));
        let [Event::Store(hit)] = &run.events[..] else { panic!("{level}: {:?}", run.events) };
        assert_eq!((hit.group, hit.wave, hit.lane, hit.address), ([1, 0, 0], 0, Some(5), address));
        assert_eq!(hit.data, (3 * thread).to_le_bytes());
        assert!(hit.text.starts_with("buffer_store_"), "{hit}");
        assert!(!hit.previous.is_empty() && hit.vectors.contains(&(3 * thread)), "{hit}");
        let (_, unwatched) = run_groups(level, &program, vec![0; 4096], 3, 1);
        assert_eq!(run.data, unwatched, "{level}: a watched dispatch computes the same");

        let run = watch_groups(level, &program, (3, wave.lanes()), &watch, |event| matches!(event, Event::Store(_)));
        let Outcome::Hang(hang) = run.outcome else { panic!("{level}: {:?}", run.outcome) };
        assert_eq!((hang.reason, hang.group), (Reason::Watch, [1, 0, 0]));
        let last = 4 * (2 * wave.lanes()) as usize;
        assert_eq!(run.data[last..last + 4], [0; 4], "{level}: the third group ran");
    }
}

#[test]
fn instructions_bytes_and_divergence_are_counted() {
    for (level, wave) in places() {
        let program = stores(level, wave);
        let run = watch_groups(level, &program, (3, wave.lanes()), &Watch::default(), |_| false);
        let counts = run.report.counts;
        let named = |part: &str| program.text().lines().filter(|line| line.contains(part)).count() as u64 * 3;
        assert_eq!(counts.instructions(InstructionClass::Memory), named("buffer_store"));
        assert_eq!(counts.instructions(InstructionClass::Vector), named("  v_"), "{}", program.text());
        assert_eq!(counts.instructions(InstructionClass::Branch), named("s_cbranch"));
        let all = InstructionClass::ALL.iter().map(|class| counts.instructions(*class)).sum::<u64>();
        let Outcome::Done(counters) = run.outcome else { panic!("{level}: {:?}", run.outcome) };
        assert_eq!((all, counts.lanes_on), (counters.instructions, counters.lanes));
        assert_eq!(counts.stored, u64::from(3 * wave.lanes() / 2 * 4));
        assert_eq!((counts.loaded, counts.atomic, counts.lds, counts.divergent), (0, 0, 0, 3));
        assert!(counts.to_string().contains("memory 3, branch") || counts.to_string().contains("memory 3,"));
    }
}

/// Threads of a group that has several waves.
const THREADS: u32 = 128;

/// A program in which each thread stores to LDS and loads what the thread at the other end stored.
fn reversed(level: GfxLevel, wave: WaveSize, waits: bool) -> Program {
    let mut code = Builder::new(level, wave, 4);
    code.reserve_lds(THREADS * 4);
    let (place, other, value) = (code.vector(1), code.vector(1), code.vector(1));
    code.op(format_args!("v_lshlrev_b32 {place}, 2, {}", code.thread()));
    code.lds_store(place, place);
    if waits {
        code.barrier();
    }
    code.op(format_args!("v_mov_b32 {other}, {:#x}", THREADS * 4 - 4));
    code.op(format_args!("v_xor_b32 {other}, {place}, {other}"));
    code.lds_load(value, other);
    code.buffer_store(value, place, code.user(0, 4));
    code.finish().unwrap()
}

#[test]
fn a_missing_barrier_is_a_race_and_a_barrier_is_none() {
    let watch = Watch { races: true, ..Watch::default() };
    for (level, wave) in places() {
        let run = watch_groups(level, &reversed(level, wave, true), (1, THREADS), &watch, |_| false);
        assert_eq!((run.report.races, run.events), (0, vec![]), "{level}");
        let run = watch_groups(level, &reversed(level, wave, false), (1, THREADS), &watch, |_| false);
        assert_eq!(run.report.races, 2, "{level}: a load that came too early, and one that came in time by luck");
        for event in &run.events {
            let Event::Race(race) = event else { panic!("{event}") };
            assert_eq!(race.memory, MemoryKind::Lds);
            assert_ne!(race.first.wave, race.second.wave);
            let texts = format!("{} {}", race.first.text, race.second.text);
            assert!(texts.contains("ds_") && race.first.text != race.second.text, "{race}");
        }
    }
}

/// A program in which every group writes the same dword, or adds to it.
fn meets(level: GfxLevel, wave: WaveSize, adds: bool) -> Program {
    let mut code = Builder::new(level, wave, 4);
    let (at, value, mask) = (code.vector(1), code.vector(1), code.mask());
    code.op(format_args!("v_mov_b32 {at}, 0"));
    code.op(format_args!("v_mov_b32 {value}, 1"));
    code.op(format_args!("v_cmp_eq_u32 {mask}, 0, {}", code.thread()));
    code.masked(mask, |code| {
        if adds {
            code.buffer_add(value, at, code.user(0, 4));
        } else {
            code.buffer_store(value, at, code.user(0, 4));
        }
    });
    code.finish().unwrap()
}

#[test]
fn groups_that_store_to_one_address_race_and_atomic_operations_do_not() {
    let watch = Watch { races: true, ..Watch::default() };
    for (level, wave) in places() {
        let run = watch_groups(level, &meets(level, wave, true), (4, wave.lanes()), &watch, |_| false);
        assert_eq!((run.report.races, run.report.counts.atomic), (0, 16), "{level}");
        let run = watch_groups(level, &meets(level, wave, false), (4, wave.lanes()), &watch, |_| false);
        let [Event::Race(race)] = &run.events[..] else { panic!("{level}: {:?}", run.events) };
        assert_eq!((race.memory, race.address, race.first.lane), (MemoryKind::Memory, DATA, Some(0)), "{race}");
        assert_ne!(race.first.group, race.second.group);
    }
}

/// A program in which every group stores a dword of its own, adds to a counter, and the last to come loads all of them.
fn last_one(level: GfxLevel, wave: WaveSize, groups: u32) -> Program {
    let mut code = Builder::new(level, wave, 4);
    let (at, value, mask, group) = (code.vector(1), code.vector(1), code.mask(), code.scalar(1));
    let (zero, count) = (code.vector(1), code.vector(1));
    code.op(format_args!("s_mov_b32 {group}, {}", code.group()));
    code.op(format_args!("v_mov_b32 {value}, {group}"));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {value}"));
    code.add(at, 64, at);
    code.op(format_args!("v_mov_b32 {zero}, 0"));
    code.op(format_args!("v_mov_b32 {count}, 1"));
    code.op(format_args!("v_cmp_eq_u32 {mask}, 0, {}", code.thread()));
    code.masked(mask, |code| {
        code.buffer_store(value, at, code.user(0, 4));
        code.buffer_add(count, zero, code.user(0, 4));
        let last = code.mask();
        code.op(format_args!("v_cmp_eq_u32 {last}, {}, {count}", groups - 1));
        code.masked(last, |code| {
            code.op(format_args!("v_mov_b32 {at}, 64"));
            for _ in 0..groups {
                code.buffer_load(value, at, code.user(0, 4));
                code.add(at, 4, at);
            }
        });
    });
    code.finish().unwrap()
}

#[test]
fn a_chain_of_atomic_operations_is_an_order() {
    let watch = Watch { races: true, ..Watch::default() };
    for (level, wave) in places() {
        let run = watch_groups(level, &last_one(level, wave, 5), (5, wave.lanes()), &watch, |_| false);
        assert!(matches!(run.outcome, Outcome::Done(_)));
        assert_eq!((run.report.races, &run.events[..]), (0, &[][..]), "{level}");
        assert_eq!(run.report.counts.loaded, 20, "{level}: the last group loads");
    }
}
