//! Clears, copies and resolves of whole images, with every texel read back.
//!
//! On a compute queue RADV does all of it with compute shaders of its own. Images above 512 x 512 texels that are colour
//! attachments have compression metadata (`radv_image_use_fast_clear_for_image_early`), so that those shaders load and store
//! through descriptors with compression.

use ash::vk::{self, ImageLayout as Layout, ImageUsageFlags as Usage};

use crate::checks::{check::Check, copies::pattern};
use crate::{
    gpu::{Buffer, Gpu, Lane, MemoryPlace, Order, QueueKind, Texture, TextureKind},
    outcome::{ErrorContext, Outcome, Stop, same_bytes, skip},
};

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check::once("image.clear", "a compute queue clears images of all kinds, every texel", clear),
    Check::once("image.copy", "texels survive copies and layouts on a compute queue", copy),
    Check::once("image.rendered", "a compute queue reads zeroes and ones that rendering cleared to", rendered),
    Check::once("image.rendered.any", "a compute queue reads any colour that rendering cleared to", rendered_any),
    Check::once("image.depth", "a compute queue reads depth and stencil that the graphics queue cleared", depth),
    Check::once("image.samples", "samples that a compute queue cleared are resolved to their colour", samples),
    Check::once("image.samples.any", "samples that rendering cleared are resolved to their colour", samples_any),
];

/// Sides below and above the sizes from which RADV compresses.
const SMALL: [u32; 2] = [100, 60];
const LARGE: [u32; 2] = [523, 503];
const COPIES: Usage = Usage::from_raw(Usage::TRANSFER_SRC.as_raw() | Usage::TRANSFER_DST.as_raw());
const ATTACHMENT: Usage = Usage::from_raw(COPIES.as_raw() | Usage::COLOR_ATTACHMENT.as_raw());
const STORED_ATTACHMENT: Usage = Usage::from_raw(ATTACHMENT.as_raw() | Usage::STORAGE.as_raw());

/// A colour as Vulkan takes it, and the bytes of its texel.
type Colour = (vk::ClearColorValue, &'static [u8]);

const fn floats(float32: [f32; 4]) -> vk::ClearColorValue {
    vk::ClearColorValue { float32 }
}

/// Formats with colours: those that metadata has codes for, and one that it has not.
const FORMATS: [(vk::Format, [Colour; 3]); 5] = [
    (
        vk::Format::R8G8B8A8_UNORM,
        [
            (floats([0.0, 0.0, 0.0, 1.0]), &[0, 0, 0, 255]),
            (floats([1.0, 1.0, 1.0, 0.0]), &[255, 255, 255, 0]),
            (floats([0.2, 0.4, 0.6, 0.8]), &[51, 102, 153, 204]),
        ],
    ),
    (
        vk::Format::R8_UNORM,
        [(floats([1.0, 0.0, 0.0, 0.0]), &[255]), (floats([0.0; 4]), &[0]), (floats([0.2; 4]), &[51])],
    ),
    (
        vk::Format::R16G16B16A16_SFLOAT,
        [
            (floats([1.0; 4]), &[0, 0x3c, 0, 0x3c, 0, 0x3c, 0, 0x3c]),
            (floats([0.0, 0.0, 0.0, 1.0]), &[0, 0, 0, 0, 0, 0, 0, 0x3c]),
            (floats([0.5, -2.0, 1.0, 4.0]), &[0, 0x38, 0, 0xc0, 0, 0x3c, 0, 0x44]),
        ],
    ),
    (
        vk::Format::R32_UINT,
        [
            (vk::ClearColorValue { uint32: [0; 4] }, &[0; 4]),
            (vk::ClearColorValue { uint32: [!0; 4] }, &[0xff; 4]),
            (vk::ClearColorValue { uint32: [0x0403_0201, 0, 0, 0] }, &[1, 2, 3, 4]),
        ],
    ),
    (
        vk::Format::R32G32B32A32_SFLOAT,
        [
            (floats([1.0; 4]), &[0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f]),
            (floats([0.0; 4]), &[0; 16]),
            (floats([2.0, 0.0, 1.0, 2.0]), &[0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]),
        ],
    ),
];

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;

fn color_kind(format: vk::Format, extent: [u32; 2], usage: Usage) -> TextureKind {
    TextureKind { format, aspect: COLOR, extent, layers: 1, samples: 1, usage }
}

/// The kinds of colour image that the driver has, with colours: small ones, and large ones with the usages of attachments in turn.
///
/// # Errors
///
/// [`Stop::Skip`] if it has none.
fn kinds(gpu: &Gpu) -> Result<Vec<(TextureKind, [Colour; 3])>, Stop> {
    let of = |(number, (format, colours)): (usize, (vk::Format, [Colour; 3]))| {
        let kind = move |extent, usage| (color_kind(format, extent, usage), colours);
        let usage = if number % 2 == 0 { ATTACHMENT } else { STORED_ATTACHMENT };
        [kind(SMALL, COPIES), kind(LARGE, usage)]
    };
    let mut kinds: Vec<_> = FORMATS.into_iter().enumerate().flat_map(of).collect();
    let (format, colours) = FORMATS[0];
    kinds.push((color_kind(format, LARGE, STORED_ATTACHMENT), colours));
    kinds.retain(|(kind, _)| gpu.has_texture(kind));
    if kinds.is_empty() { skip("the driver has no such images") } else { Ok(kinds) }
}

fn texels(kind: &TextureKind) -> usize {
    kind.extent[0] as usize * kind.extent[1] as usize * kind.layers as usize
}

fn host_buffer(gpu: &Gpu, bytes: usize) -> Result<Buffer<'_>, Stop> {
    gpu.buffer(bytes.next_multiple_of(4) as u64, MemoryPlace::Host).context("make a host buffer")
}

fn texture<'g>(gpu: &'g Gpu, kind: &TextureKind) -> Result<Texture<'g>, Stop> {
    gpu.texture(kind).context("make an image")
}

/// Fails unless a compute queue copies the expected texels out of an image that it has in the layout for copies.
fn holds(gpu: &Gpu, what: &str, image: &Texture<'_>, from: Option<[&Lane; 2]>, expected: &[u8]) -> Result<(), Stop> {
    let out = host_buffer(gpu, expected.len())?;
    let (lane, source) = (gpu.need(QueueKind::Compute)?, Layout::TRANSFER_SRC_OPTIMAL);
    let work = gpu.submit(lane, &Order::free(), |record| {
        if let Some(lanes) = from {
            record.hand_over(image, lanes, Layout::TRANSFER_DST_OPTIMAL, source);
        }
        record.copy_out(image, source, &out);
        record.barrier();
    });
    work.context(what)?.finish().context(what)?;
    same_bytes(what, &out.memory().read(0, expected.len()), expected)
}

fn clear(gpu: &Gpu) -> Outcome {
    let lane = gpu.need(QueueKind::Compute)?;
    let kinds = kinds(gpu)?;
    for (number, (kind, colours)) in kinds.iter().enumerate() {
        let (colour, texel) = &colours[number / 2 % 3];
        let layout = if number % 2 == 0 { Layout::TRANSFER_DST_OPTIMAL } else { Layout::GENERAL };
        let image = texture(gpu, kind)?;
        let named = format!("{kind:?} in {layout:?}");
        let work = gpu.submit(lane, &Order::free(), |record| {
            record.transition(&image, Layout::UNDEFINED, layout);
            record.clear(&image, layout, colour);
            record.transition(&image, layout, Layout::TRANSFER_SRC_OPTIMAL);
        });
        work.context("submit")?.finish().context(&named)?;
        holds(gpu, &named, &image, None, &texel.repeat(texels(kind)))?;
    }
    Ok(format!("{} kinds of image", kinds.len()))
}

fn copy(gpu: &Gpu) -> Outcome {
    let lane = gpu.need(QueueKind::Compute)?;
    let kinds = kinds(gpu)?;
    for (kind, colours) in &kinds {
        let (first, second) = (texture(gpu, kind)?, texture(gpu, kind)?);
        let bytes = texels(kind) * colours[0].1.len();
        let from = host_buffer(gpu, bytes)?;
        let mut texels = pattern(bytes, 6);
        // Floats are finite: the top bit of an exponent stays 0.
        if matches!(kind.format, vk::Format::R16G16B16A16_SFLOAT | vk::Format::R32G32B32A32_SFLOAT) {
            for byte in &mut texels {
                *byte &= 0xbf;
            }
        }
        from.memory().write(0, &texels);
        let (source, target) = (Layout::TRANSFER_SRC_OPTIMAL, Layout::TRANSFER_DST_OPTIMAL);
        let work = gpu.submit(lane, &Order::free(), |record| {
            record.transition(&first, Layout::UNDEFINED, target);
            record.transition(&second, Layout::UNDEFINED, target);
            record.copy_in(&from, &first, target);
            record.transition(&first, target, Layout::GENERAL);
            record.transition(&first, Layout::GENERAL, source);
            record.copy_texture(&first, &second);
            record.transition(&second, target, source);
        });
        let named = format!("{kind:?}");
        work.context("submit")?.finish().context(&named)?;
        holds(gpu, &named, &second, None, &texels)?;
    }
    Ok(format!("{} kinds of image", kinds.len()))
}

/// Clears by rendering on the graphics queue, and hands the image over to the compute queue, which reads it.
fn rendered_to(gpu: &Gpu, kind: &TextureKind, (colour, texel): &Colour) -> Result<(), Stop> {
    let lanes @ [graphics, _] = gpu.two_lanes()?;
    let image = texture(gpu, kind)?;
    let target = image.target().context("make a view")?;
    let attachment = Layout::COLOR_ATTACHMENT_OPTIMAL;
    let work = gpu.submit(graphics, &Order::free(), |record| {
        record.transition(&image, Layout::UNDEFINED, attachment);
        record.render_clear(&target, *colour);
        record.transition(&image, attachment, Layout::TRANSFER_DST_OPTIMAL);
        record.hand_over(&image, lanes, Layout::TRANSFER_DST_OPTIMAL, Layout::TRANSFER_SRC_OPTIMAL);
    });
    work.context("submit")?.finish().context("render")?;
    holds(gpu, &format!("{kind:?}"), &image, Some(lanes), &texel.repeat(texels(kind)))
}

/// Skips a check on a device without rendering outside of render passes.
fn needs_rendering(gpu: &Gpu) -> Result<(), Stop> {
    if gpu.newer.rendering { Ok(()) } else { skip("the driver has no rendering outside of render passes") }
}

/// Renders to large attachments of each format.
fn rendered_each(gpu: &Gpu, colours: std::ops::Range<usize>) -> Outcome {
    let mut kinds = kinds(gpu)?;
    kinds.retain(|(kind, _)| kind.usage == ATTACHMENT);
    for (kind, of_kind) in &kinds {
        for colour in &of_kind[colours.clone()] {
            rendered_to(gpu, kind, colour)?;
        }
    }
    Ok(format!("{} kinds of image", kinds.len()))
}

fn rendered(gpu: &Gpu) -> Outcome {
    needs_rendering(gpu)?;
    rendered_each(gpu, 0..2)
}

fn rendered_any(gpu: &Gpu) -> Outcome {
    needs_rendering(gpu)?;
    rendered_each(gpu, 2..3)
}

fn depth(gpu: &Gpu) -> Outcome {
    let lanes @ [graphics, compute] = gpu.two_lanes()?;
    let (source, target) = (Layout::TRANSFER_SRC_OPTIMAL, Layout::TRANSFER_DST_OPTIMAL);
    let both = DEPTH | vk::ImageAspectFlags::STENCIL;
    let formats =
        [(vk::Format::D32_SFLOAT, DEPTH), (vk::Format::D16_UNORM, DEPTH), (vk::Format::D32_SFLOAT_S8_UINT, both)];
    let usage = COPIES | Usage::DEPTH_STENCIL_ATTACHMENT;
    let mut count = 0;
    for (format, aspect) in formats {
        let kind = TextureKind { format, aspect, extent: LARGE, layers: 1, samples: 1, usage };
        if !gpu.has_texture(&kind) {
            continue;
        }
        for depth in [1.0_f32, 0.0] {
            let image = texture(gpu, &kind)?;
            let texel = match format {
                vk::Format::D16_UNORM => [if depth > 0.0 { 0xff } else { 0 }; 2].to_vec(),
                _ => depth.to_le_bytes().to_vec(),
            };
            let named = format!("{kind:?}, depth {depth}");
            let work = gpu.submit(graphics, &Order::free(), |record| {
                record.transition(&image, Layout::UNDEFINED, target);
                record.clear_depth(&image, target, depth, 0);
                record.hand_over(&image, lanes, target, source);
            });
            work.context("submit")?.finish().context("clear")?;
            let expected = texel.repeat(texels(&kind));
            holds(gpu, &named, &image, Some(lanes), &expected)?;
            // RADV 25.0.7 expands depth and stencil together through a view of eight bytes a texel.
            if aspect == DEPTH {
                let work = gpu.submit(compute, &Order::free(), |record| {
                    record.transition(&image, source, Layout::GENERAL);
                    record.transition(&image, Layout::GENERAL, source);
                });
                work.context("submit")?.finish().context("expand")?;
                holds(gpu, &named, &image, None, &expected)?;
            }
            count += 1;
        }
    }
    if count == 0 { skip("the driver has no such images") } else { Ok(format!("{count} images")) }
}

/// Resolves on the graphics queue, and reads on the compute queue.
fn resolves(gpu: &Gpu, image: &Texture<'_>, several: &TextureKind, texel: &[u8]) -> Result<(), Stop> {
    let lanes @ [graphics, _] = gpu.two_lanes()?;
    let (source, target) = (Layout::TRANSFER_SRC_OPTIMAL, Layout::TRANSFER_DST_OPTIMAL);
    let single = TextureKind { samples: 1, ..*several };
    let resolved = texture(gpu, &single)?;
    let work = gpu.submit(graphics, &Order::free(), |record| {
        record.transition(&resolved, Layout::UNDEFINED, target);
        record.resolve(image, &resolved);
        record.hand_over(&resolved, lanes, target, source);
    });
    work.context("submit")?.finish().context("resolve")?;
    holds(gpu, &format!("{several:?}"), &resolved, Some(lanes), &texel.repeat(texels(&single)))
}

/// The kinds of images of several samples, with a colour. Their two layers make RADV resolve by a compute shader.
///
/// # Errors
///
/// [`Stop::Skip`] if there are none.
fn kinds_of_samples(gpu: &Gpu) -> Result<Vec<(TextureKind, Colour)>, Stop> {
    let (first, last) = (FORMATS[0], FORMATS[3]);
    let of = |(samples, (format, colours), extent): (u32, (vk::Format, [Colour; 3]), [u32; 2])| {
        let single = TextureKind { layers: 2, ..color_kind(format, extent, ATTACHMENT) };
        (TextureKind { samples, ..single }, colours[2])
    };
    let mut kinds: Vec<_> = [(2, first, SMALL), (4, last, LARGE), (8, first, SMALL)].into_iter().map(of).collect();
    kinds.retain(|(kind, _)| gpu.has_texture(kind));
    if kinds.is_empty() { skip("the driver has no such images") } else { Ok(kinds) }
}

fn samples(gpu: &Gpu) -> Outcome {
    let [graphics, compute] = gpu.two_lanes()?;
    let (source, target) = (Layout::TRANSFER_SRC_OPTIMAL, Layout::TRANSFER_DST_OPTIMAL);
    let kinds = kinds_of_samples(gpu)?;
    for (kind, (colour, texel)) in &kinds {
        let image = texture(gpu, kind)?;
        let clear = gpu.submit(compute, &Order::free(), |record| {
            record.transition(&image, Layout::UNDEFINED, target);
            record.clear(&image, target, colour);
            record.hand_over(&image, [compute, graphics], target, source);
        });
        clear.context("submit")?.finish().context("clear")?;
        let take = gpu.submit(graphics, &Order::free(), |record| {
            record.hand_over(&image, [compute, graphics], target, source);
        });
        take.context("submit")?.finish().context("take over")?;
        resolves(gpu, &image, kind, texel)?;
    }
    Ok(format!("{} images", kinds.len()))
}

fn samples_any(gpu: &Gpu) -> Outcome {
    let [graphics, _] = gpu.two_lanes()?;
    needs_rendering(gpu)?;
    let kinds = kinds_of_samples(gpu)?;
    for (kind, (colour, texel)) in &kinds {
        let image = texture(gpu, kind)?;
        let target = image.target().context("make a view")?;
        let attachment = Layout::COLOR_ATTACHMENT_OPTIMAL;
        let work = gpu.submit(graphics, &Order::free(), |record| {
            record.transition(&image, Layout::UNDEFINED, attachment);
            record.render_clear(&target, *colour);
            record.transition(&image, attachment, Layout::TRANSFER_SRC_OPTIMAL);
        });
        work.context("submit")?.finish().context("render")?;
        resolves(gpu, &image, kind, texel)?;
    }
    Ok(format!("{} images", kinds.len()))
}
