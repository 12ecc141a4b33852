//! Copies of images, with every byte of their memory compared with what the layouts say.
//!
//! RADV copies images with compute shaders on a compute queue, with draws on a graphics queue, and with SDMA on a transfer queue (Mesa
//! 25.0.7, `radv_meta_copy.c` and `radv_sdma.c`).

mod cases;
pub(super) mod compressed;
mod expected;

use std::ffi::CStr;

use amdgpu_surface::GfxLevel;
use ash::vk;

use self::{
    cases::{CASES, Case, Piece},
    expected::{Layouts, Texels},
};
use super::{check::Check, copies::pattern};
use crate::{
    gpu::{BoundImage, Buffer, Gpu, Lane, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, Stop, ensure, same_bytes, skip},
};

/// Fill pattern of memory before a copy.
const BEFORE: u8 = 0x5a;

pub(super) const CHECKS: &[Check] = &[
    Check::each("image.upload", "rows come to lie in images where the layouts say, and nothing else changes", upload),
    Check::each("image.download", "rows come out of images from where the layouts say", download),
    Check::each("image.between", "boxes go from one image to another, however their places are aligned", between),
];

/// An image of a case with the layout of its texels.
struct Laid<'g> {
    image: BoundImage<'g>,
    texels: Texels,
}

/// The counts of a check.
#[derive(Default)]
struct Counts {
    images: u32,
    boxes: u32,
    texels: u64,
}

impl Counts {
    fn add(&mut self, piece: &Piece) {
        self.boxes += 1;
        self.texels += piece.part.extent.map(u64::from).iter().product::<u64>();
    }

    fn figures(&self) -> String {
        format!("{} images, {} boxes, {} texels", self.images, self.boxes, self.texels)
    }
}

/// Finds the layouts of the device.
fn layouts(gpu: &Gpu) -> Result<Layouts, Stop> {
    Layouts::new(gpu).map_or_else(|| skip("no layouts of this device"), Ok)
}

/// Returns `true` if all bytes of an image are known after RADV has copied it: compression metadata, whose bytes are not compared, may
/// tell that colours are others than those in memory. Shaders read and write it, and so do the copy engines of GFX10 and later except
/// that of Navi 10 (`ac_gpu_info.c`, `sdma_supports_compression`); metadata of depth is plain from the start. And shaders on GFX9 lose
/// the edges of levels in compressed blocks, which RADV mends in copies of buffers only (`fixup_gfx9_cs_copy`).
fn is_known(gpu: &Gpu, kind: QueueKind, level: GfxLevel, texels: &Texels, case: &Case) -> bool {
    let is_shader = kind != QueueKind::Transfer;
    let name = gpu.properties.device_name_as_c_str().map(CStr::to_string_lossy).unwrap_or_default();
    let is_reader = level >= GfxLevel::Gfx10 && case.aspect == vk::ImageAspectFlags::COLOR && !name.contains("NAVI10");
    let loses_edges = is_shader && level == GfxLevel::Gfx9 && texels.block() != [1, 1];
    !((is_shader || is_reader) && texels.compressed || loses_edges && case.shape().levels > 1)
}

/// Creates the image of a case, if the driver has such images, and brings it into the layout of copies.
fn laid<'g>(gpu: &'g Gpu, lane: &Lane, layouts: &Layouts, case: &Case) -> Result<Option<Laid<'g>>, Stop> {
    let (kind, shape) = (case.kind(), case.shape());
    let fits = gpu.image_limits(&kind).is_some_and(|most| {
        shape.levels <= most.max_mip_levels
            && shape.layers <= most.max_array_layers
            && shape.extent[2] <= most.max_extent.depth
    });
    // The addresses of stencil are known from GFX9 on.
    let has_addresses = case.aspect != vk::ImageAspectFlags::STENCIL || layouts.level() >= GfxLevel::Gfx9;
    if !fits || !has_addresses {
        return Ok(None);
    }
    let texels = layouts.texels(case)?;
    let image = gpu.bound_image(&kind, shape, case.aspect).context(case.name)?;
    let (bytes, laid) = (image.memory().size, texels.bytes() as u64);
    ensure(laid <= bytes, || format!("{}: the driver asks for {bytes} bytes, the layout has {laid}", case.name))?;
    if gpu.is_radv() && !is_known(gpu, lane.kind, layouts.level(), &texels, case) {
        return Ok(None);
    }
    let work = gpu.submit(lane, &Order::free(), |record| record.prepare(&image));
    work.context("submit")?.finish().context("finish")?;
    Ok(Some(Laid { image, texels }))
}

impl Laid<'_> {
    fn fill(&self, bytes: &[u8]) {
        self.image.memory().write(0, bytes);
    }

    fn holds(&self, case: &Case, expected: &[u8]) -> Result<(), Stop> {
        same_bytes(case.name, &self.image.memory().read(0, expected.len()), expected)
    }
}

/// Returns bytes for a case: any, but depths of 32 bits from 0 to 1.
///
/// Vulkan allows others only with `VK_EXT_depth_range_unrestricted` (VUID-vkCmdCopyBufferToImage-pRegions-07931). Without it RADV has the
/// hardware clamp them where it copies by draws (Mesa 25.0.7 `radv_cmd_buffer.c`, `radv_get_depth_clamp_mode`).
fn contents(case: &Case, len: usize, seed: u8) -> Vec<u8> {
    let mut bytes = pattern(len, seed);
    if case.has_float_depths() {
        let (depths, _) = bytes.as_chunks_mut();
        for depth in depths {
            *depth = (u32::from_le_bytes(*depth) % (1_f32.to_bits() + 1)).to_le_bytes();
        }
    }
    bytes
}

fn buffer<'g>(gpu: &'g Gpu, bytes: &[u8]) -> Result<Buffer<'g>, Stop> {
    let buffer = gpu.buffer(bytes.len() as u64, MemoryPlace::Host).context("make a host buffer")?;
    buffer.memory().write(0, bytes);
    Ok(buffer)
}

fn upload(gpu: &Gpu, lane: &Lane) -> Outcome {
    let layouts = layouts(gpu)?;
    let mut counts = Counts::default();
    for case in CASES {
        let Some(laid) = laid(gpu, lane, &layouts, case)? else { continue };
        let mut expected = vec![BEFORE; laid.texels.bytes()];
        laid.fill(&expected);
        for (piece, seed) in case.pieces(laid.texels.block()).iter().zip(1..) {
            let bytes = contents(case, laid.texels.rows(piece).1, seed);
            let rows = buffer(gpu, &bytes)?;
            let work = gpu.submit(lane, &Order::free(), |record| {
                record.copy_to_image(&rows, piece.rows, &laid.image, &piece.part);
                record.barrier();
            });
            work.context("submit")?.finish().context(case.name)?;
            laid.texels.tile(piece, &bytes, &mut expected).context(case.name)?;
            counts.add(piece);
        }
        laid.holds(case, &expected)?;
        counts.images += 1;
    }
    Ok(counts.figures())
}

fn download(gpu: &Gpu, lane: &Lane) -> Outcome {
    let layouts = layouts(gpu)?;
    let mut counts = Counts::default();
    for (case, seed) in CASES.iter().zip(1..) {
        let Some(laid) = laid(gpu, lane, &layouts, case)? else { continue };
        let tiled = contents(case, laid.texels.bytes(), seed);
        laid.fill(&tiled);
        for piece in &case.pieces(laid.texels.block()) {
            let mut expected = vec![BEFORE; laid.texels.rows(piece).1];
            let rows = buffer(gpu, &expected)?;
            let work = gpu.submit(lane, &Order::free(), |record| {
                record.copy_from_image(&laid.image, &piece.part, &rows, piece.rows);
                record.barrier();
            });
            work.context("submit")?.finish().context(case.name)?;
            laid.texels.detile(piece, &tiled, &mut expected).context(case.name)?;
            same_bytes(case.name, &rows.memory().read(0, expected.len()), &expected)?;
            counts.add(piece);
        }
        laid.holds(case, &tiled)?;
        counts.images += 1;
    }
    Ok(counts.figures())
}

fn between(gpu: &Gpu, lane: &Lane) -> Outcome {
    let layouts = layouts(gpu)?;
    let mut counts = Counts::default();
    for (case, seed) in CASES.iter().zip(1..) {
        let Some(from) = laid(gpu, lane, &layouts, case)? else { continue };
        let Some(to) = laid(gpu, lane, &layouts, case)? else { continue };
        let tiled = contents(case, from.texels.bytes(), seed);
        let mut expected = vec![BEFORE; to.texels.bytes()];
        from.fill(&tiled);
        to.fill(&expected);
        for piece in case.pieces(from.texels.block()) {
            // A whole level goes to its own place, a box to the level's beginning: that is another alignment.
            let target = Piece { part: crate::gpu::ImagePart { first: [0; 3], ..piece.part }, ..piece };
            let work = gpu.submit(lane, &Order::free(), |record| {
                record.copy_image(&from.image, &piece.part, &to.image, &target.part);
                record.barrier();
            });
            work.context("submit")?.finish().context(case.name)?;
            let mut rows = vec![0; from.texels.rows(&piece).1];
            from.texels.detile(&piece, &tiled, &mut rows).context(case.name)?;
            to.texels.tile(&target, &rows, &mut expected).context(case.name)?;
            counts.add(&piece);
        }
        to.holds(case, &expected)?;
        counts.images += 1;
    }
    Ok(counts.figures())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_of_32_bits_are_from_0_to_1_and_reach_into_every_byte() {
        let case = CASES.iter().find(|case| case.name == "layers with levels of depth").expect("a case");
        let bytes = contents(case, 1 << 16, 1);
        let depths = bytes.as_chunks().0.iter().map(|depth| f32::from_le_bytes(*depth));
        assert!(depths.clone().all(|depth| (0.0..=1.0).contains(&depth)));
        assert!(depths.clone().any(|depth| depth > 0.5) && depths.clone().any(|depth| depth < 0.001));
        for byte in 0..3 {
            assert!((0..=255).all(|value| bytes.iter().skip(byte).step_by(4).any(|found| *found == value)));
        }
    }

    #[test]
    fn bytes_of_everything_but_depths_of_32_bits_are_any() {
        for case in CASES.iter().filter(|case| !case.has_float_depths()) {
            assert_eq!(contents(case, 1001, 3), pattern(1001, 3), "{}", case.name);
        }
    }
}
