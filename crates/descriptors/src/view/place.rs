//! The location and tiling of an image in memory, for descriptors and targets.

use amdgpu_hw::GpuVa;

use crate::error::DescriptorError;

/// The tiling of an image: the order of its texels in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// The tiling of GFX6 to GFX8, given by a tile mode.
    Legacy {
        /// The index into the table of tile modes.
        index: u32,
        /// The distance between rows of the first level in texels.
        pitch: u32,
        /// `true` if the first level has macro tiles.
        macro_tiled: bool,
    },
    /// The tiling of GFX9, given by a swizzle mode.
    Gfx9 {
        /// The swizzle mode of the image.
        mode: u32,
        /// The epitch of addrlib: the pitch minus one, or for some images the height minus one.
        epitch: u32,
    },
    /// The tiling of GFX10 and later, given by a swizzle mode.
    Modern {
        /// The swizzle mode of the image.
        mode: u32,
        /// The pitch in elements of a linear image, if it differs from the hardware's default (GFX10.3 and later).
        pitch: Option<u32>,
    },
}

/// The compression metadata of an image, as the texture units read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageMeta {
    /// DCC. On GFX12, where the page tables control compression, all fields are ignored.
    Dcc {
        /// The offset of DCC in the buffer, in bytes.
        offset: u64,
        /// The offset of the first level's DCC from `offset`, in bytes (GFX8).
        level_offset: u64,
        /// The base-2 logarithm of the alignment of DCC.
        align_log2: u32,
        /// `true` if DCC is aligned to pipes (GFX9 and later).
        pipe_aligned: bool,
        /// `true` if DCC is aligned to render backends (GFX9).
        rb_aligned: bool,
        /// `true` if alpha is the most significant component, see
        /// [`Format::alpha_is_on_msb_of`](crate::format::Format::alpha_is_on_msb_of) (GFX8 to GFX10.3).
        alpha_is_on_msb: bool,
    },
    /// HTILE that the texture units can read.
    Htile {
        /// The offset of HTILE in the buffer, in bytes.
        offset: u64,
        /// `true` if HTILE iterates over 256 bytes of samples (GFX10 and later).
        iterate_256: bool,
    },
}

/// The location and tiling of an image in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePlace {
    /// The address of the buffer that contains the image.
    pub base: GpuVa,
    /// The offset of the plane in the buffer in bytes; up to GFX8 the offset of the view's first level.
    pub offset: u64,
    /// The tile swizzle, which spreads images over the memory channels, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// The tiling of the image.
    pub tiling: Tiling,
    /// The compression metadata, if the texture units read it.
    pub meta: Option<ImageMeta>,
    /// The size of the largest compressed DCC block: 0 to 2 for 64, 128 or 256 bytes (GFX10 and later with DCC, GFX12 always).
    pub max_compressed_block: u32,
}

/// Returns the low 48 bits of `base` plus `offset`.
pub(crate) fn address(base: GpuVa, offset: u64) -> Result<u64, DescriptorError> {
    let sum = base.checked_add(offset).ok_or(DescriptorError::Address { base: base.as_u64(), offset })?;
    Ok(sum.low_48_bits())
}

/// Returns the base-2 logarithm of `samples`.
pub(crate) fn log2_samples(samples: u32, stored: u32) -> Result<u32, DescriptorError> {
    if samples.is_power_of_two() && samples <= 16 {
        Ok(samples.ilog2())
    } else {
        Err(DescriptorError::Samples { samples, stored })
    }
}
