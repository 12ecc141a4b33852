//! Buffers of indices.

use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::values::IndexType;

/// An index buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexBuffer {
    /// The first one.
    pub va: GpuVa,
    /// Number of indices.
    pub count: u32,
    /// The length of one: 1, 2 or 4 bytes.
    pub bytes: u32,
}

impl IndexBuffer {
    pub(in crate::gpu) const NONE: Self = Self { va: GpuVa::NULL, count: 0, bytes: 2 };

    /// The length of an index, by the selector of INDEX_TYPE and VGT_INDEX_TYPE, which is in the lowest bits.
    pub(in crate::gpu) const fn bytes_of(kind: u32) -> u32 {
        match IndexType::new(kind & 3) {
            IndexType::INDEX_32 => 4,
            IndexType::INDEX_8 => 1,
            _ => 2,
        }
    }
}
