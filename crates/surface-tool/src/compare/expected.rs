//! The answers that the layouts give where a driver was asked.

use amdgpu_descriptors::vulkan::{ImageMemory, VulkanImage};
use amdgpu_surface::modifier::{Modifier, ModifierError};
use amdgpu_surface::surface::{Dimension, SurfaceError, SurfaceLayout, SurfaceUsage};
use amdgpu_surface::{Chip, GfxLevel};

use super::answer::{ImageAnswer, Pages, SubresourceAnswer};
use super::planes::{ColorPlane, planes};
use super::shared::{self, ExpectedWords, NoWords};
use crate::chip::Named;

/// `VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT`.
const SPARSE_RESIDENCY: u32 = 2;
/// Bytes of a page of a partially resident image.
const PAGE: u64 = 64 << 10;

/// The reason why there is no answer of ours.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("no format of ours")]
    Format,
    #[error("modifier: {0}")]
    Modifier(#[from] ModifierError),
    #[error("no layout: {0}")]
    Layout(#[from] SurfaceError),
}

/// Our answer about an image.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) size: u64,
    pub(super) alignment: u64,
    pub(super) parts: Vec<SubresourceAnswer>,
    pub(super) sparse: Option<Pages>,
    /// The words that travel with the memory, where it is shared and has one plane.
    pub(super) bo: Option<Result<ExpectedWords, NoWords>>,
}

/// A plane of an image with its place.
struct Placed {
    layout: SurfaceLayout,
    config: amdgpu_surface::surface::SurfaceConfig,
    offset: u64,
}

/// Returns our answer about an image.
pub(super) fn expected(named: &Named, asked: &ImageAnswer) -> Result<Expected, NoAnswer> {
    let chip = &named.chip;
    let planes = planes(asked.format, &asked.name);
    let memory = ImageMemory {
        external: asked.exported,
        sparse: asked.flags & SPARSE_RESIDENCY != 0,
        modifier: asked.modifier.map(Modifier::decode).transpose()?,
    };
    let [first, ..] = planes.as_slice() else { return Err(NoAnswer::Format) };
    let image = image(asked, first);
    if planes.len() > 1 {
        return multi_planar(chip, asked, &memory, &planes);
    }
    let needs = image.requirements(chip, &memory)?;
    let config = image.surface_in(chip.level(), &memory, None);
    let placed = Placed { layout: needs.layout, config, offset: 0 };
    Ok(Expected {
        size: needs.bytes,
        alignment: needs.alignment,
        parts: asked.parts.iter().map(|part| part_of(asked, &[&placed], part)).collect(),
        sparse: memory.sparse.then(|| pages(chip, asked, &needs.layout, &image, needs.bytes)),
        bo: memory.external.then(|| shared::words(named, &image, &needs.layout)),
    })
}

fn image(asked: &ImageAnswer, plane: &ColorPlane) -> VulkanImage {
    VulkanImage {
        format: plane.format,
        dimension: match asked.dimension {
            1 => Dimension::D1,
            3 => Dimension::D3,
            _ => Dimension::D2,
        },
        extent: asked.extent,
        layers: asked.layers,
        levels: asked.levels,
        samples: asked.samples,
        linear: asked.linear,
        usage: asked.usage,
    }
}

/// Lays planes out one behind the other (`radv_image_create_layout`). They have no metadata.
fn multi_planar(
    chip: &Chip,
    asked: &ImageAnswer,
    memory: &ImageMemory,
    planes: &[ColorPlane],
) -> Result<Expected, NoAnswer> {
    let (mut size, mut alignment) = (0_u64, 1_u64);
    let mut placed = Vec::new();
    for plane in planes {
        let image = image(asked, plane);
        let mut config = image.surface_in(chip.level(), memory, None);
        config.usage |= SurfaceUsage::UNCOMPRESSED;
        config.channels = plane.format.channel_count();
        let [x, y] = plane.shift;
        config.width = config.width.div_ceil(1 << x);
        config.height = config.height.div_ceil(1 << y);
        let layout = SurfaceLayout::new(chip, &config)?;
        let align = 1 << layout.total_align_log2;
        let offset = size.next_multiple_of(align);
        size = offset + layout.total_bytes;
        alignment = alignment.max(align);
        placed.push(Placed { layout, config, offset });
    }
    if memory.sparse {
        alignment = alignment.max(4096);
        size = size.next_multiple_of(alignment);
    }
    let placed: Vec<&Placed> = placed.iter().collect();
    let parts = asked.parts.iter().map(|part| part_of(asked, &placed, part)).collect();
    Ok(Expected { size, alignment, parts, sparse: None, bo: None })
}

/// Returns the number of the plane that an aspect names (`VK_IMAGE_ASPECT_PLANE_0_BIT`, `_MEMORY_PLANE_0_BIT_EXT` and on).
fn plane_of(aspect: u32) -> usize {
    match aspect {
        0x20 | 0x100 => 1,
        0x40 | 0x200 => 2,
        0x400 => 3,
        _ => 0,
    }
}

/// Returns the place of a part (`radv_GetImageSubresourceLayout2`).
fn part_of(asked: &ImageAnswer, planes: &[&Placed], asked_part: &SubresourceAnswer) -> SubresourceAnswer {
    let none =
        SubresourceAnswer { offset: u64::MAX, size: 0, row_pitch: 0, array_pitch: 0, depth_pitch: 0, ..*asked_part };
    let number = plane_of(asked_part.aspect);
    if asked.modifier.is_some()
        && let &[only] = planes
    {
        let memory = only.layout.planes(&only.config);
        return memory.as_slice().get(number).map_or(none, |plane| SubresourceAnswer {
            offset: plane.offset,
            size: plane.bytes,
            row_pitch: plane.stride,
            ..none
        });
    }
    let Some(plane) = planes.get(number) else { return none };
    let (layout, bytes) = (&plane.layout, u64::from(plane.config.bytes));
    let level = asked_part.level as usize;
    let depth = if plane.config.dimension == Dimension::D3 {
        asked.extent[2].checked_shr(asked_part.level).unwrap_or(0).max(1)
    } else {
        1
    };
    let (offset, pitch, slice) = if let Some(legacy) = &layout.legacy {
        let found = legacy.levels.get(level).copied().unwrap_or_default();
        (found.offset, u64::from(found.pitch) * bytes, found.slice_bytes)
    } else {
        let found = layout.levels.get(level).copied().unwrap_or_default();
        let pitch = if layout.linear { u64::from(found.pitch) * bytes } else { u64::from(layout.pitch) * bytes };
        // The pitch of elements of 12 bytes counts components, and the driver takes that of level 0 for all levels.
        let pitch = if bytes == 12 { u64::from(layout.pitch) * bytes / 3 } else { pitch };
        (if layout.linear { found.offset } else { 0 }, pitch, layout.slice_bytes)
    };
    SubresourceAnswer {
        offset: plane.offset + offset + u64::from(asked_part.layer) * slice,
        size: slice * u64::from(depth),
        row_pitch: pitch,
        array_pitch: slice,
        depth_pitch: slice,
        ..none
    }
}

/// Returns the pages and the tail of a partially resident image (`radv_GetImageSparseMemoryRequirements2`).
fn pages(chip: &Chip, asked: &ImageAnswer, layout: &SurfaceLayout, image: &VulkanImage, bytes: u64) -> Pages {
    let format = image.format;
    let aspects = if format.is_depth_or_stencil() {
        u32::from(format.has_depth()) << 1 | u32::from(format.has_stencil()) << 2
    } else {
        1
    };
    let legacy = chip.level() < GfxLevel::Gfx9;
    let mut pages = Pages {
        aspects,
        single_tail: legacy,
        page: [0; 3],
        first_tail: 0,
        tail_size: 0,
        tail_offset: 0,
        tail_stride: 0,
    };
    let Some(prt) = &layout.prt else { return pages };
    let (width, height) = format.block();
    // An image in rows has the pages that it would have in tiles.
    let texels = (PAGE as u32 / format.bytes()).ilog2();
    let [w, h, d] = if layout.linear { [1 << texels.div_ceil(2), 1 << (texels / 2), 1] } else { prt.tile };
    pages.page = [w * width, h * height, d];
    pages.first_tail = prt.first_tail;
    if prt.first_tail < asked.levels {
        let first = prt.first_tail as usize;
        if let Some(levels) = &layout.legacy {
            pages.tail_offset = levels.levels.get(first).map_or(0, |level| level.offset);
            pages.tail_size = bytes.saturating_sub(pages.tail_offset);
        } else {
            // The tail of a layer is one page.
            pages.tail_size = PAGE;
            pages.tail_offset = prt.levels.get(first).map_or(0, |level| level.offset) / PAGE * PAGE;
            pages.tail_stride = layout.slice_bytes;
        }
    }
    pages
}
