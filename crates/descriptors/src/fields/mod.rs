//! The fields of descriptors, as constants.

pub mod buffer;
pub mod image;
pub mod sampler;
