//! Copies and clears of images by queues.
//!
//! A copy engine copies a box of texels with one packet if it can. Otherwise, and on other rings, each run of contiguous texels is
//! a copy of bytes: a row of a linear image, or the contiguous texels of a tile.

use amdgpu_winsys::cs::commands::{CommandError, ImageLevel, ImageRows, TexelBox};
use ash::vk;

use super::UNKNOWN;
use crate::{
    border::{
        Array, Failure, clear_words,
        list::{ImageCopyLists, ImageReadLists, ImageWriteLists},
        object,
    },
    objects::{Buffer, CommandBuffer, Gpu, Image, Run, Texels, runs},
};

/// A part of an image, as commands specify it.
#[derive(Clone, Copy)]
pub(super) struct Part {
    layers: vk::ImageSubresourceLayers,
    offset: vk::Offset3D,
}

impl Part {
    pub(super) fn new(layers: vk::ImageSubresourceLayers, offset: vk::Offset3D) -> Self {
        Self { layers, offset }
    }

    /// Returns the number of slices or layers in a copy of depth `depth`.
    pub(super) fn slices(&self, image: &Image, depth: u32) -> Result<u32, Failure> {
        if image.is_volume {
            return Ok(depth);
        }
        match self.layers.layer_count {
            vk::REMAINING_ARRAY_LAYERS => image.layers.checked_sub(self.layers.base_array_layer).ok_or(UNKNOWN),
            count => Ok(count),
        }
    }

    /// Returns the first texel: its column, row, and slice or layer.
    fn first(&self, image: &Image) -> Result<[u32; 3], Failure> {
        let at = |offset: i32| u32::try_from(offset).map_err(|_| UNKNOWN);
        let z = if image.is_volume { at(self.offset.z)? } else { self.layers.base_array_layer };
        Ok([at(self.offset.x)?, at(self.offset.y)?, z])
    }

    /// Returns the texels of the region with this extent that starts at the part's offset.
    pub(super) fn texels(&self, gpu: &Gpu, image: &Image, extent: [u32; 3]) -> Result<Texels, Failure> {
        image.texels(gpu, self.layers.mip_level, self.first(image)?, extent)
    }

    /// Returns the level, as copy engines address it.
    fn level(&self, gpu: &Gpu, image: &Image) -> Result<ImageLevel, CommandError> {
        image.level(gpu, self.layers.mip_level)
    }
}

/// A copy between an image and memory in rows.
#[derive(Clone, Copy)]
pub(super) struct RowsCopy {
    pub(super) start: u64,
    pub(super) row_length: u32,
    pub(super) height: u32,
    pub(super) part: Part,
    pub(super) extent: vk::Extent3D,
}

impl RowsCopy {
    /// Returns the extent of the copy: columns, rows, and slices or layers.
    fn extent(&self, image: &Image) -> Result<[u32; 3], Failure> {
        let vk::Extent3D { width, height, depth } = self.extent;
        Ok([width, height, self.part.slices(image, depth)?])
    }

    /// Returns the texels of the image and the rows of the buffer in the form for copy engines; `None` if the buffer ends before
    /// its rows.
    fn rows(&self, image: &Image, buffer: &Buffer) -> Result<Option<(TexelBox, ImageRows)>, Failure> {
        let extent = self.extent(image)?;
        let or = |length: u32, else_: u32| if length == 0 { else_ } else { length };
        let pitch = or(self.row_length, extent[0]);
        let slice = pitch.checked_mul(or(self.height, extent[1]));
        let memory = buffer.size.checked_sub(self.start).and_then(|rest| buffer.part(self.start, rest).ok());
        let texels = TexelBox { first: self.part.first(image)?, extent };
        Ok(memory.zip(slice).map(|(memory, slice)| (texels, ImageRows { memory, pitch, slice })))
    }

    /// Returns both sides of the copy, the image's first, and its extent.
    pub(super) fn sides(&self, gpu: &Gpu, image: &Image) -> Result<(Texels, Texels, [u32; 3]), Failure> {
        let extent = self.extent(image)?;
        let rows = Texels::rows(self.start, (self.row_length, self.height), extent, image.texel.bytes())?;
        Ok((self.part.texels(gpu, image, extent)?, rows, extent))
    }
}

impl From<&vk::BufferImageCopy> for RowsCopy {
    fn from(region: &vk::BufferImageCopy) -> Self {
        Self {
            start: region.buffer_offset,
            row_length: region.buffer_row_length,
            height: region.buffer_image_height,
            part: Part::new(region.image_subresource, region.image_offset),
            extent: region.image_extent,
        }
    }
}

impl From<&vk::BufferImageCopy2<'_>> for RowsCopy {
    fn from(region: &vk::BufferImageCopy2<'_>) -> Self {
        Self {
            start: region.buffer_offset,
            row_length: region.buffer_row_length,
            height: region.buffer_image_height,
            part: Part::new(region.image_subresource, region.image_offset),
            extent: region.image_extent,
        }
    }
}

/// Records copies from a buffer to an image.
fn write(this: &CommandBuffer, both: Option<(&Buffer, &Image)>, regions: impl Iterator<Item = RowsCopy>) {
    this.attempt(|recorder| {
        let (buffer, image) = both.ok_or(UNKNOWN)?;
        for region in regions {
            if let Some((texels, rows)) = region.rows(image, buffer)?
                && recorder
                    .by_engine(|engine| engine.copy_to_image(&region.part.level(this.gpu(), image)?, &texels, &rows))?
            {
                continue;
            }
            let (texels, rows, extent) = region.sides(this.gpu(), image)?;
            runs(&rows, &texels, extent, image.texel.bytes(), |Run { from, to, bytes }| {
                Ok(recorder.commands().copy(image.part(to, bytes)?, buffer.part(from, bytes)?)?)
            })?;
        }
        Ok(())
    });
}

/// Records copies from an image to a buffer.
fn read(this: &CommandBuffer, both: Option<(&Image, &Buffer)>, regions: impl Iterator<Item = RowsCopy>) {
    this.attempt(|recorder| {
        let (image, buffer) = both.ok_or(UNKNOWN)?;
        for region in regions {
            if let Some((texels, rows)) = region.rows(image, buffer)?
                && recorder.by_engine(|engine| {
                    engine.copy_from_image(&rows, &region.part.level(this.gpu(), image)?, &texels)
                })?
            {
                continue;
            }
            let (texels, rows, extent) = region.sides(this.gpu(), image)?;
            runs(&texels, &rows, extent, image.texel.bytes(), |Run { from, to, bytes }| {
                Ok(recorder.commands().copy(buffer.part(to, bytes)?, image.part(from, bytes)?)?)
            })?;
        }
        Ok(())
    });
}

pub(crate) fn from_buffer(
    this: &CommandBuffer,
    buffer: &Buffer,
    image: &Image,
    _: vk::ImageLayout,
    count: u32,
    regions: Array<'_, vk::BufferImageCopy>,
) {
    write(this, Some((buffer, image)), regions.of(count).iter().map(RowsCopy::from));
}

pub(crate) fn from_buffer2(this: &CommandBuffer, info: &vk::CopyBufferToImageInfo2<'_>) {
    let both = object::<Buffer>(info.src_buffer).zip(object::<Image>(info.dst_image));
    write(this, both, info.regions().iter().map(RowsCopy::from));
}

pub(crate) fn to_buffer(
    this: &CommandBuffer,
    image: &Image,
    _: vk::ImageLayout,
    buffer: &Buffer,
    count: u32,
    regions: Array<'_, vk::BufferImageCopy>,
) {
    read(this, Some((image, buffer)), regions.of(count).iter().map(RowsCopy::from));
}

pub(crate) fn to_buffer2(this: &CommandBuffer, info: &vk::CopyImageToBufferInfo2<'_>) {
    let both = object::<Image>(info.src_image).zip(object::<Buffer>(info.dst_buffer));
    read(this, both, info.regions().iter().map(RowsCopy::from));
}

/// Returns the extent of a copy between images with texels of the same size: columns, rows, and slices or layers.
fn common(
    (from, to): (&Image, &Image),
    (source, destination): (Part, Part),
    extent: vk::Extent3D,
) -> Result<[u32; 3], Failure> {
    let slices = match (from.is_volume, to.is_volume) {
        (false, true) => source.slices(from, 1)?,
        (true, false) => destination.slices(to, 1)?,
        _ => source.slices(from, extent.depth)?,
    };
    if from.texel.bytes() != to.texel.bytes() {
        return Err(UNKNOWN);
    }
    Ok([extent.width, extent.height, slices])
}

/// Calls `each` with the runs of a copy between images with texels of the same size.
pub(super) fn between(
    gpu: &Gpu,
    (from, to): (&Image, &Image),
    (source, destination): (Part, Part),
    extent: vk::Extent3D,
    each: impl FnMut(Run) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let extent = common((from, to), (source, destination), extent)?;
    let (texels, places) = (source.texels(gpu, from, extent)?, destination.texels(gpu, to, extent)?);
    runs(&texels, &places, extent, from.texel.bytes(), each)
}

/// Records copies between images: pairs of parts, and extents.
fn copies(
    this: &CommandBuffer,
    both: Option<(&Image, &Image)>,
    regions: impl Iterator<Item = (Part, Part, vk::Extent3D)>,
) {
    this.attempt(|recorder| {
        let (from, to) = both.ok_or(UNKNOWN)?;
        for (source, destination, extent) in regions {
            let texels =
                TexelBox { first: source.first(from)?, extent: common((from, to), (source, destination), extent)? };
            let first = destination.first(to)?;
            let is_done = recorder.by_engine(|engine| {
                let levels = (source.level(this.gpu(), from)?, destination.level(this.gpu(), to)?);
                engine.copy_image(&levels.1, first, &levels.0, &texels)
            })?;
            if !is_done {
                between(this.gpu(), (from, to), (source, destination), extent, |run| {
                    Ok(recorder.commands().copy(to.part(run.to, run.bytes)?, from.part(run.from, run.bytes)?)?)
                })?;
            }
        }
        Ok(())
    });
}

pub(crate) fn copy(
    this: &CommandBuffer,
    from: &Image,
    _: vk::ImageLayout,
    to: &Image,
    _: vk::ImageLayout,
    count: u32,
    regions: Array<'_, vk::ImageCopy>,
) {
    let regions = regions.of(count).iter().map(|it| {
        (Part::new(it.src_subresource, it.src_offset), Part::new(it.dst_subresource, it.dst_offset), it.extent)
    });
    copies(this, Some((from, to)), regions);
}

/// Returns the parts and the extent of a region.
pub(super) fn parts(it: &vk::ImageCopy2<'_>) -> (Part, Part, vk::Extent3D) {
    (Part::new(it.src_subresource, it.src_offset), Part::new(it.dst_subresource, it.dst_offset), it.extent)
}

pub(crate) fn copy2(this: &CommandBuffer, info: &vk::CopyImageInfo2<'_>) {
    let both = object::<Image>(info.src_image).zip(object::<Image>(info.dst_image));
    copies(this, both, info.regions().iter().map(parts));
}

/// Returns the end of a range that may reach to the last.
fn end(first: u32, count: u32, all: u32) -> u32 {
    if count == u32::MAX { all } else { first.saturating_add(count) }
}

pub(crate) fn clear(
    this: &CommandBuffer,
    image: &Image,
    _: vk::ImageLayout,
    color: &vk::ClearColorValue,
    count: u32,
    ranges: Array<'_, vk::ImageSubresourceRange>,
) {
    let texel = image.texel.pack(clear_words(color));
    this.record(|commands| {
        for range in ranges.of(count) {
            let layers = range.base_array_layer..end(range.base_array_layer, range.layer_count, image.layers);
            for level in range.base_mip_level..end(range.base_mip_level, range.level_count, image.levels) {
                let [width, height, slices] = image.extent(level)?;
                let (first, depth) =
                    if image.is_volume { (0, slices) } else { (layers.start, layers.end.saturating_sub(layers.start)) };
                let (first, extent) = ([0, 0, first], [width, height, depth]);
                let texels = image.texels(this.gpu(), level, first, extent)?;
                // Whole dwords are written. Those that reach beyond the texels reach into the padding of the level's rows or
                // tiles, or hold other texels of the level, which get the same colour.
                let no_rows = Texels::rows(0, (0, 0), extent, image.texel.bytes())?;
                runs(&texels, &no_rows, extent, image.texel.bytes(), |Run { from, bytes, .. }| {
                    let (start, end) = (from & !3, (from + bytes).next_multiple_of(4));
                    let to = image.part(start, end - start)?;
                    let [word, rest @ ..] = &texel[..] else { return Err(UNKNOWN) };
                    if rest.iter().all(|other| other == word) {
                        return Ok(commands.fill(to, *word)?);
                    }
                    let words: Vec<u32> = texel
                        .iter()
                        .copied()
                        .cycle()
                        .take(usize::try_from(to.len() / 4).map_err(|_| UNKNOWN)?)
                        .collect();
                    Ok(commands.update(to, &words)?)
                })?;
            }
        }
        Ok(())
    });
}
