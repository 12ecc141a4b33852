//! Linear images. Source: `Lib::ComputeSurfaceInfoLinear` and the generations' `HwlComputeSurfaceInfoLinear`.

use amdgpu_hw::GfxLevel;

use super::dimension::Dimension;
use super::image::{Image, Layout, Levels, Usage};
use crate::bits::{align, half_up, shift_up};
use crate::chip::Chip;
use crate::error::{AddrError, Cause, invalid};

/// The alignment of rows, in bytes.
const ROW: u32 = 256;

/// Returns the requested pitch if it is aligned and not smaller than the width.
pub(super) fn custom_pitch(image: &Image, align: u32, pitch: u32) -> Result<u32, AddrError> {
    if image.levels > 1 || image.pitch == 0 {
        Ok(pitch)
    } else if !image.pitch.is_multiple_of(align) || image.pitch < pitch {
        invalid(Cause::Pitch(image.pitch))
    } else {
        Ok(image.pitch)
    }
}

pub(super) fn layout(chip: &Chip, image: &Image) -> Result<Layout, AddrError> {
    if image.dimension == Dimension::D1 && image.height > 1 {
        return invalid(Cause::Height(image.height));
    }
    let gfx9 = chip.level() == GfxLevel::Gfx9;
    let prt = gfx9 && image.usage.contains(Usage::PRT) && image.dimension == Dimension::D1;
    let row_bytes = if prt { 65536 } else { ROW };
    let unit = row_bytes / image.bytes();
    let smallest = align(image.width, unit);
    let pitch = if prt { smallest } else { custom_pitch(image, unit, smallest)? };
    let bytes = u64::from(image.bytes());
    let mut levels = Levels::new(image.levels);
    let mut layout = Layout {
        pitch,
        pixel_pitch: pitch,
        height: image.height,
        slices: image.slices,
        slice_bytes: 0,
        bytes: 0,
        align: row_bytes,
        block: [ROW / image.bytes(), 1, 1],
        chain_pitch: 0,
        chain_height: 0,
        chain_slices: 0,
        epitch_is_height: false,
        chain_in_tail: false,
        first_tail: image.levels,
        levels,
    };
    let row = u64::from(pitch) * bytes;
    let depth = if image.is_3d() { image.slices } else { 1 };
    if gfx9 {
        // All levels have the pitch of level 0, and are stored one after the other.
        let (mut rows, mut height) = (0, image.height);
        for level in levels.as_mut_slice() {
            *level = super::Level { pitch, height, depth, offset: row * u64::from(rows), ..super::Level::default() };
            rows += height;
            height = half_up(height);
        }
        (layout.chain_pitch, layout.chain_height, layout.chain_slices) = (pitch, rows, image.slices);
        layout.epitch_is_height = image.levels > 1;
        layout.slice_bytes = row * u64::from(rows);
    } else {
        // The smallest level is stored first, and each level has its own pitch.
        let mut offset = 0;
        for (number, level) in (0..image.levels).rev().zip(levels.as_mut_slice().iter_mut().rev()) {
            level.pitch = if image.levels == 1 { pitch } else { align(shift_up(image.width, number), unit) };
            level.height = shift_up(image.height, number);
            level.depth = depth;
            level.offset = offset;
            level.block_offset = offset;
            offset += u64::from(level.pitch) * u64::from(level.height) * bytes;
        }
        layout.slice_bytes = offset;
    }
    layout.levels = levels;
    layout.bytes = layout.slice_bytes * u64::from(image.slices);
    Ok(layout)
}
