//! The supported images: single-sampled images for copies.

use ash::vk;

use super::{external, fill_chain, formats::Texel, limits};
use crate::{
    border::{Failure, chain},
    objects::Gpu,
};

/// The usages that images can have.
const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw()
        | vk::ImageUsageFlags::HOST_TRANSFER_EXT.as_raw(),
);

/// The flags that images can have. None of them changes a layout. Sparse and protected images are not supported.
const FLAGS: vk::ImageCreateFlags = vk::ImageCreateFlags::from_raw(
    vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw()
        | vk::ImageCreateFlags::EXTENDED_USAGE.as_raw()
        | vk::ImageCreateFlags::ALIAS.as_raw()
        | vk::ImageCreateFlags::CUBE_COMPATIBLE.as_raw()
        | vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE.as_raw(),
);

/// The properties of an image that determine whether it is supported.
#[derive(Clone, Copy)]
pub(crate) struct ImageKind {
    /// The format.
    pub(crate) format: vk::Format,
    /// The dimension.
    pub(crate) dimension: vk::ImageType,
    /// The tiling.
    pub(crate) tiling: vk::ImageTiling,
    /// The usage flags.
    pub(crate) usage: vk::ImageUsageFlags,
    /// The creation flags.
    pub(crate) flags: vk::ImageCreateFlags,
    /// The format modifier, if the tiling is given by one.
    pub(crate) modifier: Option<u64>,
}

/// Returns the limits of images of a kind.
///
/// # Errors
///
/// `VK_ERROR_FORMAT_NOT_SUPPORTED` if images of this kind are not supported.
pub(crate) fn properties(gpu: &Gpu, kind: &ImageKind) -> Result<vk::ImageFormatProperties, Failure> {
    let absent = Failure(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    let texel = Texel::of(kind.format).filter(|_| gpu.tiles.is_some()).ok_or(absent)?;
    if !USAGE.contains(kind.usage) || !FLAGS.contains(kind.flags) {
        return Err(absent);
    }
    let limits = limits::limits(gpu);
    let extent = |width, height, depth| vk::Extent3D { width, height, depth };
    let (wide, deep) = (limits.max_image_dimension2_d, limits.max_image_dimension3_d);
    let is_cube = kind.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    let max_extent = match kind.dimension {
        vk::ImageType::TYPE_1D if !is_cube => extent(limits.max_image_dimension1_d, 1, 1),
        vk::ImageType::TYPE_2D => extent(wide, wide, 1),
        vk::ImageType::TYPE_3D if !is_cube => extent(deep, deep, deep),
        _ => return Err(absent),
    };
    let (levels, layers) = match kind.tiling {
        vk::ImageTiling::OPTIMAL if texel.has_tiles() => {
            let largest = max_extent.width.max(1);
            (
                largest.ilog2() + 1,
                if kind.dimension == vk::ImageType::TYPE_3D { 1 } else { limits.max_image_array_layers },
            )
        }
        vk::ImageTiling::LINEAR if !is_cube => (1, 1),
        vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT if kind.dimension == vk::ImageType::TYPE_2D && !is_cube => {
            let modifiers = gpu.modifiers(texel.bytes());
            let is_there = |modifier: &u64| modifiers.contains(modifier);
            kind.modifier.filter(is_there).map(|_| (1, 1)).ok_or(absent)?
        }
        _ => return Err(absent),
    };
    Ok(vk::ImageFormatProperties {
        max_extent,
        max_mip_levels: levels,
        max_array_layers: layers,
        sample_counts: vk::SampleCountFlags::TYPE_1,
        max_resource_size: limits::max_allocation(gpu),
    })
}

/// Checks an image against the limits of its kind.
///
/// # Errors
///
/// `VK_ERROR_FORMAT_NOT_SUPPORTED`, as from `vkGetPhysicalDeviceImageFormatProperties`, if the kind is not supported or the image
/// exceeds a limit.
pub(crate) fn check(gpu: &Gpu, kind: &ImageKind, info: &vk::ImageCreateInfo<'_>) -> Result<(), Failure> {
    let most = properties(gpu, kind)?;
    let side = |value: u32, most: u32| (1..=most).contains(&value);
    let extent = info.extent;
    let largest = extent.width.max(extent.height).max(extent.depth).max(1);
    let fits = side(extent.width, most.max_extent.width)
        && side(extent.height, most.max_extent.height)
        && side(extent.depth, most.max_extent.depth)
        && side(info.mip_levels, most.max_mip_levels.min(largest.ilog2() + 1))
        && side(info.array_layers, most.max_array_layers)
        && info.samples == vk::SampleCountFlags::TYPE_1;
    if fits { Ok(()) } else { Err(Failure(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)) }
}

/// Fills in the limits of images of a kind, and the handle types for sharing their memory.
///
/// # Errors
///
/// The errors of [`properties`], and `VK_ERROR_FORMAT_NOT_SUPPORTED` if the memory cannot be shared as the requested handle type.
pub(crate) fn fill(
    gpu: &Gpu,
    info: &vk::PhysicalDeviceImageFormatInfo2<'_>,
    out: &mut vk::ImageFormatProperties2<'_>,
) -> Result<(), Failure> {
    out.image_format_properties = vk::ImageFormatProperties::default();
    let modifier = chain::find::<vk::PhysicalDeviceImageDrmFormatModifierInfoEXT<'_>>(info);
    let kind = ImageKind {
        format: info.format,
        dimension: info.ty,
        tiling: info.tiling,
        usage: info.usage,
        flags: info.flags,
        modifier: modifier.map(|modifier| modifier.drm_format_modifier),
    };
    let found = properties(gpu, &kind)?;
    let handles = chain::find::<vk::PhysicalDeviceExternalImageFormatInfo<'_>>(info).map(|it| it.handle_type);
    if let Some(handle) = handles.filter(|handle| !handle.is_empty()) {
        let external = external::image(handle, info.tiling);
        if external.external_memory_features.is_empty() {
            return Err(Failure(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
        }
        fill_chain!(out; ExternalImageFormatProperties { external_memory_properties: external });
    }
    out.image_format_properties = found;
    // The CPU sees the memory of images that it copies, which may be slower.
    let same_types = vk::Bool32::from(gpu.host_types(u32::MAX) == u32::MAX);
    fill_chain!(out; HostImageCopyDevicePerformanceQueryEXT {
        optimal_device_access: same_types,
        identical_memory_layout: vk::TRUE,
    });
    Ok(())
}

/// The layouts in which the CPU can copy: all layouts of an image for copies, because they are all the same.
pub(crate) const LAYOUTS: [vk::ImageLayout; 4] = [
    vk::ImageLayout::GENERAL,
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    vk::ImageLayout::PREINITIALIZED,
];
