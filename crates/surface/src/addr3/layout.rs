//! Sizes and mip levels. Source: `Gfx12Lib::HwlComputeSurfaceInfo`, `GetMipOffset`, `GetMipOrigin`.

use super::{Dimension, Format, Image};
use crate::addr2::gfx10::{every_second, max_tail_levels, tail_offset};
use crate::addr2::{Level, Levels, MAX_LEVELS};
use crate::bits::{align, align64, log2, shift_up};
use crate::chip::Chip;
use crate::error::{AddrError, Cause, invalid};
use amdgpu_hw::GfxLevel;

/// A level of a GFX12 image. Its fields are the same as on GFX10.
pub type PaddedLevel = Level;

/// The sizes of an image. Sizes are in elements unless the field says bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The row pitch of level 0.
    pub pitch: u32,
    /// The pitch in pixels: a third of `pitch` for elements of 96 bits.
    pub pixel_pitch: u32,
    /// The pitch from which the size of a slice is computed. For linear images it is a multiple of 256 bytes.
    pub slice_pitch: u32,
    /// The height of level 0, including padding.
    pub height: u32,
    /// The padded number of layers or slices.
    pub slices: u32,
    /// The size of a slice with all its levels, in bytes.
    pub slice_bytes: u64,
    /// The size of a slice in bytes, without the padding of level 0's rows.
    pub dense_slice_bytes: u64,
    /// The size of the image in bytes.
    pub bytes: u64,
    /// The alignment of the image's address in bytes.
    pub align: u32,
    /// The width, height and depth of a block.
    pub block: [u32; 3],
    /// `true` if the whole chain is in one mip tail.
    pub chain_in_tail: bool,
    /// The first level in the mip tail; the number of levels if there is no mip tail.
    pub first_tail: u32,
    /// The layout of each mip level, the largest first.
    pub levels: Levels,
}

/// Returns the dimensions of the 256-byte blocks by which levels are placed in the mip tail (`HwlGetMicroBlockSize`).
const fn micro_block(thick: bool, bytes_log2: u32) -> [u32; 3] {
    let n = 8 - bytes_log2;
    if thick {
        let (third, rest) = (n / 3, n % 3);
        let (d, w) = (third + if rest > 0 { 1 } else { 0 }, third + if rest > 1 { 1 } else { 0 });
        [1 << w, 1 << third, 1 << d]
    } else {
        [1 << n.div_ceil(2), 1 << (n / 2), 1]
    }
}

fn check(image: &Image) -> Result<(), AddrError> {
    if !matches!(image.bits, 8 | 16 | 32 | 64 | 128) {
        return invalid(Cause::ElementBits(image.bits));
    }
    if !matches!(image.samples, 1 | 2 | 4 | 8) {
        return invalid(Cause::Samples(image.samples));
    }
    let msaa = image.samples > 1;
    if msaa && image.dimension != Dimension::D2 {
        return invalid(Cause::Samples(image.samples));
    }
    if msaa && image.levels > 1 {
        return invalid(Cause::Levels(image.levels));
    }
    if image.format == Format::Rgb96 && !image.mode.is_linear() {
        return invalid(Cause::Mode(u32::from(image.mode.number())));
    }
    Ok(())
}

/// Computes the sizes and mip levels of an image.
///
/// # Errors
/// [`AddrError`] if addrlib's `Addr3ComputeSurfaceInfo` returns an error.
pub fn layout(chip: &Chip, image: &Image) -> Result<Layout, AddrError> {
    if chip.level() != GfxLevel::Gfx12 {
        return invalid(Cause::Generation);
    }
    if image.levels as usize > MAX_LEVELS {
        return invalid(Cause::Levels(image.levels));
    }
    let mut image = image.normalised();
    let limit = crate::addr2::MAX_EXTENT;
    if image.width > limit || image.height > limit || image.slices > limit {
        return invalid(Cause::Overflow);
    }
    let expand = if image.format == Format::Rgb96 { 3 } else { 1 };
    if expand == 3 {
        image.bits = 32;
        image.width *= 3;
    }
    check(&image)?;
    let mut layout = of_checked(&image)?;
    layout.pixel_pitch = layout.pitch / expand;
    Ok(layout)
}

struct Chain {
    slice: u64,
    dense: u64,
    first_tail: u32,
    slice_pitch: u32,
}

fn of_checked(image: &Image) -> Result<Layout, AddrError> {
    let mode = image.mode;
    let linear = mode.is_linear();
    let samples_log2 = if mode.is_3d() { 0 } else { log2(image.samples) };
    let block = mode.block(image.bytes_log2(), samples_log2);
    // Rows of linear images are aligned to 128 bytes, but the size of their slices is computed with 256.
    let unit = if linear { 128 / image.bytes() } else { block[0] };
    let mut pitch = align(image.width, unit);
    let custom = linear && image.levels == 1 && image.pitch > 0;
    if custom {
        if !image.pitch.is_multiple_of(unit) || image.pitch < pitch {
            return invalid(Cause::Pitch(image.pitch));
        }
        pitch = image.pitch;
    }
    let slices = align(image.slices, block[2]);
    let mut layout = Layout {
        pitch,
        pixel_pitch: pitch,
        slice_pitch: pitch,
        height: align(image.height, block[1]),
        slices,
        slice_bytes: 0,
        dense_slice_bytes: 0,
        bytes: 0,
        align: 1 << mode.block_bits(),
        block,
        chain_in_tail: false,
        first_tail: image.levels,
        levels: Levels::new(image.levels),
    };
    let chain = sizes(image, block, custom.then_some(pitch), &mut layout.levels);
    layout.slice_pitch = chain.slice_pitch;
    layout.slice_bytes = chain.slice;
    layout.dense_slice_bytes = chain.dense;
    layout.bytes = chain.slice * u64::from(slices);
    layout.chain_in_tail = chain.first_tail == 0;
    layout.first_tail = chain.first_tail;
    Ok(layout)
}

fn extent(image: &Image, level: u32) -> [u32; 3] {
    let depth = if image.is_3d() { shift_up(image.slices, level) } else { 1 };
    [shift_up(image.width, level), shift_up(image.height, level), depth]
}

fn sizes(image: &Image, block: [u32; 3], custom: Option<u32>, levels: &mut Levels) -> Chain {
    let mode = image.mode;
    let (linear, block_bits) = (mode.is_linear(), mode.block_bits());
    let block_bytes = 1u64 << block_bits;
    let tail = crate::addr2::tail_limit(block, block_bits, mode.is_3d());
    let max_levels = if block_bits > 8 { max_tail_levels(block_bits, mode.is_3d()) } else { 1 };
    // The last subresource in memory need not have rows padded to 256 bytes (`CanTrimLinearPadding`).
    let trim = linear && image.slices == 1 && !image.is_3d();
    let mut chain = Chain { slice: 0, dense: 0, first_tail: image.levels, slice_pitch: 0 };
    let mut steps = [(0u64, 0u64); MAX_LEVELS];
    for number in 0..image.levels {
        let [w, h, d] = extent(image, number);
        if block_bits > 8 && image.levels > 1 && w <= tail[0] && h <= tail[1] && image.levels - number <= max_levels {
            chain.first_tail = number;
            chain.slice += block_bytes / u64::from(block[2]);
            chain.dense += block_bytes / u64::from(block[2]);
            break;
        }
        let (pitch, mut slice_pitch) = if linear {
            let pitch = custom.unwrap_or(align(w, 128 / image.bytes()));
            (pitch, align(pitch, 256 / image.bytes()))
        } else {
            (align(w, block[0]), align(w, block[0]))
        };
        let (height, depth) = (align(h, block[1]), align(d, block[2]));
        let row = u64::from(height) * u64::from(image.samples) * u64::from(image.bytes());
        let data = align64(u64::from(pitch) * row, block_bytes);
        let mut slice = u64::from(slice_pitch) * row;
        let mut hardware_slice = slice * u64::from(block[2]);
        if number == 0 && trim {
            (slice_pitch, slice, hardware_slice) = (pitch, data, data);
        }
        if number == 0 {
            chain.slice_pitch = slice_pitch;
        }
        steps[number as usize] = (slice * u64::from(depth), hardware_slice);
        chain.slice += slice;
        chain.dense += if number == 0 { data } else { slice };
        levels.as_mut_slice()[number as usize] = Level { pitch, height, depth, ..Level::default() };
    }
    let (outside, inside) = levels.as_mut_slice().split_at_mut(chain.first_tail as usize);
    let (mut offset, mut block_offset) = (0, 0);
    if !inside.is_empty() {
        let depth = extent(image, chain.first_tail)[2];
        offset = block_bytes * u64::from(depth.div_ceil(block[2]));
        block_offset = block_bytes;
        place_tail(image, tail, max_levels, depth, inside);
    }
    for (level, (size, slice)) in outside.iter_mut().zip(steps).rev() {
        (level.offset, level.block_offset) = (if linear { block_offset } else { offset }, block_offset);
        offset += size;
        block_offset += slice;
    }
    chain
}

fn place_tail(image: &Image, tail: [u32; 3], max_levels: u32, depth: u32, levels: &mut [Level]) {
    let micro = micro_block(image.mode.is_3d(), image.bytes_log2());
    let mut d = if image.is_3d() { align(depth, micro[2]) } else { 1 };
    let layers = if image.is_3d() { d / micro[2] } else { 1 };
    let [mut w, mut h, _] = tail;
    for (place, level) in (0..).zip(levels) {
        let at = tail_offset(max_levels, place);
        *level = Level {
            pitch: align(w, micro[0]),
            height: align(h, micro[1]),
            depth: align(d, micro[2]),
            offset: u64::from(at) * u64::from(layers),
            block_offset: 0,
            tail_offset: at,
            tail: [every_second(at, 9) * micro[0], every_second(at, 8) * micro[1], 0],
        };
        [w, h, d] = [w, h, d].map(|size| (size >> 1).max(1));
    }
}
