//! Descriptors built from views: the part of a buffer, image or FMASK that a shader accesses. The result depends only on the view
//! and the generation.

mod buffer;
mod fmask;
mod image;
mod place;
mod sampler;

pub use buffer::{BufferView, OutOfBounds};
pub use fmask::FmaskView;
pub use image::{ImageKind, ImageView};
pub use place::{ImageMeta, ImagePlace, Tiling};
pub use sampler::{Clamp, SamplerState};

pub(crate) use place::{address, log2_samples};
