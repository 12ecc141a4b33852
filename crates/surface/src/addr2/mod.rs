//! Sizes and addresses of images with a given swizzle mode, on GFX9 to GFX11.
//!
//! Reference: addrlib's second interface (`core/addrlib2.cpp`, `gfx9/`, `gfx10/`, `gfx11/gfx11addrlib.cpp`).

mod address;
mod block;
mod check;
mod choose;
mod dimension;
mod equation;
pub(crate) mod gfx10;
mod gfx9;
mod image;
mod linear;
pub mod meta;
mod mode;
mod xor;

pub use address::Addresser;
pub(crate) use block::tail as tail_limit;
pub use choose::{Blocks, Choice, Orders, Reason, Restrictions, choose};
pub use dimension::Dimension;
pub(crate) use image::MAX_EXTENT;
pub use image::{Format, Image, Layout, Level, Levels, MAX_LEVELS, Usage};
pub(crate) use mode::display_modes;
pub use mode::{Order, SwizzleMode, sets};
pub use xor::{slice_xor, surface_xor};

use crate::chip::Chip;
use crate::error::{AddrError, Cause, invalid};
use amdgpu_hw::GfxLevel;

/// Computes the sizes and mip levels of an image.
///
/// # Errors
/// [`AddrError`] if addrlib's `Addr2ComputeSurfaceInfo` returns an error.
pub fn layout(chip: &Chip, image: &Image) -> Result<Layout, AddrError> {
    if !(GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&chip.level()) {
        return invalid(Cause::Generation);
    }
    if image.levels as usize > MAX_LEVELS {
        return invalid(Cause::Levels(image.levels));
    }
    let image = image.normalised();
    // An element of 96 bits is three adjacent elements of 32 bits.
    let expand = if image.format == Format::Rgb96 { 3 } else { 1 };
    let Some(width) = image.width.checked_mul(expand) else {
        return invalid(Cause::Width(image.width));
    };
    if width > image::MAX_EXTENT || image.height > image::MAX_EXTENT || image.slices > image::MAX_EXTENT {
        return invalid(Cause::Overflow);
    }
    let inner = Image { width, bits: if expand == 3 { 32 } else { image.bits }, ..image };
    check::without_mode(chip, &inner)?;
    check::mode(chip, &inner)?;
    let mut layout = if inner.mode.is_linear() {
        linear::layout(chip, &inner)?
    } else if chip.level() == GfxLevel::Gfx9 {
        gfx9::layout(chip, &inner)?
    } else {
        gfx10::layout(chip, &inner)
    };
    layout.pixel_pitch = layout.pitch / expand;
    Ok(layout)
}
