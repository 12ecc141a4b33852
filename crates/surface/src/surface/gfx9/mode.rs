//! The choice of a swizzle mode. Source: `gfx9_get_preferred_swizzle_mode`.

use amdgpu_hw::GfxLevel;

use crate::addr2::{self, Blocks, Image, Orders, Restrictions, SwizzleMode, Usage};
use crate::chip::Chip;
use crate::error::{AddrError, Cause};
use crate::surface::config::{MicroMode, SurfaceConfig, SurfaceUsage, TilingMode};
use crate::surface::reason::ModeReason;

/// Returns addrlib's preferred mode under the driver's restrictions.
pub(super) fn preferred(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    fmask: bool,
) -> Result<(SwizzleMode, ModeReason), AddrError> {
    let gfx11 = chip.level() >= GfxLevel::Gfx11;
    let big = Blocks::BIG | if gfx11 { Blocks::THICK_256K } else { Blocks::empty() };
    let mut forbidden = Blocks::MICRO;
    if !gfx11 || !chip.info.has_dedicated_vram {
        // The display of APUs does not support blocks of 256 KiB.
        forbidden |= big;
    }
    let small = config.has(SurfaceUsage::PREFER_4K_ALIGNMENT);
    if small {
        forbidden |= Blocks::THIN_64K | Blocks::THICK_64K;
    }
    if gfx11 && (small || config.has(SurfaceUsage::PREFER_64K_ALIGNMENT)) {
        forbidden |= big;
    }
    let mut image = *image;
    if fmask {
        image.usage.remove(Usage::DISPLAY | Usage::COLOR);
        image.usage |= Usage::FMASK;
    }
    if image.usage.contains(Usage::PRT) {
        forbidden |= Blocks::THIN_4K | Blocks::THICK_4K | Blocks::LINEAR;
        if gfx11 {
            forbidden |= big;
        }
    }
    let mut wanted = Orders::empty();
    if config.has(SurfaceUsage::FORCE_MICRO_TILE_MODE) {
        forbidden |= Blocks::LINEAR;
        wanted |= match config.micro_mode {
            MicroMode::Display => Orders::D,
            MicroMode::Standard => Orders::S,
            MicroMode::Depth => Orders::Z,
            MicroMode::Render | MicroMode::Thick => Orders::R,
        };
    }
    if chip.level() >= GfxLevel::Gfx10 && image.dimension == addr2::Dimension::D3 && image.slices > 1 {
        wanted |= Orders::S;
    }
    let restrictions = Restrictions { forbidden, preferred: wanted, ..Restrictions::default() };
    let choice = addr2::choose(chip, &image, &restrictions)?;
    Ok((choice.mode, ModeReason::Suggested { modes: choice.modes, step: choice.reason }))
}

fn given_mode(config: &SurfaceConfig) -> Result<SwizzleMode, AddrError> {
    SwizzleMode::new(config.swizzle_mode).ok_or(AddrError::Invalid(Cause::Mode(u32::from(config.swizzle_mode))))
}

/// Returns the mode of an image and the reason for it.
pub(super) fn mode_of(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
) -> Result<(SwizzleMode, ModeReason), AddrError> {
    if let Some(modifier) = config.modifier {
        return Ok((SwizzleMode::masked(u32::from(modifier.tile())), ModeReason::Modifier));
    }
    if config.mode == TilingMode::Linear {
        return Ok((SwizzleMode::LINEAR, ModeReason::Asked));
    }
    let forced = chip.level() >= GfxLevel::Gfx10 && config.has(SurfaceUsage::FORCE_SWIZZLE_MODE);
    if config.has(SurfaceUsage::IMPORTED) || forced {
        let reason = if forced { ModeReason::Forced } else { ModeReason::Imported };
        return Ok((given_mode(config)?, reason));
    }
    if chip.level() >= GfxLevel::Gfx11 && config.has(SurfaceUsage::VRS_RATE) {
        return Ok((SwizzleMode::masked(27), ModeReason::ShadingRates));
    }
    if config.has(SurfaceUsage::VIDEO_REFERENCE) {
        return Ok((SwizzleMode::masked(2), ModeReason::VideoReference));
    }
    preferred(chip, config, image, false)
}
