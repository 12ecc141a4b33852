//! A driver's answers about images, as `amdgpu-vulkan-client --images` writes them.

use serde::Deserialize;

/// A line of the file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Image(Box<ImageAnswer>),
    Modifiers(ModifierAnswer),
    Device(DeviceAnswer),
}

/// The first line.
#[derive(Debug, Deserialize)]
pub(super) struct DeviceAnswer {
    pub(super) device: String,
}

/// The modifiers of a format, in the driver's order.
#[derive(Debug, Deserialize)]
pub(super) struct ModifierAnswer {
    pub(super) format: u32,
    pub(super) name: String,
    pub(super) modifiers: Vec<ListedModifier>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ListedModifier {
    pub(super) modifier: u64,
    pub(super) planes: u32,
    pub(super) features: u32,
    pub(super) extent: Option<[u32; 2]>,
}

/// An image with all that the driver said about it.
#[derive(Debug, Deserialize)]
pub(super) struct ImageAnswer {
    pub(super) format: u32,
    pub(super) name: String,
    pub(super) dimension: u32,
    pub(super) linear: bool,
    pub(super) modifier: Option<u64>,
    pub(super) usage: u32,
    pub(super) flags: u32,
    pub(super) exported: bool,
    pub(super) extent: [u32; 3],
    pub(super) layers: u32,
    pub(super) levels: u32,
    pub(super) samples: u32,
    pub(super) refused: Option<String>,
    #[serde(default)]
    pub(super) size: u64,
    #[serde(default)]
    pub(super) alignment: u64,
    #[serde(default)]
    pub(super) parts: Vec<SubresourceAnswer>,
    #[serde(default)]
    pub(super) sparse: Vec<Pages>,
    pub(super) bo: Option<BoAnswer>,
    pub(super) bo_refused: Option<String>,
}

/// The words that travel with the memory of a shared image.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct BoAnswer {
    pub(super) tiling: u64,
    pub(super) flags: u64,
    pub(super) words: Vec<u32>,
}

/// `VkSubresourceLayout` of an aspect, level and layer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct SubresourceAnswer {
    pub(super) aspect: u32,
    pub(super) level: u32,
    pub(super) layer: u32,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) row_pitch: u64,
    pub(super) array_pitch: u64,
    pub(super) depth_pitch: u64,
}

/// `VkSparseImageMemoryRequirements`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct Pages {
    pub(super) aspects: u32,
    pub(super) single_tail: bool,
    pub(super) page: [u32; 3],
    pub(super) first_tail: u32,
    pub(super) tail_size: u64,
    pub(super) tail_offset: u64,
    pub(super) tail_stride: u64,
}
