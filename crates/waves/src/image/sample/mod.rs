//! Sampling: the texels that a sampler reads, and their weights.

pub(crate) mod address;
mod cube;
pub(crate) mod filter;
pub(crate) mod sampler;
