//! The aspects of formats: depth, stencil, and the planes of multi-planar formats.

use amdgpu_descriptors::format::Format;
use ash::vk::{self, ImageAspectFlags as Aspects};

/// Returns the planes of a format in the order of their memory; none if the format has one plane.
pub(crate) const fn planes(format: vk::Format) -> &'static [Aspects] {
    match format {
        vk::Format::G8_B8R8_2PLANE_420_UNORM | vk::Format::G16_B16R16_2PLANE_420_UNORM => {
            &[Aspects::PLANE_0, Aspects::PLANE_1]
        }
        vk::Format::G8_B8_R8_3PLANE_420_UNORM => &[Aspects::PLANE_0, Aspects::PLANE_1, Aspects::PLANE_2],
        _ => &[],
    }
}

/// Returns the exponents by which an aspect is narrower and lower than the image. All multi-planar formats of the checks store chroma
/// at half the width and height.
pub(crate) const fn chroma_shift(aspect: Aspects) -> [u32; 2] {
    match aspect {
        Aspects::PLANE_1 | Aspects::PLANE_2 => [1, 1],
        _ => [0, 0],
    }
}

/// Returns the format of an aspect's texels; `None` for formats without a layout of ours.
pub(crate) fn aspect_format(format: vk::Format, aspect: Aspects) -> Option<Format> {
    match (format, aspect) {
        (_, Aspects::STENCIL) => Some(Format::S8_UINT),
        (vk::Format::D32_SFLOAT_S8_UINT, Aspects::DEPTH) => Some(Format::D32_SFLOAT),
        (vk::Format::G8_B8R8_2PLANE_420_UNORM, Aspects::PLANE_1) => Some(Format::R8G8_UNORM),
        (vk::Format::G16_B16R16_2PLANE_420_UNORM, Aspects::PLANE_1) => Some(Format::R16G16_UNORM),
        (vk::Format::G16_B16R16_2PLANE_420_UNORM, _) => Some(Format::R16_UNORM),
        (vk::Format::G8_B8R8_2PLANE_420_UNORM | vk::Format::G8_B8_R8_3PLANE_420_UNORM, _) => Some(Format::R8_UNORM),
        _ => u32::try_from(format.as_raw()).ok().and_then(Format::of_vulkan),
    }
}
