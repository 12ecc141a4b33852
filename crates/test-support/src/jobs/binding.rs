//! A resource of a job.

use serde::{Deserialize, Serialize};

use super::hex::Hex;

/// The type of a resource, named as in Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// A buffer that shaders read and write.
    StorageBuffer,
    /// A buffer of constants.
    UniformBuffer,
    /// A buffer of texels that shaders fetch.
    UniformTexelBuffer,
    /// A buffer of texels that shaders read and write.
    StorageTexelBuffer,
    /// An image that shaders read and write.
    StorageImage,
    /// An image that shaders sample with a sampler of another binding.
    SampledImage,
    /// A sampler.
    Sampler,
    /// An image with its sampler.
    CombinedImageSampler,
}

impl Resource {
    /// Returns `true` if the resource has an image.
    pub const fn has_image(self) -> bool {
        matches!(self, Self::StorageImage | Self::SampledImage | Self::CombinedImageSampler)
    }

    /// Returns `true` if the resource has a sampler.
    pub const fn has_sampler(self) -> bool {
        matches!(self, Self::Sampler | Self::CombinedImageSampler)
    }
}

/// The filter of a sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// The texel whose area contains the coordinates.
    #[default]
    Nearest,
    /// The weighted texels around the coordinates, of the two nearest levels.
    Linear,
}

/// The meaning of coordinates outside of the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrap {
    /// The image repeats.
    Repeat,
    /// The image repeats, mirrored each second time.
    Mirror,
    /// The image is mirrored once, and its edge continues.
    MirrorOnce,
    /// The edge of the image continues.
    #[default]
    Clamp,
    /// The border colour: opaque white, unless `border` names another one.
    Border,
}

/// The type of an image view that does not follow from the sizes of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Six layers as a cube.
    Cube,
    /// Layers as several cubes.
    CubeArray,
    /// One row as a one-dimensional image.
    #[serde(rename = "1d")]
    Line,
    /// Rows as layers of a one-dimensional image.
    #[serde(rename = "1d_array")]
    LineArray,
    /// A two-dimensional image of layers, also if there is only one.
    #[serde(rename = "2d_array")]
    PlaneArray,
}

const fn one() -> u32 {
    1
}

/// A resource with its contents before the dispatch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Number in the set.
    pub binding: u32,
    /// Type.
    #[serde(rename = "type")]
    pub resource: Resource,
    /// Bytes of each buffer.
    #[serde(default)]
    pub size: usize,
    /// Elements of an array of buffers.
    #[serde(default = "one")]
    pub array: u32,
    /// Contents before the dispatch: all elements, or all levels of all layers. Zeroes follow.
    #[serde(default)]
    pub init: Hex,
    /// `true` if the contents after the dispatch are judged.
    #[serde(default)]
    pub out: bool,
    /// The precision of the comparison: `exact`, or a kind and an amount such as `f32ulp:2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// Offset in the push constants at which the buffer's address is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_address: Option<usize>,
    /// Format, named as in Vulkan without the prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Width of an image, texels.
    #[serde(default = "one")]
    pub width: u32,
    /// Height of an image, texels.
    #[serde(default = "one")]
    pub height: u32,
    /// Depth of an image, texels.
    #[serde(default = "one")]
    pub depth: u32,
    /// Layers of an image.
    #[serde(default = "one")]
    pub layers: u32,
    /// Mip levels of an image.
    #[serde(default = "one")]
    pub levels: u32,
    /// Type of the view; `None` if it follows from the sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    /// Filter of the sampler.
    #[serde(default)]
    pub filter: Filter,
    /// Addressing of the sampler.
    #[serde(default)]
    pub wrap: Wrap,
    /// Border colour of the sampler: `transparent`, `black` or `white`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub border: Option<String>,
    /// `true` if the sampler compares (less or equal).
    #[serde(default)]
    pub shadow: bool,
    /// Bias of the level of detail.
    #[serde(default)]
    pub bias: f32,
    /// Most anisotropic samples; 0 without.
    #[serde(default)]
    pub anisotropy: f32,
    /// Lowest and highest level of detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lod: Option<[f32; 2]>,
}

impl Binding {
    /// Returns the key of an element in `expected`.
    pub fn key(&self, element: u32) -> String {
        format!("{}.{}.{element}", self.set, self.binding)
    }

    /// Returns `true` if the image has three dimensions.
    pub const fn is_volume(&self) -> bool {
        self.depth > 1
    }
}
