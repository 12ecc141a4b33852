//! Addresses of texels in blocks, on GFX9 and later, from the equation of a block and the layout of the levels.

use crate::addr2::{Level, Levels};
use crate::equation::{Equation, Texel};
use crate::error::{AddrError, Cause, invalid};
use crate::tiler::BlockPlan;

/// The order of the levels of an image in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LevelOrder {
    /// The levels are parts of one plane of blocks, so that all have the pitch of the plane (GFX9). Lengths are in elements.
    Plane { pitch: u32, height: u32 },
    /// Each level has a plane of blocks of its own (GFX10 and later).
    Separate,
}

/// An image of one of the generations with blocks, prepared for the addresses of its texels.
#[derive(Clone, Debug)]
pub(crate) struct BlockImage {
    pub(crate) levels: Levels,
    pub(crate) level_count: u32,
    pub(crate) samples: u32,
    /// The size of an element in bytes.
    pub(crate) bytes: u32,
    /// The number of units of a pitch in an element: three for elements of 96 bits, otherwise one.
    pub(crate) expansion: u32,
    /// The padded number of layers or slices.
    pub(crate) slices: u32,
    /// The size of a slice with all its levels, in bytes.
    pub(crate) slice_bytes: u64,
    pub(crate) is_linear: bool,
    pub(crate) order: LevelOrder,
    /// The equation of the offset in a block. Linear images have none.
    pub(crate) equation: Equation,
    /// The base-2 logarithms of a block's dimensions.
    pub(crate) block_log2: [u32; 3],
    /// The base-2 logarithm of a block's size in bytes.
    pub(crate) block_bits: u32,
    /// The value XOR-ed into each offset: the pipe and bank XOR.
    pub(crate) xor: u32,
}

/// The location of a level's blocks.
struct LevelBlocks {
    /// The value XOR-ed into each offset.
    constant: u32,
    /// The value added to coordinates before the equation.
    origin: [u32; 3],
    /// The distance between rows of blocks in bytes.
    row_bytes: u64,
    /// The distance between layers of blocks in bytes.
    slice_bytes: u64,
}

impl BlockImage {
    /// Returns the address of a texel in bytes from the start of the image. The address is meaningless if the texel is outside the
    /// padded level.
    ///
    /// # Errors
    /// [`Cause::Coordinate`] if the image lacks the level or sample.
    pub(crate) fn address(&self, texel: Texel) -> Result<u64, AddrError> {
        let Texel { x, y, z, sample, level } = texel;
        if level >= self.level_count || sample >= self.samples {
            return invalid(Cause::Coordinate);
        }
        let level = self.levels[level];
        let at = |index: u32, distance: u64| u64::from(index).wrapping_mul(distance);
        if self.is_linear {
            let inside = at(y, self.row_bytes(&level)).wrapping_add(at(x, u64::from(self.bytes)));
            return Ok(at(z, self.slice_bytes).wrapping_add(level.offset).wrapping_add(inside));
        }
        let blocks = self.level_blocks(&level);
        let ([w, h, d], [left, top, front]) = (self.block_log2, blocks.origin);
        let (left, top, front) = (x.wrapping_add(left), y.wrapping_add(top), z.wrapping_add(front));
        let offset = self.equation.evaluate(left, top, front, sample) ^ blocks.constant;
        let row = at(y >> h, blocks.row_bytes).wrapping_add(u64::from(x >> w) << self.block_bits);
        let block = at(z >> d, blocks.slice_bytes).wrapping_add(level.block_offset).wrapping_add(row);
        Ok(block.wrapping_add(u64::from(offset)))
    }

    /// Returns the padded extent of a level, the number of samples, and the size of an element in bytes.
    pub(crate) fn extent(&self, level: u32) -> Option<([u32; 3], u32, u32)> {
        let found = self.levels.as_slice().get(level as usize)?;
        // Levels in the tail have their own, unpadded extent.
        let extent = [found.pitch / self.expansion, found.height, found.depth.max(self.slices)];
        Some((extent, self.samples, self.bytes))
    }

    /// Returns the offset of a level and the sizes of rows and slices in bytes, if the image is linear.
    pub(crate) fn linear(&self, level: u32) -> Option<(u64, u64, u64)> {
        let found = self.levels.as_slice().get(level as usize)?;
        self.is_linear.then(|| (found.offset, self.row_bytes(found), self.slice_bytes))
    }

    /// Returns the parameters for preparing the addresses of a level in blocks.
    pub(crate) fn plan(&self, level: u32) -> Option<BlockPlan> {
        let found = self.levels.as_slice().get(level as usize)?;
        if self.is_linear {
            return None;
        }
        let LevelBlocks { constant, origin, row_bytes, slice_bytes } = self.level_blocks(found);
        Some(BlockPlan {
            equation: self.equation,
            constant,
            origin,
            block_log2: self.block_log2,
            block_bits: self.block_bits,
            base: found.block_offset,
            row_bytes,
            slice_bytes,
        })
    }

    /// Returns the size of a row of a linear level in bytes. The pitch of elements of 96 bits is in units of 32 bits.
    fn row_bytes(&self, level: &Level) -> u64 {
        u64::from(level.pitch) * u64::from(self.bytes / self.expansion)
    }

    fn level_blocks(&self, level: &Level) -> LevelBlocks {
        let [w, h, d] = self.block_log2;
        let row_bytes = |pitch: u32| u64::from(pitch >> w) << self.block_bits;
        match self.order {
            LevelOrder::Plane { pitch, height } => LevelBlocks {
                constant: (level.tail_offset ^ self.xor) & crate::bits::mask(self.block_bits),
                origin: [0; 3],
                row_bytes: row_bytes(pitch),
                slice_bytes: u64::from(height >> h) * row_bytes(pitch),
            },
            LevelOrder::Separate => LevelBlocks {
                constant: self.xor,
                origin: level.tail,
                row_bytes: row_bytes(level.pitch),
                slice_bytes: self.slice_bytes << d,
            },
        }
    }
}
