//! Layouts of images on GFX9 to GFX11. Source: `gfx9_compute_surface`, `gfx9_compute_miptree`.

mod compression;
mod metadata;
mod mode;

use amdgpu_hw::GfxLevel;

use super::config::{Dimension, MicroMode, SurfaceConfig, SurfaceUsage};
use super::layout::{Prt, SurfaceLayout};
use super::parts::{LevelPlace, Levels, SurfaceError};
use super::reason::{Absence, Presence};
use crate::addr2::{self, Format, Image, Layout, Order, SwizzleMode, Usage};
use crate::bits::{align, log2};
use crate::chip::Chip;
use crate::modifier::{Modifier, TileVersion};

/// Returns the description of the image for addrlib. Its mode is not yet chosen.
pub(super) fn describe(chip: &Chip, config: &SurfaceConfig) -> Image {
    let color = !config.has(SurfaceUsage::Z_OR_S);
    let mut usage = Usage::OPT_4_SPACE;
    usage.set(Usage::COLOR, color && !config.has(SurfaceUsage::NO_RENDER_TARGET));
    usage.set(Usage::DEPTH, config.has(SurfaceUsage::ZBUFFER));
    usage.set(Usage::DISPLAY, config.is_display());
    usage.set(
        Usage::TEXTURE,
        (color && !config.has(SurfaceUsage::NO_TEXTURE)) || config.has(SurfaceUsage::TC_COMPATIBLE_HTILE),
    );
    usage.set(Usage::PRT, config.has(SurfaceUsage::PRT));
    let compressed = config.is_compressed();
    Image {
        mode: SwizzleMode::LINEAR,
        dimension: match config.dimension {
            Dimension::D3 => addr2::Dimension::D3,
            // GFX9 has no tiled 1D images, so all 1D images are stored as 2D images.
            Dimension::D1 if chip.level() != GfxLevel::Gfx9 => addr2::Dimension::D1,
            _ => addr2::Dimension::D2,
        },
        format: if compressed {
            Format::BlockCompressed
        } else if config.bytes == 12 {
            Format::Rgb96
        } else {
            Format::Plain
        },
        bits: config.bytes * 8,
        width: if compressed { config.width.div_ceil(config.block.0) } else { config.width },
        height: if compressed { config.height.div_ceil(config.block.1) } else { config.height },
        slices: config.slices(),
        levels: config.levels,
        samples: config.samples.max(1),
        fragments: config.fragments(),
        usage,
        pitch: 0,
    }
}

/// Computes the layout of texels and metadata. Their offsets in the buffer are not yet set.
pub(super) fn compute(chip: &Chip, config: &SurfaceConfig) -> Result<SurfaceLayout, SurfaceError> {
    let mut image = describe(chip, config);
    let mut surface = SurfaceLayout::empty(config);
    if let Some((Modifier::Amd(amd), dcc)) = config.modifier.and_then(|m| m.dcc().map(|dcc| (m, dcc))) {
        if !dcc.retile && !dcc.pipe_align {
            image.usage |= Usage::META_PIPE_UNALIGNED;
            if amd.version == TileVersion::Gfx9 && amd.rb == 0 {
                image.usage |= Usage::META_RB_UNALIGNED;
            }
        }
    } else if image.usage.contains(Usage::DISPLAY) && chip.info.display_dcc_unaligned {
        image.usage |= Usage::META_PIPE_UNALIGNED | Usage::META_RB_UNALIGNED;
    }
    surface.dcc_settings = compression::settings(chip, config);
    (image.mode, surface.reasons.mode) = mode::mode_of(chip, config, &image)?;
    surface.resource_type = image.dimension as u8;
    let only_stencil = config.has(SurfaceUsage::SBUFFER) && !config.has(SurfaceUsage::ZBUFFER);
    surface.swizzle_mode = config.swizzle_mode;
    if !only_stencil {
        main_plane(chip, config, &image, &mut surface)?;
    }
    if config.has(SurfaceUsage::SBUFFER) {
        image.usage |= Usage::STENCIL;
        image.bits = 8;
        image.format = Format::Plain;
        if only_stencil {
            (image.mode, surface.reasons.mode) = mode::preferred(chip, config, &image, false)?;
        }
        image.usage.remove(Usage::DEPTH);
        stencil_plane(chip, &image, &mut surface)?;
    }
    let shown = if only_stencil { surface.stencil.swizzle_mode } else { surface.swizzle_mode };
    surface.linear = shown == 0;
    surface.displayable = is_displayable(chip, config, &surface);
    if surface.meta.is_none_or(|meta| meta.bytes == 0) {
        surface.usage.remove(SurfaceUsage::TC_COMPATIBLE_HTILE);
    }
    let mode = SwizzleMode::masked(u32::from(surface.swizzle_mode));
    surface.micro_mode = match mode.order() {
        _ if mode.is_linear() => MicroMode::Display,
        Order::Z => MicroMode::Depth,
        Order::S => MicroMode::Standard,
        Order::D => MicroMode::Display,
        Order::R => MicroMode::Render,
    };
    Ok(surface)
}

fn is_displayable(chip: &Chip, config: &SurfaceConfig, surface: &SurfaceLayout) -> bool {
    if matches!(config.dimension, Dimension::D3 | Dimension::Cube) {
        return false;
    }
    let mode = SwizzleMode::masked(u32::from(surface.swizzle_mode));
    if addr2::display_modes(chip, config.bytes * 8) & (1 << mode.number()) == 0 {
        return false;
    }
    if config.has(SurfaceUsage::Z_OR_S) {
        return true;
    }
    let (Some(meta), Some(dcc)) = (&surface.meta, &surface.dcc) else { return true };
    meta.levels == 0
        || (compression::display_reads(chip, config, surface.dcc_settings, dcc.rb_aligned, dcc.pipe_aligned)
            && !(chip.info.display_dcc_retile && surface.display_dcc.is_none()))
}

fn epitch(layout: &Layout) -> u32 {
    let chain = if layout.epitch_is_height { layout.chain_height } else { layout.chain_pitch };
    chain.wrapping_sub(1) & 0xffff
}

fn prt(chip: &Chip, image: &Image, layout: &Layout) -> Option<Prt> {
    image.usage.contains(Usage::PRT).then(|| {
        let mut levels = Levels::default();
        for (place, level) in levels.iter_mut().zip(layout.levels.as_slice()) {
            place.offset = level.block_offset + u64::from(level.tail_offset);
            place.pitch = if chip.level() >= GfxLevel::Gfx10 { level.pitch } else { layout.chain_pitch };
        }
        Prt { tile: layout.block, first_tail: layout.first_tail, levels }
    })
}

fn stencil_plane(chip: &Chip, image: &Image, surface: &mut SurfaceLayout) -> Result<(), SurfaceError> {
    let layout = addr2::layout(chip, image)?;
    if let Some(prt) = prt(chip, image, &layout) {
        surface.prt = Some(prt);
    }
    surface.stencil.swizzle_mode = image.mode.number();
    surface.stencil.epitch = epitch(&layout);
    surface.align_log2 = surface.align_log2.max(log2(layout.align));
    surface.stencil.offset = crate::bits::align64(surface.bytes, u64::from(layout.align));
    surface.bytes = surface.stencil.offset + layout.bytes;
    Ok(())
}

fn main_plane(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    surface: &mut SurfaceLayout,
) -> Result<(), SurfaceError> {
    let layout = addr2::layout(chip, image)?;
    surface.prt = prt(chip, image, &layout);
    surface.swizzle_mode = image.mode.number();
    surface.thick = image.mode.is_thick(chip.level(), image.dimension);
    surface.epitch = epitch(&layout);
    surface.slice_bytes = layout.slice_bytes;
    surface.pitch = layout.pitch;
    surface.height = layout.height;
    surface.bytes = layout.bytes;
    surface.align_log2 = log2(layout.align);
    texel_levels(config, image, &layout, surface);
    if image.usage.contains(Usage::DEPTH) {
        let unwanted = config.has(SurfaceUsage::NO_HTILE);
        surface.reasons.htile = Presence::unless(unwanted.then_some(Absence::NotWanted));
        if !unwanted {
            metadata::htile(chip, config, image, &layout, surface)?;
        }
        return Ok(());
    }
    if let Some(index) = config.surface_index
        && image.mode.number() >= 16
        && !layout.chain_in_tail
        && !config.has(SurfaceUsage::SHAREABLE)
        && !image.usage.contains(Usage::DISPLAY)
    {
        surface.takes_index = true;
        surface.tile_swizzle = addr2::surface_xor(chip, image, index);
        if chip.level() >= GfxLevel::Gfx11 {
            surface.tile_swizzle <<= 2;
        }
    }
    metadata::color(chip, config, image, &layout, surface)
}

fn texel_levels(config: &SurfaceConfig, image: &Image, layout: &Layout, surface: &mut SurfaceLayout) {
    let first = layout.levels[0];
    if image.mode.is_linear() {
        let pair =
            !config.is_compressed() && config.block.0 > 1 && layout.pitch == layout.pixel_pitch && image.levels == 1;
        // The hardware takes the pitch in pairs of texels.
        let unit = (256 / config.bytes).next_power_of_two();
        let pitch_of = |pitch| if pair { align(pitch / config.block.0, unit) } else { pitch };
        if pair {
            surface.pitch = pitch_of(surface.pitch);
            surface.epitch = (surface.pitch - 1) & 0xffff;
            surface.slice_bytes = u64::from(surface.pitch) * u64::from(layout.height) * u64::from(config.bytes);
            surface.bytes = surface.slice_bytes * u64::from(image.slices);
        }
        for (place, level) in surface.levels.iter_mut().zip(layout.levels.as_slice()) {
            *place = LevelPlace { offset: level.offset, pitch: pitch_of(level.pitch) };
        }
        surface.base_mip[0] = surface.pitch;
    } else {
        surface.base_mip[0] = first.pitch;
    }
    surface.base_mip[1] = first.height;
}
