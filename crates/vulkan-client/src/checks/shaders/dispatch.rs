//! Dispatches of a shader that counts its invocations.

use std::io::Cursor;

use ash::{util::read_spv, vk};

use crate::{
    gpu::{Buffer, Constants, Dispatch, Gpu, Lane, MemoryPlace, Order, Program, QueueKind, Resource, Slot},
    outcome::{ErrorContext, Outcome, Stop, same, skip},
};

/// The shader, compiled from `count.comp`.
const SHADER: &[u8] = include_bytes!("count.spv");
/// Workgroups of a dispatch.
const GROUPS: u32 = 5;
/// Invocations of a dispatch.
const INVOCATIONS: u32 = GROUPS * 64;

fn zeroed(gpu: &Gpu, words: u32) -> Result<Buffer<'_>, Stop> {
    let buffer = gpu.program_buffer(u64::from(words) * 4, MemoryPlace::Host).context("make a buffer")?;
    buffer.memory().write(0, &vec![0; words as usize * 4]);
    Ok(buffer)
}

fn slots<'b>(total: &'b Buffer<'b>, own: &'b Buffer<'b>) -> [Slot<'b>; 2] {
    let slot = |binding, buffer| Slot { set: 0, binding, elements: vec![Resource::Storage(buffer)] };
    [slot(0, total), slot(1, own)]
}

/// Makes a pipeline of the shader. A driver other than RADV may have none: that of this workspace returns `ERROR_UNKNOWN`.
fn program<'b>(
    gpu: &'b Gpu,
    total: &'b Buffer<'b>,
    own: &'b Buffer<'b>,
    constants: &Constants,
) -> Result<Program<'b>, Stop> {
    let words = read_spv(&mut Cursor::new(SHADER)).context("read the SPIR-V")?;
    match gpu.program(&words, &slots(total, own), constants) {
        Err(vk::Result::ERROR_UNKNOWN) if !gpu.is_radv() => skip("the driver makes no compute pipelines"),
        made => made.context("make a pipeline"),
    }
}

fn read(buffer: &Buffer<'_>) -> Vec<u32> {
    let bytes = buffer.memory().read(0, buffer.size as usize);
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Compares the counts with those of this number of dispatches.
fn ran(times: u32, own: &Buffer<'_>) -> Result<(), Stop> {
    let expected: Vec<u32> = (1..=INVOCATIONS).map(|number| number * times).collect();
    same("what the invocations counted", read(own), expected)
}

fn needs_shaders(lane: &Lane) -> Result<(), Stop> {
    if lane.kind == QueueKind::Transfer { skip("no dispatches on this queue") } else { Ok(()) }
}

pub(super) fn count(gpu: &Gpu, lane: &Lane) -> Outcome {
    needs_shaders(lane)?;
    let (total, own, counts) = (zeroed(gpu, 1)?, zeroed(gpu, INVOCATIONS)?, zeroed(gpu, 8)?);
    counts.memory().write(8, &[GROUPS, 1, 1].map(u32::to_le_bytes).concat());
    let constants = Constants { has_base: true, ..Constants::default() };
    let program = program(gpu, &total, &own, &constants)?;
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.bind(&program, &[]);
        for dispatch in [
            Dispatch::Groups([GROUPS, 1, 1]),
            Dispatch::Indirect(&counts, 8),
            Dispatch::Base([0; 3], [2, 1, 1]),
            Dispatch::Base([2, 0, 0], [GROUPS - 2, 1, 1]),
            Dispatch::Groups([GROUPS, 0, 1]),
        ] {
            record.dispatch_bound(dispatch);
            record.barrier();
        }
    });
    work.context("submit")?.finish().context("finish")?;
    same("all invocations", read(&total), vec![3 * INVOCATIONS])?;
    ran(3, &own)?;
    Ok(format!("{INVOCATIONS} invocations, three times"))
}

pub(super) fn predicated(gpu: &Gpu, lane: &Lane) -> Outcome {
    needs_shaders(lane)?;
    let gpu = Gpu::open_with_all_features(gpu.any_device)?;
    if !gpu.has_conditions() {
        return skip("no conditional rendering here");
    }
    let lane = gpu.need(lane.kind)?;
    let (total, own, condition) = (zeroed(&gpu, 1)?, zeroed(&gpu, INVOCATIONS)?, zeroed(&gpu, 4)?);
    // The word after the one that decides must not matter.
    condition.memory().write(0, &[0, 7, 1, 0].map(u32::to_le_bytes).concat());
    let program = program(&gpu, &total, &own, &Constants::default())?;
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.bind(&program, &[]);
        for (offset, inverted) in [(0, false), (0, true), (8, false), (8, true)] {
            record.begin_condition(&condition, offset, inverted);
            record.dispatch_bound(Dispatch::Groups([GROUPS, 1, 1]));
            record.end_condition();
            record.barrier();
        }
        record.dispatch_bound(Dispatch::Groups([GROUPS, 1, 1]));
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    ran(3, &own)?;
    same("all invocations", read(&total), vec![3 * INVOCATIONS])?;
    Ok("two of four conditions held".into())
}

pub(super) fn queues(gpu: &Gpu) -> Outcome {
    const ROUNDS: u32 = 8;
    let lanes = gpu.two_lanes()?;
    let total = zeroed(gpu, 1)?;
    let [first, second] = [zeroed(gpu, INVOCATIONS)?, zeroed(gpu, INVOCATIONS)?];
    let program = |own| program(gpu, &total, own, &Constants::default());
    let programs = [program(&first)?, program(&second)?];
    let mut works = Vec::new();
    for _ in 0..ROUNDS {
        for (lane, program) in lanes.into_iter().zip(&programs) {
            let work = gpu.submit(lane, &Order::free(), |record| {
                record.barrier();
                record.bind(program, &[]);
                record.dispatch_bound(Dispatch::Groups([GROUPS, 1, 1]));
                record.barrier();
            });
            works.push(work.context("submit")?);
        }
    }
    for work in &works {
        work.finish().context("finish")?;
    }
    drop(works);
    ran(ROUNDS, &first)?;
    ran(ROUNDS, &second)?;
    same("all invocations", read(&total), vec![2 * ROUNDS * INVOCATIONS])?;
    Ok(format!("{ROUNDS} dispatches on each queue, {} invocations", 2 * ROUNDS * INVOCATIONS))
}
