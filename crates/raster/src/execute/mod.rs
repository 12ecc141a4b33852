//! Execution of draws.

mod assemble;
mod bias;
mod blend;
mod clip;
mod depth;
mod entry;
mod group;
mod interface;
mod pixels;
mod quad;
mod resolve;
mod run;
mod samples;
mod setup;
mod shapes;
mod target;
mod thin;
mod vertices;
mod write;

pub use interface::{Drawn, Ended, Export, Interpolant, Memory, MemoryFault, PixelWave, Shaders, VertexWave};
pub use run::draw;

pub(crate) use target::format::is_known;
