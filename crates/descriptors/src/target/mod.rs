//! Register values of colour and depth targets.

mod color;
mod dcc;
mod depth;
mod depth_tiling;
mod write;

pub use color::{ColorDcc, ColorFmask, ColorRegisters, ColorTarget, ColorTiling};
pub use depth::{DepthHtile, DepthRegisters, DepthTarget};
pub use depth_tiling::{DepthTiling, HizHis};
pub use write::{Base, RegisterWrite};
