//! Images: for the driver's answers about them, without memory or with some that is exported, and for copies.

mod aspect;
mod bound;
mod draw;
mod exported;
mod target;
mod texture;
mod view;

use amdgpu_winsys::winsys::BoMetadata;
use ash::{prelude::VkResult, vk};

pub(crate) use self::{
    aspect::{aspect_format, chroma_shift, planes},
    bound::{BoundImage, Part as ImagePart},
    exported::Importer,
    texture::{Texture, TextureKind},
    view::ImageView,
};
use super::Gpu;

/// The most bytes of an image whose memory is allocated.
const MOST_SHARED: u64 = 64 << 20;

/// The properties that decide about the support of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageKind {
    /// Format.
    pub(crate) format: vk::Format,
    /// Dimension.
    pub(crate) dimension: vk::ImageType,
    /// Order of the texels.
    pub(crate) tiling: vk::ImageTiling,
    /// The modifier, if that is the tiling.
    pub(crate) modifier: Option<u64>,
    /// Uses.
    pub(crate) usage: vk::ImageUsageFlags,
    /// Cube faces, residency.
    pub(crate) flags: vk::ImageCreateFlags,
    /// `true` if its memory may be exported.
    pub(crate) exported: bool,
}

/// The size of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Width, height and depth in texels.
    pub(crate) extent: [u32; 3],
    /// Array layers.
    pub(crate) layers: u32,
    /// Mip levels.
    pub(crate) levels: u32,
    /// Samples.
    pub(crate) samples: u32,
}

/// A part of an image with its place in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Aspect, mip level and array layer.
    pub(crate) of: vk::ImageSubresource,
    /// Offset, size and pitches in bytes.
    pub(crate) layout: vk::SubresourceLayout,
}

/// The driver's answers about an image.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Size, alignment and memory types.
    pub(crate) needs: vk::MemoryRequirements,
    /// The parts of a linear image, and the memory planes of one with a modifier.
    pub(crate) parts: Vec<Part>,
    /// Pages and mip tails of a partially resident image.
    pub(crate) sparse: Vec<vk::SparseImageMemoryRequirements>,
    /// The words that the driver leaves with the memory of a shared image, or the reason why there are none.
    pub(crate) shared: Option<Result<BoMetadata, String>>,
}

/// The support of a format.
#[derive(Clone, Debug)]
pub(crate) struct FormatSupport {
    /// Features of images in rows.
    pub(crate) linear: vk::FormatFeatureFlags,
    /// Features of images in the driver's order.
    pub(crate) optimal: vk::FormatFeatureFlags,
    /// Modifiers with their memory planes and features, in the driver's order.
    pub(crate) modifiers: Vec<vk::DrmFormatModifierPropertiesEXT>,
}

/// An image without memory of its own.
struct Bare<'g> {
    gpu: &'g Gpu,
    raw: vk::Image,
}

impl Drop for Bare<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_image(self.raw, None) };
    }
}

impl Gpu {
    /// Returns the features of a format, and its modifiers if the driver has any.
    pub(crate) fn format_support(&self, format: vk::Format) -> FormatSupport {
        let mut listed = vk::DrmFormatModifierPropertiesListEXT::default();
        let mut properties = vk::FormatProperties2::default();
        if self.extensions.modifiers {
            properties = properties.push_next(&mut listed);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the list has no room yet, so that only its length is written.
        unsafe { self.instance.get_physical_device_format_properties2(self.physical, format, &mut properties) };
        let found = properties.format_properties;
        let count = listed.drm_format_modifier_count as usize;
        let mut modifiers = vec![vk::DrmFormatModifierPropertiesEXT::default(); count];
        if count > 0 {
            let mut listed = vk::DrmFormatModifierPropertiesListEXT::default()
                .drm_format_modifier_properties(modifiers.as_mut_slice());
            let mut properties = vk::FormatProperties2::default().push_next(&mut listed);
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
            // pointers is local (the premises of `gpu`); the list has room for the number that the driver just told.
            unsafe { self.instance.get_physical_device_format_properties2(self.physical, format, &mut properties) };
        }
        FormatSupport { linear: found.linear_tiling_features, optimal: found.optimal_tiling_features, modifiers }
    }

    /// Returns the largest sizes of images of a kind; `None` if the driver has none.
    pub(crate) fn image_limits(&self, kind: &ImageKind) -> Option<vk::ImageFormatProperties> {
        let mut info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(kind.format)
            .ty(kind.dimension)
            .tiling(kind.tiling)
            .usage(kind.usage)
            .flags(kind.flags);
        let mut named = vk::PhysicalDeviceImageDrmFormatModifierInfoEXT::default();
        if let Some(modifier) = kind.modifier {
            named = named.drm_format_modifier(modifier);
            info = info.push_next(&mut named);
        }
        let mut outside = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(kind.handle_type());
        if kind.exported {
            info = info.push_next(&mut outside);
        }
        let mut external = vk::ExternalImageFormatProperties::default();
        let mut found = vk::ImageFormatProperties2::default().push_next(&mut external);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); extensions of the structures are chained only where the driver has them.
        let answer =
            unsafe { self.instance.get_physical_device_image_format_properties2(self.physical, &info, &mut found) };
        let limits = found.image_format_properties;
        let features = external.external_memory_properties.external_memory_features;
        let exportable = !kind.exported || features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE);
        (answer.is_ok() && exportable).then_some(limits)
    }

    /// Creates an image, which all of the queue families use at once if there are several.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateImage.
    fn bare_image(&self, kind: &ImageKind, shape: &Shape, families: &[u32]) -> VkResult<Bare<'_>> {
        let [width, height, depth] = shape.extent;
        let named = [kind.modifier.unwrap_or_default()];
        let mut modifiers = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&named);
        let mut outside = vk::ExternalMemoryImageCreateInfo::default().handle_types(kind.handle_type());
        let mut info = vk::ImageCreateInfo::default()
            .flags(kind.flags)
            .image_type(kind.dimension)
            .format(kind.format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(shape.levels)
            .array_layers(shape.layers)
            .samples(vk::SampleCountFlags::from_raw(shape.samples))
            .tiling(kind.tiling)
            .usage(kind.usage);
        if families.len() > 1 {
            info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(families);
        }
        if kind.modifier.is_some() {
            info = info.push_next(&mut modifiers);
        }
        if kind.exported {
            info = info.push_next(&mut outside);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the caller asked for the limits of the kind, and the
        // shape is within them.
        let raw = unsafe { self.device.create_image(&info, None) }?;
        Ok(Bare { gpu: self, raw })
    }

    /// Creates an image, asks the driver about it, and destroys it. With an importer, shared images get memory whose words are read.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateImage.
    pub(crate) fn ask_about(
        &self,
        kind: &ImageKind,
        shape: &Shape,
        planes: u32,
        importer: Option<&Importer>,
    ) -> VkResult<Answer> {
        let image = self.bare_image(kind, shape, &[])?;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        let needs = unsafe { self.device.get_image_memory_requirements(image.raw) };
        let sparse = if kind.flags.contains(vk::ImageCreateFlags::SPARSE_RESIDENCY) {
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); the image
            // was created with residency.
            unsafe { self.device.get_image_sparse_memory_requirements(image.raw) }
        } else {
            Vec::new()
        };
        let parts = kind
            .parts(shape, planes)
            .into_iter()
            .map(|of| Part {
                of,
                // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`); the
                // aspects are those of the format or of its memory planes, levels and layers are the image's, and its tiling is one whose
                // layout may be asked for.
                layout: unsafe { self.device.get_image_subresource_layout(image.raw, of) },
            })
            .collect();
        let importer = importer.filter(|_| kind.exported && needs.size <= MOST_SHARED);
        let shared = importer.map(|importer| {
            let descriptor = self.export_image(image.raw, &needs, kind.handle_type());
            descriptor.map_err(|error| error.to_string()).and_then(|descriptor| importer.metadata(descriptor))
        });
        Ok(Answer { needs, parts, sparse, shared })
    }
}

impl ImageKind {
    const fn handle_type(&self) -> vk::ExternalMemoryHandleTypeFlags {
        if self.modifier.is_some() {
            vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT
        } else {
            vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD
        }
    }

    /// Returns the parts whose layout Vulkan lets a program ask for.
    fn parts(&self, shape: &Shape, planes: u32) -> Vec<vk::ImageSubresource> {
        const PLANES: [vk::ImageAspectFlags; 3] =
            [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1, vk::ImageAspectFlags::PLANE_2];
        const MEMORY: [vk::ImageAspectFlags; 4] = [
            vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
            vk::ImageAspectFlags::MEMORY_PLANE_1_EXT,
            vk::ImageAspectFlags::MEMORY_PLANE_2_EXT,
            vk::ImageAspectFlags::MEMORY_PLANE_3_EXT,
        ];
        let count = planes as usize;
        let aspects: Vec<_> = match self.tiling {
            vk::ImageTiling::LINEAR if planes > 1 => PLANES.into_iter().take(count).collect(),
            vk::ImageTiling::LINEAR => vec![vk::ImageAspectFlags::COLOR],
            vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT => MEMORY.into_iter().take(count).collect(),
            _ => Vec::new(),
        };
        // Memory planes have no levels and no layers; of layers the last tells the distance.
        let (levels, last) = if self.modifier.is_some() { (1, 0) } else { (shape.levels, shape.layers - 1) };
        let mut layers = vec![0, last];
        layers.dedup();
        let mut parts = Vec::new();
        for aspect_mask in aspects {
            for &array_layer in &layers {
                for mip_level in 0..levels {
                    parts.push(vk::ImageSubresource { aspect_mask, mip_level, array_layer });
                }
            }
        }
        parts
    }
}
