//! Constants for the fields of descriptors.

pub mod buffer;
pub mod image;
pub mod sampler;
