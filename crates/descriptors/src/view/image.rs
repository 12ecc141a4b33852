//! Image views and their descriptors.

use amdgpu_hw::GfxLevel;

use super::place::{ImageMeta, ImagePlace, Tiling, address, log2_samples};
use crate::descriptor::ImageDescriptor;
use crate::error::{DescriptorError, Feature};
use crate::fields::image as f;
use crate::format::{Format, Swizzle};
use crate::lod::Lod;

/// The type of an image in its descriptor. The discriminants are the hardware's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ImageKind {
    /// A 1D image.
    D1 = 8,
    /// A 2D image.
    D2 = 9,
    /// A 3D image.
    D3 = 10,
    /// A cube map, or an array of cube maps.
    Cube = 11,
    /// An array of 1D images.
    D1Array = 12,
    /// An array of 2D images.
    D2Array = 13,
    /// A multisampled 2D image.
    D2Msaa = 14,
    /// An array of multisampled 2D images.
    D2MsaaArray = 15,
}

impl ImageKind {
    /// Returns the type with this hardware number; `None` if the number is not an image type.
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

/// The part of an image that a shader accesses.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_build_texture_descriptor` and
/// `ac_set_mutable_tex_desc_fields`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a view")]
pub struct ImageView {
    /// The type of the image.
    pub kind: ImageKind,
    /// The format of the view.
    pub format: Format,
    /// The source of each component that the shader sees, with the format's component order already applied.
    pub swizzle: Swizzle,
    /// The width of level 0 in texels.
    pub width: u32,
    /// The height of level 0 in texels.
    pub height: u32,
    /// The number of slices of a 3D image; up to GFX8 also the number of layers of an array (for cubes the number of faces, or the
    /// number of cubes, as RADV sets it).
    pub depth: u32,
    /// The first layer of the view.
    pub first_layer: u32,
    /// The last layer of the view.
    pub last_layer: u32,
    /// The number of levels of the image.
    pub num_levels: u32,
    /// The first level of the view.
    pub first_level: u32,
    /// The last level of the view.
    pub last_level: u32,
    /// The number of samples.
    pub samples: u32,
    /// The number of stored samples.
    pub storage_samples: u32,
    /// The smallest level of detail that shaders may access.
    pub min_lod: f32,
    /// `true` for stores to slices of a 3D image and for 2D views of one (GFX10 and later).
    pub slice_view: bool,
    /// `true` if the format is 32-bit depth in place of a narrower format that was requested (GFX10 and later).
    pub widened_depth: bool,
    /// `true` if views of one level are filtered anisotropically (GFX6 and GFX7). If `false`, the descriptor has a mask that
    /// shaders apply to the sampler.
    pub aniso_single_level: bool,
    /// `true` if reads at the edge of a compressed image through an uncompressed view are not clamped (GFX12).
    pub no_edge_clamp: bool,
    /// `true` if stores write compressed data (GFX10 and later).
    pub write_compress: bool,
    /// The depth format, if the view shows the stencil of a depth image with HTILE (GFX9).
    pub stencil_beside: Option<Format>,
    /// The location of the image in memory.
    pub place: ImagePlace,
}

/// The format numbers of 32-bit float depth that is clamped to the range 0 to 1.
const FLOAT_CLAMP: (u32, u32) = (140, 75);
/// The data formats of stencil in images with 16-bit and 32-bit depth (`IMG_DATA_FORMAT_STENCIL`).
const STENCIL_BESIDE: (u32, u32) = (59, 60);

impl ImageView {
    /// Returns the number of samples that the descriptor of this generation contains.
    fn fragments(&self, level: GfxLevel) -> u32 {
        let stored = level <= GfxLevel::Gfx9 && !self.format.is_depth_or_stencil();
        if stored { self.storage_samples } else { self.samples }
    }

    /// Builds the descriptor of the view.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] if the generation does not support the view, or a number does not fit its field.
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
            // The hardware ignores this dword; shaders mask the sampler's first dword with it.
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
        // GFX8 has 32 bits for the metadata address.
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
