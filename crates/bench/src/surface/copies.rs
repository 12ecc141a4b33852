//! Tiling and detiling beside memcpy.

use std::hint::black_box;

use amdgpu_bench::measure::compare_least;
use amdgpu_surface::{
    Chip, GfxLevel,
    addr1::{self, TileMode, TileType},
    addr2::{self, SwizzleMode},
    addr3,
    tiler::{Region, Rows, Subresource},
};

use super::{
    chips::Generation,
    times::{seen, timed},
};
use crate::{
    child::Wanted,
    row::{Goal, Row},
};

/// Bytes that are copied: those of 4096x4096 texels of 32 bits.
const BYTES: usize = 64 << 20;
/// Times that each side is measured.
const TIMES: usize = 9;

/// A mode that drivers use, by generation.
#[derive(Clone, Copy)]
enum Mode {
    Tiles(TileMode, TileType),
    Blocks(u8),
    New(addr3::Mode),
}

fn modes(level: GfxLevel) -> &'static [(&'static str, Mode)] {
    use Mode::{Blocks, New, Tiles};
    match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => &[
            ("1D", Tiles(TileMode::THIN_1D, TileType::NonDisplay)),
            ("2D", Tiles(TileMode::THIN_2D, TileType::NonDisplay)),
            ("2D-display", Tiles(TileMode::THIN_2D, TileType::Display)),
        ],
        GfxLevel::Gfx9 => {
            &[("64K_S", Blocks(9)), ("64K_R_X", Blocks(27)), ("64K_S_X", Blocks(25)), ("64K_D_X", Blocks(26))]
        }
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => {
            &[("64K_S", Blocks(9)), ("64K_Z_X", Blocks(24)), ("64K_R_X", Blocks(27))]
        }
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => {
            &[("64K_D", Blocks(10)), ("64K_R_X", Blocks(27)), ("256K_R_X", Blocks(31))]
        }
        GfxLevel::Gfx12 => &[("64K", New(addr3::Mode::D2_64K)), ("256K", New(addr3::Mode::D2_256K))],
    }
}

/// Prepares an image of a mode; also returns its bytes.
fn level(chip: &Chip, mode: Mode, bits: u32, [width, height]: [u32; 2]) -> Option<(Subresource, u64)> {
    match mode {
        Mode::Tiles(mode, order) => {
            let image = addr1::Image::new(mode, order, bits, width, height);
            let layout = addr1::layout(chip, &image).ok()?;
            let (level, _) = layout.level(0)?;
            let addresser = addr1::Addresser::new(chip, &image, level, 0, 0).ok()?;
            Some((Subresource::gfx6(&addresser).ok()?, level.bytes))
        }
        Mode::Blocks(number) => {
            let image = addr2::Image::new(SwizzleMode::new(number)?, bits, width, height);
            let layout = addr2::layout(chip, &image).ok()?;
            let addresser = addr2::Addresser::new(chip, &image, &layout, 0).ok()?;
            Some((Subresource::gfx9(&addresser, 0).ok()?, layout.bytes))
        }
        Mode::New(mode) => {
            let image = addr3::Image::new(mode, bits, width, height);
            let layout = addr3::layout(chip, &image).ok()?;
            Some((Subresource::gfx12(&image, &layout, 0).ok()?, layout.bytes))
        }
    }
}

/// Every row of copies: 32 bits an element in each mode, 8 and 128 bits in the last one of a generation.
pub(super) fn all(chips: &[Generation], wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let rows: Vec<u8> = (0..BYTES).map(|at| (at.wrapping_mul(0x9e37) >> 7) as u8).collect();
    let (mut linear, mut tiled) = (vec![0_u8; BYTES], Vec::new());
    for Generation { name, chip, .. } in chips {
        let modes = modes(chip.level());
        let others = modes.last().into_iter().flat_map(|mode| [(mode, 8), (mode, 128)]);
        for (&(mode_name, mode), bits) in modes.iter().map(|mode| (mode, 32)).chain(others) {
            let size = match bits {
                8 => [8192, 8192],
                128 => [2048, 2048],
                _ => [4096, 4096],
            };
            let names = ["tile", "detile"].map(|what| match bits {
                32 => format!("{what}-{name}-{mode_name}"),
                _ => format!("{what}-{name}-{mode_name}-{bits}"),
            });
            if !names.iter().any(|name| wanted.has(name)) {
                continue;
            }
            let Some((level, bytes)) = level(chip, mode, bits, size) else {
                add(Row::missing(&names[0], "memcpy", "no such image"));
                continue;
            };
            tiled.resize(bytes as usize, 0);
            let whole = Region::whole(size[0], size[1], 1);
            let pitch = BYTES / size[1] as usize;
            let layout = Rows { pitch, slice: BYTES };
            if wanted.has(&names[0]) {
                let memcpy = |to: &mut [u8]| timed(|| black_box(&mut to[..BYTES]).copy_from_slice(black_box(&rows)));
                let times = {
                    let tiled = std::cell::RefCell::new(&mut tiled);
                    let ours = || timed(|| seen(level.tile(&whole, &rows, layout, tiled.borrow_mut().as_mut_slice())));
                    compare_least(TIMES, ours, || memcpy(tiled.borrow_mut().as_mut_slice()))
                };
                add(row(&names[0], bits, times));
            }
            if wanted.has(&names[1]) {
                let times = {
                    let linear = std::cell::RefCell::new(&mut linear);
                    let ours =
                        || timed(|| seen(level.detile(&whole, &tiled, linear.borrow_mut().as_mut_slice(), layout)));
                    compare_least(TIMES, ours, || {
                        timed(|| black_box(linear.borrow_mut()).copy_from_slice(black_box(&tiled[..BYTES])))
                    })
                };
                add(row(&names[1], bits, times));
            }
        }
    }
}

/// The goal is for 32 bits; bytes have to beat addrlib's 1500 MB/s.
fn row(name: &str, bits: u32, times: amdgpu_bench::measure::Compared) -> Row {
    let rate = |nanoseconds: f64| BYTES as f64 * 1e3 / nanoseconds;
    let goal = match bits {
        32 => Goal::RatioAtLeast(0.5),
        8 => Goal::Above(1500.0),
        _ => Goal::None,
    };
    Row::speeds(name, 0, rate(times.ours), "memcpy", rate(times.floor), goal)
}
