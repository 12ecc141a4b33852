//! Layouts of images on GFX12. Source: `gfx12_compute_surface`, `gfx12_compute_miptree`, `gfx12_compute_hiz_his_info`.

use super::choose12;
use super::config::{Dimension, SurfaceConfig, SurfaceUsage, TilingMode};
use super::layout::{HizHis, Prt, SurfaceLayout};
use super::parts::{LevelPlace, Levels};
use super::reason::{Absence, ModeReason, Presence};
use crate::addr2::{self, Format};
use crate::addr3::{self, Image, Layout, Mode, Usage};
use crate::bits::{align, align64, log2};
use crate::chip::Chip;
use crate::error::{AddrError, Cause};
use crate::modifier::{MaxBlock, Modifier};

pub(super) fn describe(config: &SurfaceConfig) -> Image {
    let compressed = config.is_compressed();
    let mut usage = Usage::empty();
    let only_stencil = config.has(SurfaceUsage::SBUFFER) && !config.has(SurfaceUsage::ZBUFFER);
    usage.set(Usage::DEPTH, config.has(SurfaceUsage::ZBUFFER));
    usage.set(Usage::STENCIL, only_stencil);
    usage.set(Usage::PRT, config.has(SurfaceUsage::PRT));
    usage.set(Usage::VRS, config.has(SurfaceUsage::VRS_RATE));
    Image {
        mode: Mode::Linear,
        dimension: match config.dimension {
            Dimension::D3 => addr2::Dimension::D3,
            Dimension::D1 => addr2::Dimension::D1,
            _ => addr2::Dimension::D2,
        },
        format: if compressed {
            Format::BlockCompressed
        } else if config.bytes == 12 {
            Format::Rgb96
        } else {
            Format::Plain
        },
        bits: if only_stencil { 8 } else { config.bytes * 8 },
        width: if compressed { config.width.div_ceil(config.block.0) } else { config.width },
        height: if compressed { config.height.div_ceil(config.block.1) } else { config.height },
        slices: config.slices(),
        levels: config.levels,
        samples: config.samples.max(1),
        usage,
        pitch: 0,
    }
}

fn mode_of(chip: &Chip, config: &SurfaceConfig, image: &Image) -> Result<(Mode, ModeReason), AddrError> {
    let numbered = |number| Mode::new(number).ok_or(AddrError::Invalid(Cause::Mode(u32::from(number))));
    if let Some(modifier) = config.modifier {
        let mode = match modifier {
            // The only older order is GFX11's display order in blocks of 64 KiB.
            Modifier::Amd(amd) if amd.version != crate::modifier::TileVersion::Gfx12 => Mode::D2_64K,
            _ => numbered(modifier.tile())?,
        };
        return Ok((mode, ModeReason::Modifier));
    }
    if config.mode == TilingMode::Linear {
        return Ok((Mode::Linear, ModeReason::Asked));
    }
    if config.dimension == Dimension::D1 && !config.has(SurfaceUsage::Z_OR_S) {
        return Ok((Mode::Linear, ModeReason::OneDimensional));
    }
    if config.has(SurfaceUsage::IMPORTED) {
        return Ok((numbered(config.swizzle_mode)?, ModeReason::Imported));
    }
    if config.has(SurfaceUsage::VIDEO_REFERENCE) {
        return Ok((Mode::D2_256B, ModeReason::VideoReference));
    }
    choose12::choose(chip, config, image, true)
}

/// Computes the layout of texels, HiZ and HiS.
pub(super) fn compute(chip: &Chip, config: &SurfaceConfig) -> Result<SurfaceLayout, AddrError> {
    let mut image = describe(config);
    let mut surface = SurfaceLayout::empty(config);
    (image.mode, surface.reasons.mode) = mode_of(chip, config, &image)?;
    let color = !config.has(SurfaceUsage::Z_OR_S);
    if config.dimension == Dimension::D2
        && config.block == (1, 1)
        && config.layers == 1
        && config.levels == 1
        && config.samples <= 1
        && color
        && config.bytes.is_power_of_two()
        && image.mode.is_linear()
        && !image.usage.contains(Usage::PRT)
    {
        // The pitch is a multiple of 256 bytes, as other GPUs require.
        image.pitch = align(image.width, 256 / config.bytes);
        surface.custom_pitch = true;
    }
    surface.micro_mode = config.micro_mode;
    let display_dcc = chip.info.drm_minor >= 58;
    surface.swizzle_mode = image.mode.number();
    surface.resource_type = image.dimension as u8;
    let dcc = config.modifier.and_then(Modifier::dcc);
    surface.enable_dcc = if config.modifier.is_some() {
        dcc.is_some()
    } else {
        !config.has(SurfaceUsage::DISABLE_DCC)
            && (!color
                || config.samples > 1
                || ((display_dcc || !config.has(SurfaceUsage::SCANOUT)) && !image.mode.is_linear()))
    };
    surface.reasons.dcc = Presence::unless(if surface.enable_dcc {
        None
    } else if config.modifier.is_some() {
        Some(Absence::Modifier)
    } else if config.has(SurfaceUsage::DISABLE_DCC) {
        Some(Absence::NotWanted)
    } else if image.mode.is_linear() {
        Some(Absence::Mode)
    } else {
        Some(Absence::Display)
    });
    surface.linear = image.mode.is_linear();
    surface.displayable = color && config.dimension != Dimension::D3 && (display_dcc || !surface.enable_dcc);
    surface.thick = image.mode.is_3d();
    if surface.enable_dcc {
        if let Some(dcc) = dcc {
            surface.dcc_settings.max_block = dcc.max_block;
        } else if color && !config.has(SurfaceUsage::IMPORTED) {
            let limited = config.has(SurfaceUsage::SCANOUT) && chip.info.drm_minor < 63;
            surface.dcc_settings.max_block = if limited { MaxBlock::B128 } else { MaxBlock::B256 };
        }
    }
    if !image.usage.contains(Usage::STENCIL) {
        main_plane(chip, config, &image, &mut surface)?;
    }
    if config.has(SurfaceUsage::SBUFFER) {
        image.usage.remove(Usage::DEPTH);
        image.usage |= Usage::STENCIL;
        image.bits = 8;
        image.format = Format::Plain;
        stencil_plane(chip, config, &image, &mut surface)?;
    }
    Ok(surface)
}

fn main_plane(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    surface: &mut SurfaceLayout,
) -> Result<(), AddrError> {
    let layout = addr3::layout(chip, image)?;
    let mode = image.mode;
    surface.pitch = layout.pitch;
    if !mode.is_linear() && !mode.is_3d() && image.levels == 1 {
        // The pitch is the width in pixels, aligned to the block of a single-sampled image. This differs from addrlib's.
        surface.pitch = align(config.width, mode.block(log2(config.bytes), 0)[0]);
    }
    surface.slice_bytes = layout.slice_bytes;
    surface.height = layout.height;
    surface.bytes = layout.bytes;
    surface.align_log2 = log2(layout.align);
    if image.usage.contains(Usage::PRT) {
        surface.prt = Some(prt(&layout));
    }
    texel_levels(config, image, &layout, surface);
    if image.usage.contains(Usage::DEPTH) {
        surface.reasons.htile = Presence::unless(if config.has(SurfaceUsage::NO_HTILE) {
            Some(Absence::NotWanted)
        } else {
            (chip.info.chip_rev == 0).then_some(Absence::Stepping)
        });
        surface.hiz = hiz(chip, config, image)?;
        return Ok(());
    }
    if let Some(index) = config.surface_index
        && config.modifier.is_none()
        && mode.block_bits() >= 12
        && !layout.chain_in_tail
        && !config.has(SurfaceUsage::SHAREABLE)
        && !config.is_display()
    {
        surface.takes_index = true;
        surface.tile_swizzle = addr3::surface_xor(chip, mode, index);
    }
    Ok(())
}

fn prt(layout: &Layout) -> Prt {
    let mut levels = Levels::default();
    for (place, level) in levels.iter_mut().zip(layout.levels.as_slice()) {
        *place = LevelPlace { offset: level.block_offset + u64::from(level.tail_offset), pitch: level.pitch };
    }
    Prt { tile: layout.block, first_tail: layout.first_tail, levels }
}

fn texel_levels(config: &SurfaceConfig, image: &Image, layout: &Layout, surface: &mut SurfaceLayout) {
    let first = layout.levels[0];
    surface.base_mip = [first.pitch, first.height];
    if !image.mode.is_linear() {
        return;
    }
    let pair = !config.is_compressed() && config.block.0 == 2;
    // The hardware takes the pitch in pairs of texels.
    let pitch_of = |pitch| if pair { align(pitch / 2, 128 / config.bytes) } else { pitch };
    if pair {
        surface.pitch = pitch_of(surface.pitch);
        let rows = u64::from(surface.pitch) * u64::from(layout.height);
        surface.slice_bytes = surface.slice_bytes.max(rows * u64::from(config.bytes) * 2);
        surface.bytes = surface.slice_bytes * u64::from(image.slices);
    }
    for (place, level) in surface.levels.iter_mut().zip(layout.levels.as_slice()) {
        *place = LevelPlace { offset: level.offset, pitch: pitch_of(level.pitch) };
    }
    surface.base_mip[0] = surface.pitch;
}

fn stencil_plane(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    surface: &mut SurfaceLayout,
) -> Result<(), AddrError> {
    let layout = addr3::layout(chip, image)?;
    surface.stencil.swizzle_mode = image.mode.number();
    surface.stencil.offset = align64(surface.bytes, u64::from(layout.align));
    surface.align_log2 = surface.align_log2.max(log2(layout.align));
    surface.bytes = surface.stencil.offset + layout.bytes;
    if chip.info.chip_rev >= 2 {
        surface.his = hiz(chip, config, image)?;
    }
    Ok(())
}

/// Computes the layout of the HiZ of a depth image or the HiS of a stencil image. An element covers 8x8 pixels.
fn hiz(chip: &Chip, config: &SurfaceConfig, image: &Image) -> Result<Option<HizHis>, AddrError> {
    if config.has(SurfaceUsage::NO_HTILE) || chip.info.chip_rev == 0 {
        return Ok(None);
    }
    let bits = if image.usage.contains(Usage::DEPTH) { 32 } else { 16 };
    let usage = (image.usage - (Usage::DEPTH | Usage::STENCIL)) | Usage::HIZ_HIS;
    let size = |pixels: u32| align(pixels.div_ceil(8), 2);
    let mut inner = Image {
        bits,
        usage,
        format: Format::Plain,
        width: size(image.width),
        height: size(image.height),
        pitch: 0,
        ..*image
    };
    (inner.mode, _) = choose12::choose(chip, config, &inner, false)?;
    let layout = addr3::layout(chip, &inner)?;
    Ok(Some(HizHis {
        offset: 0,
        bytes: layout.bytes,
        width: inner.width,
        height: inner.height,
        swizzle_mode: inner.mode.number(),
        align: layout.align,
    }))
}
