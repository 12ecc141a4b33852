//! Before the rasterizer: assembly of primitives, waves of vertices and clipping.

pub(super) mod assemble;
pub(super) mod clip;
pub(super) mod entry;
pub(super) mod group;
pub(super) mod vertices;
