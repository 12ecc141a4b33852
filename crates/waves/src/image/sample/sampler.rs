//! Sampler descriptors (S#).

use amdgpu_descriptors::{Field, SamplerDescriptor, fields::sampler as f};
use amdgpu_hw::GfxLevel;

use super::address::Clamp;
use crate::image::error::ImageError;

/// Combination of the texels of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Blend,
    Min,
    Max,
}

/// A choice between two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MipFilter {
    /// The first level only.
    Base,
    Point,
    Linear,
}

/// A border colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Border {
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
    /// A place in the table of border colours.
    Table(u32),
}

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sampler {
    pub(crate) clamp: [Clamp; 3],
    /// The comparison: bits for less, equal and greater.
    pub(crate) compare: u8,
    pub(crate) unnormalized: bool,
    /// Filters of cubes reach over the edges of a face.
    pub(crate) cube_wrap: bool,
    pub(crate) reduction: Reduction,
    pub(crate) lod: [f32; 2],
    pub(crate) bias: f32,
    /// Blends texels that are magnified.
    pub(crate) mag_linear: bool,
    /// Blends texels that are minified.
    pub(crate) min_linear: bool,
    /// Blends slices; `None` where they follow the other axes.
    pub(crate) z_linear: Option<bool>,
    pub(crate) mip: MipFilter,
    pub(crate) border: Border,
}

impl Sampler {
    /// Reads the four words of a sampler. Anisotropic filters take one footprint.
    ///
    /// Sources: the ISA guides, "Image Sampler"; Mesa's `ac_build_sampler_descriptor`.
    pub(crate) fn new(level: GfxLevel, words: [u32; 4]) -> Result<Self, ImageError> {
        let words = SamplerDescriptor::from_words(words);
        let get = |field: Field<amdgpu_descriptors::Sampler>| words.get(field, level).unwrap_or(0);
        let small = |field| u8::try_from(get(field)).unwrap_or(0);
        if get(f::FORCE_DEGAMMA) != 0 || get(f::SKIP_DEGAMMA) != 0 {
            return Err(ImageError::Sampler("overrides the curve of the format"));
        }
        let lod = |field| get(field) as f32 / 256.0;
        Ok(Self {
            clamp: [f::CLAMP_X, f::CLAMP_Y, f::CLAMP_Z].map(|field| Clamp::new(small(field))),
            compare: small(f::DEPTH_COMPARE_FUNC),
            unnormalized: get(f::FORCE_UNNORMALIZED) != 0,
            cube_wrap: get(f::DISABLE_CUBE_WRAP) == 0,
            reduction: match get(f::FILTER_MODE) {
                1 => Reduction::Min,
                2 => Reduction::Max,
                _ => Reduction::Blend,
            },
            lod: [lod(f::MIN_LOD), lod(f::MAX_LOD)],
            bias: lod(f::LOD_BIAS) + get(f::LOD_BIAS_SEC) as f32 / 16.0,
            mag_linear: get(f::XY_MAG_FILTER) & 1 != 0,
            min_linear: get(f::XY_MIN_FILTER) & 1 != 0,
            z_linear: match get(f::Z_FILTER) {
                1 => Some(false),
                2 => Some(true),
                _ => None,
            },
            mip: match get(f::MIP_FILTER) {
                0 => MipFilter::Base,
                1 => MipFilter::Point,
                _ => MipFilter::Linear,
            },
            border: match get(f::BORDER_COLOR_TYPE) {
                0 => Border::TransparentBlack,
                1 => Border::OpaqueBlack,
                2 => Border::OpaqueWhite,
                _ => Border::Table(u32::try_from(get(f::BORDER_COLOR_PTR)).unwrap_or(0)),
            },
        })
    }

    /// Returns `true` if a reference value passes the comparison with a texel.
    pub(crate) fn passes(&self, reference: f32, texel: f32) -> bool {
        let (less, equal, greater) = (reference < texel, reference == texel, reference > texel);
        self.compare & 1 != 0 && less
            || self.compare & 2 != 0 && equal
            || self.compare & 4 != 0 && greater
            || self.compare == 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_have_bits_for_less_equal_and_greater() {
        let names = ["never", "less", "equal", "lequal", "greater", "notequal", "gequal", "always"];
        let results: [[bool; 3]; 8] = [
            [false, false, false],
            [true, false, false],
            [false, true, false],
            [true, true, false],
            [false, false, true],
            [true, false, true],
            [false, true, true],
            [true, true, true],
        ];
        for (function, (name, expected)) in names.into_iter().zip(results).enumerate() {
            let sampler = Sampler::new(GfxLevel::Gfx9, [(function as u32) << 12, 0, 0, 0]).unwrap();
            assert_eq!([0.0, 0.5, 1.0].map(|reference| sampler.passes(reference, 0.5)), expected, "{name}");
        }
    }
}
