//! Layouts and addresses beside addrlib's.

use std::hint::black_box;

use amdgpu_surface::{
    Chip, GfxLevel, addr1,
    addr2::{
        self, SwizzleMode,
        meta::{MetaAddresser, MetaImage, MetaKind, MetaTables},
    },
    addr3,
    surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode},
};

use super::{
    chips::Generation,
    times::{alone, seen},
};
use crate::{
    child::Wanted,
    row::{Goal, Row},
};

/// The peer, whose figures are of another day.
const PEER: &str = "addrlib, recorded";
/// Nanoseconds of a prepared address.
const ADDRESS: Goal = Goal::Below(5.0);

/// Every row of layouts and addresses.
pub(super) fn all(chips: &[Generation], wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let plain = SurfaceConfig::new(1920, 1080, 4);
    let depth = SurfaceUsage::ZBUFFER | SurfaceUsage::SBUFFER | SurfaceUsage::TC_COMPATIBLE_HTILE;
    let mips = SurfaceConfig { width: 1024, height: 1024, levels: 11, ..plain };
    for generation in chips {
        let recorded = &generation.recorded;
        for (what, config, theirs) in [
            ("layout", plain, recorded.layout),
            ("linear", SurfaceConfig { mode: TilingMode::Linear, ..plain }, recorded.linear),
            ("mips", mips, recorded.mips),
            ("4-samples", SurfaceConfig { samples: 4, storage_samples: 4, ..plain }, recorded.samples),
            ("depth", SurfaceConfig { usage: depth, ..plain }, recorded.depth),
        ] {
            let name = format!("{what}-{}", generation.name);
            if wanted.has(&name) {
                let time = alone(|_| seen(SurfaceLayout::new(&generation.chip, black_box(&config))));
                add(Row::times(&name, 0, time, PEER, theirs, Goal::RatioAtMost(1.0)));
            }
        }
        let name = format!("sizes-{}", generation.name);
        if wanted.has(&name) {
            let time = sizes(&generation.chip);
            add(Row::times(&name, 0, time, PEER, recorded.sizes, Goal::RatioAtMost(1.0)));
        }
        for (what, config, theirs) in
            [("address", plain, Some(recorded.address)), ("address-mips", mips, recorded.address_mips)]
        {
            let name = format!("{what}-{}", generation.name);
            if wanted.has(&name) {
                add(address(&name, &generation.chip, &config, theirs));
            }
        }
        metadata(generation, wanted, add);
    }
}

/// Returns the time of addrlib's part alone, with a mode that is given.
fn sizes(chip: &Chip) -> f64 {
    match chip.level() {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {
            let image = addr1::Image::new(addr1::TileMode::THIN_2D, addr1::TileType::NonDisplay, 32, 1920, 1080);
            alone(|_| seen(addr1::layout(chip, black_box(&image))))
        }
        GfxLevel::Gfx12 => {
            let image = addr3::Image::new(addr3::Mode::D2_64K, 32, 1920, 1080);
            alone(|_| seen(addr3::layout(chip, black_box(&image))))
        }
        level => {
            // 64KB_S_X on GFX9, 64KB_R_X later.
            let mode = SwizzleMode::new(if level == GfxLevel::Gfx9 { 25 } else { 27 }).unwrap_or(SwizzleMode::LINEAR);
            let image = addr2::Image::new(mode, 32, 1920, 1080);
            alone(|_| seen(addr2::layout(chip, black_box(&image))))
        }
    }
}

/// The addresses of texels of the second level, or the first where it is alone.
fn address(name: &str, chip: &Chip, config: &SurfaceConfig, theirs: Option<f64>) -> Row {
    let number = u32::from(config.levels > 1);
    let level = SurfaceLayout::new(chip, config)
        .map_err(|error| error.to_string())
        .and_then(|layout| layout.texels(chip, config, number).map_err(|error| error.to_string()));
    let level = match level {
        Ok(level) => level,
        Err(error) => return Row::missing(name, PEER, error),
    };
    let mut sum = 0_u64;
    let time = alone(|at| {
        let (x, y) = (at.wrapping_mul(7) & 511, at.wrapping_mul(13) & 511);
        sum ^= level.address(black_box(x), y, 0, 0).unwrap_or(0);
    });
    black_box(sum);
    theirs.map_or_else(|| Row::alone(name, 0, time, ADDRESS), |theirs| Row::times(name, 0, time, PEER, theirs, ADDRESS))
}

/// Addresses of DCC, CMASK and HTILE.
fn metadata(generation: &Generation, wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let chip = &generation.chip;
    for (what, kind) in [("dcc", MetaKind::Dcc), ("cmask", MetaKind::Cmask), ("htile", MetaKind::Htile)] {
        let name = format!("{what}-{}", generation.name);
        if !wanted.has(&name) {
            continue;
        }
        let time = match chip.level() {
            // DCC of GFX8 and all of GFX12's have no addresses.
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 if kind != MetaKind::Dcc => old(chip, kind),
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx12 => None,
            _ => new(chip, kind).map(|tables| {
                let mut sum = 0;
                let time = alone(|at| {
                    let (x, y) = (at.wrapping_mul(7) & 511, at.wrapping_mul(13) & 511);
                    sum ^= tables.address(black_box(x), y, 0, 0).byte;
                });
                black_box(sum);
                time
            }),
        };
        if let Some(time) = time {
            add(Row::alone(&name, 0, time, ADDRESS));
        }
    }
}

fn old(chip: &Chip, kind: MetaKind) -> Option<f64> {
    let depth = kind == MetaKind::Htile;
    let order = if depth { addr1::TileType::Depth } else { addr1::TileType::NonDisplay };
    let mut image = addr1::Image::new(addr1::TileMode::THIN_2D, order, 32, 1920, 1080);
    if depth {
        image.usage = addr1::Usage::DEPTH;
    }
    let layout = addr1::layout(chip, &image).ok()?;
    let (level, _) = layout.level(0)?;
    let mask = if depth { addr1::mask::htile(chip, level, false) } else { addr1::mask::cmask(chip, level, false) };
    let tables = mask.tables(chip);
    let mut sum = 0;
    let time = alone(|at| {
        let (x, y) = (at.wrapping_mul(7) & 511, at.wrapping_mul(13) & 511);
        sum ^= tables.address(black_box(x), y, 0).0;
    });
    black_box(sum);
    Some(time)
}

fn new(chip: &Chip, kind: MetaKind) -> Option<MetaTables> {
    let number = match (kind, chip.level()) {
        (MetaKind::Dcc, GfxLevel::Gfx9) => 25,
        (MetaKind::Dcc, _) => 27,
        _ => 24,
    };
    let image = MetaImage {
        kind,
        mode: SwizzleMode::new(number)?,
        dimension: addr2::Dimension::D2,
        bits: 32,
        width: 1920,
        height: 1080,
        slices: 1,
        levels: 1,
        samples: 1,
        fragments: 1,
        pipe_aligned: true,
        rb_aligned: true,
        first_tail: 0,
    };
    let layout = image.layout(chip).ok()?;
    MetaAddresser::new(chip, &image, &layout, 0).ok()?.tables().ok()
}
