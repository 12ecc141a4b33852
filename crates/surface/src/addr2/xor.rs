//! The pipe and bank XOR, which spreads surfaces and their slices over memory channels.
//!
//! Source: `HwlComputePipeBankXor`, `HwlComputeSlicePipeBankXor`.

use amdgpu_hw::GfxLevel;

use super::address::bank_xor_bits;
use super::equation::{gfx9_xor_bits, of_block};
use super::image::Image;
use crate::bits::{mask, reverse};
use crate::chip::Chip;
use crate::error::{AddrError, Cause};

/// The bank values for 16 banks: for elements of up to 32 bits, and for larger ones (GFX9).
const BANKS_16: [[u32; 16]; 2] =
    [[0, 7, 4, 3, 8, 15, 12, 11, 1, 6, 5, 2, 9, 14, 13, 10], [0, 7, 8, 15, 4, 3, 12, 11, 1, 6, 9, 14, 5, 2, 13, 10]];

/// The bank values by the number of bank bits minus one (GFX10 and later).
const BANKS: [[u32; 8]; 4] =
    [[0, 1, 0, 1, 0, 1, 0, 1], [0, 2, 1, 3, 2, 0, 3, 1], [0, 4, 2, 6, 1, 5, 3, 7], [0, 8, 4, 12, 2, 10, 6, 14]];

/// Returns the pipe and bank XOR of the surface with this index among the surfaces of its kind.
pub fn surface_xor(chip: &Chip, image: &Image, index: u32) -> u32 {
    let mode = image.mode;
    if !mode.is_xor() || !mode.exists(chip.level()) {
        return 0;
    }
    let block_bits = mode.block_bits(chip);
    if chip.level() == GfxLevel::Gfx9 {
        let (pipes, banks) = gfx9_xor_bits(chip, block_bits);
        let index = index & mask(banks);
        let bank = match banks {
            0 => 0,
            4 => BANKS_16[usize::from(image.bits > 32)][index as usize],
            _ => (index * ((1 << (banks - 1)) - 1).max(1)) & mask(banks),
        };
        return bank << pipes;
    }
    // GFX11 has no pipe and bank XOR by default.
    if mode.is_prt_xor() || chip.level() >= GfxLevel::Gfx11 {
        return 0;
    }
    match bank_xor_bits(chip, block_bits) {
        0 => 0,
        banks => BANKS[banks as usize - 1][(index % 8) as usize] << (chip.config.pipes + 2),
    }
}

/// Returns the pipe and bank XOR of a slice. `base` is the XOR of the surface.
///
/// # Errors
/// [`AddrError::NotSupported`] if the mode has no XOR, if blocks are thick, or if the image is multisampled.
pub fn slice_xor(chip: &Chip, image: &Image, base: u32, slice: u32) -> Result<u32, AddrError> {
    let mode = image.mode;
    let has_xor = mode.is_xor() && !mode.is_prt_xor() && mode.exists(chip.level());
    if !has_xor || mode.is_thick(chip.level(), image.dimension) || image.samples > 1 {
        return Err(AddrError::NotSupported(Cause::Mode(u32::from(mode.number()))));
    }
    let block_bits = mode.block_bits(chip);
    if chip.level() == GfxLevel::Gfx9 {
        let (pipes, banks) = gfx9_xor_bits(chip, block_bits);
        let moved = reverse(slice, pipes) | reverse(slice >> pipes, banks) << pipes;
        return Ok(base ^ moved);
    }
    let single = Image { samples: 1, fragments: 1, ..*image };
    let moved = of_block(chip, &single)
        .map_or_else(|| reverse(slice, chip.config.pipes), |equation| equation.evaluate(0, 0, slice, 0) >> 8);
    Ok(base ^ moved)
}
