//! Pages.

/// Page size of the CPU and the GPU, in bytes.
pub const PAGE_SIZE: u64 = 4096;
