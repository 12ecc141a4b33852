//! Index buffers.

use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::values::IndexType;

/// The index buffer of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexBuffer {
    /// The address of the first index.
    pub va: GpuVa,
    /// The number of indices.
    pub count: u32,
    /// The size of an index: 1, 2 or 4 bytes.
    pub bytes: u32,
}

impl IndexBuffer {
    pub(in crate::gpu) const NONE: Self = Self { va: GpuVa::NULL, count: 0, bytes: 2 };

    /// Returns the size of an index in bytes, from the low bits of INDEX_TYPE or VGT_INDEX_TYPE.
    pub(in crate::gpu) const fn bytes_of(kind: u32) -> u32 {
        match IndexType::new(kind & 3) {
            IndexType::INDEX_32 => 4,
            IndexType::INDEX_8 => 1,
            _ => 2,
        }
    }
}
