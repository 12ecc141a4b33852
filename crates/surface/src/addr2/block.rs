//! Dimensions of blocks.

use super::image::Image;
use crate::chip::Chip;

/// The dimensions of 256-byte blocks, by the base-2 logarithm of the element size (`Block256_2d`).
pub(crate) const MICRO_2D: [[u32; 2]; 5] = [[16, 16], [16, 8], [8, 8], [8, 4], [4, 4]];

/// The dimensions of 256-byte blocks with several slices: Z order on GFX9, all orders on GFX10 and later (`Block256_3d`).
pub(crate) const MICRO_3D: [[u32; 3]; 5] = [[8, 4, 8], [4, 4, 8], [4, 4, 4], [4, 2, 4], [2, 2, 4]];

/// The dimensions of 1 KiB blocks with several slices (`Block1K_3d`).
const KIB_3D: [[u32; 3]; 5] = [[16, 8, 8], [8, 8, 8], [8, 8, 4], [8, 4, 4], [4, 4, 4]];

/// Returns the dimensions of a thin block (`ComputeThinBlockDimension`).
pub(crate) const fn thin(block_bits: u32, bytes_log2: u32, samples_log2: u32) -> [u32; 3] {
    let bits = block_bits.saturating_sub(bytes_log2).saturating_sub(samples_log2);
    let wide = samples_log2 & 1 == 0 || block_bits & 1 == 1;
    let width = if wide { bits.div_ceil(2) } else { bits / 2 };
    [1 << width, 1 << (bits - width), 1]
}

/// Returns the dimensions of a thick block (`ComputeThickBlockDimension`).
pub(crate) const fn thick(block_bits: u32, bytes_log2: u32) -> [u32; 3] {
    let more = block_bits.saturating_sub(10);
    let [w, h, d] = KIB_3D[bytes_log2 as usize];
    let (third, rest) = (more / 3, more % 3);
    [w << third, h << (third + rest / 2), d << (third + if rest == 0 { 0 } else { 1 })]
}

/// Returns the dimensions of the blocks of an image. For the linear mode, whose rows have no blocks, returns 256 bytes of a row.
pub(crate) fn dimensions(chip: &Chip, image: &Image) -> [u32; 3] {
    let bytes_log2 = image.bytes_log2();
    if image.mode.is_linear() {
        return [(256 / image.bytes().max(1)).max(1), 1, 1];
    }
    let bits = image.mode.block_bits(chip);
    if image.mode.is_thick(chip.level(), image.dimension) {
        thick(bits, bytes_log2)
    } else {
        thin(bits, bytes_log2, crate::bits::log2(image.fragments))
    }
}

/// Returns the dimensions of the largest level that fits the mip tail of a block (`GetMipTailDim`).
pub(crate) const fn tail(block: [u32; 3], block_bits: u32, thick: bool) -> [u32; 3] {
    let [w, h, d] = block;
    if thick {
        match block_bits % 3 {
            0 => [w, h >> 1, d],
            1 => [w >> 1, h, d],
            _ => [w, h, d >> 1],
        }
    } else {
        [w >> 1, h, d]
    }
}
