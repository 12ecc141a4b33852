//! The driver's answers about images: one JSON object a line, for programs that know the layouts.

mod shapes;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use amdgpu_winsys::winsys::BoMetadata;
use ash::vk;
use serde_json::{Value, json};

use crate::{
    exit::Exit,
    gpu::{Answer, FormatSupport, Gpu, ImageKind, Importer, Shape},
    outcome::Stop,
};

/// Asks about images of every format, tiling, type and use that the driver has, and writes the answers to a file.
pub(crate) fn save(path: &Path, any_device: bool) -> Exit {
    let written = Gpu::open(any_device).and_then(|gpu| {
        let problem = |error: io::Error| Stop::Fail(format!("cannot write {}: {error}", path.display()));
        let mut out = BufWriter::new(File::create(path).map_err(problem)?);
        let count = write(&gpu, &mut out).map_err(problem)?;
        out.flush().map_err(problem)?;
        Ok(count)
    });
    match written {
        Ok(count) => {
            println!("{count} images in {}", path.display());
            Exit::Pass
        }
        Err(Stop::Skip(reason)) => {
            eprintln!("{reason}");
            Exit::Skip
        }
        Err(Stop::Fail(evidence)) => {
            eprintln!("{evidence}");
            Exit::Fail
        }
    }
}

/// Writes the answers and returns the number of images.
fn write(gpu: &Gpu, out: &mut dyn Write) -> io::Result<u64> {
    let name =
        gpu.properties.device_name_as_c_str().map_or_else(|_| String::new(), |name| name.to_string_lossy().into());
    writeln!(out, "{}", json!({ "device": name, "driver_version": gpu.properties.driver_version }))?;
    let importer = Importer::new(gpu);
    let mut count = 0;
    for format in shapes::formats() {
        let support = gpu.format_support(format);
        if !support.modifiers.is_empty() {
            writeln!(out, "{}", modifiers(gpu, format, &support))?;
        }
        for (kind, planes) in kinds(format, &support) {
            let Some(limits) = gpu.image_limits(&kind) else { continue };
            for shape in shapes::shapes(&kind, &limits) {
                let answer = gpu.ask_about(&kind, &shape, planes, importer.as_ref());
                writeln!(out, "{}", image(&kind, &shape, &answer))?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Returns the kinds of images to ask about, with the memory planes of each.
fn kinds(format: vk::Format, support: &FormatSupport) -> Vec<(ImageKind, u32)> {
    use vk::{ImageCreateFlags as Flags, ImageTiling as Tiling, ImageType as Type};
    let types = [Type::TYPE_1D, Type::TYPE_2D, Type::TYPE_3D];
    let residency = Flags::SPARSE_BINDING | Flags::SPARSE_RESIDENCY;
    let mut kinds = Vec::new();
    for usage in shapes::usages() {
        let fits = |features| shapes::allowed(features).contains(usage);
        for dimension in types {
            let of = |tiling| ImageKind {
                format,
                dimension,
                tiling,
                modifier: None,
                usage,
                flags: Flags::empty(),
                exported: false,
            };
            if fits(support.linear) {
                kinds.push((of(Tiling::LINEAR), color_planes(format)));
            }
            if fits(support.optimal) {
                let plain = of(Tiling::OPTIMAL);
                kinds.push((plain, 1));
                kinds.push((ImageKind { exported: true, ..plain }, 1));
                kinds.push((ImageKind { flags: residency, ..plain }, 1));
                if dimension == Type::TYPE_2D {
                    kinds.push((ImageKind { flags: Flags::CUBE_COMPATIBLE, ..plain }, 1));
                }
            }
        }
        for modifier in &support.modifiers {
            if fits(modifier.drm_format_modifier_tiling_features) {
                let kind = named(format, modifier.drm_format_modifier, usage);
                kinds.push((kind, modifier.drm_format_modifier_plane_count));
            }
        }
    }
    kinds
}

/// Returns the planes of a multi-planar format; 1 for others.
fn color_planes(format: vk::Format) -> u32 {
    let name = format!("{format:?}");
    if name.contains("3PLANE") {
        3
    } else if name.contains("2PLANE") {
        2
    } else {
        1
    }
}

/// Returns an image that a modifier lays out.
const fn named(format: vk::Format, modifier: u64, usage: vk::ImageUsageFlags) -> ImageKind {
    ImageKind {
        format,
        dimension: vk::ImageType::TYPE_2D,
        tiling: vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT,
        modifier: Some(modifier),
        usage,
        flags: vk::ImageCreateFlags::empty(),
        exported: true,
    }
}

fn modifiers(gpu: &Gpu, format: vk::Format, support: &FormatSupport) -> Value {
    let list: Vec<_> = support
        .modifiers
        .iter()
        .map(|one| {
            let limits = gpu.image_limits(&named(format, one.drm_format_modifier, vk::ImageUsageFlags::TRANSFER_SRC));
            json!({
                "modifier": one.drm_format_modifier,
                "planes": one.drm_format_modifier_plane_count,
                "features": one.drm_format_modifier_tiling_features.as_raw(),
                "extent": limits.map(|most| [most.max_extent.width, most.max_extent.height]),
            })
        })
        .collect();
    json!({ "format": format.as_raw(), "name": format!("{format:?}"), "modifiers": list })
}

fn image(kind: &ImageKind, shape: &Shape, answer: &Result<Answer, vk::Result>) -> Value {
    let mut line = json!({
        "format": kind.format.as_raw(),
        "name": format!("{:?}", kind.format),
        "dimension": kind.dimension.as_raw() + 1,
        "linear": kind.tiling == vk::ImageTiling::LINEAR,
        "usage": kind.usage.as_raw(),
        "flags": kind.flags.as_raw(),
        "exported": kind.exported,
        "extent": shape.extent,
        "layers": shape.layers,
        "levels": shape.levels,
        "samples": shape.samples,
    });
    if let Some(modifier) = kind.modifier {
        line["modifier"] = json!(modifier);
    }
    match answer {
        Err(error) => line["refused"] = json!(format!("{error:?}")),
        Ok(Answer { needs, parts, sparse, shared }) => {
            line["size"] = json!(needs.size);
            line["alignment"] = json!(needs.alignment);
            line["types"] = json!(needs.memory_type_bits);
            if !parts.is_empty() {
                line["parts"] = parts.iter().map(part).collect();
            }
            if !sparse.is_empty() {
                line["sparse"] = sparse.iter().map(pages).collect();
            }
            match shared {
                Some(Ok(words)) => line["bo"] = bo(words),
                Some(Err(reason)) => line["bo_refused"] = json!(reason),
                None => {}
            }
        }
    }
    line
}

/// The words that travel with memory.
fn bo(words: &BoMetadata) -> Value {
    let dwords: Vec<u32> = words.data.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    json!({ "tiling": words.tiling, "flags": words.flags, "words": dwords })
}

fn part(part: &crate::gpu::Part) -> Value {
    let (of, at) = (part.of, part.layout);
    json!({
        "aspect": of.aspect_mask.as_raw(),
        "level": of.mip_level,
        "layer": of.array_layer,
        "offset": at.offset,
        "size": at.size,
        "row_pitch": at.row_pitch,
        "array_pitch": at.array_pitch,
        "depth_pitch": at.depth_pitch,
    })
}

fn pages(needs: &vk::SparseImageMemoryRequirements) -> Value {
    let vk::Extent3D { width, height, depth } = needs.format_properties.image_granularity;
    json!({
        "aspects": needs.format_properties.aspect_mask.as_raw(),
        "single_tail": needs.format_properties.flags.contains(vk::SparseImageFormatFlags::SINGLE_MIPTAIL),
        "page": [width, height, depth],
        "first_tail": needs.image_mip_tail_first_lod,
        "tail_size": needs.image_mip_tail_size,
        "tail_offset": needs.image_mip_tail_offset,
        "tail_stride": needs.image_mip_tail_stride,
    })
}
