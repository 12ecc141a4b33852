//! Rows of texels in a buffer, and boxes of texels.

use super::level::ImageLevel;
use crate::cs::{
    commands::{CommandError, Result, Span, error::require_multiple},
    sdma::Version,
};

/// A box of elements of a level: texels, or blocks of compressed formats.
///
/// ```
/// use amdgpu_winsys::cs::commands::TexelBox;
///
/// let all = TexelBox::whole(640, 480, 1);
/// let lower_half = TexelBox { first: [0, 240, 0], extent: [640, 240, 1] };
/// assert_eq!(all.extent[1], lower_half.first[1] + lower_half.extent[1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelBox {
    /// Index of the first column, row, and slice or layer.
    pub first: [u32; 3],
    /// Number of columns, rows, and slices or layers; none may be zero.
    pub extent: [u32; 3],
}

impl TexelBox {
    /// Returns the box at the origin with `width` columns, `height` rows, and `depth` slices or layers.
    pub const fn whole(width: u32, height: u32, depth: u32) -> Self {
        Self { first: [0; 3], extent: [width, height, depth] }
    }

    /// Returns an error if the box is empty or not inside a level of size `extent`.
    pub(super) fn check(&self, extent: [u32; 3]) -> Result<()> {
        for (at, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            if self.extent[at] == 0 {
                return Err(CommandError::Empty { command: "a copy of texels" });
            }
            let end = u64::from(self.first[at]) + u64::from(self.extent[at]);
            if end > u64::from(extent[at]) {
                return Err(CommandError::OutsideImage { axis, first: self.first[at], end, extent: extent[at] });
            }
        }
        Ok(())
    }
}

/// Rows of elements in bound memory. The first element is at the start of the memory.
///
/// ```
/// use amdgpu_winsys::{cs::commands::{ImageRows, Span}, vamgr::GpuVa};
///
/// // 480 rows of 640 elements of 4 bytes, each with room for 1024.
/// let memory = Span::new(GpuVa::new(0x2_0000_0000)?, 1024 * 480 * 4)?;
/// let rows = ImageRows { memory, pitch: 1024, slice: 0 };
/// assert_eq!(rows.memory.address().as_u64(), 0x2_0000_0000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageRows {
    /// The memory that contains the rows.
    pub memory: Span,
    /// Distance between the starts of consecutive rows, in elements: `VkBufferImageCopy::bufferRowLength` divided by the width of a
    /// compressed block.
    pub pitch: u32,
    /// Distance between the starts of consecutive slices, in elements; not used for a single slice.
    pub slice: u32,
}

impl ImageRows {
    /// Returns the distance between slices in elements. For a single slice this is the size of the slice.
    pub(super) fn slice_pitch(&self, texels: &TexelBox) -> u64 {
        let [_, height, depth] = texels.extent;
        if depth > 1 { self.slice.into() } else { u64::from(self.pitch) * u64::from(height) }
    }

    /// Returns an error if the rows overlap, are not aligned for the engine, or are not inside their memory.
    ///
    /// Up to 3.0 the engine accesses whole groups of elements, all of which must be inside the memory.
    ///
    /// Source: Mesa 25.0.7 `radv_sdma.c`, `radv_sdma_pitch_alignment` and `radv_sdma_use_unaligned_buffer_image_copy`;
    /// `si_sdma_copy_image.c`, `cik_sdma_copy_texture`.
    pub(super) fn check(&self, version: Version, image: &ImageLevel, texels: &TexelBox) -> Result<()> {
        let bytes = u64::from(image.bytes);
        let [width, height, depth] = texels.extent.map(u64::from);
        let slice = self.slice_pitch(texels);
        if u64::from(self.pitch) < width {
            return Err(CommandError::RowPitch { what: "rows", pitch: self.pitch.into(), least: width });
        }
        let least = (height - 1) * u64::from(self.pitch) + width;
        if slice < least {
            return Err(CommandError::RowPitch { what: "slices", pitch: slice, least });
        }
        require_multiple("rows of texels", self.memory.address().as_u64(), 4)?;
        let dword = (4 / bytes).max(1);
        let aligned = if version < Version::V5_0 && version >= Version::V4_0 { 4 } else { dword };
        require_multiple("a pitch of rows", self.pitch.into(), aligned)?;
        if depth > 1 {
            require_multiple("a pitch of slices", slice, 4)?;
        }
        let mut elements = (depth - 1) * slice + least;
        if let Some(group) = image.group()
            && version < Version::V4_0
        {
            require_multiple("a width of texels", width, dword)?;
            require_multiple("a column of texels", texels.first[0].into(), group)?;
            elements += width.next_multiple_of(group) - width;
        }
        let size = self.memory.len();
        match elements.checked_mul(bytes) {
            Some(bytes) if bytes <= size => Ok(()),
            bytes => Err(CommandError::OutOfBounds { offset: 0, bytes: bytes.unwrap_or(u64::MAX), size }),
        }
    }
}

/// Returns the size of a box as packet fields: minus one, except on 1.0 and 2.0.
///
/// Source: Mesa 25.0.7 `si_sdma_copy_image.c`, `cik_sdma_copy_texture`.
pub(super) fn counts(version: Version, extent: [u32; 3]) -> [u64; 3] {
    let bias = u64::from(version > Version::V2_0);
    extent.map(|count| u64::from(count) - bias)
}
