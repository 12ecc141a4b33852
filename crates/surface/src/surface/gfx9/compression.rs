//! The compression settings of DCC, and the conditions for DCC. Source: `gfx9_compute_miptree`, `ac_modifier_fill_dcc_params`,
//! `gfx9_is_dcc_supported_by_DCN`.

use amdgpu_hw::GfxLevel;

use crate::addr2::{Image, SwizzleMode, Usage};
use crate::chip::Chip;
use crate::modifier::{MaxBlock, Modifier};
use crate::surface::config::{Dimension, SurfaceConfig, SurfaceUsage};
use crate::surface::parts::DccSettings;
use crate::surface::reason::Absence;

/// Returns DCC settings that suit the L2 cache, and the display if it reads DCC.
pub(super) fn settings(chip: &Chip, config: &SurfaceConfig) -> DccSettings {
    let level = chip.level();
    if let Some(dcc) = config.modifier.and_then(Modifier::dcc) {
        return DccSettings {
            independent_64b: dcc.independent_64b,
            independent_128b: dcc.independent_128b,
            max_block: dcc.max_block,
        };
    }
    if config.has(SurfaceUsage::ZBUFFER | SurfaceUsage::SBUFFER | SurfaceUsage::IMPORTED) {
        return config.dcc;
    }
    let b64 = DccSettings { independent_64b: true, independent_128b: false, max_block: MaxBlock::B64 };
    let mut settings = match level {
        GfxLevel::Gfx9 => b64,
        GfxLevel::Gfx11_5 => DccSettings { independent_64b: false, independent_128b: true, max_block: MaxBlock::B256 },
        _ => DccSettings { independent_64b: false, independent_128b: true, max_block: MaxBlock::B128 },
    };
    let display_reads_dcc = chip.info.display_dcc_unaligned || chip.info.display_dcc_retile;
    if config.is_display() && display_reads_dcc {
        if chip.is_navi12_or_14() {
            settings = b64;
        }
        let newer = level >= GfxLevel::Gfx11 || matches!(chip.info.family_id, 0x95 | 0x97);
        let older = level == GfxLevel::Gfx10_3 && !newer;
        if older || (newer && needs_independent_64b(chip, config)) {
            settings = DccSettings { independent_64b: true, independent_128b: true, max_block: MaxBlock::B64 };
        }
    }
    settings
}

fn needs_independent_64b(chip: &Chip, config: &SurfaceConfig) -> bool {
    chip.info.drm_minor <= 43 || config.width > 2560 || config.height > 2560
}

/// Returns `true` if the display can read DCC with these settings.
pub(super) fn display_reads(chip: &Chip, config: &SurfaceConfig, settings: DccSettings, rb: bool, pipe: bool) -> bool {
    let info = &chip.info;
    if !info.display_dcc_unaligned && !info.display_dcc_retile {
        return false;
    }
    if config.bytes != 4 || (info.display_dcc_unaligned && (rb || pipe)) {
        return false;
    }
    match chip.level() {
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 | GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => {
            if chip.level() == GfxLevel::Gfx10 && settings.independent_128b {
                return false;
            }
            !needs_independent_64b(chip, config) || (settings.independent_64b && settings.max_block == MaxBlock::B64)
        }
        _ => true,
    }
}

fn color_block_compresses(chip: &Chip, mode: SwizzleMode) -> bool {
    match chip.level() {
        GfxLevel::Gfx9 => !mode.is_linear(),
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => matches!(mode.number(), 24 | 27),
        _ => matches!(mode.number(), 24 | 27 | 28 | 31),
    }
}

/// Returns the reason why a colour image has no DCC; `None` if it has DCC.
pub(super) fn absence(chip: &Chip, config: &SurfaceConfig, image: &Image, settings: DccSettings) -> Option<Absence> {
    if let Some(modifier) = config.modifier {
        return modifier.dcc().is_none().then_some(Absence::Modifier);
    }
    let aligned = |usage| !image.usage.contains(usage);
    if !chip.info.has_graphics {
        Some(Absence::NoGraphics)
    } else if config.has(SurfaceUsage::DISABLE_DCC) {
        Some(Absence::NotWanted)
    } else if config.block == (4, 4) {
        Some(Absence::CompressedFormat)
    } else if config.dimension == Dimension::D3 {
        Some(Absence::Volume)
    } else if !color_block_compresses(chip, image.mode) {
        Some(Absence::Mode)
    } else if image.usage.contains(Usage::DISPLAY)
        && !display_reads(
            chip,
            config,
            settings,
            aligned(Usage::META_RB_UNALIGNED),
            aligned(Usage::META_PIPE_UNALIGNED),
        )
    {
        Some(Absence::Display)
    } else {
        None
    }
}
