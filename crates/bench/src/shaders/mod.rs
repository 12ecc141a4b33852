//! Compute shaders of the benchmarks: what they do, their code, and the memory that they access.

mod memory;
mod program;
mod simulated;

pub use memory::{JobMemory, Paged};
pub use program::{Work, dispatch, program, short, short_dispatch, straight};
pub use simulated::Simulated;

use amdgpu_winsys::winsys::GfxLevel;

/// The generation that is measured.
pub const LEVEL: GfxLevel = GfxLevel::Gfx10_3;
/// The number of waves of a dispatch.
pub const GROUPS: u32 = 32;
/// The number of rounds of the loop in each wave.
pub const ROUNDS: u32 = 256;
/// The number of operations of a round.
pub const UNROLLED: u32 = 16;
/// The number of lanes of a wave.
pub const LANES: u32 = 64;
/// The number of work-groups of a dispatch of short waves.
pub const SHORT_GROUPS: u32 = 512;
/// The number of waves of each of them.
pub const SHORT_WAVES: u32 = 8;
/// Operations of a short wave beside its address, its load and its store.
const SHORT: u32 = 12;
/// Operations of the code whose decoding is measured.
const STRAIGHT: u32 = 8192;
const PROGRAM: u64 = 0x10_0000;
/// The address of the data.
pub const DATA: u64 = 0x1000_0000;
/// The number of dwords of data, in pages that are looked up one by one.
pub const DWORDS: u32 = 1 << 20;
const PAGE_DWORDS: u32 = 1024;
/// The bits of an offset of a dword.
pub const MASK: u32 = (DWORDS - 1) * 4;
/// An odd number whose multiples are spread over all 32 bits.
pub const SPREAD: u32 = 0x9e37_79b1;
