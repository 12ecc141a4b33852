//! The computation of image layouts.

use std::sync::OnceLock;

use amdgpu_surface::{
    modifier::Modifier,
    surface::{Dimension, SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode},
};
use ash::vk;

use super::Image;
use crate::{
    border::{
        Failure, chain,
        list::{ModifierLists, PlaneLists},
    },
    facts::{
        formats::Texel,
        images::{self, ImageKind},
        limits,
    },
    objects::Gpu,
};

/// Returns the modifiers from which the driver may choose, and the plane layout that the program prescribes, if any.
fn modifiers<'a>(info: &'a vk::ImageCreateInfo<'_>) -> (&'a [u64], Option<&'a [vk::SubresourceLayout]>) {
    let explicit = chain::find::<vk::ImageDrmFormatModifierExplicitCreateInfoEXT<'a>>(info);
    if let Some(explicit) = explicit {
        return (std::slice::from_ref(&explicit.drm_format_modifier), Some(explicit.planes()));
    }
    let list = chain::find::<vk::ImageDrmFormatModifierListCreateInfoEXT<'a>>(info);
    (list.map_or(&[], ModifierLists::modifiers), None)
}

impl Gpu {
    /// Returns the modifier of an image: the best modifier of the chip that the program allows.
    fn choose(&self, info: &vk::ImageCreateInfo<'_>, texel: Texel) -> Result<Option<u64>, Failure> {
        if info.tiling != vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT {
            return Ok(None);
        }
        let (allowed, _) = modifiers(info);
        let chosen = self.modifiers(texel.bytes()).into_iter().find(|modifier| allowed.contains(modifier));
        chosen.map(Some).ok_or(Failure(vk::Result::ERROR_FORMAT_NOT_SUPPORTED))
    }

    /// Computes the layout of an image.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_FORMAT_NOT_SUPPORTED` if the image is not supported; `VK_ERROR_OUT_OF_DEVICE_MEMORY` if it exceeds the largest
    /// allocation; `VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT` if the prescribed plane layout does not match the
    /// modifier.
    pub(crate) fn image(&self, info: &vk::ImageCreateInfo<'_>) -> Result<Image, Failure> {
        let absent = Failure(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        let texel = Texel::of(info.format).ok_or(absent)?;
        let modifier = self.choose(info, texel)?;
        let (format, dimension, tiling) = (info.format, info.image_type, info.tiling);
        let kind = ImageKind { format, dimension, tiling, usage: info.usage, flags: info.flags, modifier };
        images::check(self, &kind, info)?;
        let chip = self.tiles.as_ref().ok_or(absent)?;
        let vk::Extent3D { width, height, depth } = info.extent;
        let config = SurfaceConfig {
            depth,
            layers: info.array_layers,
            levels: info.mip_levels,
            dimension: match info.image_type {
                vk::ImageType::TYPE_1D => Dimension::D1,
                vk::ImageType::TYPE_3D => Dimension::D3,
                _ => Dimension::D2,
            },
            mode: if info.tiling == vk::ImageTiling::LINEAR { TilingMode::Linear } else { TilingMode::Tiled2d },
            // Nothing here writes or reads compressed texels.
            usage: SurfaceUsage::DISABLE_DCC | SurfaceUsage::NO_FMASK | SurfaceUsage::NO_HTILE,
            modifier: modifier.and_then(|modifier| Modifier::decode(modifier).ok()),
            ..SurfaceConfig::new(width, height, texel.bytes())
        };
        let layout = SurfaceLayout::new(chip, &config).map_err(|_| absent)?;
        if layout.total_bytes > limits::max_allocation(self) {
            return Err(Failure(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        }
        let shared = chain::find::<vk::ExternalMemoryImageCreateInfo<'_>>(info);
        let is_shared = shared.is_some_and(|shared| !shared.handle_types.is_empty());
        let image = Image {
            layout,
            config,
            texel,
            levels: info.mip_levels,
            layers: info.array_layers,
            extent: [width, height, depth],
            is_volume: info.image_type == vk::ImageType::TYPE_3D,
            modifier,
            is_dedicated: is_shared && info.tiling == vk::ImageTiling::OPTIMAL,
            has_host_copies: info.usage.contains(vk::ImageUsageFlags::HOST_TRANSFER_EXT),
            place: OnceLock::new(),
        };
        if let (_, Some(planes)) = modifiers(info) {
            let found = image.place(self, 0, 0)?;
            let is_same = |plane: &vk::SubresourceLayout| plane.offset == 0 && plane.row_pitch == found.row_pitch;
            if planes.len() != 1 || !planes.iter().all(is_same) {
                return Err(Failure(vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT));
            }
        }
        Ok(image)
    }

    /// Returns the memory requirements of an image. The memory types are those of buffers, or the host-visible ones among them.
    pub(crate) fn image_requirements(&self, image: &Image, has_coherent_memory: bool) -> vk::MemoryRequirements {
        let types = self.usable_types(false, has_coherent_memory);
        vk::MemoryRequirements {
            size: image.size(),
            alignment: image.alignment(),
            memory_type_bits: if image.has_host_copies { self.host_types(types) } else { types },
        }
    }
}
