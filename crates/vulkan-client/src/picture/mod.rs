//! A picture that a compute shader makes.

use std::{
    fs::File,
    io::BufWriter,
    path::{Path, PathBuf},
};

use ash::util::read_spv;

use crate::{
    exit::Exit,
    gpu::{Gpu, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Stop, fail},
};

/// Texels in x and y, as the shader has them.
pub(crate) const SIZE: [u32; 2] = [640, 400];
/// Texels of a group in each axis.
pub(crate) const GROUP: u32 = 8;
/// The shader, compiled from `mandelbrot.comp`.
pub(crate) const SHADER: &[u8] = include_bytes!("mandelbrot.spv");

/// Computes the Mandelbrot set and saves it as a PNG.
pub(crate) fn save(path: &Path, any_device: bool) -> Exit {
    match Gpu::open(any_device).and_then(|gpu| compute(&gpu)).and_then(|texels| write(path, &texels)) {
        Ok(()) => Exit::Pass,
        Err(Stop::Skip(reason)) => {
            eprintln!("{reason}");
            Exit::Skip
        }
        Err(Stop::Fail(evidence)) => {
            eprintln!("{evidence}");
            Exit::Fail
        }
    }
}

/// Returns the texels, four bytes each.
fn compute(gpu: &Gpu) -> Result<Vec<u8>, Stop> {
    let [width, height] = SIZE;
    let bytes = u64::from(width) * u64::from(height) * 4;
    let buffer = gpu.storage_buffer(bytes, MemoryPlace::Host).context("make a buffer")?;
    let words = read_spv(&mut std::io::Cursor::new(SHADER)).map_err(|error| Stop::Fail(error.to_string()))?;
    let pipeline = gpu.pipeline(&words, &[&buffer], None).context("make a pipeline")?;
    let queue = gpu.lane(QueueKind::Compute).map_or_else(|| gpu.need(QueueKind::Graphics), Ok)?;
    let submission = gpu
        .submit(queue, &Order::free(), |commands| {
            commands.dispatch(&pipeline, [width.div_ceil(GROUP), height.div_ceil(GROUP), 1]);
            commands.barrier();
        })
        .context("submit a dispatch")?;
    submission.finish().context("wait for the dispatch")?;
    drop(submission);
    let texels = buffer.memory().read(0, usize::try_from(bytes).unwrap_or(0));
    if texels.iter().all(|byte| *byte == 0) { fail("the shader stored nothing") } else { Ok(texels) }
}

fn write(path: &Path, texels: &[u8]) -> Result<(), Stop> {
    let problem = |error: &dyn std::fmt::Display| Stop::Fail(format!("cannot write {}: {error}", path.display()));
    let file = File::create(PathBuf::from(path)).map_err(|error| problem(&error))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), SIZE[0], SIZE[1]);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| problem(&error))?;
    writer.write_image_data(texels).map_err(|error| problem(&error))
}
