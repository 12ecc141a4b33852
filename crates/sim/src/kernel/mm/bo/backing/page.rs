//! The page size.

/// The page size of the CPU and the GPU in bytes.
pub(crate) const PAGE: u64 = 4096;
