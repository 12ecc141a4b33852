//! Vulkan buffers and buffer views.

use amdgpu_hw::{GfxLevel, GpuVa};

use crate::descriptor::BufferDescriptor;
use crate::error::DescriptorError;
use crate::format::Format;
use crate::view::{BufferView, OutOfBounds};

/// The type of a buffer descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferUse {
    /// A uniform or storage buffer.
    Raw,
    /// A texel buffer of a format.
    Texel(Format),
}

/// A range of a buffer, for a buffer descriptor.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_buffer_view.c`, `radv_make_texel_buffer_descriptor`, and
/// `radv_descriptor_set.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VulkanBuffer {
    /// The type of the descriptor.
    pub usage: BufferUse,
    /// The address of the first byte.
    pub va: GpuVa,
    /// The size of the range in bytes.
    pub range: u32,
}

impl VulkanBuffer {
    /// Returns the hardware view that RADV uses. The range of a raw buffer is rounded up to a multiple of 4 bytes.
    pub fn view(&self, level: GfxLevel) -> BufferView {
        match self.usage {
            BufferUse::Raw => BufferView::raw(self.va, self.range.checked_next_multiple_of(4).unwrap_or(!3)),
            BufferUse::Texel(format) => {
                let stride = format.bytes();
                // GFX8 counts bytes, other generations count records.
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

    /// Builds the descriptor of the range.
    ///
    /// # Errors
    ///
    /// [`DescriptorError::Format`] if buffers cannot have the format.
    pub fn descriptor(&self, level: GfxLevel) -> Result<BufferDescriptor, DescriptorError> {
        self.view(level).descriptor(level)
    }
}
