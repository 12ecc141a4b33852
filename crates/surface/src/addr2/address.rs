//! Addresses of texels.

use amdgpu_hw::GfxLevel;

use super::equation;
use super::image::{Image, Layout};
use crate::bits::{log2, mask};
use crate::blocks::{BlockImage, LevelOrder};
use crate::chip::Chip;
use crate::equation::{Equation, Texel};
use crate::error::{AddrError, Cause, invalid};

/// A converter from coordinates in one image to addresses. After preparation, each address takes one evaluation of the block's
/// equation.
#[derive(Clone, Debug)]
pub struct Addresser(BlockImage);

impl Addresser {
    /// Prepares the addresses of an image with a pipe and bank XOR. `layout` must be the result of [`super::layout`] for this
    /// image.
    ///
    /// # Errors
    /// [`AddrError`] if addrlib's `Addr2ComputeSurfaceAddrFromCoord` returns an error: for a XOR with a mode that has none (GFX9),
    /// or a mode without addresses.
    pub fn new(chip: &Chip, image: &Image, layout: &Layout, pipe_bank_xor: u32) -> Result<Self, AddrError> {
        let image = image.normalised();
        let mode = image.mode;
        let gfx9 = chip.level() == GfxLevel::Gfx9;
        let block_bits = mode.block_bits(chip);
        let mut blocks = BlockImage {
            levels: layout.levels,
            level_count: image.levels,
            samples: image.samples,
            bytes: image.bytes(),
            expansion: image.expansion(),
            slices: layout.slices,
            slice_bytes: layout.slice_bytes,
            is_linear: mode.is_linear(),
            order: if gfx9 {
                LevelOrder::Plane { pitch: layout.chain_pitch, height: layout.chain_height }
            } else {
                LevelOrder::Separate
            },
            equation: Equation::zero(0),
            block_log2: layout.block.map(log2),
            block_bits,
            xor: 0,
        };
        if blocks.is_linear {
            return Ok(Self(blocks));
        }
        if gfx9 && !mode.is_xor() && pipe_bank_xor != 0 {
            return invalid(Cause::PipeBankXor(pipe_bank_xor));
        }
        let Some(equation) = equation::of_block(chip, &image) else {
            return invalid(Cause::Mode(u32::from(mode.number())));
        };
        // addrlib cannot represent such a term in 3D images, and rejects address computations.
        if image.is_3d() && equation.terms().iter().any(|term| term.components() > 3) {
            return invalid(Cause::Mode(u32::from(mode.number())));
        }
        blocks.equation = equation;
        if mode.is_xor() {
            let used = if gfx9 {
                u32::MAX
            } else {
                let pipes = chip.config.pipes;
                let banks = bank_xor_bits(chip, block_bits);
                mask(pipes) | mask(banks) << (pipes + 2)
            };
            blocks.xor = ((pipe_bank_xor & used) << 8) & mask(block_bits);
        }
        Ok(Self(blocks))
    }

    /// Returns the address of a texel in bytes from the start of the image. The address is meaningless if the texel is outside the
    /// padded level.
    ///
    /// # Errors
    /// [`Cause::Coordinate`] if the image lacks the level or sample.
    pub fn address(&self, texel: Texel) -> Result<u64, AddrError> {
        self.0.address(texel)
    }

    /// Returns the image as its addresses see it.
    pub(crate) const fn blocks(&self) -> &BlockImage {
        &self.0
    }
}

/// Returns the number of bank bits in a pipe and bank XOR on GFX10 and later (`GetBankXorBits`).
pub(crate) const fn bank_xor_bits(chip: &Chip, block_bits: u32) -> u32 {
    let room = block_bits.saturating_sub(8 + chip.config.pipes + 2);
    if room > 4 { 4 } else { room }
}
