//! Place of an image in memory, as descriptors and targets take it.

use amdgpu_hw::GpuVa;

use crate::error::DescriptorError;

/// Arrangement of an image's texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// GFX6 to GFX8.
    Legacy {
        /// Index into the table of tile modes.
        index: u32,
        /// Texels from one row of the first level to the next.
        pitch: u32,
        /// The first level has macro tiles.
        macro_tiled: bool,
    },
    /// GFX9.
    Gfx9 {
        /// Swizzle mode.
        mode: u32,
        /// The pitch as addrlib gives it: less one, and sometimes the height.
        epitch: u32,
    },
    /// GFX10 and later.
    Modern {
        /// Swizzle mode.
        mode: u32,
        /// The pitch in elements of a linear image whose pitch is not the hardware's (GFX10.3 and later).
        pitch: Option<u32>,
    },
}

/// The compression data of an image that a shader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageMeta {
    /// DCC. GFX12 keeps it with the pages and takes nothing of this.
    Dcc {
        /// Bytes from the buffer's start.
        offset: u64,
        /// Bytes from there to the DCC of the first level (GFX8).
        level_offset: u64,
        /// Exponent of its alignment.
        align_log2: u32,
        /// Aligned to pipes (GFX9 and later).
        pipe_aligned: bool,
        /// Aligned to render backends (GFX9).
        rb_aligned: bool,
        /// Alpha is the most significant component, as [`Format::alpha_is_on_msb_of`](crate::format::Format::alpha_is_on_msb_of) says (GFX8
        /// to GFX10.3).
        alpha_is_on_msb: bool,
    },
    /// HTILE that the texture units read.
    Htile {
        /// Bytes from the buffer's start.
        offset: u64,
        /// Covers 256 bytes of samples (GFX10 and later).
        iterate_256: bool,
    },
}

/// The memory of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePlace {
    /// The first byte of the buffer.
    pub base: GpuVa,
    /// Bytes from there to the plane; up to GFX8 to the first level of the view.
    pub offset: u64,
    /// Spreading over channels, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// The order of texels.
    pub tiling: Tiling,
    /// Compression data.
    pub meta: Option<ImageMeta>,
    /// Largest compressed block: 64, 128 or 256 bytes for 0 to 2 (GFX10 and later with DCC, GFX12 always).
    pub max_compressed_block: u32,
}

/// Returns the low 48 bits of an address in a buffer.
pub(crate) fn address(base: GpuVa, offset: u64) -> Result<u64, DescriptorError> {
    let sum = base.checked_add(offset).ok_or(DescriptorError::Address { base: base.as_u64(), offset })?;
    Ok(sum.low_48_bits())
}

/// Returns the logarithm of a number of samples.
pub(crate) fn log2_samples(samples: u32, stored: u32) -> Result<u32, DescriptorError> {
    if samples.is_power_of_two() && samples <= 16 {
        Ok(samples.ilog2())
    } else {
        Err(DescriptorError::Samples { samples, stored })
    }
}
