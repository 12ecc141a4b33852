//! The sizes of DCC, HTILE and FMASK.
//!
//! Reference: addrlib's `CiLib::HwlComputeDccInfo`, `V1::Lib::ComputeHtileInfo`, `SiLib::HwlComputeFmaskBits`.

use amdgpu_hw::GfxLevel;

use super::image::{Level, Usage};
use super::level;
use super::mode::{TileMode, TileType};
use super::request::Request;
use super::table;
use crate::bits::{align64, log2};
use crate::chip::Chip;
use crate::error::AddrError;

/// The size and alignment of a level's DCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DccInfo {
    /// The size of the DCC in bytes.
    pub bytes: u64,
    /// The alignment of the address in bytes.
    pub align: u32,
    /// The number of bytes to fill in order to clear the level; 0 if it cannot be cleared this way.
    pub clear_bytes: u64,
    /// `true` if the size was aligned before it was rounded up.
    pub aligned: bool,
    /// `true` if the next level may have DCC.
    pub next_level: bool,
}

/// Returns the DCC for `colour_bytes` bytes of colour; `None` without macro tiles and before GFX8.
pub fn dcc(chip: &Chip, level: &Level, colour_bytes: u64, bits: u32, samples: u32) -> Option<DccInfo> {
    if chip.level() != GfxLevel::Gfx8 || !level.mode.is_macro() {
        return None;
    }
    let info = &level.info;
    let unit = u64::from(info.pipes() * 256);
    let bytes = colour_bytes >> 8;
    let mut clear = bytes;
    let per_split = info.tile_split / (bits * 8).max(1);
    if samples > 1 && per_split > 0 && per_split < samples {
        clear /= u64::from(samples / per_split);
        if !clear.is_multiple_of(unit) {
            clear = 0;
        }
    }
    let base = info.banks * info.pipes() * 256;
    let mut dcc = DccInfo { bytes, align: base, clear_bytes: clear, aligned: true, next_level: true };
    if !bytes.is_multiple_of(u64::from(base)) {
        dcc.next_level = false;
        if bytes == clear {
            dcc.clear_bytes = align64(bytes, unit);
        }
        dcc.aligned = bytes.is_multiple_of(unit);
        dcc.bytes = align64(bytes, unit);
    }
    Some(dcc)
}

/// The size and alignment of a level's HTILE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtileInfo {
    /// The size of the HTILE in bytes.
    pub bytes: u64,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The alignment of the address in bytes.
    pub align: u32,
    /// The row pitch in pixels, including padding.
    pub pitch: u32,
    /// The height in pixels, including padding.
    pub height: u32,
    /// `true` if HTILE is TC-compatible and the next level may have HTILE.
    pub next_level: bool,
    /// `true` if HTILE is TC-compatible and slices share alignment units.
    pub interleaved: bool,
}

/// Computes the size and alignment of a level's HTILE.
pub fn htile(chip: &Chip, level: &Level) -> HtileInfo {
    let (pitch, height, slices) = (level.pitch, level.height, level.depth);
    let pipes = level.info.pipes();
    let size = |pitch: u32, height: u32| u64::from(pitch) * u64::from(height) * 4 / 64;
    if level.tc_compatible {
        let base = pipes * level.info.banks * 256;
        let slice = size(pitch, height);
        let (slice_bytes, bytes) = if slices > 1 {
            (slice, align64(slice * u64::from(slices), u64::from(base)))
        } else {
            (align64(slice, u64::from(base)), align64(slice, u64::from(base)))
        };
        let whole = slice.is_multiple_of(u64::from(base));
        return HtileInfo {
            bytes,
            slice_bytes,
            align: base,
            pitch,
            height,
            next_level: whole,
            interleaved: slices > 1 && !whole,
        };
    }
    let mask = super::mask::htile(chip, level, false);
    HtileInfo {
        bytes: mask.bytes,
        slice_bytes: mask.slice_bytes,
        align: mask.align,
        pitch: mask.pitch,
        height: mask.height,
        next_level: false,
        interleaved: false,
    }
}

/// Returns the number of bits in an FMASK element, and the number of planes.
pub fn fmask_bits(samples: u32, fragments: u32) -> (u32, u32) {
    if samples == fragments {
        return match samples {
            2 => (1, 8),
            4 => (2, 4),
            _ => (4, samples),
        };
    }
    match fragments {
        1 => (1, if samples == 16 { 16 } else { 8 }),
        2 => (2, samples),
        _ => (4, samples),
    }
}

/// Computes the layout of the FMASK of an image with this first level. Width and height are in pixels.
///
/// # Errors
///
/// [`AddrError`] with the cause, if addrlib rejects the FMASK.
pub fn fmask(
    chip: &Chip,
    level: &Level,
    [width, height, slices]: [u32; 3],
    samples: u32,
    fragments: u32,
) -> Result<Level, AddrError> {
    let (bits, planes) = fmask_bits(samples, fragments);
    let mut given = None;
    if chip.level() >= GfxLevel::Gfx7 {
        let index = if level.mode == TileMode::THIN_2D { 14 } else { 15 };
        let mut wide = log2(fragments) + u32::from(samples > fragments);
        if wide == 3 {
            wide = 4;
        }
        let wide = (wide * samples).max(8);
        given =
            table::macro_mode(chip, index, wide, samples, true, false).map(|found| (found.info, index, found.index));
    }
    let request = Request {
        mode: level.mode,
        tile_type: TileType::NonDisplay,
        bits,
        block_compressed: false,
        packed: false,
        width,
        height,
        slices,
        samples: planes,
        coverage: planes,
        level: 0,
        base_pitch: 0,
        usage: Usage::FMASK,
        given,
        given_index: None,
    };
    let mut level = level::place(chip, &request)?;
    if chip.level() == GfxLevel::Gfx6 {
        level.macro_index = table::NO_INDEX;
    }
    Ok(level)
}
