//! The fields of sampler descriptors (SQ_IMG_SAMP).
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`, merged over the generations.

use amdgpu_hw::GfxLevel::{Gfx6, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx11_5, Gfx12};
use amdgpu_registers::enums::{
    SQ_IMG_FILTER_TYPE, SQ_TEX_BORDER_COLOR, SQ_TEX_CLAMP, SQ_TEX_DEPTH_COMPARE, SQ_TEX_MIP_FILTER, SQ_TEX_XY_FILTER,
    SQ_TEX_Z_FILTER,
};

use crate::field::{Field, on};
use crate::marker::Sampler;

/// The addressing mode in x for coordinates outside the image.
pub const CLAMP_X: Field<Sampler> = Field::new("clamp_x", &[on(Gfx6, Gfx12, &[(0, 0, 3)]).named(SQ_TEX_CLAMP)]);

/// The addressing mode in y for coordinates outside the image.
pub const CLAMP_Y: Field<Sampler> = Field::new("clamp_y", &[on(Gfx6, Gfx12, &[(0, 3, 3)]).named(SQ_TEX_CLAMP)]);

/// The addressing mode in z for coordinates outside the image.
pub const CLAMP_Z: Field<Sampler> = Field::new("clamp_z", &[on(Gfx6, Gfx12, &[(0, 6, 3)]).named(SQ_TEX_CLAMP)]);

/// The base-2 logarithm of the maximum anisotropy.
pub const MAX_ANISO_RATIO: Field<Sampler> = Field::new("max_aniso_ratio", &[on(Gfx6, Gfx12, &[(0, 9, 3)])]);

/// The depth comparison function.
pub const DEPTH_COMPARE_FUNC: Field<Sampler> =
    Field::new("depth_compare_func", &[on(Gfx6, Gfx12, &[(0, 12, 3)]).named(SQ_TEX_DEPTH_COMPARE)]);

/// Makes coordinates unnormalized, in units of texels.
pub const FORCE_UNNORMALIZED: Field<Sampler> = Field::new("force_unnormalized", &[on(Gfx6, Gfx12, &[(0, 15, 1)])]);

/// The anisotropy below which no samples are added.
pub const ANISO_THRESHOLD: Field<Sampler> = Field::new("aniso_threshold", &[on(Gfx6, Gfx12, &[(0, 16, 3)])]);

/// Truncates coordinates for motion compensation.
pub const MC_COORD_TRUNC: Field<Sampler> = Field::new("mc_coord_trunc", &[on(Gfx6, Gfx12, &[(0, 19, 1)])]);

/// Decodes sRGB regardless of the format.
pub const FORCE_DEGAMMA: Field<Sampler> = Field::new("force_degamma", &[on(Gfx6, Gfx12, &[(0, 20, 1)])]);

/// The bias that is added to the anisotropy.
pub const ANISO_BIAS: Field<Sampler> = Field::new("aniso_bias", &[on(Gfx6, Gfx12, &[(0, 21, 6)])]);

/// Truncates coordinates instead of rounding them.
pub const TRUNC_COORD: Field<Sampler> = Field::new("trunc_coord", &[on(Gfx6, Gfx12, &[(0, 27, 1)])]);

/// Restricts filtering to one face of a cube map.
pub const DISABLE_CUBE_WRAP: Field<Sampler> = Field::new("disable_cube_wrap", &[on(Gfx6, Gfx12, &[(0, 28, 1)])]);

/// The reduction mode: weighted average, minimum or maximum of the texels.
pub const FILTER_MODE: Field<Sampler> =
    Field::new("filter_mode", &[on(Gfx6, Gfx12, &[(0, 29, 2)]).named(SQ_IMG_FILTER_TYPE)]);

/// Selects the rounding of GFX7.
pub const COMPAT_MODE: Field<Sampler> = Field::new("compat_mode", &[on(Gfx8, Gfx9, &[(0, 31, 1)])]);

/// Disables the decoding of sRGB.
pub const SKIP_DEGAMMA: Field<Sampler> =
    Field::new("skip_degamma", &[on(Gfx10, Gfx12, &[(0, 31, 1)]), on(Gfx9, Gfx9, &[(3, 12, 1)])]);

/// The smallest level of detail, in 1/256.
pub const MIN_LOD: Field<Sampler> =
    Field::new("min_lod", &[on(Gfx6, Gfx11_5, &[(1, 0, 12)]), on(Gfx12, Gfx12, &[(1, 0, 13)])]);

/// The largest level of detail, in 1/256.
pub const MAX_LOD: Field<Sampler> =
    Field::new("max_lod", &[on(Gfx6, Gfx11_5, &[(1, 12, 12)]), on(Gfx12, Gfx12, &[(1, 13, 13)])]);

/// The width of the range of levels of detail in which two mip levels are blended.
pub const PERF_MIP: Field<Sampler> =
    Field::new("perf_mip", &[on(Gfx6, Gfx11_5, &[(1, 24, 4)]), on(Gfx12, Gfx12, &[(2, 30, 2), (3, 0, 2)])]);

/// The width of the range in which two slices of a 3D image are blended.
pub const PERF_Z: Field<Sampler> = Field::new("perf_z", &[on(Gfx6, Gfx12, &[(1, 28, 4)])]);

/// The bias of the level of detail, in 1/256.
pub const LOD_BIAS: Field<Sampler> = Field::new("lod_bias", &[on(Gfx6, Gfx12, &[(2, 0, 14)]).signed()]);

/// The second bias of the level of detail, in 1/16.
pub const LOD_BIAS_SEC: Field<Sampler> = Field::new("lod_bias_sec", &[on(Gfx6, Gfx12, &[(2, 14, 6)]).signed()]);

/// The filter for magnification.
pub const XY_MAG_FILTER: Field<Sampler> =
    Field::new("xy_mag_filter", &[on(Gfx6, Gfx12, &[(2, 20, 2)]).named(SQ_TEX_XY_FILTER)]);

/// The filter for minification.
pub const XY_MIN_FILTER: Field<Sampler> =
    Field::new("xy_min_filter", &[on(Gfx6, Gfx12, &[(2, 22, 2)]).named(SQ_TEX_XY_FILTER)]);

/// The filter between slices of a 3D image.
pub const Z_FILTER: Field<Sampler> = Field::new("z_filter", &[on(Gfx6, Gfx12, &[(2, 24, 2)]).named(SQ_TEX_Z_FILTER)]);

/// The filter between mip levels.
pub const MIP_FILTER: Field<Sampler> =
    Field::new("mip_filter", &[on(Gfx6, Gfx12, &[(2, 26, 2)]).named(SQ_TEX_MIP_FILTER)]);

/// Clamps the level of detail before the level is selected.
pub const MIP_POINT_PRECLAMP: Field<Sampler> = Field::new("mip_point_preclamp", &[on(Gfx6, Gfx10_3, &[(2, 28, 1)])]);

/// Disables anisotropic filtering for views of one level.
pub const ANISO_OVERRIDE: Field<Sampler> =
    Field::new("aniso_override", &[on(Gfx10, Gfx12, &[(2, 29, 1)]), on(Gfx8, Gfx9, &[(2, 31, 1)])]);

/// Blends non-resident texels as zero.
pub const BLEND_ZERO_PRT: Field<Sampler> =
    Field::new("blend_zero_prt", &[on(Gfx9, Gfx9, &[(2, 29, 1)]), on(Gfx10, Gfx10_3, &[(2, 30, 1)])]);

/// Disables rounding up of the last bit of the level of detail.
pub const DISABLE_LSB_CEIL: Field<Sampler> = Field::new("disable_lsb_ceil", &[on(Gfx6, Gfx8, &[(2, 29, 1)])]);

/// Blends non-resident texels.
pub const BLEND_PRT: Field<Sampler> = Field::new("blend_prt", &[on(Gfx11, Gfx11_5, &[(2, 30, 1)])]);

/// Enables the full precision of filter weights.
pub const FILTER_PREC_FIX: Field<Sampler> = Field::new("filter_prec_fix", &[on(Gfx6, Gfx9, &[(2, 30, 1)])]);

/// The index into the table of border colours.
pub const BORDER_COLOR_PTR: Field<Sampler> =
    Field::new("border_color_ptr", &[on(Gfx6, Gfx10_3, &[(3, 0, 12)]), on(Gfx11, Gfx12, &[(3, 18, 12)])]);

/// Marks the depth format as wider than the requested one.
pub const UPGRADED_DEPTH: Field<Sampler> = Field::new("upgraded_depth", &[on(Gfx6, Gfx8, &[(3, 29, 1)])]);

/// The type of border colour: a constant, or an entry of the table of border colours.
pub const BORDER_COLOR_TYPE: Field<Sampler> =
    Field::new("border_color_type", &[on(Gfx6, Gfx12, &[(3, 30, 2)]).named(SQ_TEX_BORDER_COLOR)]);

/// All fields, ordered by their first dword and bit on the oldest generation that has them.
pub const ALL: &[Field<Sampler>] = &[
    CLAMP_X,
    CLAMP_Y,
    CLAMP_Z,
    MAX_ANISO_RATIO,
    DEPTH_COMPARE_FUNC,
    FORCE_UNNORMALIZED,
    ANISO_THRESHOLD,
    MC_COORD_TRUNC,
    FORCE_DEGAMMA,
    ANISO_BIAS,
    TRUNC_COORD,
    DISABLE_CUBE_WRAP,
    FILTER_MODE,
    COMPAT_MODE,
    SKIP_DEGAMMA,
    MIN_LOD,
    MAX_LOD,
    PERF_MIP,
    PERF_Z,
    LOD_BIAS,
    LOD_BIAS_SEC,
    XY_MAG_FILTER,
    XY_MIN_FILTER,
    Z_FILTER,
    MIP_FILTER,
    MIP_POINT_PRECLAMP,
    ANISO_OVERRIDE,
    BLEND_ZERO_PRT,
    DISABLE_LSB_CEIL,
    BLEND_PRT,
    FILTER_PREC_FIX,
    BORDER_COLOR_PTR,
    UPGRADED_DEPTH,
    BORDER_COLOR_TYPE,
];
