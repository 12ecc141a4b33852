//! Work of the simulated GPU: compute shaders and draws.

pub(crate) mod draw;
pub(crate) mod shader;
