//! The modes that an image can have. Source: `Gfx12Lib::HwlGetPossibleSwizzleModes`.

use super::{Dimension, Format, Image, Mode, Usage};
use crate::error::{AddrError, Cause, invalid};

/// Returns a mask of the modes that an image can have, by mode number; it may be empty. The mode and pitch of `image` are ignored.
/// Blocks larger than `max_align` bytes are excluded, unless `max_align` is 0.
///
/// # Errors
/// [`AddrError::Invalid`] if addrlib rejects the description.
pub fn possible_modes(image: &Image, max_align: u32) -> Result<u8, AddrError> {
    const LINEAR: u8 = 1;
    const THIN: u8 = 0x1e;
    const THICK: u8 = 0xe0;
    let image = image.normalised();
    let msaa = image.samples > 1;
    let has = |usage| image.usage.intersects(usage);
    if msaa && (image.dimension != Dimension::D2 || image.levels > 1) {
        return invalid(Cause::Samples(image.samples));
    }
    if has(Usage::DISPLAY) && image.dimension != Dimension::D2 {
        return invalid(Cause::Usage);
    }
    if has(Usage::VRS) && (image.dimension != Dimension::D2 || image.bits != 8) {
        return invalid(Cause::Usage);
    }
    let mut modes = if image.format == Format::Rgb96 {
        LINEAR
    } else if has(Usage::DEPTH | Usage::STENCIL) {
        Mode::D2_64K.bit() | Mode::D2_256K.bit()
    } else if has(Usage::HIZ_HIS) || msaa {
        THIN
    } else if has(Usage::PRT) {
        if image.dimension == Dimension::D3 { Mode::D3_64K.bit() } else { Mode::D2_64K.bit() }
    } else if image.format == Format::BlockCompressed || image.dimension != Dimension::D3 || has(Usage::VIEW_3D_AS_2D) {
        let small = if image.dimension == Dimension::D3 { 0 } else { Mode::D2_256B.bit() };
        LINEAR | small | Mode::D2_4K.bit() | Mode::D2_64K.bit() | Mode::D2_256K.bit()
    } else {
        LINEAR | THICK
    };
    if has(Usage::VRS) {
        modes &= !LINEAR;
    }
    if max_align > 0 {
        for mode in Mode::ALL {
            if !mode.is_linear() && 1 << mode.block_bits() > max_align {
                modes &= !mode.bit();
            }
        }
    }
    Ok(modes)
}

impl Mode {
    /// Returns the mode's bit in a mask of modes.
    pub const fn bit(self) -> u8 {
        1 << self.number()
    }
}
