//! Image descriptors of FMASK, which shaders read as a separate texture (GFX6 to GFX10.3).

use amdgpu_hw::{GfxLevel, GpuVa};

use super::place::{Tiling, address};
use crate::descriptor::ImageDescriptor;
use crate::error::{DescriptorError, Feature};
use crate::fields::image as f;

/// The part of an image's FMASK that a shader accesses.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_build_fmask_descriptor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FmaskView {
    /// The address of the buffer that contains FMASK.
    pub base: GpuVa,
    /// The offset of FMASK in the buffer, in bytes.
    pub offset: u64,
    /// `true` if the image has layers.
    pub is_array: bool,
    /// The width of the image in texels.
    pub width: u32,
    /// The height of the image in texels.
    pub height: u32,
    /// The number of layers (GFX6 to GFX8).
    pub layers: u32,
    /// The first layer of the view.
    pub first_layer: u32,
    /// The last layer of the view.
    pub last_layer: u32,
    /// The number of samples of the image.
    pub samples: u32,
    /// The number of stored samples of the image.
    pub storage_samples: u32,
    /// The tiling of FMASK, with FMASK's pitch.
    pub tiling: Tiling,
    /// The tile swizzle, which spreads images over the memory channels, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// The offset of CMASK in the buffer in bytes, if the texture units read it (GFX8 and later).
    pub cmask_offset: Option<u64>,
}

/// Returns the format numbers for a pair of samples and stored samples: on GFX6 to GFX8, GFX9, and GFX10.
const fn formats(samples: u32, stored: u32) -> Option<(u32, u32, u32)> {
    Some(match (samples, stored) {
        (2, 1) => (44, 0, 156),
        (4, 1) => (45, 1, 157),
        (8, 1) => (46, 2, 158),
        (2, 2) => (47, 3, 159),
        (4, 2) => (48, 4, 160),
        (4, 4) => (49, 5, 161),
        (16, 1) => (50, 6, 162),
        (8, 2) => (51, 7, 163),
        (16, 2) => (52, 8, 164),
        (8, 4) => (53, 9, 165),
        (8, 8) => (54, 10, 166),
        (16, 4) => (55, 11, 167),
        (16, 8) => (56, 12, 168),
        _ => return None,
    })
}

/// `IMG_DATA_FORMAT_FMASK` of GFX9, whose number format encodes the samples.
const GFX9_FMASK: u32 = 45;
/// `IMG_NUM_FORMAT_UINT`.
const UINT: u32 = 4;

impl FmaskView {
    /// Builds the descriptor of the view.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] if the generation has no FMASK, or the descriptor cannot express the view.
    pub fn descriptor(&self, level: GfxLevel) -> Result<ImageDescriptor, DescriptorError> {
        if level >= GfxLevel::Gfx11 {
            return Err(DescriptorError::NoFeature { feature: Feature::Fmask, level });
        }
        let unknown = DescriptorError::Samples { samples: self.samples, stored: self.storage_samples };
        let (legacy, gfx9, gfx10) = formats(self.samples, self.storage_samples).ok_or(unknown)?;
        let mut words = ImageDescriptor::default();
        let mut set = |field, value: u32| words.set(field, level, value);
        set(f::WIDTH, self.width)?;
        set(f::HEIGHT, self.height)?;
        for select in [f::DST_SEL_X, f::DST_SEL_Y, f::DST_SEL_Z, f::DST_SEL_W] {
            set(select, 4)?;
        }
        set(f::TYPE, if self.is_array { 13 } else { 9 })?;
        set(f::BASE_ARRAY, self.first_layer)?;
        match self.tiling {
            Tiling::Legacy { index, pitch, .. } if level <= GfxLevel::Gfx8 => {
                set(f::DATA_FORMAT, legacy)?;
                set(f::NUM_FORMAT, UINT)?;
                set(f::TILING_INDEX, index)?;
                set(f::DEPTH, self.layers.checked_sub(1).ok_or(DescriptorError::Zero("number of layers"))?)?;
                set(f::PITCH, pitch)?;
                set(f::LAST_ARRAY, self.last_layer)?;
            }
            Tiling::Gfx9 { mode, epitch } if level == GfxLevel::Gfx9 => {
                set(f::DATA_FORMAT, GFX9_FMASK)?;
                set(f::NUM_FORMAT, gfx9)?;
                set(f::SW_MODE, mode)?;
                set(f::DEPTH, self.last_layer)?;
                set(f::PITCH, epitch.saturating_add(1))?;
                set(f::META_PIPE_ALIGNED, 1)?;
                set(f::META_RB_ALIGNED, 1)?;
            }
            Tiling::Modern { mode, pitch: None } if level >= GfxLevel::Gfx10 => {
                set(f::FORMAT, gfx10)?;
                set(f::SW_MODE, mode)?;
                set(f::DEPTH, self.last_layer)?;
                set(f::META_PIPE_ALIGNED, 1)?;
                set(f::RESOURCE_LEVEL, 1)?;
            }
            _ => return Err(DescriptorError::NoFeature { feature: Feature::Tiling, level }),
        }
        let swizzle = u64::from(self.tile_swizzle) << 8;
        let base = address(self.base, self.offset)? | swizzle;
        words.set(f::BASE_ADDRESS, level, base.cast_signed())?;
        if let Some(offset) = self.cmask_offset {
            if level < GfxLevel::Gfx8 {
                return Err(DescriptorError::NoFeature { feature: Feature::Cmask, level });
            }
            let mut meta = address(self.base, offset)?;
            if level == GfxLevel::Gfx8 {
                // GFX8 has 32 bits for the metadata address.
                meta = meta & 0xff_ffff_ffff | swizzle;
            }
            words.set(f::COMPRESSION_EN, level, 1)?;
            words.set(f::META_DATA_ADDRESS, level, meta.cast_signed())?;
        }
        Ok(words)
    }
}
