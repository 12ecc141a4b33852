//! The rasterizer: what primitives cover, and the values there.

pub(super) mod bias;
pub(super) mod quad;
pub(super) mod rows;
pub(super) mod samples;
pub(super) mod setup;
pub(super) mod shapes;
pub(super) mod thin;
