//! Loads, stores and atomic operations of a wave: LDS, memory behind page tables, images, scratch.

mod access;
mod at_once;
mod buffer;
mod components;
mod compressed;
mod flat;
mod image;
mod lds;
mod sampled;
mod scalar;
pub(crate) mod texel;
mod transfer;
