//! The alignments and size of one mip level.
//!
//! Reference: addrlib's `EgBasedLib::ComputeSurfaceInfo*` with the functions that `SiLib` and `CiLib` override.

use amdgpu_hw::GfxLevel;

use super::image::{Level, Usage};
use super::mode::{TileMode, TileType};
use super::request::Request;
use super::setup::Setup;
use super::table::TileInfo;
use crate::bits::align;
use crate::chip::{Chip, Family};

/// The alignments of a tile mode.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alignment {
    pub(crate) base: u32,
    pub(crate) pitch: u32,
    pub(crate) height: u32,
    pub(crate) macro_tile: [u32; 2],
}

/// The padded size of a level.
#[derive(Clone, Copy, Debug)]
struct Padded {
    pitch: u32,
    height: u32,
    slices: u32,
}

fn display_pitch(usage: Usage, pitch: u32) -> u32 {
    if usage.contains(Usage::DISPLAY) { align(pitch, 32) } else { pitch }
}

/// Pads a level to its alignments.
fn pad(request: &Request, alignment: &Alignment, thickness: u32) -> Padded {
    let mut dims = if request.usage.contains(Usage::CUBE) && request.level == 0 { 2 } else { 0 };
    let mut slices = request.slices;
    let cube_in = request.usage.contains(Usage::CUBE);
    if request.level > 0 && cube_in {
        dims = if slices > 1 { 3 } else { 2 };
    }
    if dims == 0 {
        dims = 3;
    }
    let pitch = request.width.next_multiple_of(alignment.pitch.max(1));
    let height = request.height.next_multiple_of(alignment.height.max(1));
    if dims > 2 || thickness > 1 {
        if cube_in {
            slices = slices.next_power_of_two();
        } else if thickness > 1 {
            slices = align(slices, thickness);
        }
    }
    Padded { pitch, height, slices }
}

fn finish(setup: &Setup, mode: TileMode, alignment: Alignment, padded: Padded, slice: u64) -> Level {
    Level {
        mode,
        tile_type: if mode.is_linear() { TileType::Display } else { setup.tile_type },
        tile_index: setup.index,
        macro_index: setup.macro_index,
        info: setup.info,
        pitch: padded.pitch,
        height: padded.height,
        depth: padded.slices,
        slice_bytes: slice,
        bytes: slice * u64::from(padded.slices),
        base_align: alignment.base,
        pitch_align: alignment.pitch,
        height_align: alignment.height,
        depth_align: mode.thickness().max(1),
        macro_tile: alignment.macro_tile,
        tc_compatible: setup.tc_compatible,
        no_dcc: setup.no_dcc,
        stencil_index: 0,
        change: None,
    }
}

pub(crate) fn linear(request: &Request, setup: &Setup) -> Level {
    let bytes = (request.bits / 8).max(1);
    let aligned = request.mode == TileMode::LINEAR_ALIGNED;
    let mut alignment = if aligned {
        Alignment { base: 256, pitch: (64 / bytes).max(8), height: 1, macro_tile: [0, 0] }
    } else {
        Alignment { base: bytes, pitch: 1, height: 1, macro_tile: [0, 0] }
    };
    alignment.pitch = display_pitch(request.usage, alignment.pitch);
    let mut padded = pad(request, &alignment, 1);
    if aligned {
        let unit = (256 / bytes).max(64);
        while !(u64::from(padded.pitch) * u64::from(padded.height)).is_multiple_of(u64::from(unit)) {
            padded.pitch += alignment.pitch;
        }
        while !(u64::from(padded.pitch) * u64::from(alignment.height)).is_multiple_of(u64::from(unit)) {
            alignment.height += 1;
        }
    }
    let slice =
        u64::from(padded.pitch) * u64::from(padded.height) * u64::from(request.bits) * u64::from(request.samples) / 8;
    finish(setup, request.mode, alignment, padded, slice)
}

pub(crate) fn micro(chip: &Chip, request: &Request, setup: &Setup, mode: TileMode) -> Level {
    let mut mode = mode;
    if request.level > 0 && mode == TileMode::THICK_1D && request.slices < 4 && chip.level() == GfxLevel::Gfx6 {
        mode = TileMode::THIN_1D;
    }
    let alignment = Alignment { base: 256, pitch: display_pitch(request.usage, 8), height: 8, macro_tile: [0, 0] };
    let mut padded = pad(request, &alignment, mode.thickness());
    let height = u64::from(padded.height);
    let bits = u64::from(request.bits) * u64::from(request.samples);
    let slice = |pitch: u32| u64::from(pitch) * height * bits / 8;
    while !(slice(padded.pitch) * u64::from(mode.thickness())).is_multiple_of(256) {
        padded.pitch += alignment.pitch;
    }
    if request.usage.contains(Usage::DEPTH) && !request.usage.contains(Usage::NO_STENCIL) {
        while !(u64::from(padded.pitch) * height).is_multiple_of(256) {
            padded.pitch += alignment.pitch;
        }
    }
    finish(setup, mode, alignment, padded, slice(padded.pitch))
}

fn sane(info: &TileInfo) -> bool {
    let side = |n: u32| matches!(n, 1 | 2 | 4 | 8);
    matches!(info.banks, 2 | 4 | 8 | 16)
        && side(info.bank_width)
        && side(info.bank_height)
        && side(info.aspect)
        && info.banks >= info.aspect
        && info.tile_split != 0
}

/// Aligns the banks, and returns the alignments; `None` if no chip has such banks.
///
/// Chips before GFX6 shrink banks that exceed a DRAM row (`HwlReduceBankWidthHeight`); the chips here do not.
pub(crate) fn align_macro(chip: &Chip, request: &Request, setup: &mut Setup, mode: TileMode) -> Option<Alignment> {
    let Request { bits, samples, usage, .. } = *request;
    let no_dcc = &mut setup.no_dcc;
    let info = &mut setup.info;
    if !sane(info) {
        return None;
    }
    let pipes = info.pipes();
    let tile_bytes = info.tile_split.min(64 * mode.thickness() * bits * samples / 8).max(1);
    let height_align = |width: u32| (256 / (tile_bytes * width)).max(1);
    let aspect_align = |width: u32| (256 / (tile_bytes * pipes * width)).max(1);
    info.bank_height = align(info.bank_height, height_align(info.bank_width));
    if samples == 1 {
        info.aspect = align(info.aspect, aspect_align(info.bank_width));
    }
    let width = 8 * info.bank_width * pipes * info.aspect;
    let height = 8 * info.bank_height * info.banks / info.aspect;
    let mut alignment = Alignment {
        base: pipes * info.bank_width * info.banks * info.bank_height * tile_bytes,
        pitch: display_pitch(usage, width),
        height,
        macro_tile: [width, height],
    };
    if chip.level() == GfxLevel::Gfx6 {
        if request.level == 0 && usage.contains(Usage::PRT) {
            let bytes = width * height * samples * bits / 8;
            if bytes < 0x1_0000 {
                alignment.pitch *= 0x1_0000 / bytes;
                alignment.base *= 0x1_0000 / bytes;
            }
        }
    } else if chip.family == Family::Fiji
        && usage.contains(Usage::DCC_PIPE_WORKAROUND)
        && !usage.contains(Usage::PRT)
        && request.level == 0
        && mode == TileMode::PRT_THIN
        && *no_dcc
    {
        alignment.pitch = align(alignment.pitch, 256);
        *no_dcc = false;
    }
    Some(alignment)
}

/// Returns the mode of a mip level: macro tiles if the level fills at least one (`ComputeSurfaceMipLevelTileMode`).
fn level_mode(
    chip: &Chip,
    request: &Request,
    info: &TileInfo,
    mode: TileMode,
    macro_tile: [u32; 2],
    [w, h, slices]: [u32; 3],
) -> TileMode {
    let mut mode = mode;
    let mut tile_bytes = 64 * mode.thickness() * request.bits.next_power_of_two() * request.samples / 8;
    if slices < mode.thickness() && chip.level() == GfxLevel::Gfx6 {
        let thickness = mode.thickness();
        mode = if thickness == 8 && slices >= 4 { mode.thick() } else { mode.thin() };
        tile_bytes = tile_bytes * mode.thickness() / thickness;
    }
    let tile_bytes = tile_bytes.min(info.tile_split);
    let small = w < macro_tile[0] || h < macro_tile[1];
    if mode.thickness() > 1 {
        return if small { TileMode::THICK_1D } else { mode };
    }
    let row = tile_bytes * info.pipes() * info.bank_width * info.aspect;
    let bank = tile_bytes * info.bank_width * info.bank_height;
    if small || row < 256 || bank < 256 { TileMode::THIN_1D } else { mode }
}

pub(crate) fn macro_tiled(chip: &Chip, request: &Request, setup: &Setup, mode: TileMode) -> Option<Level> {
    let mut setup = *setup;
    let mut mode = mode;
    let mut alignment = align_macro(chip, request, &mut setup, mode)?;
    if request.level > 0 {
        let size = [request.width, request.height, request.slices];
        let next = level_mode(chip, request, &setup.info, mode, alignment.macro_tile, size);
        if !next.is_macro() {
            let mut level = micro(chip, request, &setup, next);
            level.macro_tile = alignment.macro_tile;
            return Some(level);
        }
        if next != mode {
            // Thinner micro tiles also change the banks.
            mode = next;
            alignment = align_macro(chip, request, &mut setup, mode)?;
        }
    }
    let mut padded = pad(request, &alignment, mode.thickness());
    if chip.level() == GfxLevel::Gfx8 && request.usage.contains(Usage::DCC) && request.samples > 1 && request.level == 0
    {
        pad_for_dcc(request, &setup.info, &mut alignment, &mut padded);
    }
    let slice = u64::from(padded.pitch)
        * u64::from(padded.height)
        * u64::from(request.bits.next_power_of_two())
        * u64::from(request.samples)
        / 8;
    Some(finish(&setup, mode, alignment, padded, slice))
}

/// Widens the pitch so that each split of the samples starts at a DCC block that can be cleared (`CiLib::HwlPadDimensions`).
fn pad_for_dcc(request: &Request, info: &TileInfo, alignment: &mut Alignment, padded: &mut Padded) {
    let bytes = request.bits / 8;
    let per_split = info.tile_split / (bytes * 64);
    if per_split >= request.samples || per_split == 0 {
        return;
    }
    let byte_align = u64::from(info.pipes() * 256 * 256);
    let split_bytes = u64::from(padded.pitch) * u64::from(padded.height) * u64::from(bytes * per_split);
    if split_bytes.is_multiple_of(byte_align) {
        return;
    }
    let pixels = info.pipes() * 256 * 256 / bytes / per_split;
    let macro_pixels = alignment.pitch * alignment.height;
    if !pixels.is_multiple_of(macro_pixels) {
        return;
    }
    let mut columns = pixels / macro_pixels;
    let mut rows = padded.height / alignment.height;
    while rows > 1 && rows.is_multiple_of(2) && columns > 1 && columns.is_multiple_of(2) {
        rows /= 2;
        columns /= 2;
    }
    alignment.pitch *= columns;
    padded.pitch = padded.pitch.next_multiple_of(alignment.pitch);
}
