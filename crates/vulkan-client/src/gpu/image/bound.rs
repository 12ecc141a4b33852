//! Images with memory of their own that the CPU sees, and copies of them.

use ash::{prelude::VkResult, vk};

use super::{Bare, ImageKind, Shape};
use crate::gpu::{Buffer, Gpu, Memory, MemoryPlace, Source, commands::Recorder};

/// An image that is copied from and to, in memory that the CPU sees.
pub(crate) struct BoundImage<'g> {
    // Dropped before the memory.
    pub(super) bare: Bare<'g>,
    memory: Memory<'g>,
    pub(super) kind: ImageKind,
    shape: Shape,
    pub(super) aspect: vk::ImageAspectFlags,
}

/// A box of a level: of a volume its slices, else its layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Mip level.
    pub(crate) level: u32,
    /// The first column, row, and slice or layer, in texels.
    pub(crate) first: [u32; 3],
    /// Columns, rows, and slices or layers, in texels.
    pub(crate) extent: [u32; 3],
}

impl Gpu {
    /// Creates an image in memory that the CPU sees, and of which one aspect is copied.
    ///
    /// # Errors
    ///
    /// The errors of creating, allocating and binding; `FEATURE_NOT_PRESENT` if no memory type fits.
    pub(crate) fn bound_image(
        &self,
        kind: &ImageKind,
        shape: &Shape,
        aspect: vk::ImageAspectFlags,
    ) -> VkResult<BoundImage<'_>> {
        self.bound_image_of(kind, shape, aspect, &[])
    }

    /// Creates the same for all queues at once.
    ///
    /// # Errors
    ///
    /// Those of [`bound_image`](Self::bound_image).
    pub(crate) fn concurrent_image(
        &self,
        kind: &ImageKind,
        shape: &Shape,
        aspect: vk::ImageAspectFlags,
    ) -> VkResult<BoundImage<'_>> {
        self.bound_image_of(kind, shape, aspect, &self.families())
    }

    fn bound_image_of(
        &self,
        kind: &ImageKind,
        shape: &Shape,
        aspect: vk::ImageAspectFlags,
        families: &[u32],
    ) -> VkResult<BoundImage<'_>> {
        let bare = self.bare_image(kind, shape, families)?;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        let needs = unsafe { self.device.get_image_memory_requirements(bare.raw) };
        let kind_of_memory = self.memory_type(needs.memory_type_bits, MemoryPlace::Host);
        let memory =
            self.allocate(needs.size, kind_of_memory.ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)?, Source::Fresh)?;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); the image has no memory yet, and the memory was sized for it.
        unsafe { self.device.bind_image_memory(bare.raw, memory.raw, 0) }?;
        Ok(BoundImage { bare, memory, kind: *kind, shape: *shape, aspect })
    }
}

impl<'g> BoundImage<'g> {
    /// Returns its memory.
    pub(crate) const fn memory(&self) -> &Memory<'g> {
        &self.memory
    }

    /// Panics unless the part is in the image.
    fn check(&self, part: &Part) {
        let is_volume = self.kind.dimension == vk::ImageType::TYPE_3D;
        let [x, y] = super::chroma_shift(self.aspect);
        let [width, height, depth] = self.shape.extent.map(|size| (size >> part.level.min(31)).max(1));
        let (width, height) = (width >> x, height >> y);
        let limits = [width, height, if is_volume { depth } else { self.shape.layers }];
        let ends = part.first.iter().zip(part.extent).map(|(&first, extent)| first.checked_add(extent));
        let fits = ends.zip(limits).all(|(end, limit)| end.is_some_and(|end| end <= limit));
        assert!(fits && part.level < self.shape.levels, "a check records outside of its image");
    }

    /// Returns layers, offset and extent as Vulkan takes them.
    fn described(&self, part: &Part) -> (vk::ImageSubresourceLayers, vk::Offset3D, vk::Extent3D) {
        self.check(part);
        let ([x, y, z], [width, height, depth]) = (part.first, part.extent);
        let is_volume = self.kind.dimension == vk::ImageType::TYPE_3D;
        let (layer, layers, z, depth) = if is_volume { (0, 1, z, depth) } else { (z, depth, 0, 1) };
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: self.aspect,
            mip_level: part.level,
            base_array_layer: layer,
            layer_count: layers,
        };
        let [x, y, z] = [x, y, z].map(u32::cast_signed);
        (layers, vk::Offset3D { x, y, z }, vk::Extent3D { width, height, depth })
    }

    /// Returns all aspects, which change their layout together.
    fn aspects(&self) -> vk::ImageAspectFlags {
        match self.kind.format {
            vk::Format::D16_UNORM | vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
            vk::Format::S8_UINT => vk::ImageAspectFlags::STENCIL,
            vk::Format::D32_SFLOAT_S8_UINT => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            _ => vk::ImageAspectFlags::COLOR,
        }
    }
}

/// The one layout of images here.
const LAYOUT: vk::ImageLayout = vk::ImageLayout::GENERAL;

impl<'a> Recorder<'a> {
    /// Brings an image into the layout of all copies. Its bytes are undefined afterwards.
    pub(crate) fn prepare(&self, image: &'a BoundImage<'_>) {
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(image.aspects())
            .level_count(vk::REMAINING_MIP_LEVELS)
            .layer_count(vk::REMAINING_ARRAY_LAYERS);
        let barrier = [vk::ImageMemoryBarrier::default()
            .image(image.bare.raw)
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(LAYOUT)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .subresource_range(range)];
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        unsafe { self.gpu.device.cmd_pipeline_barrier(self.raw, all, all, flags, &[], &[], &barrier) };
    }

    /// vkCmdCopyBufferToImage of one region. The buffer's rows are the first number of texels apart, its slices the
    /// second number of rows.
    pub(crate) fn copy_to_image(&self, from: &'a Buffer<'_>, rows: [u32; 2], to: &'a BoundImage<'_>, part: &Part) {
        let region = [region(to, part, from, rows)];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); inside image and buffer, as `region` made sure. `prepare`
        // brought the layout about.
        unsafe { self.gpu.device.cmd_copy_buffer_to_image(self.raw, from.raw, to.bare.raw, LAYOUT, &region) };
    }

    /// vkCmdCopyImageToBuffer of one region, with rows as in [`copy_to_image`](Self::copy_to_image).
    pub(crate) fn copy_from_image(&self, from: &'a BoundImage<'_>, part: &Part, to: &'a Buffer<'_>, rows: [u32; 2]) {
        let region = [region(from, part, to, rows)];
        // SAFETY: as in `copy_to_image`.
        unsafe { self.gpu.device.cmd_copy_image_to_buffer(self.raw, from.bare.raw, LAYOUT, to.raw, &region) };
    }

    /// vkCmdCopyImage of one region, which begins at `first` of a level of the destination.
    pub(crate) fn copy_image(&self, from: &'a BoundImage<'_>, part: &Part, to: &'a BoundImage<'_>, target: &Part) {
        let (src, src_offset, extent) = from.described(part);
        let (dst, dst_offset, _) = to.described(target);
        let region = vk::ImageCopy::default().src_subresource(src).dst_subresource(dst);
        let region = [region.src_offset(src_offset).dst_offset(dst_offset).extent(extent)];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); inside both images, as `described` made sure. `prepare`
        // brought the layouts about.
        unsafe { self.gpu.device.cmd_copy_image(self.raw, from.bare.raw, LAYOUT, to.bare.raw, LAYOUT, &region) };
    }
}

/// Returns the region as Vulkan takes it.
///
/// # Panics
///
/// If the buffer is too short for its rows.
fn region(image: &BoundImage<'_>, part: &Part, buffer: &Buffer<'_>, [pitch, rows]: [u32; 2]) -> vk::BufferImageCopy {
    let (layers, offset, extent) = image.described(part);
    let format = super::aspect_format(image.kind.format, image.aspect);
    let Some(format) = format else { panic!("a check copies an image of no known format") };
    let (width, height) = format.block();
    let slice = u64::from(pitch.div_ceil(width)) * u64::from(rows.div_ceil(height)) * u64::from(format.bytes());
    let fits = part.extent[0] <= pitch && part.extent[1] <= rows && slice * u64::from(part.extent[2]) <= buffer.size;
    assert!(fits, "a check records outside of its buffer");
    vk::BufferImageCopy::default()
        .buffer_row_length(pitch)
        .buffer_image_height(rows)
        .image_subresource(layers)
        .image_offset(offset)
        .image_extent(extent)
}
