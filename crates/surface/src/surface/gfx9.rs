//! Images of GFX9 to GFX11. Source: `gfx9_compute_surface`, `gfx9_compute_miptree`, `gfx9_get_preferred_swizzle_mode`.

use amdgpu_hw::GfxLevel;

use super::config::{Dimension, MicroMode, SurfaceConfig, SurfaceUsage, TilingMode};
use super::layout::{Cmask, Dcc, DisplayDcc, Fmask, Metadata, Prt, SurfaceLayout};
use super::parts::{DccSettings, LevelPlace, Levels, SurfaceError};
use crate::addr2::meta::{self, MetaImage, MetaKind, MetaLayout};
use crate::addr2::{self, Blocks, Format, Image, Layout, Order, Orders, Restrictions, SwizzleMode, Usage};
use crate::bits::{align, log2};
use crate::chip::Chip;
use crate::error::{AddrError, Cause};
use crate::modifier::{MaxBlock, Modifier, TileVersion};

fn has(config: &SurfaceConfig, usage: SurfaceUsage) -> bool {
    config.usage.intersects(usage)
}

/// Returns the image as addrlib sees it; its mode is still open.
fn describe(chip: &Chip, config: &SurfaceConfig) -> Image {
    let color = !has(config, SurfaceUsage::Z_OR_S);
    let mut usage = Usage::OPT_4_SPACE;
    usage.set(Usage::COLOR, color && !has(config, SurfaceUsage::NO_RENDER_TARGET));
    usage.set(Usage::DEPTH, has(config, SurfaceUsage::ZBUFFER));
    usage.set(Usage::DISPLAY, config.is_display());
    usage.set(
        Usage::TEXTURE,
        (color && !has(config, SurfaceUsage::NO_TEXTURE)) || has(config, SurfaceUsage::TC_COMPATIBLE_HTILE),
    );
    usage.set(Usage::PRT, has(config, SurfaceUsage::PRT));
    let compressed = config.is_compressed();
    Image {
        mode: SwizzleMode::LINEAR,
        dimension: match config.dimension {
            Dimension::D3 => addr2::Dimension::D3,
            // GFX9 has no tiled 1D images, so that all of them are 2D.
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

/// Suggests a mode under the driver's restrictions.
fn preferred(chip: &Chip, config: &SurfaceConfig, image: &Image, fmask: bool) -> Result<SwizzleMode, AddrError> {
    let gfx11 = chip.level() >= GfxLevel::Gfx11;
    let big = Blocks::BIG | if gfx11 { Blocks::THICK_256K } else { Blocks::empty() };
    let mut forbidden = Blocks::MICRO;
    if !gfx11 || !chip.info.has_dedicated_vram {
        // Blocks of 256 KiB do not work with the display of APUs.
        forbidden |= big;
    }
    let small = has(config, SurfaceUsage::PREFER_4K_ALIGNMENT);
    if small {
        forbidden |= Blocks::THIN_64K | Blocks::THICK_64K;
    }
    if gfx11 && (small || has(config, SurfaceUsage::PREFER_64K_ALIGNMENT)) {
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
    if has(config, SurfaceUsage::FORCE_MICRO_TILE_MODE) {
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
    addr2::choose(chip, &image, &restrictions).map(|choice| choice.mode)
}

/// DCC settings that suit the L2 cache, and the display where it reads DCC.
fn dcc_settings(chip: &Chip, config: &SurfaceConfig) -> DccSettings {
    let level = chip.level();
    if let Some(dcc) = config.modifier.and_then(Modifier::dcc) {
        return DccSettings {
            independent_64b: dcc.independent_64b,
            independent_128b: dcc.independent_128b,
            max_block: dcc.max_block,
        };
    }
    if has(config, SurfaceUsage::ZBUFFER | SurfaceUsage::IMPORTED) {
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

fn display_reads(chip: &Chip, config: &SurfaceConfig, settings: DccSettings, rb: bool, pipe: bool) -> bool {
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

fn given_mode(config: &SurfaceConfig) -> Result<SwizzleMode, AddrError> {
    SwizzleMode::new(config.swizzle_mode).ok_or(AddrError::Invalid(Cause::Mode(u32::from(config.swizzle_mode))))
}

fn mode_of(chip: &Chip, config: &SurfaceConfig, image: &Image) -> Result<SwizzleMode, AddrError> {
    if let Some(modifier) = config.modifier {
        return Ok(SwizzleMode::masked(u32::from(modifier.tile())));
    }
    if config.mode == TilingMode::Linear {
        return Ok(SwizzleMode::LINEAR);
    }
    let forced = chip.level() >= GfxLevel::Gfx10 && has(config, SurfaceUsage::FORCE_SWIZZLE_MODE);
    if has(config, SurfaceUsage::IMPORTED) || forced {
        return given_mode(config);
    }
    if chip.level() >= GfxLevel::Gfx11 && has(config, SurfaceUsage::VRS_RATE) {
        return Ok(SwizzleMode::masked(27));
    }
    if has(config, SurfaceUsage::VIDEO_REFERENCE) {
        return Ok(SwizzleMode::masked(2));
    }
    preferred(chip, config, image, false)
}

/// Lays out texels and metadata; the pieces are not yet placed in a buffer.
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
    surface.dcc_settings = dcc_settings(chip, config);
    image.mode = mode_of(chip, config, &image)?;
    surface.resource_type = image.dimension as u8;
    let only_stencil = has(config, SurfaceUsage::SBUFFER) && !has(config, SurfaceUsage::ZBUFFER);
    surface.swizzle_mode = config.swizzle_mode;
    if !only_stencil {
        main_plane(chip, config, &image, &mut surface)?;
    }
    if has(config, SurfaceUsage::SBUFFER) {
        image.usage |= Usage::STENCIL;
        image.bits = 8;
        image.format = Format::Plain;
        if only_stencil {
            image.mode = preferred(chip, config, &image, false)?;
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
    if has(config, SurfaceUsage::Z_OR_S) {
        return true;
    }
    let (Some(meta), Some(dcc)) = (&surface.meta, &surface.dcc) else { return true };
    meta.levels == 0
        || (display_reads(chip, config, surface.dcc_settings, dcc.rb_aligned, dcc.pipe_aligned)
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
        if !has(config, SurfaceUsage::NO_HTILE) {
            htile(chip, config, image, &layout, surface)?;
        }
        return Ok(());
    }
    if let Some(index) = config.surface_index
        && image.mode.number() >= 16
        && !layout.chain_in_tail
        && !has(config, SurfaceUsage::SHAREABLE)
        && !image.usage.contains(Usage::DISPLAY)
    {
        surface.tile_swizzle = addr2::surface_xor(chip, image, index);
        if chip.level() >= GfxLevel::Gfx11 {
            surface.tile_swizzle <<= 2;
        }
    }
    color_metadata(chip, config, image, &layout, surface)
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

/// Metadata is sized by pixels, also where elements are compressed blocks.
fn meta_image(kind: MetaKind, config: &SurfaceConfig, image: &Image, layout: &Layout) -> MetaImage {
    MetaImage {
        kind,
        mode: image.mode,
        dimension: image.dimension,
        bits: image.bits,
        width: config.width,
        height: config.height,
        slices: image.slices,
        levels: image.levels,
        samples: image.samples,
        fragments: image.fragments,
        pipe_aligned: !image.usage.contains(Usage::META_PIPE_UNALIGNED),
        rb_aligned: !image.usage.contains(Usage::META_RB_UNALIGNED),
        first_tail: layout.first_tail,
    }
}

/// Reads the levels as the driver does: GFX9's places are the first two coordinates of its levels.
fn places(chip: &Chip, levels: u32, meta: &MetaLayout) -> (Levels, Option<u32>) {
    let mut places = Levels::default();
    let mut tail = None;
    for (number, (place, level)) in (0..levels).zip(places.iter_mut().zip(&meta.levels)) {
        *place = if chip.level() == GfxLevel::Gfx9 {
            LevelPlace { offset: u64::from(level.start[0]), pitch: level.start[1] }
        } else {
            LevelPlace { offset: u64::from(level.offset), pitch: level.bytes }
        };
        if level.in_tail {
            tail = Some(number);
            break;
        }
    }
    (places, tail)
}

fn htile(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    layout: &Layout,
    surface: &mut SurfaceLayout,
) -> Result<(), SurfaceError> {
    let request = meta_image(MetaKind::Htile, config, image, layout);
    let meta = request.layout(chip)?;
    let (places, tail) = places(chip, image.levels, &meta);
    surface.meta = Some(Metadata {
        offset: 0,
        bytes: meta.bytes,
        slice_bytes: meta.slice_bytes,
        align_log2: log2(meta.align),
        pitch: meta.pitch,
        levels: tail.map_or(image.levels, |tail| tail + 1),
        places,
    });
    surface.htile_image = Some(request);
    Ok(())
}

fn wants_dcc(chip: &Chip, config: &SurfaceConfig, image: &Image, surface: &SurfaceLayout) -> bool {
    if let Some(modifier) = config.modifier {
        return modifier.dcc().is_some();
    }
    let aligned = |usage| !image.usage.contains(usage);
    chip.info.has_graphics
        && !has(config, SurfaceUsage::DISABLE_DCC)
        && config.block != (4, 4)
        && config.dimension != Dimension::D3
        && color_block_compresses(chip, image.mode)
        && (!image.usage.contains(Usage::DISPLAY)
            || display_reads(
                chip,
                config,
                surface.dcc_settings,
                aligned(Usage::META_RB_UNALIGNED),
                aligned(Usage::META_PIPE_UNALIGNED),
            ))
}

fn color_metadata(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    layout: &Layout,
    surface: &mut SurfaceLayout,
) -> Result<(), SurfaceError> {
    if wants_dcc(chip, config, image, surface) {
        dcc(chip, config, image, layout, surface)?;
    }
    let has_fmask = chip.level() <= GfxLevel::Gfx10_3 && chip.info.has_graphics;
    if has_fmask && image.samples > 1 && !has(config, SurfaceUsage::NO_FMASK) {
        surface.fmask = Some(fmask(chip, config, image)?);
    }
    let unaligned = image.usage.intersects(Usage::META_PIPE_UNALIGNED | Usage::META_RB_UNALIGNED);
    let single = chip.level() == GfxLevel::Gfx9 && image.samples == 1 && !unaligned;
    if has_fmask
        && !image.mode.is_linear()
        && image.dimension == addr2::Dimension::D2
        && (single || (surface.fmask.is_some() && image.samples >= 2))
    {
        surface.cmask = Some(cmask(chip, config, image, layout, surface.fmask.as_ref())?);
    }
    Ok(())
}

fn dcc(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    layout: &Layout,
    surface: &mut SurfaceLayout,
) -> Result<(), SurfaceError> {
    let request = meta_image(MetaKind::Dcc, config, image, layout);
    let meta = request.layout(chip)?;
    let (places, tail) = places(chip, image.levels, &meta);
    let levels = match tail {
        // GFX10 compresses the first level of the tail, GFX9 none.
        Some(tail) if chip.level() >= GfxLevel::Gfx10 => tail + 1,
        Some(tail) => tail,
        None => image.levels,
    };
    let flat = image.dimension == addr2::Dimension::D2;
    surface.dcc = Some(Dcc {
        rb_aligned: request.rb_aligned,
        pipe_aligned: request.pipe_aligned,
        block: meta.compressed_block,
        pitch_max: meta.pitch - 1,
        height: meta.height,
        image: flat.then_some(request),
    });
    surface.meta = Some(Metadata {
        offset: 0,
        bytes: if levels == 0 { 0 } else { meta.bytes },
        slice_bytes: meta.slice_bytes,
        align_log2: log2(meta.align),
        pitch: 0,
        levels,
        places,
    });
    surface.display_pitch_max = meta.pitch - 1;
    let retile = (image.usage.contains(Usage::DISPLAY) && chip.info.display_dcc_retile)
        || config.modifier.and_then(Modifier::dcc).is_some_and(|dcc| dcc.retile);
    if retile && levels > 0 {
        let request = MetaImage { pipe_aligned: false, rb_aligned: false, ..request };
        let meta = request.layout(chip)?;
        surface.display_pitch_max = meta.pitch - 1;
        surface.display_dcc = Some(DisplayDcc {
            offset: 0,
            bytes: meta.bytes,
            align_log2: log2(meta.align),
            pitch_max: meta.pitch - 1,
            height: meta.height,
            image: Some(request),
        });
    }
    Ok(())
}

fn fmask(chip: &Chip, config: &SurfaceConfig, image: &Image) -> Result<Fmask, SurfaceError> {
    let mode = preferred(chip, config, image, true)?;
    let request = Image { mode, usage: Usage::empty(), ..*image };
    let layout = meta::fmask(chip, &request)?;
    let swizzle = match config.fmask_index {
        Some(index) if mode.number() >= 16 && !has(config, SurfaceUsage::SHAREABLE) => {
            // This counter starts from 1.
            addr2::surface_xor(chip, &Image { mode, ..*image }, index.wrapping_add(1))
        }
        _ => 0,
    };
    Ok(Fmask {
        offset: 0,
        bytes: layout.bytes,
        slice_bytes: layout.slice_bytes,
        align_log2: log2(layout.align),
        tile_swizzle: swizzle,
        swizzle_mode: mode.number(),
        epitch: layout.pitch - 1,
    })
}

fn cmask(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    layout: &Layout,
    fmask: Option<&Fmask>,
) -> Result<Cmask, SurfaceError> {
    let mode = match fmask {
        Some(fmask) if image.samples > 1 => SwizzleMode::masked(u32::from(fmask.swizzle_mode)),
        _ => image.mode,
    };
    let request = MetaImage {
        mode,
        pipe_aligned: true,
        rb_aligned: true,
        samples: 1,
        fragments: 1,
        ..meta_image(MetaKind::Cmask, config, image, layout)
    };
    let meta = request.layout(chip)?;
    let level0 = if chip.level() == GfxLevel::Gfx9 {
        LevelPlace::default()
    } else {
        LevelPlace { offset: u64::from(meta.levels[0].offset), pitch: meta.levels[0].bytes }
    };
    Ok(Cmask {
        offset: 0,
        bytes: meta.bytes,
        slice_bytes: meta.slice_bytes,
        align_log2: log2(meta.align),
        pitch: meta.pitch,
        height: meta.height,
        level0,
        image: Some(request),
    })
}
