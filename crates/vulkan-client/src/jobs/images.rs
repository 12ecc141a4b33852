//! The images of a job.

use amdgpu_descriptors::format::Format;
use amdgpu_test_support::jobs::{Binding, Resource, View};
use ash::vk;

use crate::{
    gpu::{BoundImage, Buffer, Gpu, ImageKind, ImagePart, ImageView, Lane, MemoryPlace, Order, Shape},
    outcome::{ErrorContext, Stop, fail, skip},
};

/// The most bytes of one resource of a job.
pub(super) const MOST: usize = 64 << 20;
/// The largest width, height, depth and number of layers.
const LARGEST: u32 = 4096;

/// An image of a job.
pub(super) struct Picture<'g> {
    image: BoundImage<'g>,
    format: Format,
    shape: Shape,
}

/// Finds the format of a binding.
fn known(binding: &Binding) -> Result<Format, Stop> {
    let name = binding.format.as_deref().unwrap_or("R32_UINT");
    Format::named(name).map_or_else(|| fail(format!("no format {name}")), Ok)
}

/// Returns the format of a binding as Vulkan numbers it.
pub(super) fn format(binding: &Binding) -> Result<vk::Format, Stop> {
    Ok(vk::Format::from_raw(known(binding)?.vulkan().cast_signed()))
}

impl<'g> Picture<'g> {
    /// Makes the image of a binding, for all queues at once or for one.
    pub(super) fn new(gpu: &'g Gpu, binding: &Binding, concurrent: bool) -> Result<Self, Stop> {
        let format = known(binding)?;
        let &Binding { width, height, depth, layers, levels, .. } = binding;
        let is_right = [width, height, depth, layers].iter().all(|size| (1..=LARGEST).contains(size))
            && (1..=13).contains(&levels)
            && (depth == 1 || layers == 1);
        if !is_right {
            return fail(format!("no image of {width} x {height} x {depth}, {layers} layers and {levels} levels"));
        }
        let use_in_shader = match binding.resource {
            Resource::StorageImage => vk::ImageUsageFlags::STORAGE,
            _ => vk::ImageUsageFlags::SAMPLED,
        };
        let is_line = matches!(binding.view, Some(View::Line | View::LineArray));
        let is_cube = matches!(binding.view, Some(View::Cube | View::CubeArray));
        let kind = ImageKind {
            format: self::format(binding)?,
            dimension: match (binding.is_volume(), is_line) {
                (true, _) => vk::ImageType::TYPE_3D,
                (false, true) => vk::ImageType::TYPE_1D,
                (false, false) => vk::ImageType::TYPE_2D,
            },
            tiling: vk::ImageTiling::OPTIMAL,
            modifier: None,
            usage: use_in_shader | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
            flags: if is_cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() },
            exported: false,
        };
        let shape = Shape { extent: [width, height, depth], layers, levels, samples: 1 };
        let fits = gpu.image_limits(&kind).is_some_and(|most| {
            width <= most.max_extent.width
                && height <= most.max_extent.height
                && depth <= most.max_extent.depth
                && layers <= most.max_array_layers
                && levels <= most.max_mip_levels
        });
        if !fits {
            return skip(format!("no such images of {} here", format.name()));
        }
        let aspect =
            if format.is_depth_or_stencil() { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR };
        let image = if concurrent {
            gpu.concurrent_image(&kind, &shape, aspect)
        } else {
            gpu.bound_image(&kind, &shape, aspect)
        };
        let picture = Self { image: image.context("make an image")?, format, shape };
        if picture.parts().iter().map(|(_, bytes)| bytes).sum::<usize>() > MOST {
            return fail("an image that is too large");
        }
        Ok(picture)
    }

    /// Returns the levels with their bytes, all slices or layers of each together.
    fn parts(&self) -> Vec<(ImagePart, usize)> {
        let (block_width, block_height) = self.format.block();
        (0..self.shape.levels)
            .map(|level| {
                let [width, height, depth] = self.shape.extent.map(|size| (size >> level).max(1));
                let extent = [width, height, depth.max(self.shape.layers)];
                let texels = [width.div_ceil(block_width), height.div_ceil(block_height), extent[2]];
                let count = texels.into_iter().map(|size| size as usize).product::<usize>();
                (ImagePart { level, first: [0; 3], extent }, count * self.format.bytes() as usize)
            })
            .collect()
    }

    fn rows(gpu: &Gpu, bytes: usize) -> Result<Buffer<'_>, Stop> {
        gpu.buffer(bytes as u64, MemoryPlace::Host).context("make a host buffer")
    }

    /// Fills the image: level by level, slice by slice, row by row. Zeroes follow the data.
    pub(super) fn fill(&self, gpu: &Gpu, lane: &Lane, data: &[u8]) -> Result<(), Stop> {
        let work = gpu.submit(lane, &Order::free(), |record| record.prepare(&self.image));
        work.context("submit")?.finish().context("finish")?;
        let mut data = data.to_vec();
        data.resize(self.parts().iter().map(|(_, bytes)| bytes).sum(), 0);
        let mut rest = data.as_slice();
        for (part, bytes) in self.parts() {
            let (level, others) = rest.split_at(bytes);
            rest = others;
            let rows = Self::rows(gpu, bytes)?;
            rows.memory().write(0, level);
            let work = gpu.submit(lane, &Order::free(), |record| {
                record.copy_to_image(&rows, [part.extent[0], part.extent[1]], &self.image, &part);
                record.barrier();
            });
            work.context("submit")?.finish().context("fill an image")?;
        }
        Ok(())
    }

    /// Returns the texels in the order in which they are filled.
    pub(super) fn read(&self, gpu: &Gpu, lane: &Lane) -> Result<Vec<u8>, Stop> {
        let mut all = Vec::new();
        for (part, bytes) in self.parts() {
            let rows = Self::rows(gpu, bytes)?;
            let work = gpu.submit(lane, &Order::free(), |record| {
                record.copy_from_image(&self.image, &part, &rows, [part.extent[0], part.extent[1]]);
                record.barrier();
            });
            work.context("submit")?.finish().context("read an image")?;
            all.extend(rows.memory().read(0, bytes));
        }
        Ok(all)
    }

    /// Makes the view that the binding asks for.
    pub(super) fn view(&self, binding: &Binding) -> Result<ImageView<'_>, Stop> {
        let kind = match binding.view {
            Some(View::Cube) => vk::ImageViewType::CUBE,
            Some(View::CubeArray) => vk::ImageViewType::CUBE_ARRAY,
            Some(View::Line) => vk::ImageViewType::TYPE_1D,
            Some(View::LineArray) => vk::ImageViewType::TYPE_1D_ARRAY,
            Some(View::PlaneArray) => vk::ImageViewType::TYPE_2D_ARRAY,
            None if binding.is_volume() => vk::ImageViewType::TYPE_3D,
            None if binding.layers > 1 => vk::ImageViewType::TYPE_2D_ARRAY,
            None => vk::ImageViewType::TYPE_2D,
        };
        self.image.view(kind).context("make an image view")
    }
}
