//! Addresses of texels. Source: `Gfx12Lib::HwlComputeSurfaceAddrFromCoordTiled`, `-Linear`.

use super::{Image, Layout, Mode};
use crate::bits::log2;
use crate::blocks::{BlockImage, LevelOrder};
use crate::equation::{Equation, Texel};
use crate::error::{AddrError, Cause, invalid};
use crate::tables::gfx12 as t;

/// A converter from coordinates in one image to addresses. After preparation, each address takes one evaluation of the block's
/// equation.
#[derive(Clone, Debug)]
pub struct Addresser(BlockImage);

/// Returns the equation of the offset inside a block.
pub(crate) fn of_block(mode: Mode, bytes_log2: u32, samples_log2: u32) -> Equation {
    let tables: [&[u16; 5]; 4] = match mode {
        Mode::D2_256B | Mode::Linear => {
            [&t::SW_256B_2D_1XAA, &t::SW_256B_2D_2XAA, &t::SW_256B_2D_4XAA, &t::SW_256B_2D_8XAA]
        }
        Mode::D2_4K => [&t::SW_4KB_2D_1XAA, &t::SW_4KB_2D_2XAA, &t::SW_4KB_2D_4XAA, &t::SW_4KB_2D_8XAA],
        Mode::D2_64K => [&t::SW_64KB_2D_1XAA, &t::SW_64KB_2D_2XAA, &t::SW_64KB_2D_4XAA, &t::SW_64KB_2D_8XAA],
        Mode::D2_256K => [&t::SW_256KB_2D_1XAA, &t::SW_256KB_2D_2XAA, &t::SW_256KB_2D_4XAA, &t::SW_256KB_2D_8XAA],
        Mode::D3_4K => [&t::SW_4KB_3D; 4],
        Mode::D3_64K => [&t::SW_64KB_3D; 4],
        Mode::D3_256K => [&t::SW_256KB_3D; 4],
    };
    t::PATTERNS.equation(tables[samples_log2.min(3) as usize][bytes_log2.min(4) as usize])
}

impl Addresser {
    /// Prepares the addresses of an image. `layout` must be the result of [`super::layout`] for this image.
    ///
    /// # Errors
    /// [`AddrError`] if addrlib's `Addr3ComputeSurfaceAddrFromCoord` returns an error: for linear images and 3D images with several
    /// samples.
    pub fn new(image: &Image, layout: &Layout) -> Result<Self, AddrError> {
        let image = image.normalised();
        if image.samples > 1 && (image.mode.is_linear() || image.mode.is_3d()) {
            return invalid(Cause::Samples(image.samples));
        }
        let equation = of_block(image.mode, image.bytes_log2(), log2(image.samples));
        Ok(Self(BlockImage {
            levels: layout.levels,
            level_count: image.levels,
            samples: image.samples,
            bytes: image.bytes(),
            expansion: image.expansion(),
            slices: layout.slices,
            slice_bytes: layout.slice_bytes,
            is_linear: image.mode.is_linear(),
            order: LevelOrder::Separate,
            equation,
            block_log2: layout.block.map(log2),
            block_bits: image.mode.block_bits(),
            xor: 0,
        }))
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
