//! A full-screen pass, and small triangles.

use std::io::Cursor;

use ash::{util::read_spv, vk};

use super::least_of;
use crate::{
    gpu::{Gpu, MemoryPlace, Order, QueueKind, TextureKind},
    outcome::{ErrorContext, Outcome, Stop, ensure, skip},
};

/// A triangle that covers the target, compiled from `full.vert`.
const FULL: &[u8] = include_bytes!("full_vert.spv");
/// Triangles that cover no pixel, compiled from `specks.vert`, which has the width and height too.
const SPECKS: &[u8] = include_bytes!("specks_vert.spv");
/// The pixel shader of both, compiled from `pass.frag`.
const PIXEL: &[u8] = include_bytes!("pass_frag.spv");

const SIZE: [u32; 2] = [1280, 720];
const TRIANGLES: u32 = 20_000;
const TARGET: TextureKind = TextureKind {
    format: vk::Format::R8G8B8A8_UNORM,
    aspect: vk::ImageAspectFlags::COLOR,
    extent: SIZE,
    layers: 1,
    samples: 1,
    usage: vk::ImageUsageFlags::from_raw(
        vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw() | vk::ImageUsageFlags::TRANSFER_SRC.as_raw(),
    ),
};

/// Times a pass, and compares some of its pixels with the shader's arithmetic.
#[expect(clippy::cast_precision_loss, reason = "the target has fewer than 2^24 columns and rows")]
pub(super) fn pass(gpu: &Gpu) -> Outcome {
    let (time, texels) = drawn(gpu, FULL, 3)?;
    for [x, y] in [[0, 0], [321, 77], [640, 360], [1111, 500], [1279, 719]] {
        let at = (y * SIZE[0] + x) as usize * 4;
        let expected = shaded([(x as f32 + 0.5) / SIZE[0] as f32, (y as f32 + 0.5) / SIZE[1] as f32]);
        let found = &texels[at..at + 4];
        let is_near = |(found, expected): (&u8, f32)| {
            // Where the fraction wraps around, rounding decides on which side.
            let apart = (f32::from(*found) - expected * 255.0).abs();
            apart <= 2.0 || apart >= 253.0
        };
        ensure(found.iter().zip(expected).all(is_near), || format!("pixel {x}, {y} is {found:?} for {expected:?}"))?;
    }
    Ok(time)
}

/// Times triangles, of which nothing may be seen.
pub(super) fn triangles(gpu: &Gpu) -> Outcome {
    let (time, texels) = drawn(gpu, SPECKS, TRIANGLES * 3)?;
    ensure(texels.iter().all(|byte| *byte == 0), || "a triangle between pixels was drawn".to_owned())?;
    Ok(time)
}

/// Returns the colour that `pass.frag` gives a pixel of the triangle of `full.vert`.
fn shaded([x, y]: [f32; 2]) -> [f32; 4] {
    let colour = [x, y, 1.0 - x, 1.0];
    let mut sum = colour;
    for _ in 0..3 {
        let turned = [sum[1], sum[2], sum[3], sum[0]];
        sum = std::array::from_fn(|channel| sum[channel].mul_add(turned[channel], colour[channel]));
    }
    sum.map(f32::fract)
}

/// Returns the least time of a draw, and the texels of its target.
fn drawn(gpu: &Gpu, vertex: &[u8], vertices: u32) -> Result<(String, Vec<u8>), Stop> {
    if !gpu.newer.rendering {
        return skip("the driver has no rendering outside of render passes");
    }
    let queue = gpu.need(QueueKind::Graphics)?;
    let words = |spirv| read_spv(&mut Cursor::new(spirv)).context("read the SPIR-V");
    let (vertex, pixel) = (words(vertex)?, words(PIXEL)?);
    let pipeline = gpu.draw_pipeline([&vertex, &pixel], TARGET.format).context("make a pipeline")?;
    let image = gpu.texture(&TARGET).context("make an image")?;
    let target = image.target().context("make a view")?;
    let (attachment, source) = (vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let time = least_of(gpu, queue, |commands| {
        commands.transition(&image, vk::ImageLayout::UNDEFINED, attachment);
        commands.draw(&target, &pipeline, vertices);
        commands.transition(&image, attachment, source);
    })?;
    let bytes = u64::from(SIZE[0] * SIZE[1] * 4);
    let texels = gpu.storage_buffer(bytes, MemoryPlace::Host).context("make a buffer")?;
    let copy = gpu.submit(queue, &Order::free(), |commands| {
        commands.copy_out(&image, source, &texels);
        commands.barrier();
    });
    copy.context("submit a copy")?.finish().context("wait for the copy")?;
    Ok((time, texels.memory().read(0, bytes as usize)))
}
