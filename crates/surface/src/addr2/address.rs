//! Addresses of texels.

use amdgpu_hw::GfxLevel;

use super::equation;
use super::image::{Image, Layout, Level};
use crate::bits::{log2, mask};
use crate::chip::Chip;
use crate::equation::{Equation, Texel};
use crate::error::{AddrError, Cause, invalid};
use crate::tiler::BlockPlan;

/// A converter from coordinates in one image to addresses. After preparation, each address takes one evaluation of the block's
/// equation.
#[derive(Clone, Debug)]
pub struct Addresser {
    image: Image,
    layout: Layout,
    equation: Equation,
    block_log2: [u32; 3],
    block_bits: u32,
    gfx9: bool,
    xor: u32,
}

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
        let mut this = Self {
            image,
            layout: *layout,
            equation: Equation::zero(0),
            block_log2: layout.block.map(log2),
            block_bits,
            gfx9,
            xor: 0,
        };
        if mode.is_linear() {
            return Ok(this);
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
        this.equation = equation;
        if mode.is_xor() {
            let used = if gfx9 {
                u32::MAX
            } else {
                let pipes = chip.config.pipes;
                let banks = bank_xor_bits(chip, block_bits);
                mask(pipes) | mask(banks) << (pipes + 2)
            };
            this.xor = ((pipe_bank_xor & used) << 8) & mask(block_bits);
        }
        Ok(this)
    }

    /// Returns the address of a texel in bytes from the start of the image.
    ///
    /// # Errors
    /// [`Cause::Coordinate`] if the image lacks the level or sample, or the texel is outside the padded level.
    pub fn address(&self, texel: Texel) -> Result<u64, AddrError> {
        let image = &self.image;
        if texel.level >= image.levels || texel.sample >= image.samples {
            return invalid(Cause::Coordinate);
        }
        let level = self.layout.levels[texel.level];
        let bytes = u64::from(image.bytes());
        if image.mode.is_linear() {
            let slice = u64::from(texel.z) * self.layout.slice_bytes;
            let row = u64::from(texel.y) * self.row_bytes(&level);
            return Ok(slice + level.offset + row + u64::from(texel.x) * bytes);
        }
        Ok(if self.gfx9 { self.gfx9(texel, &level) } else { self.gfx10(texel, &level) })
    }

    /// Returns the number of levels.
    pub(crate) const fn level_count(&self) -> u32 {
        self.image.levels
    }

    /// Returns the padded extent of a level, the number of samples, and the size of an element in bytes.
    pub(crate) fn extent(&self, level: u32) -> Option<([u32; 3], u32, u32)> {
        let found = self.layout.levels.as_slice().get(level as usize)?;
        // Levels in the tail have their own, unpadded extent.
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
        let [w, h, d] = self.block_log2;
        let (pitch, slice_bytes) = if self.gfx9 {
            let row = u64::from(self.layout.chain_pitch >> w);
            (self.layout.chain_pitch, (u64::from(self.layout.chain_height >> h) * row) << self.block_bits)
        } else {
            (found.pitch, self.layout.slice_bytes << d)
        };
        let in_tail = !self.gfx9 && found.tail_offset != 0;
        Some(BlockPlan {
            equation: self.equation,
            constant: if self.gfx9 { (found.tail_offset ^ self.xor) & mask(self.block_bits) } else { self.xor },
            origin: if in_tail { found.tail } else { [0; 3] },
            block_log2: self.block_log2,
            block_bits: self.block_bits,
            base: found.block_offset,
            row_bytes: u64::from(pitch >> w) << self.block_bits,
            slice_bytes,
        })
    }

    fn gfx9(&self, texel: Texel, level: &Level) -> u64 {
        let [w, h, d] = self.block_log2;
        let offset = (self.equation.evaluate(texel.x, texel.y, texel.z, texel.sample) ^ level.tail_offset ^ self.xor)
            & mask(self.block_bits);
        let row = u64::from(self.layout.chain_pitch >> w);
        let slice = u64::from(self.layout.chain_height >> h) * row;
        let block = u64::from(texel.z >> d) * slice + u64::from(texel.y >> h) * row + u64::from(texel.x >> w);
        (block << self.block_bits) + level.block_offset + u64::from(offset)
    }

    fn gfx10(&self, texel: Texel, level: &Level) -> u64 {
        let [w, h, d] = self.block_log2;
        let tail = if level.tail_offset == 0 { [0; 3] } else { level.tail };
        let offset =
            self.equation.evaluate(texel.x + tail[0], texel.y + tail[1], texel.z + tail[2], texel.sample) ^ self.xor;
        let slice = (self.layout.slice_bytes << d) * u64::from(texel.z >> d);
        let row = u64::from(level.pitch >> w);
        let block = u64::from(texel.y >> h) * row + u64::from(texel.x >> w);
        slice + level.block_offset + (block << self.block_bits) + u64::from(offset)
    }
}

/// Returns the number of bank bits in a pipe and bank XOR on GFX10 and later (`GetBankXorBits`).
pub(crate) const fn bank_xor_bits(chip: &Chip, block_bits: u32) -> u32 {
    let room = block_bits.saturating_sub(8 + chip.config.pipes + 2);
    if room > 4 { 4 } else { room }
}
