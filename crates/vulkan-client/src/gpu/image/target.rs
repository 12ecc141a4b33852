//! Textures as targets of rendering.

use ash::{prelude::VkResult, vk};

use super::texture::Texture;
use crate::gpu::{Gpu, commands::Recorder};

/// A view of all layers of a texture.
pub(crate) struct Target<'t> {
    gpu: &'t Gpu,
    raw: vk::ImageView,
    texture: &'t Texture<'t>,
}

impl Texture<'_> {
    /// Creates the view that rendering needs.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateImageView.
    pub(crate) fn target(&self) -> VkResult<Target<'_>> {
        let info = vk::ImageViewCreateInfo::default()
            .image(self.raw)
            .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
            .format(self.format)
            .subresource_range(self.range());
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the format and the range are the image's own.
        let raw = unsafe { self.gpu.device.create_image_view(&info, None) }?;
        Ok(Target { gpu: self.gpu, raw, texture: self })
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_image_view(self.raw, None) };
    }
}

impl Target<'_> {
    /// Returns the width and height.
    pub(in crate::gpu) const fn extent(&self) -> vk::Extent2D {
        let [width, height] = self.texture.extent;
        vk::Extent2D { width, height }
    }
}

impl<'a> Recorder<'a> {
    /// Clears all layers by rendering without draws. The image is in the layout of attachments.
    pub(crate) fn render_clear(&self, target: &'a Target<'_>, color: vk::ClearColorValue) {
        self.render(target, color, || ());
    }

    /// vkCmdBeginRendering with a clear of all layers, what `draw` records, and vkCmdEndRendering. The image is in the layout of
    /// attachments.
    pub(in crate::gpu) fn render(&self, target: &'a Target<'_>, color: vk::ClearColorValue, draw: impl FnOnce()) {
        let attachment = [vk::RenderingAttachmentInfo::default()
            .image_view(target.raw)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue { color })];
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent: target.extent() })
            .layer_count(target.texture.layers)
            .color_attachments(&attachment);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); callers have a device of Vulkan 1.3, whose feature is
        // enabled.
        unsafe { self.gpu.device.cmd_begin_rendering(self.raw, &info) };
        draw();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); rendering was begun above.
        unsafe { self.gpu.device.cmd_end_rendering(self.raw) };
    }
}
