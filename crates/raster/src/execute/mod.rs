//! Execution of draws.

mod cover;
mod geometry;
mod interface;
mod run;
mod shade;
mod target;

pub use interface::{Drawn, Ended, Export, Interpolant, Memory, MemoryFault, PixelWave, Shaders, Surface, VertexWave};
pub use run::{draw, draw_on_threads};

pub(crate) use target::format::is_known;
