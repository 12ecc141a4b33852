//! Images with memory of their own, and the commands that clear and copy them.

use ash::{prelude::VkResult, vk};

use crate::gpu::{
    Gpu, Lane,
    buffer::Buffer,
    commands::Recorder,
    memory::{Memory, MemoryPlace, Source},
};

/// An image in the driver's own order, with memory of its own.
pub(crate) struct Texture<'g> {
    pub(super) gpu: &'g Gpu,
    pub(super) raw: vk::Image,
    pub(super) format: vk::Format,
    pub(super) extent: [u32; 2],
    pub(super) layers: u32,
    aspect: vk::ImageAspectFlags,
    memory: Option<Memory<'g>>,
}

/// The properties of a texture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureKind {
    /// Format.
    pub(crate) format: vk::Format,
    /// Aspect that commands use.
    pub(crate) aspect: vk::ImageAspectFlags,
    /// Width and height in texels.
    pub(crate) extent: [u32; 2],
    /// Array layers.
    pub(crate) layers: u32,
    /// Samples.
    pub(crate) samples: u32,
    /// Uses.
    pub(crate) usage: vk::ImageUsageFlags,
}

impl Gpu {
    /// Returns `true` if the driver has images of a kind.
    pub(crate) fn has_texture(&self, kind: &TextureKind) -> bool {
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(kind.format)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(kind.usage);
        let mut found = vk::ImageFormatProperties2::default();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        let answer =
            unsafe { self.instance.get_physical_device_image_format_properties2(self.physical, &info, &mut found) };
        let limits = found.image_format_properties;
        let [width, height] = kind.extent;
        let fits = width <= limits.max_extent.width && height <= limits.max_extent.height;
        let samples = limits.sample_counts.contains(vk::SampleCountFlags::from_raw(kind.samples));
        answer.is_ok() && fits && samples && kind.layers <= limits.max_array_layers
    }

    /// Creates an image of one level, with memory near the GPU, for one queue family at a time.
    ///
    /// # Errors
    ///
    /// The errors of creating, allocating and binding; `FEATURE_NOT_PRESENT` if no memory type fits.
    pub(crate) fn texture(&self, kind: &TextureKind) -> VkResult<Texture<'_>> {
        let [width, height] = kind.extent;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(kind.format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(kind.layers)
            .samples(vk::SampleCountFlags::from_raw(kind.samples))
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(kind.usage);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); callers ask `has_texture` about the kind before.
        let raw = unsafe { self.device.create_image(&info, None) }?;
        let &TextureKind { format, extent, layers, aspect, .. } = kind;
        let mut made = Texture { gpu: self, raw, format, extent, layers, aspect, memory: None };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        let needs = unsafe { self.device.get_image_memory_requirements(raw) };
        let place = self.memory_type(needs.memory_type_bits, MemoryPlace::Device);
        let memory = self.allocate(needs.size, place.ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)?, Source::Fresh)?;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); the image has no memory yet, and the memory was sized for it.
        unsafe { self.device.bind_image_memory(raw, memory.raw, 0) }?;
        made.memory = Some(memory);
        Ok(made)
    }
}

impl Texture<'_> {
    const fn subresource(&self) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers {
            aspect_mask: self.aspect,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: self.layers,
        }
    }

    pub(super) const fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.aspect,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: self.layers,
        }
    }

    const fn whole(&self) -> vk::Extent3D {
        vk::Extent3D { width: self.extent[0], height: self.extent[1], depth: 1 }
    }
}

impl Drop for Texture<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`). The memory is a field and therefore freed afterwards.
        unsafe { self.gpu.device.destroy_image(self.raw, None) };
    }
}

impl<'a> Recorder<'a> {
    /// vkCmdPipelineBarrier with a change of layout: all before it ends, and is visible to all after it.
    pub(crate) fn transition(&self, image: &'a Texture<'_>, from: vk::ImageLayout, to: vk::ImageLayout) {
        self.change(image, [from, to], [vk::QUEUE_FAMILY_IGNORED; 2]);
    }

    /// The same with a change of the queue family, recorded on the queue that has the image and then on the one that gets it.
    pub(crate) fn hand_over(
        &self,
        image: &'a Texture<'_>,
        lanes: [&Lane; 2],
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) {
        self.change(image, [from, to], lanes.map(|lane| lane.family));
    }

    fn change(&self, image: &'a Texture<'_>, [from, to]: [vk::ImageLayout; 2], [source, target]: [u32; 2]) {
        let (read, write) = (vk::AccessFlags::MEMORY_READ, vk::AccessFlags::MEMORY_WRITE);
        let barrier = [vk::ImageMemoryBarrier::default()
            .image(image.raw)
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(source)
            .dst_queue_family_index(target)
            .src_access_mask(write)
            .dst_access_mask(read | write)
            .subresource_range(image.range())];
        let (all, flags) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        unsafe { self.gpu.device.cmd_pipeline_barrier(self.raw, all, all, flags, &[], &[], &barrier) };
    }

    /// vkCmdClearColorImage of all layers.
    pub(crate) fn clear(&self, image: &'a Texture<'_>, layout: vk::ImageLayout, color: &vk::ClearColorValue) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the image is in the layout, as the checks take care of.
        unsafe { self.gpu.device.cmd_clear_color_image(self.raw, image.raw, layout, color, &[image.range()]) };
    }

    /// vkCmdClearDepthStencilImage of all layers.
    pub(crate) fn clear_depth(&self, image: &'a Texture<'_>, layout: vk::ImageLayout, depth: f32, stencil: u32) {
        let value = vk::ClearDepthStencilValue { depth, stencil };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the image is in the layout, as the checks take care of.
        unsafe { self.gpu.device.cmd_clear_depth_stencil_image(self.raw, image.raw, layout, &value, &[image.range()]) };
    }

    /// vkCmdCopyBufferToImage of tightly packed texels.
    pub(crate) fn copy_in(&self, from: &'a Buffer<'_>, image: &'a Texture<'_>, layout: vk::ImageLayout) {
        let region =
            [vk::BufferImageCopy::default().image_subresource(image.subresource()).image_extent(image.whole())];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the image is in the layout and the buffer has all texels,
        // as the checks take care of.
        unsafe { self.gpu.device.cmd_copy_buffer_to_image(self.raw, from.raw, image.raw, layout, &region) };
    }

    /// vkCmdCopyImageToBuffer of colour or depth, tightly packed.
    pub(crate) fn copy_out(&self, image: &'a Texture<'_>, layout: vk::ImageLayout, to: &'a Buffer<'_>) {
        let layers = image.subresource();
        let aspect_mask = layers.aspect_mask & (vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH);
        let layers = vk::ImageSubresourceLayers { aspect_mask, ..layers };
        let region = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(image.whole())];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the image is in the layout and the buffer has room, as
        // the checks take care of.
        unsafe { self.gpu.device.cmd_copy_image_to_buffer(self.raw, image.raw, layout, to.raw, &region) };
    }

    /// vkCmdCopyImage of everything, between images of one size in the layouts for copies.
    pub(crate) fn copy_texture(&self, from: &'a Texture<'_>, to: &'a Texture<'_>) {
        let region = [vk::ImageCopy::default()
            .src_subresource(from.subresource())
            .dst_subresource(to.subresource())
            .extent(from.whole())];
        let layouts = [vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); both are in these layouts, as the checks take care of.
        unsafe {
            self.gpu.device.cmd_copy_image(self.raw, from.raw, layouts[0], to.raw, layouts[1], &region);
        }
    }

    /// vkCmdResolveImage of everything, between images of one size in the layouts for copies.
    pub(crate) fn resolve(&self, from: &'a Texture<'_>, to: &'a Texture<'_>) {
        let region = [vk::ImageResolve::default()
            .src_subresource(from.subresource())
            .dst_subresource(to.subresource())
            .extent(from.whole())];
        let layouts = [vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); both are in these layouts, as the checks take care of.
        unsafe {
            self.gpu.device.cmd_resolve_image(self.raw, from.raw, layouts[0], to.raw, layouts[1], &region);
        }
    }
}
