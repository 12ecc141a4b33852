//! Names of tile and swizzle modes.

use amdgpu_surface::surface::{LevelMode, SurfaceLayout};
use amdgpu_surface::{Chip, GfxLevel};

/// Returns the name of an image's mode, as AMD's headers spell it, with its number.
pub(crate) fn mode(chip: &Chip, layout: &SurfaceLayout) -> String {
    let number = layout.swizzle_mode;
    if let Some(legacy) = &layout.legacy {
        let [first, ..] = &legacy.levels;
        let name = match first.mode {
            LevelMode::Linear => "LINEAR_ALIGNED",
            LevelMode::Tiled1d => "1D_TILED",
            LevelMode::Tiled2d => "2D_TILED",
        };
        return format!("{name} (tile index {})", first.tile_index);
    }
    let name = if chip.level() == GfxLevel::Gfx12 { gfx12(number).to_owned() } else { gfx9(chip.level(), number) };
    format!("{name} ({number})")
}

const fn gfx12(number: u8) -> &'static str {
    match number {
        0 => "LINEAR",
        1 => "256B_2D",
        2 => "4KB_2D",
        3 => "64KB_2D",
        4 => "256KB_2D",
        5 => "4KB_3D",
        6 => "64KB_3D",
        _ => "256KB_3D",
    }
}

fn gfx9(level: GfxLevel, number: u8) -> String {
    if number == 0 {
        return "LINEAR".to_owned();
    }
    let order = match number & 3 {
        0 => 'Z',
        1 => 'S',
        2 => 'D',
        _ => 'R',
    };
    let (block, suffix) = match number >> 2 {
        0 => ("256B", ""),
        1 => ("4KB", ""),
        2 => ("64KB", ""),
        4 => ("64KB", "_T"),
        5 => ("4KB", "_X"),
        6 => ("64KB", "_X"),
        _ if level >= GfxLevel::Gfx11 => ("256KB", "_X"),
        _ => ("VAR", "_X"),
    };
    format!("{block}_{order}{suffix}")
}
