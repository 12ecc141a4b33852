//! Samplers.

use amdgpu_hw::GfxLevel;

use crate::descriptor::SamplerDescriptor;
use crate::error::DescriptorError;
use crate::view::{Clamp, SamplerState};

/// `VkFilter` and `VkSamplerMipmapMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The nearest texel or level.
    #[default]
    Nearest,
    /// A blend of neighbours.
    Linear,
}

/// `VkSamplerAddressMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// Repeats.
    #[default]
    Repeat,
    /// Repeats, every second time mirrored.
    MirroredRepeat,
    /// The texel at the edge.
    ClampToEdge,
    /// The border.
    ClampToBorder,
    /// Mirrors once, then the texel at the edge.
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

/// `VkCompareOp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CompareOp {
    /// Never.
    #[default]
    Never = 0,
    /// Less.
    Less = 1,
    /// Equal.
    Equal = 2,
    /// Less or equal.
    LessOrEqual = 3,
    /// Greater.
    Greater = 4,
    /// Not equal.
    NotEqual = 5,
    /// Greater or equal.
    GreaterOrEqual = 6,
    /// Always.
    Always = 7,
}

/// `VkBorderColor`, whose integer and float colours are the same to the hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BorderColor {
    /// Zero.
    #[default]
    TransparentBlack,
    /// Black.
    OpaqueBlack,
    /// White.
    OpaqueWhite,
    /// A place in the table of border colours, below 4096.
    Custom(u32),
}

/// `VkSamplerReductionMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Reduction {
    /// The weighted average.
    #[default]
    WeightedAverage = 0,
    /// The smallest.
    Min = 1,
    /// The largest.
    Max = 2,
}

/// `VkSamplerCreateInfo`.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_sampler.c`, `radv_init_sampler`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VulkanSampler {
    /// `magFilter`.
    pub mag: Filter,
    /// `minFilter`.
    pub min: Filter,
    /// `mipmapMode`.
    pub mipmap: Filter,
    /// `addressModeU`, V and W.
    pub address: [AddressMode; 3],
    /// `mipLodBias`.
    pub lod_bias: f32,
    /// `maxAnisotropy`, if `anisotropyEnable`.
    pub max_anisotropy: Option<f32>,
    /// `compareOp`, if `compareEnable`.
    pub compare: Option<CompareOp>,
    /// `minLod`.
    pub min_lod: f32,
    /// `maxLod`.
    pub max_lod: f32,
    /// `borderColor`.
    pub border: BorderColor,
    /// `unnormalizedCoordinates`.
    pub unnormalized: bool,
    /// `reductionMode`.
    pub reduction: Reduction,
    /// `VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT`.
    pub non_seamless: bool,
}

impl VulkanSampler {
    /// Returns the state that RADV gives the hardware. `conformant_trunc` is the kernel's word that coordinates are
    /// truncated as Vulkan wants it (GFX11 and later).
    #[expect(clippy::cast_sign_loss, reason = "a ratio above 1")]
    pub fn state(&self, conformant_trunc: bool) -> SamplerState {
        // The conversion cuts towards zero; 1.5 is one sample, which is no anisotropy.
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

    /// Returns the descriptor of the sampler; `conformant_trunc` as for [`state`](Self::state).
    ///
    /// # Errors
    ///
    /// [`DescriptorError::Field`] for a place beyond the table of border colours.
    pub fn descriptor(&self, level: GfxLevel, conformant_trunc: bool) -> Result<SamplerDescriptor, DescriptorError> {
        self.state(conformant_trunc).descriptor(level)
    }
}
