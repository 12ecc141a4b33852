//! Behind the rasterizer: waves of pixels, tests, blending and resolves.

pub(super) mod bands;
pub(super) mod blend;
mod copy;
pub(super) mod depth;
mod inputs;
pub(super) mod pixels;
pub(super) mod resolve;
mod scratch;
pub(super) mod write;
