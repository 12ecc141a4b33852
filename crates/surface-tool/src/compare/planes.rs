//! The planes of multi-planar formats.

use amdgpu_descriptors::format::Format;

/// A plane: its format, and the exponents by which it is narrower and lower than the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColorPlane {
    pub(super) format: Format,
    pub(super) shift: [u32; 2],
}

/// Returns the planes of a format by its name in Vulkan: one for those that have no more, none for unknown formats.
pub(super) fn planes(number: u32, name: &str) -> Vec<ColorPlane> {
    let count = if name.contains("3PLANE") { 3 } else { 2 };
    if !name.contains("PLANE") {
        let format = Format::of_vulkan(number).or_else(|| padded(name));
        return format.map(|format| ColorPlane { format, shift: [0, 0] }).into_iter().collect();
    }
    let wide = !name.starts_with("G8_");
    let (one, two) =
        if wide { (Format::R16_UNORM, Format::R16G16_UNORM) } else { (Format::R8_UNORM, Format::R8G8_UNORM) };
    let shift = if name.contains("_420_") {
        [1, 1]
    } else if name.contains("_422_") {
        [1, 0]
    } else {
        [0, 0]
    };
    let chroma = if count == 3 { one } else { two };
    let mut planes = vec![ColorPlane { format: one, shift: [0, 0] }];
    planes.resize(count, ColorPlane { format: chroma, shift });
    planes
}

/// Returns the format of one whose channels are padded with bits without meaning.
fn padded(name: &str) -> Option<Format> {
    match name {
        "R10X6_UNORM_PACK16" | "R12X4_UNORM_PACK16" => Some(Format::R16_UNORM),
        "R10X6G10X6_UNORM_2PACK16" | "R12X4G12X4_UNORM_2PACK16" => Some(Format::R16G16_UNORM),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chroma_is_narrower_and_lower_as_the_name_says() {
        let found = planes(1_000_156_003, "G8_B8R8_2PLANE_420_UNORM");
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], ColorPlane { format: Format::R8G8_UNORM, shift: [1, 1] });
        let wide = planes(0, "G16_B16_R16_3PLANE_422_UNORM");
        assert_eq!(wide[2], ColorPlane { format: Format::R16_UNORM, shift: [1, 0] });
        assert_eq!(planes(37, "R8G8B8A8_UNORM")[0].format, Format::R8G8B8A8_UNORM);
        assert!(planes(7777, "X").is_empty());
    }
}
