//! The tables of each generation.

use amdgpu_hw::GfxLevel;

use super::tables::Table;
use crate::generated::{gfx6, gfx7, gfx8, gfx9, gfx10, gfx10_3, gfx11, gfx11_5, gfx12};

/// Returns the tables of a generation. GFX11.5 has the operations of GFX11, and scalar operations on floats.
pub fn table(level: GfxLevel) -> &'static Table {
    match level {
        GfxLevel::Gfx6 => &gfx6::TABLE,
        GfxLevel::Gfx7 => &gfx7::TABLE,
        GfxLevel::Gfx8 => &gfx8::TABLE,
        GfxLevel::Gfx9 => &gfx9::TABLE,
        GfxLevel::Gfx10 => &gfx10::TABLE,
        GfxLevel::Gfx10_3 => &gfx10_3::TABLE,
        GfxLevel::Gfx11 => &gfx11::TABLE,
        GfxLevel::Gfx11_5 => &gfx11_5::TABLE,
        GfxLevel::Gfx12 => &gfx12::TABLE,
    }
}
