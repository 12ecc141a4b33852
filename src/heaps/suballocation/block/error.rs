//! Errors of a block.

use super::Chunk;

/// A block that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The granule is no power of two, or below [`MIN_GRANULE`](super::MIN_GRANULE).
    #[error("a granule of {granule} bytes is no power of two from 256 on")]
    Granule {
        /// The granule requested, bytes.
        granule: u64,
    },
    /// The size is zero, no multiple of the granule, or beyond [`MAX_CELLS`](super::MAX_CELLS) granules.
    #[error("a block of {size} bytes in granules of {granule}")]
    Size {
        /// The size requested, bytes.
        size: u64,
        /// The granule, bytes.
        granule: u64,
    },
}

/// The reason why there is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// Nothing was asked for.
    #[error("a chunk of no bytes")]
    ZeroSize,
    /// The alignment is no power of two.
    #[error("an alignment of {alignment} is no power of two")]
    Alignment {
        /// The alignment requested, bytes.
        alignment: u64,
    },
    /// No hole fits.
    #[error("no hole for {size} bytes aligned to {alignment} of {free} free bytes")]
    NoSpace {
        /// Bytes asked for.
        size: u64,
        /// The alignment asked for, bytes.
        alignment: u64,
        /// Bytes free in all holes.
        free: u64,
    },
    /// The host has no memory to keep the books.
    #[error("out of host memory for {chunks} chunks")]
    HostMemory {
        /// Live chunks.
        chunks: u32,
    },
}

/// A chunk of another block, or of a time before the block was [cleared](super::VirtualBlock::clear), handed back.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chunk at {:#x} is not of this block", chunk.offset())]
pub struct NotOfThisBlock {
    /// The chunk, untouched.
    pub chunk: Chunk,
}
