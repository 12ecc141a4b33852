//! Sampler descriptors from their state.

use amdgpu_hw::GfxLevel;

use crate::descriptor::SamplerDescriptor;
use crate::error::DescriptorError;
use crate::fields::sampler as f;
use crate::lod::Lod;

/// Addressing outside an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Clamp {
    /// Repeats.
    #[default]
    Wrap = 0,
    /// Repeats, every second time mirrored.
    Mirror = 1,
    /// The last texel.
    LastTexel = 2,
    /// Mirrors once, then the last texel.
    MirrorOnceLastTexel = 3,
    /// Half the last texel, half the border.
    HalfBorder = 4,
    /// Mirrors once, then half the last texel, half the border.
    MirrorOnceHalfBorder = 5,
    /// The border.
    Border = 6,
    /// Mirrors once, then the border.
    MirrorOnceBorder = 7,
}

/// The state of a sampler, in the hardware's numbers where no type is given.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_build_sampler_descriptor`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a sampler")]
pub struct SamplerState {
    /// Addressing in x, y and z.
    pub clamp: [Clamp; 3],
    /// Logarithm of the largest ratio of anisotropy, 0 to 4.
    pub max_aniso_ratio: u32,
    /// The comparison: never, less, equal, not greater, greater, not equal, not less, always for 0 to 7.
    pub depth_compare_func: u32,
    /// Coordinates count texels.
    pub unnormalized: bool,
    /// Filters across the faces of a cube.
    pub cube_wrap: bool,
    /// Truncates coordinates.
    pub trunc_coord: bool,
    /// Blend, minimum or maximum for 0 to 2.
    pub filter_mode: u32,
    /// Point, linear, anisotropic point or anisotropic linear for 0 to 3.
    pub mag_filter: u32,
    /// The same for texels that are minified.
    pub min_filter: u32,
    /// None, point or linear for 0 to 2.
    pub mip_filter: u32,
    /// Views of one level are filtered anisotropically.
    pub aniso_single_level: bool,
    /// Transparent black, opaque black, opaque white or a colour of the table for 0 to 3.
    pub border_color_type: u32,
    /// The place in the table of border colours.
    pub border_color_ptr: u32,
    /// The smallest level of detail.
    pub min_lod: f32,
    /// The largest level of detail.
    pub max_lod: f32,
    /// The bias of the level of detail.
    pub lod_bias: f32,
}

impl SamplerState {
    /// Returns the descriptor of the sampler.
    ///
    /// # Errors
    ///
    /// [`DescriptorError::Field`] where a number does not fit.
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
