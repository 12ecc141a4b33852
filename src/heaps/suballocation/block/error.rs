//! Errors of a block.

use super::Chunk;

/// An error from creating a block.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::{BlockError, VirtualBlock};
///
/// assert_eq!(VirtualBlock::new(1 << 20, 100).unwrap_err(), BlockError::Granule { granule: 100 });
/// assert_eq!(VirtualBlock::new(1000, 256).unwrap_err(), BlockError::Size { size: 1000, granule: 256 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The granule is not a power of two, or is below [`MIN_GRANULE`](super::MIN_GRANULE).
    #[error("a granule of {granule} bytes is no power of two from 256 on")]
    Granule {
        /// The requested granule in bytes.
        granule: u64,
    },
    /// The size is zero, not a multiple of the granule, or more than [`MAX_CELLS`](super::MAX_CELLS) granules.
    #[error("a block of {size} bytes is not a whole number of granules of {granule} bytes, or of too many")]
    Size {
        /// The requested size in bytes.
        size: u64,
        /// The granule in bytes.
        granule: u64,
    },
}

/// An error from allocating a chunk.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::{ChunkError, VirtualBlock};
///
/// let mut block = VirtualBlock::new(1024, 256)?;
/// assert_eq!(block.allocate(0, 256), Err(ChunkError::ZeroSize));
/// assert_eq!(block.allocate(256, 3), Err(ChunkError::Alignment { alignment: 3 }));
/// let chunk = block.allocate(512, 256)?;
/// assert_eq!(block.allocate(768, 256), Err(ChunkError::NoSpace { size: 768, alignment: 256, free: 512 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The size is zero.
    #[error("a chunk of no bytes")]
    ZeroSize,
    /// The alignment is not a power of two.
    #[error("an alignment of {alignment} is no power of two")]
    Alignment {
        /// The requested alignment in bytes.
        alignment: u64,
    },
    /// No hole fits the requested size and alignment.
    #[error("no hole for {size} bytes aligned to {alignment} of {free} free bytes")]
    NoSpace {
        /// The requested size in bytes.
        size: u64,
        /// The requested alignment in bytes.
        alignment: u64,
        /// Total size of all holes in bytes.
        free: u64,
    },
    /// The host has no memory for the block's data.
    #[error("out of host memory for {chunks} chunks")]
    HostMemory {
        /// Number of allocated chunks.
        chunks: u32,
    },
}

/// The error that a freed chunk belongs to another block, or was allocated before the block was
/// [cleared](super::VirtualBlock::clear).
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::VirtualBlock;
///
/// let (mut vertices, mut indices) = (VirtualBlock::new(1 << 20, 256)?, VirtualBlock::new(1 << 20, 256)?);
/// let chunk = vertices.allocate(4096, 256)?;
/// let refused = indices.free(chunk).unwrap_err();
/// vertices.free(refused.chunk)?; // the chunk came back with the error
/// assert!(vertices.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chunk at {:#x} is not of this block", chunk.offset())]
pub struct NotOfThisBlock {
    /// The chunk that was passed, unchanged.
    pub chunk: Chunk,
}
