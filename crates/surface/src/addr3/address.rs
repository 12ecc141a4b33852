//! Addresses of texels. Source: `Gfx12Lib::HwlComputeSurfaceAddrFromCoordTiled`, `-Linear`.

use super::{Image, Layout, Mode};
use crate::addr2::Level;
use crate::bits::log2;
use crate::equation::{Equation, Texel};
use crate::error::{AddrError, Cause, invalid};
use crate::tables::gfx12 as t;
use crate::tiler::BlockPlan;

/// A converter from coordinates in one image to addresses. After preparation, each address takes one evaluation of the block's
/// equation.
#[derive(Clone, Debug)]
pub struct Addresser {
    image: Image,
    layout: Layout,
    equation: Equation,
    block_log2: [u32; 3],
}

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
        Ok(Self { image, layout: *layout, equation, block_log2: layout.block.map(log2) })
    }

    /// Returns the address of a texel in bytes from the start of the image.
    ///
    /// # Errors
    /// [`Cause::Coordinate`] if the image lacks the level or sample.
    pub fn address(&self, texel: Texel) -> Result<u64, AddrError> {
        if texel.level >= self.image.levels || texel.sample >= self.image.samples {
            return invalid(Cause::Coordinate);
        }
        let level = self.layout.levels[texel.level];
        let (x, y, z) = (texel.x, texel.y, texel.z);
        if self.image.mode.is_linear() {
            let row = u64::from(y) * self.row_bytes(&level) + u64::from(x) * u64::from(self.image.bytes());
            return Ok(self.layout.slice_bytes * u64::from(z) + level.offset + row);
        }
        let [w, h, d] = self.block_log2;
        let offset = self.equation.evaluate(x + level.tail[0], y + level.tail[1], z + level.tail[2], texel.sample);
        let block = u64::from(y >> h) * u64::from(level.pitch >> w) + u64::from(x >> w);
        let slice = (self.layout.slice_bytes << d) * u64::from(z >> d);
        Ok(slice + level.block_offset + (block << self.image.mode.block_bits()) + u64::from(offset))
    }

    /// Returns the number of levels.
    pub(crate) const fn level_count(&self) -> u32 {
        self.image.levels
    }

    /// Returns the padded extent of a level, the number of samples, and the size of an element in bytes.
    pub(crate) fn extent(&self, level: u32) -> Option<([u32; 3], u32, u32)> {
        let found = self.layout.levels.as_slice().get(level as usize)?;
        let extent = [found.pitch / self.image.expansion(), found.height, found.depth.max(self.layout.slices)];
        Some((extent, self.image.samples, self.image.bytes()))
    }

    /// Returns the offset of a level and the sizes of rows and slices in bytes, if the image is linear.
    pub(crate) fn linear(&self, level: u32) -> Option<(u64, u64, u64)> {
        let found = self.layout.levels.as_slice().get(level as usize)?;
        let pitch = self.row_bytes(found);
        self.image.mode.is_linear().then_some((found.offset, pitch, self.layout.slice_bytes))
    }

    /// Returns the size of a row of a linear level in bytes. The pitch of elements of 96 bits is in units of 32 bits.
    fn row_bytes(&self, level: &Level) -> u64 {
        u64::from(level.pitch) * u64::from(self.image.bytes() / self.image.expansion())
    }

    /// Returns the parameters for preparing the addresses of a level in blocks.
    pub(crate) fn plan(&self, level: u32) -> Option<BlockPlan> {
        let found = self.layout.levels.as_slice().get(level as usize)?;
        if self.image.mode.is_linear() {
            return None;
        }
        let [w, _, d] = self.block_log2;
        Some(BlockPlan {
            equation: self.equation,
            constant: 0,
            origin: found.tail,
            block_log2: self.block_log2,
            block_bits: self.image.mode.block_bits(),
            base: found.block_offset,
            row_bytes: u64::from(found.pitch >> w) << self.image.mode.block_bits(),
            slice_bytes: self.layout.slice_bytes << d,
        })
    }
}
