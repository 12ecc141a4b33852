//! The choice of an image's entry in the table of tile modes.
//!
//! Reference: addrlib's `SiLib::HwlSetupTileInfo` and `CiLib::HwlSetupTileInfo`.

use amdgpu_hw::GfxLevel;

use super::image::Usage;
use super::mode::{TileMode, TileType};
use super::table::{self, INDEX_LINEAR_GENERAL, NO_INDEX, NO_MACRO, TileInfo};
use crate::chip::{Chip, Family};

/// The image for which an entry is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) mode: TileMode,
    pub(crate) tile_type: TileType,
    pub(crate) bits: u32,
    pub(crate) samples: u32,
    pub(crate) usage: Usage,
    /// Macro tile parameters with their indices, if given.
    pub(crate) given: Option<(TileInfo, i32, i32)>,
}

/// The chosen entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) info: TileInfo,
    pub(crate) index: i32,
    pub(crate) macro_index: i32,
    pub(crate) tile_type: TileType,
    pub(crate) tc_compatible: bool,
    pub(crate) no_dcc: bool,
}

const NOTHING: TileInfo =
    TileInfo { banks: 0, bank_width: 0, bank_height: 0, aspect: 0, tile_split: 0, pipe_config: 0 };

pub(crate) fn setup(chip: &Chip, request: &Request) -> Setup {
    if chip.level() == GfxLevel::Gfx6 { setup_6(chip, request) } else { setup_7(chip, request) }
}

fn is_zs(usage: Usage) -> bool {
    usage.intersects(Usage::DEPTH | Usage::STENCIL)
}

fn setup_6(chip: &Chip, request: &Request) -> Setup {
    let Request { mode, bits, usage, .. } = *request;
    let mut tile_type = request.tile_type;
    if !mode.is_linear() {
        if bits == 128 || mode.thickness() > 1 || usage.intersects(Usage::FMASK | Usage::PRT) {
            tile_type = TileType::NonDisplay;
        }
        if is_zs(usage) {
            tile_type = TileType::Depth;
        }
    }
    let mut setup =
        Setup { info: NOTHING, index: NO_INDEX, macro_index: 0, tile_type, tc_compatible: false, no_dcc: false };
    if let Some((info, index, macro_index)) = request.given {
        setup.info = info;
        setup.index = index;
        setup.macro_index = macro_index;
        if usage.contains(Usage::STENCIL) && info.tile_split == 0 {
            setup.info.tile_split = table::entry(chip, 0).map_or(64, |entry| entry.info.tile_split);
        }
        return setup;
    }
    setup.index = index_6(request, tile_type);
    let info_of = if mode == TileMode::LINEAR_GENERAL {
        setup.index = INDEX_LINEAR_GENERAL;
        8
    } else {
        setup.index
    };
    if let Some(entry) = table::entry(chip, info_of) {
        setup.info = entry.info;
        if setup.index >= 0 {
            setup.tile_type = entry.tile_type;
        }
    }
    setup
}

fn index_6(request: &Request, tile_type: TileType) -> i32 {
    let Request { mode, bits, samples, usage, .. } = *request;
    if mode.is_linear() {
        return 8;
    }
    let thick = mode.thickness() > 1;
    if !mode.is_macro() {
        return match tile_type {
            TileType::Depth => 4,
            TileType::Display => 9,
            _ if thick => 18,
            _ => 13,
        };
    }
    // The result is 0 for 8 bits and 4 for 128.
    let size = bits.max(8).ilog2() as i32 - 3;
    if usage.contains(Usage::PRT) {
        return match (tile_type, samples, bits) {
            (TileType::Depth, 1, 16) => 3,
            (TileType::Depth, 1, 32) => 6,
            (TileType::Depth, 4, 16) => 5,
            (TileType::Depth, 4, 32) => 7,
            (TileType::NonDisplay, 1, 8 | 16 | 32 | 64 | 128) => 21 + size + if thick { 5 } else { 0 },
            (TileType::NonDisplay, 4, 8) => 23,
            (TileType::NonDisplay, 4, 16) => 24,
            (TileType::NonDisplay, 4, 32) => 25,
            (TileType::NonDisplay, 4, 64) => 30,
            _ => NO_INDEX,
        };
    }
    match tile_type {
        TileType::Depth if is_zs(usage) && usage.contains(Usage::COMPRESSED_DEPTH) => match samples {
            _ if usage.contains(Usage::STENCIL) => 0,
            1 => 0,
            2 | 4 => 1,
            8 => 2,
            _ => NO_INDEX,
        },
        TileType::Depth if is_zs(usage) => 3,
        TileType::Display => match bits {
            8 => 10,
            16 => 11,
            32 | 64 => 12,
            _ => NO_INDEX,
        },
        _ if mode.thickness() == 4 => 20,
        _ if thick => 19,
        _ => match if usage.contains(Usage::FMASK) { bits * samples } else { bits } {
            8 => 14,
            16 => 15,
            32 => 16,
            64 => 17,
            128 if !usage.contains(Usage::FMASK) => 17,
            _ => NO_INDEX,
        },
    }
}

fn setup_7(chip: &Chip, request: &Request) -> Setup {
    let Request { mode, bits, samples, usage, .. } = *request;
    let bonaire = chip.family == Family::Bonaire;
    let thickness = mode.thickness();
    let mut tile_type = request.tile_type;
    if !mode.is_linear() {
        if thickness > 1 {
            if bonaire {
                tile_type = TileType::NonDisplay;
            } else if !table::thick_may_be_non_display(chip) || tile_type != TileType::NonDisplay || mode.is_prt() {
                tile_type = TileType::Thick;
            }
        } else if bits == 128
            || usage.contains(Usage::FMASK)
            || mode == TileMode::THIN_3D
            || mode == TileMode::PRT_THIN_3D
        {
            tile_type = TileType::NonDisplay;
        }
        if is_zs(usage) {
            tile_type = TileType::Depth;
        }
    }
    let mut tc = usage.contains(Usage::TC_COMPATIBLE) && chip.level() == GfxLevel::Gfx8;
    let tile_size = thickness * bits * samples * 8;
    if is_zs(usage) && chip.config.row_bytes < tile_size {
        tc = false;
    }
    let mut setup =
        Setup { info: NOTHING, index: NO_INDEX, macro_index: NO_INDEX, tile_type, tc_compatible: false, no_dcc: false };
    if let Some((info, index, macro_index)) = request.given {
        setup.info = info;
        setup.index = index;
        setup.macro_index = macro_index;
        setup.no_dcc = table::pipes(chip) != info.pipes();
    } else {
        setup.index = index_7(chip, request, tile_type, tc);
        if table::pipes(chip) >= 8
            && (mode == TileMode::PRT_THIN || mode == TileMode::PRT_THICK)
            && table::entry(chip, setup.index + 1).is_some_and(|next| next.mode == mode)
            && let Some(found) = table::macro_mode(chip, setup.index, bits, samples, false, usage.contains(Usage::PRT))
        {
            let info = found.info;
            let bytes =
                (bits >> 3) * 64 * samples * thickness * info.pipes() * info.banks * info.bank_width * info.bank_height;
            if bytes != 0x1_0000 {
                setup.index += 1;
                tc = false;
                setup.no_dcc = true;
            }
        }
    }
    if setup.index != NO_INDEX && setup.macro_index == NO_INDEX {
        let fmask = usage.contains(Usage::FMASK);
        if let Some(found) = table::macro_mode(chip, setup.index, bits, samples, fmask, usage.contains(Usage::PRT)) {
            setup.info = found.info;
            setup.macro_index = found.index;
            setup.tile_type = found.tile_type;
        }
    } else if mode.is_linear() {
        setup.index = if mode == TileMode::LINEAR_GENERAL { INDEX_LINEAR_GENERAL } else { 8 };
        if let Some(entry) = table::entry(chip, 8) {
            setup.info = entry.info;
        }
    }
    setup.tc_compatible = tc && can_be_tc_compatible(chip, &setup.info, bits, mode, tile_type);
    setup
}

fn index_7(chip: &Chip, request: &Request, tile_type: TileType, tc: bool) -> i32 {
    let Request { mode, bits, samples, usage, .. } = *request;
    let mut index = NO_INDEX;
    if is_zs(usage) {
        index = if tc || usage.contains(Usage::NON_SPLIT) {
            match mode.thickness() * bits * samples * 8 {
                64 => 0,
                128 => 1,
                256 => 2,
                512 => 3,
                _ => 4,
            }
        } else {
            match samples {
                1 => 0,
                2 | 4 => 1,
                8 => 2,
                _ => NO_INDEX,
            }
        };
    }
    match (tile_type, mode) {
        (TileType::Depth, TileMode::THIN_1D) => 5,
        (TileType::Depth, TileMode::PRT_THIN) => 6,
        (TileType::Display, TileMode::THIN_1D) => 9,
        (TileType::Display, TileMode::THIN_2D) => 10,
        (TileType::Display, TileMode::PRT_THIN) => 11,
        (TileType::NonDisplay, TileMode::THIN_1D) => 13,
        (TileType::NonDisplay, TileMode::THIN_2D) => 14,
        (TileType::NonDisplay, TileMode::THIN_3D) => 15,
        (TileType::NonDisplay, TileMode::PRT_THIN) => 16,
        (TileType::Rotated, TileMode::THIN_1D) => 27,
        (TileType::Rotated, TileMode::THIN_2D) => 28,
        (TileType::Rotated, TileMode::PRT_THIN) => 29,
        (TileType::Rotated, TileMode::PRT_THIN_2D) => 30,
        (_, TileMode::THICK_1D | TileMode::THICK_2D) => {
            let thick = tile_type == TileType::Thick || chip.family == Family::Bonaire;
            match (mode, thick) {
                (TileMode::THICK_1D, true) => 19,
                (TileMode::THICK_1D, false) => 18,
                (_, true) => 20,
                (_, false) => 24,
            }
        }
        (_, TileMode::THICK_3D) => 21,
        (_, TileMode::PRT_THICK) => 22,
        (_, TileMode::XTHICK_2D) => 25,
        (_, TileMode::XTHICK_3D) => 26,
        _ => index,
    }
}

/// Returns `true` if the texture units can read the compressed image: it has macro tiles, and no tile is split
/// (`CheckTcCompatibility`).
pub(crate) fn can_be_tc_compatible(
    chip: &Chip,
    info: &TileInfo,
    bits: u32,
    mode: TileMode,
    tile_type: TileType,
) -> bool {
    if !mode.is_macro() {
        return false;
    }
    if tile_type == TileType::Depth || info.pipe_config == 0 {
        return true;
    }
    let tile_bytes = bits * 64 * mode.thickness() / 8;
    let sample_split = info.tile_split / tile_bytes.max(1);
    sample_split == 0 || chip.config.row_bytes >= (sample_split * tile_bytes).max(256)
}

/// Returns the macro tile index that is reported to callers.
pub(crate) fn visible(macro_index: i32) -> i32 {
    if macro_index == NO_MACRO { NO_INDEX } else { macro_index }
}
