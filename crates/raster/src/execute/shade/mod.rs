//! Behind the rasterizer: waves of pixels, tests, blending and resolves.

pub(super) mod blend;
pub(super) mod depth;
pub(super) mod pixels;
pub(super) mod resolve;
pub(super) mod write;
