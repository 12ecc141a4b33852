//! Views of images for shaders.

use ash::{prelude::VkResult, vk};

use super::BoundImage;
use crate::gpu::Gpu;

/// A view of all levels and layers of an image.
pub(crate) struct ImageView<'i> {
    gpu: &'i Gpu,
    pub(in crate::gpu) raw: vk::ImageView,
}

impl BoundImage<'_> {
    /// Creates a view of the aspect that is copied.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateImageView.
    pub(crate) fn view(&self, kind: vk::ImageViewType) -> VkResult<ImageView<'_>> {
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(self.aspect)
            .level_count(vk::REMAINING_MIP_LEVELS)
            .layer_count(vk::REMAINING_ARRAY_LAYERS);
        let info = vk::ImageViewCreateInfo::default()
            .image(self.bare.raw)
            .view_type(kind)
            .format(self.kind.format)
            .subresource_range(range);
        let gpu = self.bare.gpu;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the format and the range are the image's own, and the caller names a type that fits
        // them.
        let raw = unsafe { gpu.device.create_image_view(&info, None) }?;
        Ok(ImageView { gpu, raw })
    }
}

impl Drop for ImageView<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_image_view(self.raw, None) };
    }
}
