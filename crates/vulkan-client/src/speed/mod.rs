//! Times of two compute shaders, one that computes and one that loads, and of two draws, for a comparison of drivers.

mod draws;

use std::{io::Cursor, time::Instant};

use ash::util::read_spv;

use crate::{
    exit::Exit,
    gpu::{Buffer, Gpu, Lane, MemoryPlace, Order, QueueKind, Recorder},
    outcome::{ErrorContext, Outcome, Stop, ensure, say},
    picture,
};

/// The loads, compiled from `gather.comp`.
const GATHER: &[u8] = include_bytes!("gather.spv");
/// Words of its source, loads of an invocation, the words between them, and invocations of a group, as the shader has them.
const WORDS: u32 = 1 << 20;
const LOADS: u32 = 16;
const STRIDE: u32 = 66049;
const LOCAL: u32 = 64;
/// Invocations.
const SUMS: u32 = 1 << 18;

/// Times that each shader runs after the first, in which drivers compile and touch pages.
const TIMES: usize = 5;

/// A measurement: its name, and the function that makes it.
type Row = (&'static str, fn(&Gpu) -> Outcome);

/// Runs both shaders and prints the least time of each in milliseconds.
pub(crate) fn shaders(any_device: bool) -> Exit {
    print(any_device, &[("compute", compute), ("memory", memory)])
}

/// Draws a full-screen pass and small triangles and prints the least time of each in milliseconds.
pub(crate) fn draws(any_device: bool) -> Exit {
    print(any_device, &[("pass", draws::pass), ("triangles", draws::triangles)])
}

fn print(any_device: bool, rows: &[Row]) -> Exit {
    let all = |gpu: Gpu| {
        rows.iter().try_for_each(|(name, measure)| {
            say(&format!("{name} {}", measure(&gpu)?));
            Ok(())
        })
    };
    match Gpu::open(any_device).and_then(all) {
        Ok(()) => Exit::Pass,
        Err(Stop::Skip(reason)) => {
            say(&format!("skip  {reason}"));
            Exit::Skip
        }
        Err(Stop::Fail(evidence)) => {
            say(&format!("fail  {evidence}"));
            Exit::Fail
        }
    }
}

/// Times the Mandelbrot set.
fn compute(gpu: &Gpu) -> Outcome {
    let [width, height] = picture::SIZE;
    let texels = gpu.storage_buffer(u64::from(width * height) * 4, MemoryPlace::Host).context("make a buffer")?;
    let groups = [width.div_ceil(picture::GROUP), height.div_ceil(picture::GROUP), 1];
    let time = least(gpu, picture::SHADER, &[&texels], groups)?;
    ensure(texels.memory().read(0, 4) != [0; 4], || "the picture is empty".to_owned())?;
    Ok(time)
}

/// Times loads, and checks their sums.
fn memory(gpu: &Gpu) -> Outcome {
    let source = gpu.storage_buffer(u64::from(WORDS) * 4, MemoryPlace::Host).context("make a buffer")?;
    let target = gpu.storage_buffer(u64::from(SUMS) * 4, MemoryPlace::Host).context("make a buffer")?;
    let word = |index: u32| (index % WORDS).wrapping_mul(0x9e37_79b1);
    source.memory().write(0, &(0..WORDS).flat_map(|index| word(index).to_le_bytes()).collect::<Vec<_>>());
    let time = least(gpu, GATHER, &[&source, &target], [SUMS / LOCAL, 1, 1])?;
    let sum = |place: u32| (0..LOADS).fold(0_u32, |sum, load| sum.wrapping_add(word(place + load * STRIDE)));
    let expected: Vec<u8> = (0..SUMS).flat_map(|place| sum(place).to_le_bytes()).collect();
    ensure(target.memory().read(0, SUMS as usize * 4) == expected, || "the sums are wrong".to_owned())?;
    Ok(time)
}

/// Returns the least time of a dispatch from its submission to the end of waiting for it, in milliseconds.
fn least<'b>(gpu: &'b Gpu, spirv: &[u8], buffers: &[&'b Buffer<'b>], groups: [u32; 3]) -> Outcome {
    let words = read_spv(&mut Cursor::new(spirv)).context("read the SPIR-V")?;
    let pipeline = gpu.pipeline(&words, buffers, None).context("make a pipeline")?;
    let queue = gpu.lane(QueueKind::Compute).map_or_else(|| gpu.need(QueueKind::Graphics), Ok)?;
    least_of(gpu, queue, |commands| {
        commands.dispatch(&pipeline, groups);
        commands.barrier();
    })
}

/// Returns the least time of recorded commands from their submission to the end of waiting for them, in milliseconds.
fn least_of<'b>(gpu: &'b Gpu, queue: &Lane, record: impl Fn(&Recorder<'b>)) -> Outcome {
    let mut times = Vec::with_capacity(TIMES + 1);
    for _ in 0..=TIMES {
        let start = Instant::now();
        let submission = gpu.submit(queue, &Order::free(), &record).context("submit")?;
        submission.finish().context("wait for the end")?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(format!("{:.3} ms", times.into_iter().skip(1).fold(f64::INFINITY, f64::min)))
}
