//! Vulkan's samplers and buffers.

use amdgpu_descriptors::DescriptorError;
use amdgpu_descriptors::vulkan::{
    AddressMode, BorderColor, BufferUse, CompareOp, Filter, Reduction, VulkanBuffer, VulkanSampler,
};

use super::{Answer, Line, fields};

fn filter(name: &str) -> Filter {
    if name == "linear" { Filter::Linear } else { Filter::Nearest }
}

fn sampler(line: &Line) -> Result<Answer, DescriptorError> {
    let address = |at: usize| match line.input["address"][at].as_str().unwrap() {
        "repeat" => AddressMode::Repeat,
        "mirrored_repeat" => AddressMode::MirroredRepeat,
        "clamp_to_edge" => AddressMode::ClampToEdge,
        "clamp_to_border" => AddressMode::ClampToBorder,
        "mirror_clamp_to_edge" => AddressMode::MirrorClampToEdge,
        other => panic!("{other} is no address mode"),
    };
    let compare = match line.word("compare_op") {
        "never" => CompareOp::Never,
        "less" => CompareOp::Less,
        "equal" => CompareOp::Equal,
        "less_or_equal" => CompareOp::LessOrEqual,
        "greater" => CompareOp::Greater,
        "not_equal" => CompareOp::NotEqual,
        "greater_or_equal" => CompareOp::GreaterOrEqual,
        _ => CompareOp::Always,
    };
    let border = line.word("border");
    let sampler = VulkanSampler {
        mag: filter(line.word("mag")),
        min: filter(line.word("min")),
        mipmap: filter(line.word("mipmap")),
        address: [address(0), address(1), address(2)],
        lod_bias: line.float("lod_bias"),
        max_anisotropy: line.is("aniso").then(|| line.float("max_aniso")),
        compare: line.is("compare").then_some(compare),
        min_lod: line.float("min_lod"),
        max_lod: line.float("max_lod"),
        border: if border.ends_with("opaque_black") {
            BorderColor::OpaqueBlack
        } else if border.ends_with("opaque_white") {
            BorderColor::OpaqueWhite
        } else {
            BorderColor::TransparentBlack
        },
        unnormalized: line.is("unnormalized"),
        reduction: match line.word("reduction") {
            "min" => Reduction::Min,
            "max" => Reduction::Max,
            _ => Reduction::WeightedAverage,
        },
        non_seamless: line.is("non_seamless"),
    };
    Ok(fields(sampler.descriptor(line.level, false)?, line.level))
}

fn buffer(line: &Line) -> Result<Answer, DescriptorError> {
    let is_texel = line.word("type").ends_with("texel");
    let usage = if is_texel { BufferUse::Texel(line.format()) } else { BufferUse::Raw };
    let buffer = VulkanBuffer { usage, va: line.va(), range: line.u32("range") };
    Ok(fields(buffer.descriptor(line.level)?, line.level))
}

pub(crate) fn vulkan(line: &Line) -> Result<Answer, DescriptorError> {
    if line.kind == "vk_sampler" { sampler(line) } else { buffer(line) }
}
