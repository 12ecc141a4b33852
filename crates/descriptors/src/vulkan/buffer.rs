//! Buffers and texel buffers.

use amdgpu_hw::{GfxLevel, GpuVa};

use crate::descriptor::BufferDescriptor;
use crate::error::DescriptorError;
use crate::format::Format;
use crate::view::{BufferView, OutOfBounds};

/// The use of a buffer descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferUse {
    /// Uniform and storage buffers.
    Raw,
    /// Texel buffers.
    Texel(Format),
}

/// A range of a buffer as a descriptor.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_buffer_view.c`, `radv_make_texel_buffer_descriptor`, and
/// `radv_descriptor_set.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VulkanBuffer {
    /// The use.
    pub usage: BufferUse,
    /// The first byte.
    pub va: GpuVa,
    /// Size in bytes.
    pub range: u32,
}

impl VulkanBuffer {
    /// Returns the view that RADV gives the hardware. Ranges of raw buffers are rounded up to 4 bytes.
    pub fn view(&self, level: GfxLevel) -> BufferView {
        match self.usage {
            BufferUse::Raw => BufferView::raw(self.va, self.range.checked_next_multiple_of(4).unwrap_or(!3)),
            BufferUse::Texel(format) => {
                let stride = format.bytes();
                // GFX8 counts bytes where others count records.
                let records = if level == GfxLevel::Gfx8 { self.range } else { self.range / stride.max(1) };
                BufferView {
                    stride,
                    format,
                    swizzle: format.swizzle(),
                    oob: OutOfBounds::StructuredWithOffset,
                    ..BufferView::raw(self.va, records)
                }
            }
        }
    }

    /// Returns the descriptor of the range.
    ///
    /// # Errors
    ///
    /// [`DescriptorError::Format`] for a format that buffers cannot have.
    pub fn descriptor(&self, level: GfxLevel) -> Result<BufferDescriptor, DescriptorError> {
        self.view(level).descriptor(level)
    }
}
