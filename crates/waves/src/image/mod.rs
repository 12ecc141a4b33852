//! Images: descriptors, formats, addresses of texels, samplers and filters.

mod block;
pub(crate) mod cache;
pub(crate) mod compression;
pub(crate) mod descriptor;
pub(crate) mod error;
pub(crate) mod format;
mod layout;
mod reader;
pub(crate) mod sample;
pub(crate) mod texel;

#[cfg(test)]
mod tests;
