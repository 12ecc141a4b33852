//! Locations of IBs.

use amdgpu_hw::GpuVa;

/// An IB in GPU memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ib {
    /// The start address, a multiple of 4.
    pub va: GpuVa,
    /// The length in dwords.
    pub dwords: u32,
}
