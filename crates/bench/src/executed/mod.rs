//! What the simulated GPU computes: compute shaders and draws.

pub(crate) mod draw;
pub(crate) mod shader;
