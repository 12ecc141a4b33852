//! Copies of images by the CPU (`VK_EXT_host_image_copy`), through the mapping of their memory.

use amdgpu_winsys::winsys::Mapping;
use ash::vk;

use super::{
    UNKNOWN,
    transfer::{Part, RowsCopy, between, parts},
};
use crate::{
    border::{
        Array, Failure, descriptor,
        list::{HostCopyLists, HostReadLists, HostWriteLists},
        object,
    },
    objects::{Device, Image, Run, runs},
};

/// Calls a function with the mapping of an image's memory and the offset of the image in it. The mapping persists, like that of
/// `vkMapMemory`.
fn mapped<T>(image: &Image, work: impl FnOnce(&Mapping, u64) -> Result<T, Failure>) -> Result<T, Failure> {
    if !image.has_host_copies {
        return Err(UNKNOWN);
    }
    image.with_memory(|memory, offset| {
        let mapping = memory.map()?;
        work(&mapping, offset)
    })
}

/// Returns a region as a copy of rows. With MEMCPY the rows have no gaps, which is this driver's order for such copies.
fn rows_copy(
    flags: vk::HostImageCopyFlagsEXT,
    (row_length, height): (u32, u32),
    part: Part,
    extent: vk::Extent3D,
) -> RowsCopy {
    let has_gaps = !flags.contains(vk::HostImageCopyFlagsEXT::MEMCPY);
    let (row_length, height) = if has_gaps { (row_length, height) } else { (0, 0) };
    RowsCopy { start: 0, row_length, height, part, extent }
}

pub(crate) fn from_memory(device: &Device, info: &vk::CopyMemoryToImageInfoEXT<'_>) -> Result<(), Failure> {
    let image = object::<Image>(info.dst_image).ok_or(UNKNOWN)?;
    mapped(image, |mapping, offset| {
        for region in info.regions() {
            let part = Part::new(region.image_subresource, region.image_offset);
            let lengths = (region.memory_row_length, region.memory_image_height);
            let copy = rows_copy(info.flags, lengths, part, region.image_extent);
            let (texels, rows, extent) = copy.sides(&device.gpu, image)?;
            runs(&rows, &texels, extent, image.texel.bytes(), |Run { from, to, bytes }| {
                let bytes = descriptor::host_bytes(region.p_host_pointer, from, bytes).ok_or(UNKNOWN)?;
                Ok(mapping.write(offset + to, bytes)?)
            })?;
        }
        Ok(())
    })
}

pub(crate) fn to_memory(device: &Device, info: &vk::CopyImageToMemoryInfoEXT<'_>) -> Result<(), Failure> {
    let image = object::<Image>(info.src_image).ok_or(UNKNOWN)?;
    mapped(image, |mapping, offset| {
        for region in info.regions() {
            let part = Part::new(region.image_subresource, region.image_offset);
            let lengths = (region.memory_row_length, region.memory_image_height);
            let copy = rows_copy(info.flags, lengths, part, region.image_extent);
            let (texels, rows, extent) = copy.sides(&device.gpu, image)?;
            runs(&texels, &rows, extent, image.texel.bytes(), |Run { from, to, bytes }| {
                let bytes = descriptor::host_bytes_mut(region.p_host_pointer, to, bytes).ok_or(UNKNOWN)?;
                Ok(mapping.read(offset + from, bytes)?)
            })?;
        }
        Ok(())
    })
}

pub(crate) fn between_images(device: &Device, info: &vk::CopyImageToImageInfoEXT<'_>) -> Result<(), Failure> {
    let (from, to) = object::<Image>(info.src_image).zip(object::<Image>(info.dst_image)).ok_or(UNKNOWN)?;
    let mut bytes = Vec::new();
    for region in info.regions() {
        let (source, destination, extent) = parts(region);
        between(&device.gpu, (from, to), (source, destination), extent, |run| {
            bytes.resize(usize::try_from(run.bytes).map_err(|_| UNKNOWN)?, 0);
            mapped(from, |mapping, offset| Ok(mapping.read(offset + run.from, &mut bytes)?))?;
            mapped(to, |mapping, offset| Ok(mapping.write(offset + run.to, &bytes)?))
        })?;
    }
    Ok(())
}

/// Does nothing, because this driver treats all layouts alike.
pub(crate) fn transition(_: &Device, _: u32, _: Array<'_, vk::HostImageLayoutTransitionInfoEXT<'_>>) -> vk::Result {
    vk::Result::SUCCESS
}
