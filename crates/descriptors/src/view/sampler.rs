//! Sampler states and their descriptors.

use amdgpu_hw::GfxLevel;

use crate::descriptor::SamplerDescriptor;
use crate::error::DescriptorError;
use crate::fields::sampler as f;
use crate::lod::Lod;

/// The addressing mode for coordinates outside an image. The discriminants are the hardware's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Clamp {
    /// Repeats the image.
    #[default]
    Wrap = 0,
    /// Repeats the image, mirroring every second copy.
    Mirror = 1,
    /// Clamps to the texel at the edge.
    LastTexel = 2,
    /// Mirrors the image once, then clamps to the texel at the edge.
    MirrorOnceLastTexel = 3,
    /// Clamps to a blend of half the texel at the edge and half the border colour.
    HalfBorder = 4,
    /// Mirrors the image once, then clamps to a blend of half the texel at the edge and half the border colour.
    MirrorOnceHalfBorder = 5,
    /// Clamps to the border colour.
    Border = 6,
    /// Mirrors the image once, then clamps to the border colour.
    MirrorOnceBorder = 7,
}

/// The state of a sampler. Fields without an enum type contain the hardware's numbers.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_build_sampler_descriptor`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a sampler")]
pub struct SamplerState {
    /// The addressing modes in x, y and z.
    pub clamp: [Clamp; 3],
    /// The base-2 logarithm of the maximum anisotropy, 0 to 4.
    pub max_aniso_ratio: u32,
    /// The comparison: 0 to 7 for never, less, equal, less or equal, greater, not equal, greater or equal, always.
    pub depth_compare_func: u32,
    /// `true` if coordinates are unnormalized, in units of texels.
    pub unnormalized: bool,
    /// `true` to filter across the faces of a cube map.
    pub cube_wrap: bool,
    /// `true` to truncate coordinates instead of rounding them.
    pub trunc_coord: bool,
    /// The reduction mode: 0 to 2 for weighted average, minimum or maximum.
    pub filter_mode: u32,
    /// The magnification filter: 0 to 3 for point, linear, anisotropic point or anisotropic linear.
    pub mag_filter: u32,
    /// The minification filter, with the same numbers as the magnification filter.
    pub min_filter: u32,
    /// The filter between levels: 0 to 2 for none, point or linear.
    pub mip_filter: u32,
    /// `true` if views of one level are filtered anisotropically.
    pub aniso_single_level: bool,
    /// The border colour: 0 to 3 for transparent black, opaque black, opaque white or an entry of the border colour table.
    pub border_color_type: u32,
    /// The index into the table of border colours.
    pub border_color_ptr: u32,
    /// The smallest level of detail, in levels.
    pub min_lod: f32,
    /// The largest level of detail, in levels.
    pub max_lod: f32,
    /// The bias of the level of detail.
    pub lod_bias: f32,
}

impl SamplerState {
    /// Builds the descriptor of the sampler.
    ///
    /// # Errors
    ///
    /// [`DescriptorError::Field`] if a number does not fit its field.
    pub fn descriptor(&self, level: GfxLevel) -> Result<SamplerDescriptor, DescriptorError> {
        let mut words = SamplerDescriptor::default();
        let mut set = |field, value: u32| words.set(field, level, value);
        let ratio = self.max_aniso_ratio;
        for (field, clamp) in [f::CLAMP_X, f::CLAMP_Y, f::CLAMP_Z].into_iter().zip(self.clamp) {
            set(field, clamp as u32)?;
        }
        set(f::MAX_ANISO_RATIO, ratio)?;
        set(f::DEPTH_COMPARE_FUNC, self.depth_compare_func)?;
        set(f::FORCE_UNNORMALIZED, self.unnormalized.into())?;
        set(f::ANISO_THRESHOLD, ratio >> 1)?;
        set(f::ANISO_BIAS, ratio)?;
        set(f::TRUNC_COORD, self.trunc_coord.into())?;
        set(f::DISABLE_CUBE_WRAP, (!self.cube_wrap).into())?;
        set(f::FILTER_MODE, self.filter_mode)?;
        set(f::PERF_MIP, if ratio > 0 { ratio + 6 } else { 0 })?;
        set(f::XY_MAG_FILTER, self.mag_filter)?;
        set(f::XY_MIN_FILTER, self.min_filter)?;
        set(f::MIP_FILTER, self.mip_filter)?;
        set(f::BORDER_COLOR_TYPE, self.border_color_type)?;
        set(f::BORDER_COLOR_PTR, self.border_color_ptr)?;
        let most = if level >= GfxLevel::Gfx12 { 17 } else { 15 };
        set(f::MIN_LOD, Lod::clamped(self.min_lod, 0, most).raw().unsigned_abs())?;
        set(f::MAX_LOD, Lod::clamped(self.max_lod, 0, most).raw().unsigned_abs())?;
        if matches!(level, GfxLevel::Gfx8 | GfxLevel::Gfx9) {
            set(f::COMPAT_MODE, 1)?;
        }
        if level <= GfxLevel::Gfx8 {
            set(f::DISABLE_LSB_CEIL, 1)?;
        }
        if level <= GfxLevel::Gfx9 {
            set(f::FILTER_PREC_FIX, 1)?;
        }
        if level >= GfxLevel::Gfx8 {
            set(f::ANISO_OVERRIDE, (!self.aniso_single_level).into())?;
        }
        let (least, most) = if level >= GfxLevel::Gfx10 { (-32, 31) } else { (-16, 16) };
        words.set(f::LOD_BIAS, level, Lod::clamped(self.lod_bias, least, most).raw())?;
        Ok(words)
    }
}
