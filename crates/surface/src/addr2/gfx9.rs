//! Tiled images of GFX9. All levels of a slice share one two-dimensional array of blocks, the mip chain.
//!
//! Source: `Gfx9Lib::HwlComputeSurfaceInfoTiled`, `GetMipChainInfo`, `GetMipStartPos`, `GetMajorMode`.

use amdgpu_hw::GfxLevel;

use super::block::{self, MICRO_2D, MICRO_3D};
use super::dimension::Dimension;
use super::image::{Image, Layout, Levels, Usage};
use super::linear::custom_pitch;
use crate::bits::{align, half_up};
use crate::chip::Chip;
use crate::error::AddrError;

/// The offsets of the levels in a mip tail, in units of 256 bytes, for a block of 1 MiB (`MipTailOffset256B`).
const TAIL_OFFSETS: [u32; 16] = [2048, 1024, 512, 256, 128, 64, 32, 16, 8, 6, 5, 4, 3, 2, 1, 0];

/// The axis along which the mip chain grows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Major {
    X,
    Y,
    Z,
}

impl Major {
    fn of(thick: bool, [w, h, d]: [u32; 3]) -> Self {
        if w >= h && (!thick || w >= d) {
            Self::X
        } else if !thick || h >= d {
            Self::Y
        } else {
            Self::Z
        }
    }
}

struct Chain {
    block: [u32; 3],
    block_bits: u32,
    tail: [u32; 3],
    thick: bool,
}

impl Chain {
    fn fits_tail(&self, [w, h, d]: [u32; 3]) -> bool {
        w <= self.tail[0] && h <= self.tail[1] && (!self.thick || d <= self.tail[2])
    }

    /// Writes the padded sizes of all levels. Returns the first level in the tail.
    fn sizes(&self, image: &Image, levels: &mut Levels) -> u32 {
        let thin_volume = image.is_3d() && !self.thick;
        let (mut w, mut h) = (image.width, image.height);
        let mut d = if image.is_3d() { image.slices } else { 1 };
        let (mut first_tail, mut in_tail, mut last_size) = (image.levels, false, false);
        let bytes = u64::from(image.bytes());
        let mut offset = 0;
        for (number, level) in (0..).zip(levels.as_mut_slice()) {
            if in_tail {
                let depth = if self.thick { d } else { 1 };
                if !last_size && u64::from(w) * u64::from(h) * u64::from(depth) * bytes <= 256 {
                    let index = image.bytes_log2() as usize;
                    if self.thick {
                        [w, h, d] = MICRO_3D[index];
                    } else {
                        [w, h] = MICRO_2D[index];
                    }
                    last_size = true;
                }
            } else {
                in_tail = self.fits_tail([w, h, d]);
                if in_tail {
                    first_tail = number;
                    [w, h] = [self.tail[0], self.tail[1]];
                    if self.thick {
                        d = self.tail[2];
                    }
                } else {
                    w = align(w, self.block[0]);
                    h = align(h, self.block[1]);
                    if self.thick {
                        d = align(d, self.block[2]);
                    }
                }
            }
            [level.pitch, level.height, level.depth] = [w, h, d];
            level.offset = offset;
            offset += u64::from(w) * u64::from(h) * u64::from(d) * bytes;
            if !last_size {
                w = (w >> 1).max(1);
                h = (h >> 1).max(1);
            }
            if thin_volume || (self.thick && !last_size) {
                d = (d >> 1).max(1);
            }
        }
        first_tail
    }

    /// Returns `true` if a level of this many blocks, rounded up, is the first level of the tail.
    fn blocks_end(&self, [w, h, d]: [u32; 3]) -> bool {
        let limit = |halved: bool| if halved { 1 } else { 2 };
        if self.thick {
            let rest = self.block_bits % 3;
            w <= limit(rest == 1) && h <= limit(rest == 0) && d <= limit(rest == 2)
        } else {
            let odd = self.block_bits & 1 == 1;
            w <= limit(!odd) && h <= limit(odd)
        }
    }

    /// Returns the location of a level in the mip chain, in blocks, and its offset in the tail's block, in bytes.
    fn start(&self, padded: [u32; 3], number: u32) -> ([u32; 3], u32) {
        let mut start = [0; 3];
        let mut index = self.fits_tail(padded).then_some(number);
        if index.is_none() {
            let mut size = [padded[0] / self.block[0], padded[1] / self.block[1], padded[2] / self.block[2]];
            let major = Major::of(self.thick, size);
            for level in 1..=number {
                let axis = match (level == 1 || level == 3, major) {
                    (true, Major::Y) | (false, Major::X) => 0,
                    (true, _) | (false, Major::Y) => 1,
                    (false, Major::Z) => 2,
                };
                start[axis] += size[axis];
                if self.blocks_end(size) {
                    index = Some(number - level);
                    break;
                }
                size = size.map(half_up);
            }
        }
        let offset = index.map_or(0, |index| {
            let place = (index + 20 - self.block_bits) as usize;
            TAIL_OFFSETS.get(place).copied().unwrap_or(0) << 8
        });
        (start, offset)
    }
}

pub(super) fn layout(chip: &Chip, image: &Image) -> Result<Layout, AddrError> {
    let block = block::dimensions(chip, image);
    let block_bits = image.mode.block_bits(chip);
    let thick = image.mode.is_thick(GfxLevel::Gfx9, image.dimension);
    let single = image.levels == 1 && image.samples == 1 && image.fragments == 1;
    let display = image.usage.intersects(Usage::DISPLAY.union(Usage::ROTATED));
    let unit = if image.dimension == Dimension::D2 && display && single { block[0].max(32) } else { block[0] };
    let mut pitch = custom_pitch(image, unit, align(image.width, unit))?;
    let mut height = align(image.height, block[1]);
    let mut slices = align(image.slices, block[2]);
    let chain = Chain { block, block_bits, tail: block::tail(block, block_bits, thick), thick };
    let mut levels = Levels::new(image.levels);
    let (mut chain_pitch, mut chain_height) = (pitch, height);
    let chain_slices = slices;
    let (mut first_tail, mut in_tail, mut epitch_is_height) = (image.levels, false, false);
    if image.levels > 1 {
        first_tail = chain.sizes(image, &mut levels);
        let last = first_tail.min(image.levels - 1);
        let padded = [pitch, height, slices];
        if last == 0 {
            epitch_is_height = true;
            in_tail = true;
            [pitch, height] = [chain.tail[0], chain.tail[1]];
            slices = if thick { chain.tail[2] } else { image.slices };
        } else {
            let blocks = [pitch / block[0], height / block[1], slices / block[2]];
            let second = |size: u32| {
                let half = half_up(size);
                if half == 1 && last > 2 { 2 } else { half }
            };
            if Major::of(thick, blocks) == Major::Y {
                chain_pitch += second(blocks[0]) * block[0];
            } else {
                chain_height += second(blocks[1]) * block[1];
                epitch_is_height = true;
            }
        }
        // addrlib places levels by the reported sizes, which are the sizes of the tail if level 0 is in the tail.
        let placed = if in_tail { [pitch, height, slices] } else { padded };
        let (row, sheet) = (u64::from(chain_pitch / block[0]), u64::from(chain_height / block[1]));
        for (number, level) in (0..).zip(levels.as_mut_slice()) {
            let (start, tail_offset) = chain.start(placed, number);
            level.tail_offset = tail_offset;
            level.block_offset =
                ((u64::from(start[2]) * sheet + u64::from(start[1])) * row + u64::from(start[0])) << block_bits;
        }
    } else if let [level] = levels.as_mut_slice() {
        [level.pitch, level.height, level.depth] = [pitch, height, if image.is_3d() { slices } else { 1 }];
    }
    let slice_bytes =
        u64::from(chain_pitch) * u64::from(chain_height) * u64::from(image.bytes()) * u64::from(image.fragments);
    Ok(Layout {
        pitch,
        pixel_pitch: pitch,
        height,
        slices,
        slice_bytes,
        bytes: slice_bytes * u64::from(chain_slices),
        align: alignment(chip, image, block_bits),
        block,
        chain_pitch,
        chain_height,
        chain_slices,
        epitch_is_height,
        chain_in_tail: in_tail,
        first_tail,
        levels,
    })
}

/// Returns the alignment of an image in bytes (`HwlComputeSurfaceBaseAlign`).
fn alignment(chip: &Chip, image: &Image, block_bits: u32) -> u32 {
    let mut align = if image.mode.is_xor() { 1 << block_bits } else { 256 };
    if image.usage.contains(Usage::TEXTURE)
        && !image.mode.is_256b()
        && !image.usage.intersects(Usage::META_PIPE_UNALIGNED)
    {
        align = align.max(256 << (chip.config.pipes + chip.config.shader_engines));
    }
    if image.usage.contains(Usage::PRT) {
        align = align.max(65536);
    }
    align
}
