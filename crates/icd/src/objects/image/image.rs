//! Images, and their texels in memory.

use std::sync::OnceLock;

use amdgpu_surface::surface::{SurfaceConfig, SurfaceLayout};
use amdgpu_winsys::{
    cs::commands::{CommandError, ImageLevel, Span},
    winsys::Binding,
};
use ash::vk;

use super::Texels;
use crate::{
    border::{Failure, object},
    facts::formats::Texel,
    objects::{Gpu, Memory},
};

/// The result if the call violates valid usage.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

/// The memory that an image is bound to.
#[derive(Debug)]
pub(super) struct Bound {
    binding: Binding,
    /// The offset of the image in the memory, in bytes.
    offset: u64,
    /// The memory object. The CPU copies through its mapping. By valid usage it exists as long as the image is used.
    memory: vk::DeviceMemory,
}

/// A `VkImage`: a layout, and the memory that it is bound to.
#[derive(Debug)]
pub(crate) struct Image {
    pub(super) layout: SurfaceLayout,
    pub(super) config: SurfaceConfig,
    /// The texel format.
    pub(crate) texel: Texel,
    /// The number of mip levels.
    pub(crate) levels: u32,
    /// The number of array layers.
    pub(crate) layers: u32,
    pub(super) extent: [u32; 3],
    /// `true` for a 3D image, which has slices instead of layers.
    pub(crate) is_volume: bool,
    /// The format modifier, if the layout is given by one.
    pub(crate) modifier: Option<u64>,
    /// `true` if the image requires a dedicated allocation, because it is shared and its tiling is not described by a modifier.
    pub(crate) is_dedicated: bool,
    /// `true` if the CPU may copy the image.
    pub(crate) has_host_copies: bool,
    pub(super) place: OnceLock<Bound>,
}

impl Image {
    /// Returns the size of the image in memory in bytes, a multiple of its alignment.
    pub(crate) fn size(&self) -> u64 {
        self.layout.total_bytes.next_multiple_of(self.alignment())
    }

    /// Returns the alignment of the image in memory in bytes.
    pub(crate) fn alignment(&self) -> u64 {
        1 << self.layout.total_align_log2.min(32)
    }

    /// Binds the image to memory, starting at `offset`.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the memory ends before the image, or the image is already bound. Valid usage forbids these cases.
    pub(crate) fn bind(&self, memory: vk::DeviceMemory, offset: u64) -> Result<(), Failure> {
        let binding = object::<Memory>(memory).ok_or(UNKNOWN)?.binding().clone();
        let fits = offset.checked_add(self.layout.total_bytes).is_some_and(|end| end <= binding.len());
        if !fits || !offset.is_multiple_of(self.alignment()) {
            return Err(UNKNOWN);
        }
        self.place.set(Bound { binding, offset, memory }).map_err(|_| UNKNOWN)
    }

    /// Returns the GPU address and the size in bytes; `None` if it has no memory yet.
    pub(crate) fn address_and_size(&self) -> Option<(u64, u64)> {
        let span = self.part(0, self.layout.total_bytes).ok()?;
        Some((span.address().as_u64(), self.layout.total_bytes))
    }

    /// Returns a part of the image's memory for a command.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the part is not within the image, or the image has no memory.
    pub(crate) fn part(&self, at: u64, bytes: u64) -> Result<Span, Failure> {
        let Bound { binding, offset, .. } = self.place.get().ok_or(UNKNOWN)?;
        let fits = at.checked_add(bytes).is_some_and(|end| end <= self.layout.total_bytes);
        let at = at.checked_add(*offset).filter(|_| fits).ok_or(UNKNOWN)?;
        Span::of(binding, at, bytes).map_err(|_| UNKNOWN)
    }

    /// Calls a function with the image's memory and the offset of the image in it.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the image has no memory.
    pub(crate) fn with_memory<T>(&self, work: impl FnOnce(&Memory, u64) -> Result<T, Failure>) -> Result<T, Failure> {
        let bound = self.place.get().ok_or(UNKNOWN)?;
        work(object::<Memory>(bound.memory).ok_or(UNKNOWN)?, bound.offset)
    }

    /// Returns the extent of a level: columns, rows, and slices of a volume or layers.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the image does not have the level.
    pub(crate) fn extent(&self, level: u32) -> Result<[u32; 3], Failure> {
        if level >= self.levels {
            return Err(UNKNOWN);
        }
        let [width, height, depth] = self.extent.map(|side| (side >> level).max(1));
        Ok([width, height, if self.is_volume { depth } else { self.layers }])
    }

    /// Returns the texels of a level starting at `first`, if the region with `extent` is inside the level.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the image does not have these texels.
    pub(crate) fn texels(&self, gpu: &Gpu, level: u32, first: [u32; 3], extent: [u32; 3]) -> Result<Texels, Failure> {
        let whole = self.extent(level)?;
        let is_inside = first
            .iter()
            .zip(extent)
            .zip(whole)
            .all(|((first, extent), whole)| first.checked_add(extent).is_some_and(|end| end <= whole));
        let chip = gpu.tiles.as_ref().filter(|_| is_inside).ok_or(UNKNOWN)?;
        let level = self.layout.texels(chip, &self.config, level).map_err(|_| UNKNOWN)?;
        Ok(Texels::Level { level: Box::new(level), first, is_linear: self.layout.linear })
    }

    /// Returns a level as copy engines address it.
    ///
    /// # Errors
    ///
    /// The errors of [`ImageLevel::new`]; [`CommandError::Empty`] if the image has no memory; [`CommandError::ElementBytes`] for
    /// texels of 12 bytes, which no engine supports.
    pub(crate) fn level(&self, gpu: &Gpu, level: u32) -> Result<ImageLevel, CommandError> {
        let memory = self.part(0, self.layout.total_bytes);
        if !self.texel.has_tiles() {
            return Err(CommandError::ElementBytes { to: self.texel.bytes(), from: self.texel.bytes() });
        }
        let both = gpu.tiles.as_ref().zip(memory.ok());
        let (chip, memory) = both.ok_or(CommandError::Empty { command: "a copy of an image without memory" })?;
        ImageLevel::new(chip, &self.config, &self.layout, memory, level)
    }

    /// Returns the location of a layer of a level in memory: for a linear image that of its rows, otherwise that of its first tile.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the image does not have the level or layer.
    pub(crate) fn place(&self, gpu: &Gpu, level: u32, layer: u32) -> Result<vk::SubresourceLayout, Failure> {
        let [_, height, slices] = self.extent(level)?;
        if layer >= self.layers {
            return Err(UNKNOWN);
        }
        let chip = gpu.tiles.as_ref().ok_or(UNKNOWN)?;
        if !self.layout.linear {
            let plane = self.layout.planes(&self.config).as_slice().first().copied().ok_or(UNKNOWN)?;
            let (offset, size, row_pitch) = (plane.offset, plane.bytes, plane.stride);
            return Ok(vk::SubresourceLayout { offset, size, row_pitch, array_pitch: 0, depth_pitch: 0 });
        }
        // From GFX9 on the pitch of texels of 12 bytes is in dwords, so that a row may end inside of a texel.
        let dwords = self.layout.levels.get(level as usize).map_or(0, |place| place.pitch);
        let level = self.layout.texels(chip, &self.config, level).map_err(|_| UNKNOWN)?;
        let at = |y, z| level.address(0, y, z, 0).map_err(|_| UNKNOWN);
        let first = at(0, 0)?;
        let [padded, rows, _] = level.extent();
        let row_pitch = if rows > 1 {
            at(1, 0)? - first
        } else if self.layout.legacy.is_none() && !self.texel.has_tiles() {
            4 * u64::from(dwords)
        } else {
            u64::from(padded) * u64::from(level.element_bytes())
        };
        let slice = if slices > 1 { at(0, 1)? - first } else { row_pitch * u64::from(rows) };
        let (offset, depth) = if self.is_volume { (first, slices) } else { (at(0, layer)?, 1) };
        let size = u64::from(depth - 1) * slice + row_pitch * u64::from(height);
        Ok(vk::SubresourceLayout { offset, size, row_pitch, array_pitch: slice, depth_pitch: slice })
    }
}
