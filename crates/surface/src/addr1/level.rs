//! The computation of a mip level and of a mip chain.
//!
//! Reference: addrlib's `V1::Lib::ComputeSurfaceInfo` and `CiLib::HwlComputeSurfaceInfo`.

use amdgpu_hw::GfxLevel;

use super::change::TileChange;
use super::image::{Image, Layout, Level, MAX_EXTENT, MAX_LEVELS, Usage};
use super::mode::{TileMode, TileType};
use super::request::Request;
use super::table::{self, NO_INDEX};
use super::{setup, size};
use crate::chip::{Chip, Family};
use crate::error::{AddrError, Cause, invalid};

/// Makes large thick tiles thinner until they fit a DRAM row (`DegradeLargeThickTile`).
fn shrink_thick(chip: &Chip, mode: TileMode, bits: u32) -> TileMode {
    let bytes = 64 * mode.thickness() * bits / 8;
    if mode.thickness() == 1 || bytes <= chip.config.row_bytes || mode == TileMode::THICK_1D {
        mode
    } else if mode.thickness() == 8 && bytes / 2 <= chip.config.row_bytes {
        mode.thick()
    } else {
        mode.thin()
    }
}

fn wasteful(w: u32, h: u32, [pitch, height]: [u32; 2]) -> bool {
    if w < pitch || h < height {
        return true;
    }
    let whole = u64::from(w.next_multiple_of(pitch)) * u64::from(h.next_multiple_of(height));
    2 * whole > 3 * u64::from(w) * u64::from(h)
}

/// Chooses smaller tiles if larger ones waste memory (`OptimizeTileMode`), and returns the reason.
fn optimize(chip: &Chip, request: &mut Request) -> Option<TileChange> {
    let mode = request.mode;
    let usage = request.usage;
    if !usage.contains(Usage::OPT_4_SPACE)
        || request.level > 0
        || mode.is_prt()
        || request.coverage > 1
        || usage.contains(Usage::PRT)
    {
        return None;
    }
    let asked = *request;
    let alignment = |mode: TileMode| {
        let mut found = setup::setup(chip, &asked.setup(mode));
        size::align_macro(chip, &asked, &mut found, mode).map(|a| [a.pitch, a.height])
    };
    let macro_tile = if mode.is_macro() { alignment(mode) } else { Some([1, 1]) };
    let macro_tile = macro_tile?;
    if usage.contains(Usage::DISPLAY) {
        return None;
    }
    let (w, h) = (request.width, request.height);
    if h == 1 && !mode.is_linear() && !request.block_compressed && !usage.intersects(Usage::DEPTH | Usage::STENCIL) {
        request.mode = TileMode::LINEAR_ALIGNED;
        return Some(TileChange::OneRow);
    }
    if !mode.is_macro() || usage.contains(Usage::TC_COMPATIBLE) {
        return None;
    }
    let micro = |mode: TileMode| if mode.thickness() == 1 { TileMode::THIN_1D } else { TileMode::THICK_1D };
    if wasteful(w, h, macro_tile) {
        request.mode = micro(mode);
        return Some(TileChange::Waste);
    }
    if mode.thickness() > 1 {
        request.mode = shrink_thick(chip, mode, request.bits);
        if request.mode != mode
            && let Some(macro_tile) = alignment(request.mode)
            && wasteful(w, h, macro_tile)
        {
            request.mode = micro(request.mode);
            return Some(TileChange::Waste);
        }
    }
    (request.mode != mode).then_some(TileChange::RowOfDram)
}

/// Replaces modes that the generation lacks with similar ones (`HwlOverrideTileMode`).
fn replace(chip: &Chip, request: &mut Request) {
    let mode = request.mode;
    if chip.level() == GfxLevel::Gfx6 {
        request.mode = match mode {
            TileMode::PRT_THIN => TileMode::THIN_2D,
            TileMode::PRT_THICK | TileMode::PRT_THICK_2D => TileMode::THICK_2D,
            TileMode::PRT_THICK_3D => TileMode::THICK_3D,
            _ => return,
        };
        request.usage |= Usage::PRT;
        return;
    }
    request.mode = match mode {
        TileMode::PRT_THICK_2D | TileMode::PRT_THICK_3D => TileMode::PRT_THICK,
        TileMode::PRT_THIN_2D | TileMode::PRT_THIN_3D => TileMode::PRT_THIN,
        _ => mode,
    };
    if chip.family != Family::Bonaire && request.mode.thickness() > 1 && request.packed {
        request.mode = request.mode.thin();
        request.tile_type = TileType::NonDisplay;
    }
}

pub(crate) fn place(chip: &Chip, request: &Request) -> Result<Level, AddrError> {
    let mode = shrink_thick(chip, request.mode, request.bits);
    let found = setup::setup(chip, &request.setup(mode));
    let request = &Request { mode, ..*request };
    let level = match mode {
        _ if mode.is_linear() => Some(size::linear(request, &found)),
        _ if mode.is_micro() => Some(size::micro(chip, request, &found, mode)),
        _ => size::macro_tiled(chip, request, &found, mode),
    };
    let Some(mut level) = level else { return invalid(Cause::Mode(u32::from(mode.number()))) };
    level.tile_index = table::find_index(chip, &level.info, level.mode, level.tile_type, level.tile_index);
    Ok(level)
}

/// Returns the index, from 0 to 4, of the tile mode with which stencil has the same banks as depth.
fn stencil_match(chip: &Chip, request: &Request, level: &Level) -> Option<i32> {
    (0..=4).find(|&index| {
        let prt = request.usage.contains(Usage::PRT);
        let Some(found) = table::macro_mode(chip, index, 8, request.samples, false, prt) else { return false };
        let (a, b) = (found.info, level.info);
        found.index != table::NO_MACRO
            && (a.banks, a.bank_width, a.bank_height, a.aspect, a.pipe_config)
                == (b.banks, b.bank_width, b.bank_height, b.aspect, b.pipe_config)
            && (!level.tc_compatible || a.tile_split >= 64 * request.samples)
    })
}

/// Computes the layout of one level.
pub(crate) fn level(chip: &Chip, request: &Request) -> Result<Level, AddrError> {
    let mut request = *request;
    if request.bits == 0 || request.bits > 128 {
        return invalid(Cause::ElementBits(request.bits));
    }
    if request.mode.thickness() > 1 && request.coverage > 1 {
        return invalid(Cause::Samples(request.coverage));
    }
    if let Some(index) = request.given_index {
        let prt = request.usage.contains(Usage::PRT);
        let fmask = request.usage.contains(Usage::FMASK);
        let (info, macro_index, mode, tile_type) = if chip.level() == GfxLevel::Gfx6 {
            let Some(entry) = table::entry(chip, index) else { return invalid(Cause::TileIndex(index)) };
            (entry.info, table::NO_MACRO, entry.mode, entry.tile_type)
        } else {
            let found = table::macro_mode(chip, index, request.bits, request.samples, fmask, prt);
            let Some(found) = found else { return invalid(Cause::TileIndex(index)) };
            (found.info, found.index, found.mode, found.tile_type)
        };
        request.mode = mode;
        request.tile_type = tile_type;
        request.given = Some((info, index, macro_index));
    }
    if request.usage.contains(Usage::POW2_PAD) {
        request.width = request.width.next_power_of_two();
        request.height = request.height.next_power_of_two();
        request.slices = request.slices.next_power_of_two();
    } else if request.level > 0 {
        request.width = request.width.next_power_of_two();
        request.height = request.height.next_power_of_two();
        if !request.usage.contains(Usage::CUBE) {
            request.slices = request.slices.next_power_of_two();
        }
    }
    let asked = request.mode;
    replace(chip, &mut request);
    let missing = (request.mode != asked).then_some(TileChange::Missing);
    let change = optimize(chip, &mut request).or(missing);
    let mut level = place(chip, &request)?;
    let later = if request.level > 0 { TileChange::SmallLevel } else { TileChange::RowOfDram };
    level.change = if level.mode == request.mode { change } else { Some(later) };
    if chip.level() == GfxLevel::Gfx6 {
        return Ok(level);
    }
    if request.level > 0 && level.tc_compatible && level.mode != request.mode && chip.level() == GfxLevel::Gfx8 {
        level.tc_compatible = setup::can_be_tc_compatible(chip, &level.info, request.bits, level.mode, level.tile_type);
    }
    level.macro_index = setup::visible(level.macro_index);
    if request.usage.contains(Usage::MATCH_STENCIL | Usage::DEPTH) {
        level.stencil_index = NO_INDEX;
        if (0..=4).contains(&level.tile_index) {
            let mut found = stencil_match(chip, &request, &level);
            if found.is_none() && level.tc_compatible {
                let mut again = Request { given: None, given_index: None, ..request };
                again.usage.remove(Usage::TC_COMPATIBLE);
                level = place(chip, &again)?;
                found = stencil_match(chip, &request, &level);
            }
            if found.is_none() && request.coverage <= 1 {
                let again = Request { mode: TileMode::THIN_1D, given: None, given_index: None, ..request };
                level = place(chip, &again)?;
                level.change = Some(TileChange::StencilMatch);
            }
            level.stencil_index = found.unwrap_or(NO_INDEX);
        }
        if level.tile_index == 5 {
            level.stencil_index = 5;
        }
    }
    Ok(level)
}

/// Returns the sizes of a level before padding.
pub(crate) fn extent(image: &Image, level: u32, base_pitch: u32) -> [u32; 3] {
    let minify = |n: u32| (n >> level).max(1);
    let slices = if image.usage.contains(Usage::VOLUME) { minify(image.slices) } else { image.slices };
    if level == 0 { [image.width, image.height, slices] } else { [minify(base_pitch), minify(image.height), slices] }
}

/// Computes the layout of an image with all its levels.
///
/// # Errors
///
/// [`AddrError`] with the cause, if addrlib rejects the image, or if a size exceeds the limits of all hardware.
pub fn layout(chip: &Chip, image: &Image) -> Result<Layout, AddrError> {
    layout_checked(chip, image).map_err(|(error, _)| error)
}

/// Computes the layout of an image like [`layout`], but an error also names the level that caused it.
///
/// # Errors
///
/// [`AddrError`] with the cause and the level, if addrlib rejects the image, or if a size exceeds the limits of all hardware.
pub fn layout_checked(chip: &Chip, image: &Image) -> Result<Layout, (AddrError, u32)> {
    chain(chip, image, None)
}

/// Computes the layout that texture units derive from a descriptor: the mode and tile type come from the tile index, and the width
/// is the pitch of the first level. The mode and tile type of `image` are ignored.
///
/// # Errors
///
/// [`AddrError`] with the cause, if addrlib rejects the image, or if a size exceeds the limits of all hardware.
pub fn layout_of_view(chip: &Chip, image: &Image, tile_index: u32) -> Result<Layout, AddrError> {
    let index = i32::try_from(tile_index).map_err(|_| AddrError::Invalid(Cause::TileIndex(i32::MAX)))?;
    chain(chip, image, Some(index)).map_err(|(error, _)| error)
}

fn chain(chip: &Chip, image: &Image, given_index: Option<i32>) -> Result<Layout, (AddrError, u32)> {
    let refuse = |cause| Err((AddrError::Invalid(cause), 0));
    if chip.level() >= GfxLevel::Gfx9 {
        return Err((AddrError::NotSupported(Cause::Generation), 0));
    }
    if !image.bits.is_power_of_two() || !(8..=128).contains(&image.bits) {
        return refuse(Cause::ElementBits(image.bits));
    }
    if image.width == 0 || image.width > MAX_EXTENT {
        return refuse(Cause::Width(image.width));
    }
    if image.height == 0 || image.height > MAX_EXTENT || image.slices == 0 || image.slices > MAX_EXTENT {
        return refuse(Cause::Height(image.height));
    }
    if image.levels == 0 || image.levels as usize > MAX_LEVELS {
        return refuse(Cause::Levels(image.levels));
    }
    if !matches!(image.samples, 1 | 2 | 4 | 8 | 16) || !matches!(image.stored(), 1 | 2 | 4 | 8) {
        return refuse(Cause::Samples(image.samples));
    }
    let mut out = Layout::EMPTY;
    let mut base_pitch = 0;
    for index in 0..image.levels {
        let [width, height, slices] = extent(image, index, base_pitch);
        let request = Request {
            mode: image.mode,
            tile_type: image.tile_type,
            bits: image.bits,
            block_compressed: image.block_compressed,
            packed: image.block_compressed,
            width,
            height,
            slices,
            samples: image.stored(),
            coverage: image.samples,
            level: index,
            base_pitch,
            usage: image.usage,
            given: None,
            given_index,
        };
        let level = level(chip, &request).map_err(|error| (error, index))?;
        if index == 0 {
            base_pitch = level.pitch;
        }
        out.push(index as usize, level);
    }
    Ok(out)
}
