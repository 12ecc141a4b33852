//! Blocks that are divided into chunks, by arithmetic only, without I/O.

mod bins;
mod block;
mod check;
mod chunk;
mod error;
mod nodes;
mod stats;
#[cfg(test)]
mod tests;

pub use self::{
    block::{MAX_CELLS, MIN_GRANULE, VirtualBlock},
    chunk::Chunk,
    error::{BlockError, ChunkError, NotOfThisBlock},
    stats::BlockStats,
};
