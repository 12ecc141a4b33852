//! Vulkan samplers.

use amdgpu_hw::GfxLevel;

use crate::descriptor::SamplerDescriptor;
use crate::error::DescriptorError;
use crate::view::{Clamp, SamplerState};

/// A filter for texels or mipmap levels: `VkFilter` or `VkSamplerMipmapMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// Selects the nearest texel or level.
    #[default]
    Nearest,
    /// Blends the neighbouring texels or levels.
    Linear,
}

/// The behaviour outside the image: `VkSamplerAddressMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// Repeats the image endlessly (`VK_SAMPLER_ADDRESS_MODE_REPEAT`).
    #[default]
    Repeat,
    /// Repeats the image, mirroring every second copy.
    MirroredRepeat,
    /// Clamps to the texel at the edge.
    ClampToEdge,
    /// Clamps to the border colour.
    ClampToBorder,
    /// Mirrors the image once, then clamps to the texel at the edge.
    MirrorClampToEdge,
}

impl AddressMode {
    const fn clamp(self) -> Clamp {
        match self {
            Self::Repeat => Clamp::Wrap,
            Self::MirroredRepeat => Clamp::Mirror,
            Self::ClampToEdge => Clamp::LastTexel,
            Self::ClampToBorder => Clamp::Border,
            Self::MirrorClampToEdge => Clamp::MirrorOnceLastTexel,
        }
    }
}

/// The comparison of a reference with texels: `VkCompareOp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CompareOp {
    /// The comparison never passes.
    #[default]
    Never = 0,
    /// Passes if the reference is less than the texel.
    Less = 1,
    /// Passes if the reference equals the texel.
    Equal = 2,
    /// Passes if the reference is less than or equal to the texel.
    LessOrEqual = 3,
    /// Passes if the reference is greater than the texel.
    Greater = 4,
    /// Passes if the reference differs from the texel.
    NotEqual = 5,
    /// Passes if the reference is greater than or equal to the texel.
    GreaterOrEqual = 6,
    /// The comparison always passes.
    Always = 7,
}

/// The colour outside the image: `VkBorderColor`. The hardware does not distinguish integer and float colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BorderColor {
    /// Transparent black: all components are 0.
    #[default]
    TransparentBlack,
    /// Opaque black: alpha is 1, the other components are 0.
    OpaqueBlack,
    /// Opaque white: all components are 1.
    OpaqueWhite,
    /// An index into the table of border colours, below 4096.
    Custom(u32),
}

/// The way in which texels are combined: `VkSamplerReductionMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Reduction {
    /// The weighted average of the texels.
    #[default]
    WeightedAverage = 0,
    /// The smallest texel.
    Min = 1,
    /// The largest texel.
    Max = 2,
}

/// The part of `VkSamplerCreateInfo` that determines a descriptor.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_sampler.c`, `radv_init_sampler`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VulkanSampler {
    /// The filter for magnification (`magFilter`).
    pub mag: Filter,
    /// The filter for minification (`minFilter`).
    pub min: Filter,
    /// The filter between mipmap levels (`mipmapMode`).
    pub mipmap: Filter,
    /// The address modes for u, v and w (`addressModeU`, `addressModeV`, `addressModeW`).
    pub address: [AddressMode; 3],
    /// The bias that is added to the level of detail (`mipLodBias`).
    pub lod_bias: f32,
    /// The maximum anisotropy (`maxAnisotropy`); `None` if `anisotropyEnable` is false.
    pub max_anisotropy: Option<f32>,
    /// The comparison (`compareOp`); `None` if `compareEnable` is false.
    pub compare: Option<CompareOp>,
    /// The lower clamp of the level of detail (`minLod`).
    pub min_lod: f32,
    /// The upper clamp of the level of detail (`maxLod`).
    pub max_lod: f32,
    /// The border colour (`borderColor`).
    pub border: BorderColor,
    /// `true` if coordinates are in texels (`unnormalizedCoordinates`).
    pub unnormalized: bool,
    /// The reduction of the filtered texels (`reductionMode`).
    pub reduction: Reduction,
    /// `true` to filter cube maps within one face (`VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT`).
    pub non_seamless: bool,
}

impl VulkanSampler {
    /// Returns the hardware state that RADV uses. `conformant_trunc` is `true` if the kernel reports that the hardware truncates
    /// coordinates as Vulkan requires (GFX11 and later).
    #[expect(clippy::cast_sign_loss, reason = "a ratio above 1")]
    pub fn state(&self, conformant_trunc: bool) -> SamplerState {
        // The conversion truncates towards zero: 1.5 becomes one sample, which means no anisotropy.
        let aniso = self.max_anisotropy.filter(|&ratio| ratio > 1.0).map_or(0, |ratio| ratio.min(16.0) as u32);
        let filter = |filter: Filter| {
            let linear = u32::from(filter == Filter::Linear);
            if aniso > 1 { linear + 2 } else { linear }
        };
        let uses_border = self.address.contains(&AddressMode::ClampToBorder);
        let (border_color_type, border_color_ptr) = match self.border {
            _ if !uses_border => (0, 0),
            BorderColor::TransparentBlack => (0, 0),
            BorderColor::OpaqueBlack => (1, 0),
            BorderColor::OpaqueWhite => (2, 0),
            BorderColor::Custom(place) => (3, place),
        };
        SamplerState {
            clamp: self.address.map(AddressMode::clamp),
            max_aniso_ratio: aniso.checked_ilog2().unwrap_or(0),
            depth_compare_func: self.compare.map_or(0, |compare| compare as u32),
            unnormalized: self.unnormalized,
            cube_wrap: !self.non_seamless,
            trunc_coord: conformant_trunc || self.mag == Filter::Nearest && self.min == Filter::Nearest,
            filter_mode: self.reduction as u32,
            mag_filter: filter(self.mag),
            min_filter: filter(self.min),
            mip_filter: if self.mipmap == Filter::Linear { 2 } else { 1 },
            aniso_single_level: true,
            border_color_type,
            border_color_ptr,
            min_lod: self.min_lod,
            max_lod: self.max_lod,
            lod_bias: self.lod_bias,
        }
    }

    /// Builds the descriptor of the sampler. For `conformant_trunc` see [`state`](Self::state).
    ///
    /// # Errors
    ///
    /// [`DescriptorError::Field`] if the index into the table of border colours is out of range.
    pub fn descriptor(&self, level: GfxLevel, conformant_trunc: bool) -> Result<SamplerDescriptor, DescriptorError> {
        self.state(conformant_trunc).descriptor(level)
    }
}
