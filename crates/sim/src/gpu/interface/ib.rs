//! Places of command streams.

use amdgpu_hw::GpuVa;

/// An IB in GPU memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ib {
    /// Start address: a multiple of 4.
    pub va: GpuVa,
    /// Its length in dwords.
    pub dwords: u32,
}
