//! Descriptors from views: what a shader shall see of memory, in words; each answer depends on the view and the
//! generation alone.

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
