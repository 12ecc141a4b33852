//! DCC, HTILE, FMASK and CMASK. Source: `gfx9_compute_miptree`.

use amdgpu_hw::GfxLevel;

use super::{compression, mode};
use crate::addr2::meta::{self, MetaImage, MetaKind, MetaLayout};
use crate::addr2::{self, Image, Layout, SwizzleMode, Usage};
use crate::bits::log2;
use crate::chip::Chip;
use crate::modifier::Modifier;
use crate::surface::config::{SurfaceConfig, SurfaceUsage};
use crate::surface::layout::{Cmask, Dcc, DisplayDcc, Fmask, Metadata, SurfaceLayout};
use crate::surface::parts::{LevelPlace, Levels, SurfaceError};
use crate::surface::reason::{Absence, Presence};

/// Returns the description of the metadata, whose size is computed from pixels even if the format is block-compressed.
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

/// Returns the locations of the levels as the driver stores them: GFX9's are the first two coordinates of each level.
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

/// Computes the layout of HTILE.
pub(super) fn htile(
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

/// Returns the reason why an image has no FMASK; `None` if it has FMASK.
fn no_fmask(chip: &Chip, config: &SurfaceConfig, image: &Image) -> Option<Absence> {
    if !chip.info.has_graphics {
        Some(Absence::NoGraphics)
    } else if image.samples <= 1 {
        Some(Absence::OneSample)
    } else if config.has(SurfaceUsage::NO_FMASK) {
        Some(Absence::NotWanted)
    } else {
        None
    }
}

/// Returns the reason why an image has no CMASK; `None` if it has CMASK.
fn no_cmask(chip: &Chip, image: &Image, has_fmask: bool) -> Option<Absence> {
    let unaligned = image.usage.intersects(Usage::META_PIPE_UNALIGNED | Usage::META_RB_UNALIGNED);
    if !chip.info.has_graphics {
        Some(Absence::NoGraphics)
    } else if image.mode.is_linear() {
        Some(Absence::Mode)
    } else if image.dimension != addr2::Dimension::D2 {
        Some(Absence::Volume)
    } else if image.samples >= 2 {
        (!has_fmask).then_some(Absence::NoFmask)
    } else if chip.level() != GfxLevel::Gfx9 {
        Some(Absence::OneSample)
    } else {
        unaligned.then_some(Absence::Unaligned)
    }
}

/// Computes the layout of a colour image's metadata.
pub(super) fn color(
    chip: &Chip,
    config: &SurfaceConfig,
    image: &Image,
    layout: &Layout,
    surface: &mut SurfaceLayout,
) -> Result<(), SurfaceError> {
    let absence = compression::absence(chip, config, image, surface.dcc_settings);
    surface.reasons.dcc = Presence::unless(absence);
    if absence.is_none() {
        dcc(chip, config, image, layout, surface)?;
    }
    if chip.level() > GfxLevel::Gfx10_3 {
        return Ok(());
    }
    let absence = no_fmask(chip, config, image);
    surface.reasons.fmask = Presence::unless(absence);
    if absence.is_none() {
        surface.fmask = Some(fmask(chip, config, image)?);
    }
    let absence = no_cmask(chip, image, surface.fmask.is_some());
    surface.reasons.cmask = Presence::unless(absence);
    if absence.is_none() {
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
        // GFX10 compresses the first level of the tail; GFX9 compresses no level of it.
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
    if levels == 0 {
        surface.reasons.dcc = Presence::Absent(Absence::AllInTail);
    }
    surface.display_pitch_max = meta.pitch - 1;
    surface.reasons.display_dcc = Presence::Absent(Absence::OneDcc);
    let retile = (image.usage.contains(Usage::DISPLAY) && chip.info.display_dcc_retile)
        || config.modifier.and_then(Modifier::dcc).is_some_and(|dcc| dcc.retile);
    if retile && levels > 0 {
        let request = MetaImage { pipe_aligned: false, rb_aligned: false, ..request };
        let meta = request.layout(chip)?;
        surface.display_pitch_max = meta.pitch - 1;
        surface.reasons.display_dcc = Presence::Present;
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
    let (mode, _) = mode::preferred(chip, config, image, true)?;
    let request = Image { mode, usage: Usage::empty(), ..*image };
    let layout = meta::fmask(chip, &request)?;
    let swizzle = match config.fmask_index {
        Some(index) if mode.number() >= 16 && !config.has(SurfaceUsage::SHAREABLE) => {
            // This index counts from 1.
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
