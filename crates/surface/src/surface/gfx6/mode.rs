//! The tile mode and the uses that are passed to addrlib. Source: `gfx6_compute_surface`, `gfx6_select_tile_mode`.

use amdgpu_hw::GfxLevel;

use crate::addr1::{self, TileMode, Usage};
use crate::chip::{Chip, Family};
use crate::surface::choose12::estimate_size;
use crate::surface::config::{Dimension, SurfaceConfig, SurfaceUsage, TilingMode};
use crate::surface::reason::{Absence, Estimate, ModeReason, Presence};

/// The largest accepted ratio of a tile mode's size to the unpadded size.
const WASTE: f64 = 3.0;

/// The modes of 3D images with their tile indices, the thickest first.
const VOLUME: [(TileMode, i32); 8] = [
    (TileMode::XTHICK_3D, 26),
    (TileMode::XTHICK_2D, 25),
    (TileMode::THICK_3D, 21),
    (TileMode::THICK_2D, 20),
    (TileMode::THIN_3D, 15),
    (TileMode::THIN_2D, 14),
    (TileMode::THICK_1D, 19),
    (TileMode::THIN_1D, 13),
];
const VOLUME_6: [(TileMode, i32); 5] = [
    (TileMode::XTHICK_2D, 19),
    (TileMode::THICK_2D, 20),
    (TileMode::THIN_2D, 14),
    (TileMode::THICK_1D, 18),
    (TileMode::THIN_1D, 13),
];

fn volume_mode(chip: &Chip, config: &SurfaceConfig) -> (TileMode, ModeReason) {
    let unit = [config.block.0, config.block.1];
    let size = |block| {
        estimate_size(
            (config.depth, config.samples.max(1), config.levels, true),
            [config.width, config.height],
            unit,
            config.bytes,
            block,
        )
    };
    let tight = size([1, 1, 1]);
    let modes = if chip.level() == GfxLevel::Gfx6 { &VOLUME_6[..] } else { &VOLUME[..] };
    for &(mode, index) in modes {
        let [w, h] = addr1::tile_of(chip, index, config.bytes * 8);
        let bytes = size([w, h, mode.thickness()]);
        if bytes / tight <= WASTE {
            return (mode, ModeReason::ThickestVolume(Estimate { bytes, tight, limit: WASTE }));
        }
    }
    (TileMode::THIN_1D, ModeReason::ThinnestVolume)
}

/// Returns the mode that is requested from addrlib, and the reason for it.
pub(super) fn tile_mode(chip: &Chip, config: &SurfaceConfig) -> (TileMode, ModeReason) {
    let volume = config.dimension == Dimension::D3;
    let z_or_s = config.usage.intersects(SurfaceUsage::Z_OR_S);
    let prt = config.usage.contains(SurfaceUsage::PRT);
    let (mode, reason) = match config.mode {
        TilingMode::Tiled2d => (TilingMode::Tiled2d, ModeReason::Asked),
        _ if config.samples > 1 => (TilingMode::Tiled2d, ModeReason::Multisampled),
        TilingMode::Linear if z_or_s => (TilingMode::Tiled1d, ModeReason::DepthIsTiled),
        mode => (mode, ModeReason::Asked),
    };
    let reason = if prt && mode != TilingMode::Linear { ModeReason::PartiallyResident } else { reason };
    let mode = match mode {
        TilingMode::Linear => TileMode::LINEAR_ALIGNED,
        TilingMode::Tiled1d if prt => TileMode::PRT_THIN,
        TilingMode::Tiled1d if volume => TileMode::THICK_1D,
        TilingMode::Tiled1d => TileMode::THIN_1D,
        TilingMode::Tiled2d if prt && volume && config.bytes < 8 => TileMode::PRT_THICK_2D,
        TilingMode::Tiled2d if prt => TileMode::PRT_THIN_2D,
        TilingMode::Tiled2d if volume => return volume_mode(chip, config),
        TilingMode::Tiled2d => TileMode::THIN_2D,
    };
    (mode, reason)
}

/// Returns the presence of DCC as far as the description determines it.
pub(super) fn dcc(chip: &Chip, config: &SurfaceConfig) -> Presence {
    if chip.level() < GfxLevel::Gfx8 || config.has(SurfaceUsage::Z_OR_S) {
        return Presence::NotApplicable;
    }
    let layered = config.layers > 1 || config.depth > 1;
    Presence::unless(if !chip.info.has_graphics {
        Some(Absence::NoGraphics)
    } else if config.has(SurfaceUsage::DISABLE_DCC) {
        Some(Absence::NotWanted)
    } else if config.block == (4, 4) {
        Some(Absence::CompressedFormat)
    } else {
        (layered && config.levels > 1).then_some(Absence::LayersAndLevels)
    })
}

/// Returns the uses that are passed to addrlib.
pub(super) fn usage(chip: &Chip, config: &SurfaceConfig) -> Usage {
    let wants = config.usage;
    let z_or_s = wants.intersects(SurfaceUsage::Z_OR_S);
    let mut usage = Usage::empty();
    usage.set(Usage::COLOR, !z_or_s);
    usage.set(Usage::DEPTH, wants.contains(SurfaceUsage::ZBUFFER));
    usage.set(Usage::CUBE, config.dimension == Dimension::Cube);
    usage.set(Usage::DISPLAY, config.is_display());
    usage.set(Usage::POW2_PAD, config.levels > 1);
    usage.set(Usage::TC_COMPATIBLE, wants.contains(SurfaceUsage::TC_COMPATIBLE_HTILE));
    usage.set(Usage::PRT, wants.contains(SurfaceUsage::PRT));
    usage.set(
        Usage::OPT_4_SPACE,
        !wants.contains(SurfaceUsage::TC_COMPATIBLE_HTILE)
            && config.dimension != Dimension::D3
            && config.samples <= 1
            && !wants.contains(SurfaceUsage::FORCE_SWIZZLE_MODE),
    );
    let dcc = dcc(chip, config) == Presence::Present;
    usage.set(Usage::DCC | Usage::DCC_PIPE_WORKAROUND, dcc);
    usage.set(
        Usage::NO_STENCIL,
        !wants.contains(SurfaceUsage::SBUFFER) || wants.contains(SurfaceUsage::NO_RENDER_TARGET),
    );
    usage.set(Usage::COMPRESSED_DEPTH, z_or_s);
    if usage.contains(Usage::DEPTH)
        && !usage.contains(Usage::NO_STENCIL)
        && (config.levels > 1 || chip.family == Family::Stoney)
    {
        usage |= Usage::MATCH_STENCIL;
        if config.levels > 1 && !wants.contains(SurfaceUsage::NO_STENCIL_ADJUST) {
            usage |= Usage::NO_STENCIL;
        }
    }
    usage
}

/// Returns the tile index of an imported image, whose macro tile parameters the exporter chose.
pub(super) fn imported_index(chip: &Chip, config: &SurfaceConfig, display: bool) -> i32 {
    if chip.level() >= GfxLevel::Gfx7 {
        return if display { 10 } else { 14 };
    }
    match (display, config.bytes) {
        (true, 2) => 11,
        (true, _) => 12,
        (false, 1) => 14,
        (false, 2) => 15,
        (false, 4) => 16,
        (false, _) => 17,
    }
}
