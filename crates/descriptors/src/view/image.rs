//! Image descriptors from views.

use amdgpu_hw::GfxLevel;

use super::place::{ImageMeta, ImagePlace, Tiling, address, log2_samples};
use crate::descriptor::ImageDescriptor;
use crate::error::{DescriptorError, Feature};
use crate::fields::image as f;
use crate::format::{Format, Swizzle};
use crate::lod::Lod;

/// The type of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ImageKind {
    /// One row.
    D1 = 8,
    /// Rows and columns.
    D2 = 9,
    /// A volume.
    D3 = 10,
    /// Six faces, or a multiple of them.
    Cube = 11,
    /// Layers of rows.
    D1Array = 12,
    /// Layers.
    D2Array = 13,
    /// Samples.
    D2Msaa = 14,
    /// Layers of samples.
    D2MsaaArray = 15,
}

impl ImageKind {
    /// Returns the type of a hardware number.
    pub const fn of(number: i64) -> Option<Self> {
        Some(match number {
            8 => Self::D1,
            9 => Self::D2,
            10 => Self::D3,
            11 => Self::Cube,
            12 => Self::D1Array,
            13 => Self::D2Array,
            14 => Self::D2Msaa,
            15 => Self::D2MsaaArray,
            _ => return None,
        })
    }
}

/// The part of an image that a shader sees.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_build_texture_descriptor` and
/// `ac_set_mutable_tex_desc_fields`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a view")]
pub struct ImageView {
    /// The type.
    pub kind: ImageKind,
    /// The format of the view.
    pub format: Format,
    /// The sources of the shader's components, with the format's own order already applied.
    pub swizzle: Swizzle,
    /// Width of level 0 in texels.
    pub width: u32,
    /// Height of level 0 in texels.
    pub height: u32,
    /// Slices of a volume; up to GFX8 also the layers of an array (for cubes six, or cubes as RADV counts them).
    pub depth: u32,
    /// The first layer.
    pub first_layer: u32,
    /// The last layer.
    pub last_layer: u32,
    /// The levels of the image.
    pub num_levels: u32,
    /// The first level of the view.
    pub first_level: u32,
    /// The last level of the view.
    pub last_level: u32,
    /// Samples.
    pub samples: u32,
    /// Stored samples.
    pub storage_samples: u32,
    /// The smallest level of detail.
    pub min_lod: f32,
    /// Stores to slices of a volume, or 2D views of one (GFX10 and later).
    pub slice_view: bool,
    /// The format is 32-bit depth in the place of a narrower one that was asked for (GFX10 and later).
    pub widened_depth: bool,
    /// Views of one level are filtered anisotropically (GFX6 and GFX7; without it they carry a mask for samplers).
    pub aniso_single_level: bool,
    /// Reads at the edge of a compressed image through an uncompressed view are not clamped (GFX12).
    pub no_edge_clamp: bool,
    /// Stores keep data compressed (GFX10 and later).
    pub write_compress: bool,
    /// Stencil beside this depth format, with HTILE (GFX9).
    pub stencil_beside: Option<Format>,
    /// The memory.
    pub place: ImagePlace,
}

/// The number of 32-bit float depth that is clamped to 0 and 1.
const FLOAT_CLAMP: (u32, u32) = (140, 75);
/// Data formats of stencil beside 16-bit and 32-bit depth (`IMG_DATA_FORMAT_STENCIL`).
const STENCIL_BESIDE: (u32, u32) = (59, 60);

impl ImageView {
    /// Returns the samples that the generation cares for.
    fn fragments(&self, level: GfxLevel) -> u32 {
        let stored = level <= GfxLevel::Gfx9 && !self.format.is_depth_or_stencil();
        if stored { self.storage_samples } else { self.samples }
    }

    /// Returns the descriptor of the view.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] where the generation cannot say what the view asks for.
    pub fn descriptor(&self, level: GfxLevel) -> Result<ImageDescriptor, DescriptorError> {
        let mut words = ImageDescriptor::default();
        let place = &self.place;
        let mut set = |field, value: u32| words.set(field, level, value);
        let log2 = log2_samples(self.fragments(level), self.storage_samples)?;
        let (first, last) = if log2 > 0 { (0, log2) } else { (self.first_level, self.last_level) };
        set(f::WIDTH, self.width)?;
        set(f::HEIGHT, self.height)?;
        set(f::TYPE, self.kind as u32)?;
        set(f::PERF_MOD, 4)?;
        set(f::BASE_LEVEL, first)?;
        set(f::LAST_LEVEL, last)?;
        set(f::BASE_ARRAY, self.first_layer)?;
        set(f::MIN_LOD, Lod::clamped(self.min_lod, 0, 15).raw().unsigned_abs())?;
        let selects = [f::DST_SEL_X, f::DST_SEL_Y, f::DST_SEL_Z, f::DST_SEL_W];
        for (field, source) in selects.into_iter().zip(self.swizzle.sources()) {
            set(field, source.into())?;
        }
        if level >= GfxLevel::Gfx9 {
            let levels = self.num_levels.checked_sub(1).ok_or(DescriptorError::Zero("number of levels"))?;
            set(f::MAX_MIP, if log2 > 0 { log2 } else { levels })?;
            set(f::BC_SWIZZLE, self.format.bc_swizzle())?;
        }
        if self.slice_view && level < GfxLevel::Gfx10 {
            return Err(DescriptorError::NoFeature { feature: Feature::SliceView, level });
        }
        if self.widened_depth && level < GfxLevel::Gfx10 {
            return Err(DescriptorError::NoFeature { feature: Feature::WidenedDepth, level });
        }
        let beyond = self.depth.checked_sub(1);
        let slices = beyond.ok_or(DescriptorError::Zero("depth"));
        match place.tiling {
            Tiling::Legacy { index, pitch, .. } if level <= GfxLevel::Gfx8 => {
                self.legacy_format(level, &mut set)?;
                set(f::POW2_PAD, (self.num_levels > 1).into())?;
                set(f::LAST_ARRAY, self.last_layer)?;
                set(f::DEPTH, slices?)?;
                set(f::TILING_INDEX, index)?;
                set(f::PITCH, pitch)?;
            }
            Tiling::Gfx9 { mode, epitch } if level == GfxLevel::Gfx9 => {
                self.legacy_format(level, &mut set)?;
                set(f::SW_MODE, mode)?;
                set(f::DEPTH, if self.kind == ImageKind::D3 { slices? } else { self.last_layer })?;
                set(f::PITCH, epitch.saturating_add(1))?;
            }
            Tiling::Modern { mode, pitch } if level >= GfxLevel::Gfx10 => {
                set(f::SW_MODE, mode)?;
                let clamp = if level >= GfxLevel::Gfx11 { FLOAT_CLAMP.1 } else { FLOAT_CLAMP.0 };
                set(f::FORMAT, if self.widened_depth { clamp } else { self.format.image(level)? })?;
                set(f::DEPTH, if self.kind == ImageKind::D3 { slices? } else { self.last_layer })?;
                set(if level >= GfxLevel::Gfx12 { f::UAV3D } else { f::ARRAY_PITCH }, self.slice_view.into())?;
                if level < GfxLevel::Gfx11 {
                    set(f::RESOURCE_LEVEL, 1)?;
                }
                if level >= GfxLevel::Gfx12 {
                    set(f::NO_EDGE_CLAMP, self.no_edge_clamp.into())?;
                }
                if let Some(pitch) = pitch {
                    self.check_pitch(pitch, level)?;
                    set(f::PITCH, pitch)?;
                }
            }
            _ => return Err(DescriptorError::NoFeature { feature: Feature::Tiling, level }),
        }
        let swizzled = !matches!(place.tiling, Tiling::Legacy { macro_tiled: false, .. });
        let swizzle = if swizzled { u64::from(place.tile_swizzle) << 8 } else { 0 };
        let base = address(place.base, place.offset)? | swizzle;
        words.set(f::BASE_ADDRESS, level, base.cast_signed())?;
        self.metadata(level, &mut words)?;
        if level <= GfxLevel::Gfx7 && !self.aniso_single_level && self.samples <= 1 {
            // The hardware ignores the word; shaders mask the sampler's first dword with it.
            let mask = if self.first_level == self.last_level { 0xffff_f1ff } else { u32::MAX };
            let mut raw = words.words();
            raw[7] = mask;
            return Ok(ImageDescriptor::from_words(raw));
        }
        Ok(words)
    }

    fn legacy_format<S>(&self, level: GfxLevel, set: &mut S) -> Result<(), DescriptorError>
    where
        S: FnMut(crate::field::Field<crate::marker::Image>, u32) -> Result<(), crate::error::FieldError>,
    {
        let format = self.format.legacy_image(level)?;
        let data = match self.stencil_beside {
            Some(depth) if level == GfxLevel::Gfx9 && self.format == Format::S8_UINT => {
                let narrow = depth.name().starts_with("D16");
                if narrow { STENCIL_BESIDE.0 } else { STENCIL_BESIDE.1 }
            }
            _ => format.data,
        };
        set(f::DATA_FORMAT, data)?;
        set(f::NUM_FORMAT, format.number)?;
        Ok(())
    }

    fn check_pitch(&self, pitch: u32, level: GfxLevel) -> Result<(), DescriptorError> {
        if level < GfxLevel::Gfx10_3 {
            return Err(DescriptorError::NoFeature { feature: Feature::Pitch, level });
        }
        let (bytes, alignment) = (self.format.bytes(), if level >= GfxLevel::Gfx12 { 128 } else { 256 });
        let row = u64::from(pitch) * u64::from(bytes);
        if pitch == 0 || !row.is_multiple_of(alignment.into()) {
            return Err(DescriptorError::Pitch { pitch, bytes, alignment });
        }
        Ok(())
    }

    fn metadata(&self, level: GfxLevel, words: &mut ImageDescriptor) -> Result<(), DescriptorError> {
        let place = &self.place;
        if level >= GfxLevel::Gfx12 {
            words.set(f::MAX_UNCOMPRESSED_BLOCK_SIZE, level, 1)?;
            words.set(f::MAX_COMPRESSED_BLOCK_SIZE, level, place.max_compressed_block)?;
        }
        match place.meta {
            None => Ok(()),
            Some(ImageMeta::Dcc { .. }) if level >= GfxLevel::Gfx12 => {
                words.set(f::COMPRESSION_EN, level, 1)?;
                Ok(words.set(f::WRITE_COMPRESS_ENABLE, level, self.write_compress)?)
            }
            Some(ImageMeta::Dcc { .. }) if level < GfxLevel::Gfx8 => {
                Err(DescriptorError::NoFeature { feature: Feature::Dcc, level })
            }
            Some(ImageMeta::Htile { .. }) if !(GfxLevel::Gfx8..GfxLevel::Gfx12).contains(&level) => {
                Err(DescriptorError::NoFeature { feature: Feature::Htile, level })
            }
            Some(ImageMeta::Dcc { offset, level_offset, align_log2, pipe_aligned, rb_aligned, alpha_is_on_msb }) => {
                let level_offset = if level == GfxLevel::Gfx8 { level_offset } else { 0 };
                let low = 1_u64.checked_shl(align_log2).map_or(u64::MAX, |align| align - 1);
                let swizzle = u64::from(place.tile_swizzle) << 8 & low;
                let meta = address(place.base, offset.saturating_add(level_offset))? | swizzle;
                self.meta_common(level, words, meta, pipe_aligned, rb_aligned)?;
                words.set(f::ALPHA_IS_ON_MSB, level, alpha_is_on_msb)?;
                if level >= GfxLevel::Gfx10 {
                    words.set(f::MAX_UNCOMPRESSED_BLOCK_SIZE, level, 2)?;
                    words.set(f::MAX_COMPRESSED_BLOCK_SIZE, level, place.max_compressed_block)?;
                }
                Ok(())
            }
            Some(ImageMeta::Htile { offset, iterate_256 }) => {
                let meta = address(place.base, offset)?;
                self.meta_common(level, words, meta, true, true)?;
                if level >= GfxLevel::Gfx10 {
                    words.set(f::ITERATE_256, level, iterate_256)?;
                }
                Ok(())
            }
        }
    }

    fn meta_common(
        &self,
        level: GfxLevel,
        words: &mut ImageDescriptor,
        meta: u64,
        pipe_aligned: bool,
        rb_aligned: bool,
    ) -> Result<(), DescriptorError> {
        words.set(f::COMPRESSION_EN, level, 1)?;
        // GFX8 has 32 bits for the address.
        let meta = if level == GfxLevel::Gfx8 { meta & 0xff_ffff_ffff } else { meta };
        words.set(f::META_DATA_ADDRESS, level, meta.cast_signed())?;
        if level >= GfxLevel::Gfx9 {
            words.set(f::META_PIPE_ALIGNED, level, pipe_aligned)?;
        }
        if level == GfxLevel::Gfx9 {
            words.set(f::META_RB_ALIGNED, level, rb_aligned)?;
        }
        if level >= GfxLevel::Gfx10 {
            words.set(f::WRITE_COMPRESS_ENABLE, level, self.write_compress)?;
        }
        Ok(())
    }
}
