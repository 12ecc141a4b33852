//! Sampling: the texels that a sampler looks at, and their weights.

pub(crate) mod address;
mod cube;
pub(crate) mod filter;
pub(crate) mod sampler;
